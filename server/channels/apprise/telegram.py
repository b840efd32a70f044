"""Telegram: a bot of the person's own, which writes to him or to a group."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from engine.language import later
from server.channels import Blank, Brief, DeliveryError
from server.channels.apprise import hand
from server.channels.guarded import Passage

_TOKEN: Final = re.compile(r"[0-9]{6,14}:[A-Za-z0-9_-]{30,50}")
_CHAT: Final = re.compile(r"-?[0-9]{4,20}|@[A-Za-z][A-Za-z0-9_]{3,31}")


class Telegram:
    """Sends by a bot of Telegram to one chat."""

    name = "Telegram"
    blanks: Sequence[Blank] = (
        Blank(
            "token", later("Token of your bot"), later("@BotFather gives it to you when you make a bot."), secret=True
        ),
        Blank(
            "chat",
            later("Number of the chat"),
            later(
                "Write to your bot first; @userinfobot tells you your number. A group has a number that begins with -."
            ),
        ),
    )

    def __init__(self, passage: Passage) -> None:
        self._passage = passage

    def read(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return token and chat."""
        token, chat = given.get("token", "").strip(), given.get("chat", "").strip()
        if not _TOKEN.fullmatch(token):
            raise DeliveryError(later("That is not the token of a bot of Telegram."))
        if not _CHAT.fullmatch(chat):
            raise DeliveryError(later("That is not the number or the @name of a chat of Telegram."))
        return {"token": token, "chat": chat}

    def shown(self, address: Mapping[str, str]) -> str:
        """Return the end of the chat's number."""
        return f"api.telegram.org, …{address['chat'][-4:]}"

    def deliver(self, message: Brief) -> None:
        """Send a message to the chat."""
        given = {"bot_token": message.address["token"], "targets": [message.address["chat"]], "detect_owner": False}
        hand.over(
            "telegram",
            self._passage,
            message,
            message.linked,
            given,
            hosts={"api.telegram.org"},
            lasting={401, 403, 404},
        )
