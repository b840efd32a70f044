"""The API of the house, `/api/v1`: a door for programs, to the same services as the pages."""
