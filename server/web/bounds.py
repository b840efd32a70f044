"""What both web servers allow a client, and themselves."""

from __future__ import annotations

import resource
from typing import Final

# How many seconds requests in hand are given when the server is told to stop.
PATIENCE: Final = 10
# So many connections a process has at the same time, and for so many seconds a silent one is kept: slow or silent
# clients must not use up what others need.
CONNECTIONS: Final = 1000
SILENT: Final = 60
# Connections, streams, files of the database and what a library opens: a process needs so many at most.
FILES: Final = 4096


def allow_files() -> None:
    """Let this process open as many files as its connections need, as far as the machine lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
