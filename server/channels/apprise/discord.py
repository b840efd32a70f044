"""Discord: a webhook of a channel, whose address the person copies from the channel's settings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from engine.language import later
from server.channels import Blank, Brief, DeliveryError
from server.channels.apprise import hand
from server.channels.guarded import Line

_ADDRESS: Final = re.compile(
    r"https://(?:(?:canary|ptb)\.)?discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/([0-9]{15,22})/([A-Za-z0-9_-]{60,80})/?"
)


class Discord:
    """Sends to a webhook of Discord."""

    name = "Discord"
    blanks: Sequence[Blank] = (
        Blank(
            "url",
            later("Address of the webhook"),
            later("In Discord: the settings of a channel of yours, Integrations, Webhooks, Copy Webhook URL."),
            secret=True,
        ),
    )

    def __init__(self, line: Line) -> None:
        self._line = line

    def read(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return number and token of the webhook."""
        found = _ADDRESS.fullmatch(given.get("url", "").strip())
        if not found:
            raise DeliveryError(later("That is not the address of a webhook of Discord."))
        return {"id": found[1], "token": found[2]}

    def shown(self, address: Mapping[str, str]) -> str:
        """Return the end of the webhook's number."""
        return f"discord.com, …{address['id'][-4:]}"

    def deliver(self, message: Brief) -> None:
        """Send a message to the channel."""
        given = {"webhook_id": message.address["id"], "webhook_token": message.address["token"], "avatar": False}
        text = f"{message.text}\n{message.url}".strip()
        hand.over("discord", self._line, message, text, given, hosts={"discord.com"}, lasting={401, 403, 404})
