"""Discord and Slack: a webhook of a channel, whose address the person copies from the service's settings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from engine.language import later
from server.channels import Blank, Brief, DeliveryError
from server.channels.apprise import hand
from server.channels.guarded import Passage


class Hook:
    """Sends to a webhook of a service. `pattern` is that of its addresses, with a name for each part that is stored;
    `unfit` is said of others. `host` is called, and answers of a `lasting` status will not become better."""

    kind: ClassVar[str]
    name: str
    blanks: Sequence[Blank]
    unfit: ClassVar[str]
    pattern: ClassVar[re.Pattern[str]]
    host: ClassVar[str]
    lasting: ClassVar[frozenset[int]]

    def __init__(self, passage: Passage) -> None:
        self._passage = passage

    def read(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the parts of the webhook's address."""
        found = self.pattern.fullmatch(given.get("url", "").strip())
        if not found:
            raise DeliveryError(self.unfit)
        return found.groupdict()

    def shown(self, address: Mapping[str, str]) -> str:
        """Return the end of the webhook's number."""
        return f"{self.host}, …{address['hook'][-4:]}"

    def deliver(self, message: Brief) -> None:
        """Send a message to the channel."""
        given = self.given(message.address)
        hand.over(self.kind, self._passage, message, message.linked, given, hosts={self.host}, lasting=self.lasting)

    def given(self, address: Mapping[str, str]) -> dict[str, Any]:
        """Return what the plugin is made with."""
        raise NotImplementedError


class Discord(Hook):
    """Sends to a webhook of Discord."""

    kind = "discord"
    name = "Discord"
    blanks: Sequence[Blank] = (
        Blank(
            "url",
            later("Address of the webhook"),
            later("In Discord: the settings of a channel of yours, Integrations, Webhooks, Copy Webhook URL."),
            secret=True,
        ),
    )
    unfit = later("That is not the address of a webhook of Discord.")
    pattern = re.compile(
        r"https://(?:(?:canary|ptb)\.)?discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks"
        r"/(?P<hook>[0-9]{15,22})/(?P<token>[A-Za-z0-9_-]{60,80})/?"
    )
    host = "discord.com"
    lasting = frozenset({401, 403, 404})

    def given(self, address: Mapping[str, str]) -> dict[str, Any]:
        """Return number and token, and that our picture is not to be shown."""
        return {"webhook_id": address["hook"], "webhook_token": address["token"], "avatar": False}


class Slack(Hook):
    """Sends to an incoming webhook of Slack."""

    kind = "slack"
    name = "Slack"
    blanks: Sequence[Blank] = (
        Blank(
            "url",
            later("Address of the webhook"),
            later("In Slack: an app of yours, Incoming Webhooks, Add New Webhook, then copy its address."),
            secret=True,
        ),
    )
    unfit = later("That is not the address of a webhook of Slack.")
    pattern = re.compile(
        r"https://hooks\.slack\.com/services"
        r"/(?P<team>T[A-Z0-9]{5,15})/(?P<hook>B[A-Z0-9]{5,15})/(?P<token>[A-Za-z0-9]{20,30})/?"
    )
    host = "hooks.slack.com"
    lasting = frozenset({403, 404, 410})

    def given(self, address: Mapping[str, str]) -> dict[str, Any]:
        """Return the three parts, and that nothing is to be added."""
        parts = {"token_a": address["team"], "token_b": address["hook"], "token_c": address["token"]}
        return parts | {"include_image": False, "include_footer": False}
