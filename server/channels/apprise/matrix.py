"""Matrix: a room that an account of the person's, or one he made for this, may write to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.language import later
from server.channels import Blank, Brief, DeliveryError
from server.channels.apprise import hand
from server.channels.guarded import Passage
from server.channels.webhook.address import HTTPS, target

_ROOM: Final = re.compile(r"![A-Za-z0-9_.=/+-]{6,100}(?::[A-Za-z0-9.-]{1,100}(?::[0-9]{1,5})?)?")
_TOKEN: Final = re.compile(r"[A-Za-z0-9_.=/+-]{16,400}")


class Matrix:
    """Writes to a room of Matrix, not encrypted: what it says everybody may know."""

    name = "Matrix"
    blanks: Sequence[Blank] = (
        Blank("server", later("Homeserver"), later("Like https://matrix.example.org.")),
        Blank(
            "room",
            later("Number of the room"),
            later("In Element: the settings of the room, Advanced; it begins with !."),
        ),
        Blank(
            "token",
            later("Access token"),
            later("Of an account for this alone, as whoever has it can read all that the account can."),
            secret=True,
        ),
    )

    def __init__(self, passage: Passage) -> None:
        self._passage = passage

    def read(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return homeserver, room and token."""
        server, room, token = (given.get(name, "").strip() for name in ("server", "room", "token"))
        where = target(server if "://" in server else f"https://{server}", loopback=self._passage.loopback)
        if where.path != "/" or ":" in where.host:
            raise DeliveryError(later("That is not the address of a homeserver of Matrix."))
        if not _ROOM.fullmatch(room):
            raise DeliveryError(later("That is not the number of a room of Matrix."))
        if not _TOKEN.fullmatch(token):
            raise DeliveryError(later("That is not an access token of Matrix."))
        scheme = "https" if where.secure else "http"
        return {"server": f"{scheme}://{where.authority}", "room": room, "token": token}

    def shown(self, address: Mapping[str, str]) -> str:
        """Return the homeserver, and the beginning of the room's number."""
        return f"{address['server'].partition('://')[2]}, {address['room'][:5]}…"

    def deliver(self, message: Brief) -> None:
        """Send a message to the room; a second try is known by its number."""
        where, token = target(message.address["server"], loopback=self._passage.loopback), message.address["token"]
        given: dict[str, Any] = {"host": where.host, "secure": where.secure, "targets": [message.address["room"]]}
        given |= {"port": None if where.secure and where.port == HTTPS else where.port, "password": token}
        given |= {"include_image": False, "discovery": False, "e2ee": False, "hsreq": False}
        after = {"access_token": token, "transaction_id": message.message_id}
        hand.over("matrix", self._passage, message, message.linked, given, hosts={where.host}, after=after)
