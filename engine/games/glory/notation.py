"""Moves of Clans and Glory as text: forgiving to read, one form to write. Source: the rule sheet, section Notation."""

from __future__ import annotations

import re
import unicodedata

from engine.base import IllegalMove, InvalidMove
from engine.games.glory.cards import CARD, CARDS, SPOT
from engine.games.glory.rules import Move, State, allowed, obstacle
from engine.language import gettext as _

EXAMPLE = "R5 N7 shield"
LONGEST = 200
"""A longer text is no move: the longest one has 18 characters."""
HIDDEN = "?"
"""Stands for a card that the reader may not know."""

TEXT = {
    Move(card, spot, shield, down): f"{name} {place}{' down' * down}{' shield' * shield}"
    for name, card in CARD.items()
    for place, spot in SPOT.items()
    for shield in (False, True)
    for down in (False, True)
}
"""The canonical text of every move there is."""
PLAIN = {text: move for move, text in TEXT.items()}
"""Back again: the way of a record through `parse` is short."""

_MOVE = re.compile(
    r"([A-Z]\d{1,2})[\s,]*(?:@|TO|ON|ONTO|AT|->?|=>|>|→|–|—|/)?\s*([NS]\s?\d{1,3})((?:[\s,;&+(]|[A-Z])*)[).!\s]*"
)
_SHIELD = re.compile(r"\+|\b(?:SHIELD|SHIELDS|SH|S)\b")
_DOWN = re.compile(r"\b(?:FACE\s*)?(?:DOWN|D|HIDDEN)\b")
_FILLING = re.compile(r"\b(?:WITH|AND|PLUS|A|FACE\s*UP|UP)\b|[\s,;&(]")


def parse(state: State, seat: int, text: str) -> Move:
    """Read a move, forgiving in case, spaces and small words. Raises `InvalidMove` or `IllegalMove`.

    A text that has a card and a spot is a move, be it one that can never be: so it is answered, and not taken for talk
    that all at the table may read.
    """
    move = PLAIN.get(text) or _read(text)
    if not allowed(state, seat, move):
        raise IllegalMove(obstacle(state, seat, move))
    return move


def format(move: Move) -> str:  # noqa: A001 - half of the pair that the contract names
    """Return the one canonical text of a move."""
    return TEXT[move]


def public(move: Move) -> str:
    """Return the text of a move for whoever may not know a face-down card."""
    return HIDDEN + TEXT[move][len(CARDS[move.card]) :] if move.down else TEXT[move]


def _read(text: str) -> Move:
    """Return what the text says, whether or not the position allows it."""
    if len(text) > LONGEST:
        raise InvalidMove(_("That is no move. A move looks like {example}.").format(example=EXAMPLE))
    found = _MOVE.fullmatch(unicodedata.normalize("NFKC", text).upper().strip())
    tail = found[3] if found else ""
    rest, shields = _SHIELD.subn(" ", tail)
    rest, downs = _DOWN.subn(" ", rest)
    if not found or _FILLING.sub("", rest) or shields > 1 or downs > 1:
        why = _("That cannot be read as a move. Write the card and the spot, and shield if one follows: {example}.")
        raise InvalidMove(why.format(example=EXAMPLE))
    card, spot = found[1], found[2].replace(" ", "")
    if card not in CARD:
        why = _("There is no card {card}: a card is a letter of R O Y G B P W and a strength from 3 to 8.")
        raise IllegalMove(why.format(card=card))
    if spot not in SPOT:
        raise IllegalMove(_("There is no spot {spot}: they are N1 to N18 and S1 to S18.").format(spot=spot))
    return Move(CARD[card], SPOT[spot], bool(shields), bool(downs))
