"""What both web applications do with a request, the pages and `/api/v1`: watching, connections, faults, headers."""
