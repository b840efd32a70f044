"""Pages, and the JSON that pages fetch."""
