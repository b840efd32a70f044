"""A view of Clans and Glory as plain text, for mails and terminals: at most 76 columns, nothing left out.

No line is one that `notation.parse` reads as a move, so that a quoted position in an answered mail is never played.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.base import Names, Plain, View, listed
from engine.games.glory.cards import SEPARATE, WIDE
from engine.language import gettext as _
from engine.language import ngettext, pgettext
from engine.plaintext import filled, shortened, wrapped

CELL = 5
HIDDEN = "##"


def text(view: View, names: Names) -> str:
    """Draw the whole view; `names` in seat order are shortened to 16 columns."""
    table = view.table
    called = [shortened(name) for name in names]
    parts = [_status(view, called), _board(table), _standings(table, called), _players(view, called), _hand(view)]
    if view.outcome:
        parts.append(_left_over(table, called))
    if table["options"]["row"] == SEPARATE:
        parts.append([_("At this table a card matches only at its own place.")])
    fitting = ([short.rstrip() for line in part for short in filled(line)] for part in parts if part)
    return "\n\n".join("\n".join(lines) for lines in fitting) + "\n"


def _status(view: View, called: Names) -> list[str]:
    if view.outcome:
        return [_("Clans and Glory. The match is over: {reason}.").format(reason=_(view.outcome.reason))]
    turns = view.table["turns"]
    said = ngettext(
        "Clans and Glory, {n} move left. To move: {waiting}.",
        "Clans and Glory, {n} moves left. To move: {waiting}.",
        turns,
    )
    # The dot of a name that is cut short is that of the sentence as well.
    waiting = listed([called[seat] for seat in view.to_act]).removesuffix(".") or _("nobody")
    return [said.format(n=turns, waiting=waiting)]


def _board(table: Plain) -> list[str]:
    """Return the places side by side, or in two rows of three if there are six."""
    places = range(1, table["places"] + 1)
    across = 4 if len(places) == 4 else 3
    legend = _(
        "The places in their row; a dot is a free spot. Amid each, its shields: the numbers of their players, in order;"
        " the one in brackets takes first."
    )
    lines = filled(legend, "")
    faces = [down["card"] for down in table["down"].values()]
    if None in faces:
        lines.append(_("{sign} is a card face down.").format(sign=HIDDEN))
    known = _("({card}) is a card face down that you know.")
    lines += [known.format(card=card) for card in faces if card][:1]
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
    titles = (_("PLACE {number}").format(number=place) for place in places)
    title = "    " + "  ".join(f"{one:^{WIDE * CELL}}" for one in titles)
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
    lines = [_("What the shields take as it stands (cards x strength), the lowest first:")]
    start, nothing = _("place {number}:"), _("{name} nothing")
    for place, stack in table["stacks"].items():
        takings = table["standings"].get(place, ())
        told = [f"{called[seat]} {strength * cards} ({cards}x{strength})" for seat, strength, cards in takings]
        told += [nothing.format(name=called[seat]) for seat in stack[len(takings) :]]
        parts = [f"{one}," for one in told[:-1]] + (told[-1:] or [_("no shields")])
        lines += wrapped(f"  {start.format(number=place)}", parts)
    return lines


def _players(view: View, called: Names) -> list[str]:
    """Return a line for each seat: its points, shields and cards; once the match is over, who wins."""
    table, outcome = view.table, view.outcome
    lines = [_("Players:")]
    for seat, name in enumerate(called):
        points, shields, cards = table["points"][seat], table["shields"][seat], table["counts"][seat]
        told = [
            ngettext("{n} point", "{n} points", points).format(n=points),
            ngettext("{n} shield", "{n} shields", shields).format(n=shields),
        ]
        if outcome:
            told += [_("wins")] if seat in outcome.winners else []
        else:
            told.append(ngettext("{n} card", "{n} cards", cards).format(n=cards))
            told += [_("plays last")] if seat == table["last"] else []
            told += [_("to move")] if seat in view.to_act else []
        lines.append(f"  {seat + 1}. {name}: {', '.join(told)}")
    return lines


def _hand(view: View) -> list[str]:
    """Return the viewer's own cards, each with the spots where it fits."""
    hand, fits = view.table["hand"], view.table["fits"]
    if not hand or view.outcome:
        return []
    count = len(hand)
    lines = [
        ngettext(
            "Your hand, {n} card, and where each fits:", "Your hand, {n} cards, and where each fits:", count
        ).format(n=count)
    ]
    for card in hand:
        lines += wrapped(f"  {card}:", fits[card] or [_("nowhere")])
    if view.to_act == (view.viewer,) and not any(fits.values()):
        lines.append(_("None fits, so you lay one face down on any free spot."))
    return lines


def _left_over(table: Plain, called: Names) -> list[str]:
    """Return the cards that nobody laid."""
    lines = [_("Cards left in the hands and never dealt:")]
    for name, hand in [*zip(called, table["hands"], strict=True), (_("never dealt"), table["undealt"])]:
        lines += wrapped(f"  {name}:", hand or [pgettext("cards", "none")])
    return lines
