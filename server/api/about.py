"""What the document of the API says before it lists anything; docs/api.md says it at length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ABOUT: Final = """\
Whatever the pages can do, a program can do here: by the same services, with the same refusals. Make a token
in your settings and send it as `Authorization: Bearer clachan_...`. What everybody may see takes none.

Bodies and answers are JSON, and a field that is not listed here is refused. Instants are UTC, lengths of time are
seconds, seats are counted from 0. Sentences come in the language of `Accept-Language`; codes and numbers do not change.

Whatever is refused has changed nothing and is answered with an `Error`, whose code tells why. Status 429 and 503 come
with `Retry-After`. A request with an `Idempotency-Key`, where it is listed, may be sent again: it is carried out once.

A list has `items` and `next`: ask for `?cursor=` with the text of `next` for what follows. Every answer to GET has an
`ETag`: send it as `If-None-Match`, and what is as it was is answered with 304 and no body.
"""
ALLOWED: Final[Mapping[str, str]] = {
    "read": "To see all that you may see yourself, what is hidden from others included.",
    "play": "To move, propose and vote, resign, talk, note something and have moves ready, in your own matches.",
    "tables": "To open and join tables, invite, take seats over, and enter and announce tournaments.",
    "account": "To change settings, vacations, feeds and how you are told of your turns.",
}
"""What each scope of a token allows."""
