"""ntfy: a topic, at ntfy.sh or at a server of one's own, that a phone listens to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.language import later
from server.channels import Blank, Brief, DeliveryError
from server.channels.apprise import hand
from server.channels.guarded import Passage
from server.channels.webhook.address import HTTPS, target

_TOPIC: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TOKEN: Final = re.compile(r"tk_[A-Za-z0-9]{10,60}")
USUAL: Final = "https://ntfy.sh/"


class Ntfy:
    """Publishes to a topic of a server of ntfy."""

    name = "ntfy"
    blanks: Sequence[Blank] = (
        Blank(
            "url",
            later("Address of the topic"),
            later("Like https://ntfy.sh/a-word-nobody-guesses: whoever knows the word can read along."),
            secret=True,
        ),
        Blank(
            "token",
            later("Access token"),
            later("If the server asks for one; it begins with tk_."),
            True,
            optional=True,
        ),
    )

    def __init__(self, passage: Passage) -> None:
        self._passage = passage

    def read(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return server, topic and token; a word alone is a topic of the usual server."""
        url, token = given.get("url", "").strip(), given.get("token", "").strip()
        where = target(USUAL + url if _TOPIC.fullmatch(url) else url, loopback=self._passage.loopback)
        topic = where.path.removeprefix("/").removesuffix("/")
        if not _TOPIC.fullmatch(topic) or ":" in where.host:
            raise DeliveryError(later("That is not the address of a topic of ntfy."))
        if token and not _TOKEN.fullmatch(token):
            raise DeliveryError(later("That is not an access token of ntfy."))
        scheme = "https" if where.secure else "http"
        return {"server": f"{scheme}://{where.authority}", "topic": topic} | ({"token": token} if token else {})

    def shown(self, address: Mapping[str, str]) -> str:
        """Return the server, and the beginning of the topic."""
        return f"{address['server'].partition('://')[2]}/{address['topic'][:2]}…"

    def deliver(self, message: Brief) -> None:
        """Publish a message."""
        where = target(message.address["server"], loopback=self._passage.loopback)
        token = message.address.get("token")
        given: dict[str, Any] = {"host": where.host, "secure": where.secure, "targets": [message.address["topic"]]}
        given |= {"port": None if where.secure and where.port == HTTPS else where.port, "mode": "private"}
        given |= {"include_image": False, "click": message.url} | ({"auth": "token", "token": token} if token else {})
        hand.over("ntfy", self._passage, message, message.text or message.url, given, hosts={where.host})
