"""The refusals of the house: each has a code, a sentence for the person, and an HTTP status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

# code -> (HTTP status, when it happens); docs/errors.md lists the same codes and a test compares them.
CODES: Final[dict[str, tuple[int, str]]] = {
    "already-seated": (409, "The person already sits at this table."),
    "ambiguous-move": (422, "The move fits several; `choices` holds each as text to send."),
    "bad-credentials": (403, "Name or password is wrong; which of them is not said."),
    "bad-input": (422, "A field is missing, too long or of the wrong form; the sentence names it."),
    "busy": (503, "Not just now: the database takes nothing, or too many pictures are drawn; nothing was stored."),
    "damaged": (500, "The match cannot be replayed; it is frozen, and all others go on."),
    "forged": (400, "The form did not come from this site or its token has run out."),
    "frozen": (409, "A keeper of the house holds the match: nothing happens in it, and no time runs."),
    "illegal-move": (422, "The text is a move, but the rules forbid it in this position."),
    "imported-before": (409, "The match of a record is in the archive already."),
    "internal": (500, "A fault of the server; it is logged."),
    "invalid-move": (422, "The text cannot be read as a move of this game."),
    "link-spent": (410, "A one-time link is unknown, used, or too old."),
    "many-orders": (422, "A mail held different moves, or commands that do not go together."),
    "method": (405, "The address does not take this kind of request."),
    "no-order": (422, "A mail held nothing that could be read as a move or a command."),
    "not-found": (404, "There is no such page, match, person or step, or it is not shown to this person."),
    "not-json": (415, "The body of a request to the API is not said to be JSON."),
    "not-open": (409, "The table is no longer open."),
    "not-running": (409, "The match is not running."),
    "not-signed-in": (401, "It takes a signed-in person, or a token of his that is good."),
    "not-yours": (403, "The person may not do this here: another's seat, or a right of the host."),
    "not-your-turn": (409, "The seat is not awaited."),
    "out-of-scope": (403, "The token may not do this: its owner gave it other scopes."),
    "read-only": (503, "The database can be read just now, but takes nothing; nothing was stored."),
    "stale": (409, "The match has moved on since the page or mail was made; nothing changed."),
    "table-full": (409, "Every seat is taken."),
    "throttled": (429, "Too many tries in a short time."),
    "too-large": (413, "The request is larger than any form of this site needs."),
    "unconfirmed": (403, "It takes an account whose mail address is confirmed."),
}


class Refused(Exception):
    """A request was refused and nothing changed. `choices` are moves to pick from, `since` words of what happened.

    `again` is after how many seconds it is worth while to ask again, 0 if that is not known.
    """

    def __init__(
        self, code: str, sentence: str, *, choices: Sequence[str] = (), since: Sequence[str] = (), again: int = 0
    ) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.status = CODES[code][0]
        self.choices = tuple(choices)
        self.since = tuple(since)
        self.again = again
