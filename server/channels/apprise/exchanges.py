"""What plugins of Apprise are given in place of the library `requests`."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Final

import requests

from server.channels.sessions import Session

IN_HAND: Final[ContextVar[Session]] = ContextVar("session of the message in hand")


class Exchanges:
    """Stands where a plugin looks for the library `requests`, and has no more of it than plugins need.

    The library offers no other way to bound what a plugin does on the network.
    """

    codes = requests.codes
    RequestException = requests.RequestException
    TooManyRedirects = requests.TooManyRedirects

    def request(self, method: str, url: str, **named: Any) -> requests.Response:
        """Make an exchange in the session of the message in hand."""
        return IN_HAND.get().request(method, url, **named)

    def get(self, url: str, **named: Any) -> requests.Response:
        """Ask for something."""
        return self.request("GET", url, **named)

    def post(self, url: str, **named: Any) -> requests.Response:
        """Send something."""
        return self.request("POST", url, **named)

    def put(self, url: str, **named: Any) -> requests.Response:
        """Store something."""
        return self.request("PUT", url, **named)
