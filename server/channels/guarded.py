"""A way to public machines for libraries that speak HTTP by `requests`; that is read when somebody is called."""

from __future__ import annotations

import functools
import ssl
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from server.channels.webhook import reach

if TYPE_CHECKING:
    from server.channels.sessions import Session

# All exchanges of a session together take no longer, in seconds.
LONGEST: Final = 5.0


class Passage:
    """A way to public machines. `loopback` lets this machine be called; `resolve` and `context` replace the system's
    ways to find machines and to trust them."""

    def __init__(
        self, *, loopback: bool = False, resolve: reach.Resolver = reach.lookup, context: ssl.SSLContext | None = None
    ) -> None:
        self.loopback = loopback
        self.resolve = resolve
        self._context = context

    @functools.cached_property
    def context(self) -> ssl.SSLContext:
        """Whom to trust; to read that takes a while, so it is read when it is needed."""
        return self._context or ssl.create_default_context()

    def session(self, hosts: Collection[str] | None = None) -> Session:
        """Return a session whose time runs from now on, to these hosts and no others if any are given."""
        # The library takes time and space, of which processes that send nothing need not spend any.
        from server.channels.sessions import Session

        return Session(self, hosts)
