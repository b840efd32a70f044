"""`python -m server.cli` is the `clachan` command."""

from server.cli import main

main()
