"""Moves of Clans as text: forgiving to read, one form to write. Source: the rule sheet, section Notation."""

from __future__ import annotations

import re
import unicodedata

from engine.base import AmbiguousMove, IllegalMove, InvalidMove, listed
from engine.games.clans.board import BIT, INDEX, NEIGHBOURS, TERRITORIES
from engine.games.clans.rules import SEVEN, Move, State, newborn, obstacle, order_matters, orders, unordered
from engine.language import gettext as _
from engine.language import ngettext

EXAMPLE = "A5-B1"
LONGEST = 200
"""A longer text is no move: the longest one, with six villages in order, has 25 characters."""

PLAIN = {
    f"{TERRITORIES[source]}-{TERRITORIES[target]}": Move(source, target)
    for source, targets in enumerate(NEIGHBOURS)
    for target in targets
}
"""The canonical text of every move without an order: the way of a record through `parse` is short."""

_DASHES = "-\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043"
_ARROWS = "\u2192\u21d2\u27a1\u279c\u2794\u27f6"
_PLACE = r"([A-Z]\d{1,2})"
_MOVE = re.compile(
    rf"{_PLACE}\s*(?:[{_DASHES}]*[>{_ARROWS}]\ufe0f?|=>|[{_DASHES}]+|TO)?\s*{_PLACE}\s*(?:/(.*?))?[.!]?",
    re.DOTALL,
)
_NAMES = re.compile(rf"\s*{_PLACE}(?:[\s,;]+{_PLACE})*\s*")


def parse(state: State, seat: int, text: str) -> Move:
    """Read a move, forgiving in case, spaces, dashes and arrows; the order may name only the first villages.

    Raises `InvalidMove` if the text is no move, `IllegalMove` if the rules forbid it here, `AmbiguousMove` with every
    order as a choice if the order matters and none is named.
    """
    move = PLAIN.get(text)
    source, target, named = move or _read(text)
    if seat not in state.to_act:
        raise IllegalMove(_("It is not your turn.") if state.to_act else _("The match is over."))
    huts = state.huts
    # The common case in one test; what fails it is looked at closely, because it may still be legal.
    if not move or not 0 < huts[source] < SEVEN or not huts[target]:
        why = obstacle(state, source, target)
        if why:
            raise IllegalMove(why)
    born = newborn(state.occupied ^ BIT[source], source)
    if move and len(born) < 2:
        return move
    return _ordered(state, seat, Move(source, target, named), born)


def format(state: State, seat: int, move: Move) -> str:  # noqa: A001 - half of the pair that the contract names
    """Return the one canonical text of a legal move; the order appears if two or more villages arise.

    The villages that find no chip left are not named, because nothing about them is left to choose.
    """
    text = f"{TERRITORIES[move.source]}-{TERRITORIES[move.target]}"
    if not move.order:
        return text
    return f"{text} / {' '.join(TERRITORIES[territory] for territory in move.order)}"


def _read(text: str) -> Move:
    """Return what the text says, whether or not the position allows it; the order holds the names as given."""
    if len(text) > LONGEST:
        raise InvalidMove(_("That is no move. A move looks like {example}.").format(example=EXAMPLE))
    found = _MOVE.fullmatch(unicodedata.normalize("NFKC", text).upper().strip())
    if not found:
        why = _(
            "That cannot be read as a move. Write the territory that the huts leave and the one they go to: {example}."
        )
        raise InvalidMove(why.format(example=EXAMPLE))
    source, target, tail = found.groups()
    tail = (tail or "").strip()
    if tail and not _NAMES.fullmatch(tail):
        raise InvalidMove(_("After the slash stand the names of new villages, first to last: F1-B5 / B5 F4."))
    named = tuple(_territory(name) for name in re.findall(_PLACE, tail))
    if len(set(named)) < len(named):
        raise InvalidMove(_("A village is named twice after the slash."))
    return Move(_territory(source), _territory(target), named)


def _territory(name: str) -> int:
    if name not in INDEX:
        why = _("There is no territory {place}: they are A1 to A5, B1 to B5 and so on to L5.")
        raise InvalidMove(why.format(place=name))
    return INDEX[name]


def _ordered(state: State, seat: int, move: Move, born: list[int]) -> Move:
    """Return the move with the order that its text stands for; `born` are the villages that arise."""
    for territory in move.order:
        if territory not in born:
            raise IllegalMove(_no_village(territory, born))
    if len(born) < 2:
        return move._replace(order=())
    if not move.order and order_matters(state, move.source, move.target):
        choices = orders(state, move.source)
        raise AmbiguousMove(unordered(born), [format(state, seat, move._replace(order=order)) for order in choices])
    full = move.order + tuple(territory for territory in born if territory not in move.order)
    return move._replace(order=full[: state.open])


def _no_village(territory: int, born: list[int]) -> str:
    name = TERRITORIES[territory]
    if not born:
        return _("{place} does not become a village by this move: no village arises.").format(place=name)
    said = ngettext(
        "{place} does not become a village by this move; {names} does.",
        "{place} does not become a village by this move; {names} do.",
        len(born),
    )
    return said.format(place=name, names=listed([TERRITORIES[other] for other in born]))
