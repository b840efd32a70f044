"""A view of Clans as plain text, for mails and terminals: at most 76 columns, nothing left out.

No line is one that `notation.parse` reads as a move, so that a quoted position in an answered mail is never played.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.base import Names, Plain, View, listed
from engine.games.clans.board import CLANS, NUMERALS, TERRAIN, TERRITORIES
from engine.language import gettext as _
from engine.language import ngettext, pgettext
from engine.plaintext import WIDTH, filled, shortened, table

LEAST = (5, 11, 21, 9, 0)
"""How wide the columns of the epochs are at least."""
LETTERS = "rbgyk"


def text(view: View, names: Names) -> str:
    """Draw the whole view; `names` in seat order are shortened to 16 columns."""
    called = [shortened(name) for name in names]
    parts = [
        _status(view, called),
        _board(view.table),
        _epochs(view.table),
        _villages(view.table, called),
        _clans(view.table),
        _players(view, called),
    ]
    if view.table["options"]["five_singles"] == "all_stay":
        parts.append([_("At this table a village of one hut of each clan keeps them all.")])
    fitting = ([short.rstrip() for line in part for short in filled(line)] for part in parts if part)
    return "\n\n".join("\n".join(lines) for lines in fitting) + "\n"


def _status(view: View, called: Names) -> list[str]:
    if view.outcome:
        return [_("Clans. The match is over: {reason}.").format(reason=_(view.outcome.reason))]
    if not view.to_act:
        return [_("Clans. No move is left.")]
    # The dot of a name that is cut short is that of the sentence as well.
    waiting = listed([called[seat] for seat in view.to_act]).removesuffix(".")
    said = _("Clans, epoch {epoch} of V, {open} of 12 chips left. To move: {waiting}.")
    return [said.format(epoch=NUMERALS[view.table["epoch"] - 1], open=view.table["open"], waiting=waiting)]


def _board(table: Plain) -> list[str]:
    """Return the 60 territories by region: name, terrain, huts of each clan, a star for a village."""
    villages = {village["territory"] for village in table["villages"]}
    cells = []
    for name, terrain in zip(TERRITORIES, TERRAIN, strict=True):
        huts = zip(table["huts"].get(name, ()), LETTERS, strict=False)
        shown = "".join((str(count) if count > 1 else "") + letter for count, letter in huts if count)
        star = "*" if name in villages else ""
        cells.append(f"{name}{star} {terrain[0].upper()} {shown or '.'}")
    legend = _(
        "Board: F forest, M mountain, S steppe, G grassland; a star marks a village; huts r red, b blue, g green, y"
        " yellow, k black: 2rk is two red, one black."
    )
    return [*filled(legend, ""), *_grid(cells, 5)]


def _grid(cells: Sequence[str], across: int) -> list[str]:
    """Return the regions in columns, each region on one line, or on two if some piles take too much room."""
    widths = [2 + max(len(cell) for cell in cells[column::5]) for column in range(5)]
    if across == 5 and sum(widths) > WIDTH:
        return _grid(cells, 3)
    lines = []
    for start in range(0, len(cells), 5):
        region = [cell.ljust(width) for cell, width in zip(cells[start : start + 5], widths, strict=True)]
        lines += [f"  {''.join(region[:across])}", f"    {''.join(region[across:])}"][: 1 if across == 5 else 2]
    return lines


def _epochs(found: Plain) -> list[str]:
    rows = [[_("Epoch"), _("chips taken"), _("favourable (bonus)"), _("hostile (0 points)")]]
    for number, epoch in enumerate(found["epochs"], 1):
        good = _(epoch["favourable"][0]) if len(epoch["favourable"]) == 1 else _("every terrain")
        bad = _(epoch["hostile"][0]) if epoch["hostile"] else pgettext("terrain", "none")
        taken = _("{done} of {chips}").format(done=epoch["done"], chips=epoch["chips"])
        now = _("<- now") if number == found["epoch"] else ""
        rows.append([f"  {NUMERALS[number - 1]}", taken, f"{good} (+{epoch['bonus']})", bad, now])
    return table(rows, LEAST)


def _villages(table: Plain, called: Names) -> list[str]:
    """Return a line for each village: where, when, by whom, and what each of its clans scored."""
    lines = [_("Villages, as they were founded:") if table["villages"] else _("No village yet.")]
    for number, village in enumerate(table["villages"], 1):
        if village["clans"]:
            said = _("{place} epoch {epoch} by {founder}: {value} to {clans}")
        else:
            said = _("{place} epoch {epoch} by {founder}: {value} to nobody")
        told = said.format(
            place=village["territory"],
            epoch=NUMERALS[village["epoch"] - 1],
            founder=called[village["founder"]],
            value=village["value"],
            clans=", ".join(_(clan) for clan in village["clans"]),
        )
        lines.append(f"  {number:>2}. {told}")
    return lines


def _clans(table: Plain) -> list[str]:
    points = ", ".join(f"{_(clan)} {table['clan_points'][clan]}" for clan in CLANS)
    return [_("Points of the clans: {points}").format(points=points)]


def _players(view: View, called: Names) -> list[str]:
    """Return a line for each seat; once the match is over, with its clan and the sum that is its score."""
    own = view.table["own_clan"]
    lines = [_("Players:"), *(f"  {seat + 1}. {_player(view, seat, name)}" for seat, name in enumerate(called))]
    if own and not view.outcome:
        lines.append(_("Your secret clan: {clan}").format(clan=_(own)))
    return lines


def _player(view: View, seat: int, name: str) -> str:
    number, outcome = view.table["chips"][seat], view.outcome
    chips = ngettext("{n} chip", "{n} chips", number).format(n=number)
    if outcome is None:
        said = _("{name}: {chips}, to move") if seat in view.to_act else "{name}: {chips}"
        return said.format(name=name, chips=chips)
    if seat in outcome.winners:
        said = _("{name}: {chips} + {points} for {clan} = {score}, wins")
    else:
        said = _("{name}: {chips} + {points} for {clan} = {score}")
    clan = view.table["clans"][seat]
    points, score = view.table["clan_points"][clan], outcome.scores[seat]
    return said.format(name=name, chips=chips, points=points, clan=_(clan), score=score)
