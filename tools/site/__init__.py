"""The documentation as a site: `python -m tools.site` makes it of docs/ and of what stands beside it."""
