"""A view of Clans as plain text, for mails and terminals: at most 76 columns, nothing left out.

No line is one that `notation.parse` reads as a move, so that a quoted position in an answered mail is never played.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from engine.base import Names, Plain, View
from engine.games.clans.board import CLANS, TERRAIN, TERRITORIES

WIDTH = 76
NAME_WIDTH = 16
LETTERS = "rbgyk"


def text(view: View, names: Names) -> str:
    """Draw the whole view; `names` in seat order are shortened to 16 columns."""
    table = view.table
    called = [_short(name) for name in names]
    parts = [
        _status(view, called),
        _board(table),
        _epochs(table),
        _villages(table, called),
        _clans(table),
        _players(view, called),
    ]
    if table["options"]["five_singles"] == "all_stay":
        parts.append(["At this table a village of one hut of each clan keeps them all."])
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
    table = view.table
    if view.outcome:
        return [f"Clans. The match is over: {view.outcome.reason}."]
    waiting = " and ".join(called[seat] for seat in view.to_act)
    return [f"Clans, epoch {table['epoch']} of 5, {table['open']} of 12 chips left. To move: {waiting}."]


def _board(table: Plain) -> list[str]:
    """Return the 60 territories by region: name, terrain, huts of each clan, a star for a village."""
    villages = {village["territory"] for village in table["villages"]}
    cells = []
    for name, terrain in zip(TERRITORIES, TERRAIN, strict=True):
        huts = zip(table["huts"].get(name, ()), LETTERS, strict=False)
        shown = "".join((str(count) if count > 1 else "") + letter for count, letter in huts if count)
        star = "*" if name in villages else ""
        cells.append(f"{name}{star} {terrain[0].upper()} {shown or '.'}")
    return [
        "Board: F forest, M mountain, S steppe, G grassland; a star marks a village;",
        "huts r red, b blue, g green, y yellow, k black: 2rk is two red, one black.",
        *_grid(cells, 5),
    ]


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


def _epochs(table: Plain) -> list[str]:
    lines = ["Epoch  chips taken  favourable (bonus)     hostile (0 points)"]
    for number, epoch in enumerate(table["epochs"], 1):
        good = epoch["favourable"][0] if len(epoch["favourable"]) == 1 else "every terrain"
        bad = epoch["hostile"][0] if epoch["hostile"] else "none"
        now = "<- now" if number == table["epoch"] else ""
        bonus = f"{good} (+{epoch['bonus']})"
        lines.append(f"  {number}    {epoch['done']} of {epoch['chips']}       {bonus:<22} {bad:<10} {now}")
    return lines


def _villages(table: Plain, called: Names) -> list[str]:
    """Return a line for each village: where, when, by whom, and what each of its clans scored."""
    lines = ["Villages, as they were founded:"] if table["villages"] else ["No village yet."]
    for number, village in enumerate(table["villages"], 1):
        clans = ", ".join(village["clans"]) or "nobody"
        lines.append(
            f"  {number:>2}. {village['territory']} epoch {village['epoch']} by {called[village['founder']]}:"
            f" {village['value']} to {clans}"
        )
    return lines


def _clans(table: Plain) -> list[str]:
    return ["Points of the clans: " + ", ".join(f"{clan} {table['clan_points'][clan]}" for clan in CLANS)]


def _players(view: View, called: Names) -> list[str]:
    """Return a line for each seat; once the match is over, with its clan and the sum that is its score."""
    table, outcome = view.table, view.outcome
    lines = ["Players:"]
    for seat, name in enumerate(called):
        chips = f"{table['chips'][seat]} chip" + ("" if table["chips"][seat] == 1 else "s")
        line = f"  {seat + 1}. {name}: {chips}"
        if outcome:
            clan = table["clans"][seat]
            line += f" + {table['clan_points'][clan]} for {clan} = {outcome.scores[seat]}"
            line += ", wins" if seat in outcome.winners else ""
        elif seat in view.to_act:
            line += ", to move"
        lines.append(line)
    if table["own_clan"] and not outcome:
        lines.append(f"Your secret clan: {table['own_clan']}")
    return lines
