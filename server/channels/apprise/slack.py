"""Slack: an incoming webhook, whose address the person copies from the settings of an app of his."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.language import later
from server.channels import Blank, Brief, DeliveryError
from server.channels.apprise import hand
from server.channels.guarded import Line

_ADDRESS: Final = re.compile(
    r"https://hooks\.slack\.com/services/(T[A-Z0-9]{5,15})/(B[A-Z0-9]{5,15})/([A-Za-z0-9]{20,30})/?"
)


class Slack:
    """Sends to an incoming webhook of Slack."""

    name = "Slack"
    blanks: Sequence[Blank] = (
        Blank(
            "url",
            later("Address of the webhook"),
            later("In Slack: an app of yours, Incoming Webhooks, Add New Webhook, then copy its address."),
            secret=True,
        ),
    )

    def __init__(self, line: Line) -> None:
        self._line = line

    def read(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the three parts of the webhook's address."""
        found = _ADDRESS.fullmatch(given.get("url", "").strip())
        if not found:
            raise DeliveryError(later("That is not the address of a webhook of Slack."))
        return {"team": found[1], "hook": found[2], "token": found[3]}

    def shown(self, address: Mapping[str, str]) -> str:
        """Return the end of the webhook's number."""
        return f"hooks.slack.com, …{address['hook'][-4:]}"

    def deliver(self, message: Brief) -> None:
        """Send a message to the channel."""
        address = message.address
        given: dict[str, Any] = {"token_a": address["team"], "token_b": address["hook"], "token_c": address["token"]}
        given |= {"include_image": False, "include_footer": False}
        text = f"{message.text}\n{message.url}".strip()
        hand.over("slack", self._line, message, text, given, hosts={"hooks.slack.com"}, lasting={403, 404, 410})
