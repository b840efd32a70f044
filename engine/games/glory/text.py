"""A view of Clans and Glory as plain text, for mails and terminals: at most 76 columns, nothing left out.

No line is one that `notation.parse` reads as a move, so that a quoted position in an answered mail is never played.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from engine.base import Names, Plain, View
from engine.games.glory.cards import SEPARATE, WIDE

WIDTH = 76
NAME_WIDTH = 16
CELL = 5
HIDDEN = "##"


def text(view: View, names: Names) -> str:
    """Draw the whole view; `names` in seat order are shortened to 16 columns."""
    table = view.table
    called = [_short(name) for name in names]
    parts = [_status(view, called), _board(table), _standings(table, called), _players(view, called), _hand(view)]
    if view.outcome:
        parts.append(_left_over(table, called))
    if table["options"]["row"] == SEPARATE:
        parts.append(["At this table a card matches only at its own place."])
    return "\n\n".join("\n".join(line.rstrip() for line in part) for part in parts if part) + "\n"


def columns(line: str) -> int:
    """Return how many columns a line takes in a terminal: wide characters two, combining ones none."""
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in line)
    return len(line) + wide - sum(unicodedata.combining(sign) > 0 for sign in line)


def _short(name: str) -> str:
    """Return a name on one line and in `NAME_WIDTH` columns."""
    plain = "".join(sign if sign.isprintable() else " " for sign in name).strip()
    if columns(plain) <= NAME_WIDTH:
        return plain
    while columns(plain) >= NAME_WIDTH:
        plain = plain[:-1]
    return plain + "."


def _status(view: View, called: Names) -> list[str]:
    if view.outcome:
        return [f"Clans and Glory. The match is over: {view.outcome.reason}."]
    turns = view.table["turns"]
    waiting = " and ".join(called[seat] for seat in view.to_act) or "nobody"
    return [f"Clans and Glory, {turns} move{'' if turns == 1 else 's'} left. To move: {waiting}."]


def _board(table: Plain) -> list[str]:
    """Return the places side by side, or in two rows of three if there are six."""
    places = range(1, table["places"] + 1)
    across = 4 if len(places) == 4 else 3
    lines = [
        "The places in their row; a dot is a free spot. Amid each, its shields: the",
        "numbers of their players, in order; the one in brackets takes first.",
    ]
    faces = [down["card"] for down in table["down"].values()]
    if None in faces:
        lines.append(f"{HIDDEN} is a card face down.")
    lines += [f"({card}) is a card face down that you know." for card in faces if card][:1]
    for start in range(0, len(places), across):
        lines += ["", *_row(table, places[start : start + across])]
    return lines


def _row(table: Plain, places: Sequence[int]) -> list[str]:
    heads, north, shields, south = ["    "], ["N   "], ["    "], ["S   "]
    for place in places:
        numbers = range(WIDE * place - 2, WIDE * place + 1)
        heads.append("".join(f"{number:^{CELL}}" for number in numbers))
        north.append("".join(f"{_spot(table, f'N{number}'):^{CELL}}" for number in numbers))
        south.append("".join(f"{_spot(table, f'S{number}'):^{CELL}}" for number in numbers))
        shields.append(f"{_stack(table['stacks'][str(place)]):^{WIDE * CELL}}")
    title = "    " + "  ".join(f"{f'PLACE {place}':^{WIDE * CELL}}" for place in places)
    return [title, *("".join([part[0], "| ".join(part[1:])]) for part in (heads, north, shields, south))]


def _spot(table: Plain, name: str) -> str:
    """Return what lies on a spot."""
    if name in table["down"]:
        card = table["down"][name]["card"]
        return f"({card})" if card else HIDDEN
    return str(table["cards"].get(name, "."))


def _stack(seats: Sequence[int]) -> str:
    return " ".join(f"({seat + 1})" if n == 0 else str(seat + 1) for n, seat in enumerate(seats)) or "-"


def _standings(table: Plain, called: Names) -> list[str]:
    """Return who takes what at each place, in scoring order."""
    lines = ["What the shields take as it stands (cards x strength), the lowest first:"]
    for place, stack in table["stacks"].items():
        takings = table["standings"].get(place, ())
        told = [f"{called[seat]} {strength * cards} ({cards}x{strength})" for seat, strength, cards in takings]
        told += [f"{called[seat]} nothing" for seat in stack[len(takings) :]]
        lines += _wrapped(f"  place {place}: ", [f"{one}," for one in told[:-1]] + (told[-1:] or ["no shields"]))
    return lines


def _players(view: View, called: Names) -> list[str]:
    """Return a line for each seat: its points, shields and cards; once the match is over, who wins."""
    table, outcome = view.table, view.outcome
    lines = ["Players:"]
    for seat, name in enumerate(called):
        points, shields, cards = table["points"][seat], table["shields"][seat], table["counts"][seat]
        line = f"  {seat + 1}. {name}: {_count(points, 'point')}, {_count(shields, 'shield')}"
        if outcome:
            line += ", wins" if seat in outcome.winners else ""
        else:
            line += f", {_count(cards, 'card')}{', plays last' if seat == table['last'] else ''}"
            line += ", to move" if seat in view.to_act else ""
        lines.append(line)
    return lines


def _hand(view: View) -> list[str]:
    """Return the viewer's own cards, each with the spots where it fits."""
    hand, fits = view.table["hand"], view.table["fits"]
    if not hand or view.outcome:
        return []
    lines = [f"Your hand, {_count(len(hand), 'card')}, and where each fits:"]
    for card in hand:
        lines += _wrapped(f"  {card}: ", fits[card] or ["nowhere"])
    if view.to_act == (view.viewer,) and not any(fits.values()):
        lines.append("None fits, so you lay one face down on any free spot.")
    return lines


def _left_over(table: Plain, called: Names) -> list[str]:
    """Return the cards that nobody laid."""
    lines = ["Cards left in the hands and never dealt:"]
    for name, hand in [*zip(called, table["hands"], strict=True), ("never dealt", table["undealt"])]:
        lines += _wrapped(f"  {name}: ", hand or ["none"])
    return lines


def _wrapped(start: str, parts: Sequence[str]) -> list[str]:
    """Return the parts behind `start` on as many lines as it takes, no part broken; names may be wide."""
    lines = [start]
    for part in parts:
        if columns(lines[-1]) + columns(part) > WIDTH:
            lines.append("      ")
        lines[-1] += part + " "
    return lines


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
