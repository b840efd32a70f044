"""What stands on the Clans map in one position: huts, villages, and the marks of the places a move touched.

The order of the clans in a pile is that of `CLANS`. Everything drawn here is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import hypot
from typing import Any

from engine.base import View
from engine.games.clans.board import CLANS, INDEX, NUMERALS, TERRAIN, TERRITORIES
from engine.games.clans.geometry import ROOMS, SHAPES, number
from engine.games.clans.glyphs import CLAN_INKS, INK, PAPER, PREFIX
from engine.games.clans.room import Slots
from engine.language import gettext as _
from engine.language import ngettext, pgettext

Disc = tuple[float, float, float]  # the middle and the radius

_HUT = 116.0  # the units a drawn hut takes with its outlines


def territories(view: View) -> str:
    """Return the territories as targets for pointer and keyboard, each with its title, size and name."""
    huts, villages = view.table["huts"], _villages(view)
    sources = {move.partition("-")[0] for move in view.moves}
    label = escape(_("Territories"))
    return "".join(
        (
            f'<g class="territories" role="group" aria-label="{label}">',
            *(_territory(name, huts.get(name), villages.get(name), name in sources) for name in TERRITORIES),
            "</g>",
        )
    )


def pieces(view: View, marks: Sequence[str] = ()) -> str:
    """Return villages, huts and marks; `marks` are names of territories.

    None takes pointer events, and none is read out: the titles of the territories say it all.
    """
    villages = _villages(view)
    return "".join(
        (
            '<g class="pieces" pointer-events="none" aria-hidden="true">',
            *(_palisade(name) for name in villages),
            *(_outline(name) for name in TERRITORIES if name in marks),
            *(_huts(name, pile, name in villages) for name, pile in view.table["huts"].items()),
            *(_board(village) for village in villages.values()),
            _numbers(marks, _taken(view)),
            "</g>",
        )
    )


def title(name: str, pile: Sequence[int] | None, village: dict[str, Any] | None) -> str:
    """Return what a territory is and holds, in words: `A1, steppe: 2 red huts, 1 blue hut`."""
    held = [
        ngettext("{n} {clan} hut", "{n} {clan} huts", n).format(n=n, clan=_(clan))
        for n, clan in zip(pile or (), CLANS, strict=False)
        if n
    ]
    said = []
    if village:
        told = _("village of epoch {epoch}, value {value}")
        said.append(told.format(epoch=NUMERALS[village["epoch"] - 1], value=village["value"]))
    if held or not village:
        said.append(", ".join(held) or pgettext("territory", "empty"))
    return f"{name}, {_(TERRAIN[INDEX[name]])}: {'; '.join(said)}"


def _villages(view: View) -> dict[str, dict[str, Any]]:
    return {village["territory"]: village for village in view.table["villages"]}


def _territory(name: str, pile: Sequence[int] | None, village: dict[str, Any] | None, can_move: bool) -> str:
    x, y = ROOMS[INDEX[name]].centre
    classes = "territory" + (" can-move" if can_move else "") + (" village" if village else "")
    return (
        f'<g class="{classes}" role="img" id="t-{name}" data-territory="{name}" data-size="{sum(pile or ())}" '
        f'data-x="{number(x)}" data-y="{number(y)}">'
        f"<title>{escape(title(name, pile, village))}</title>"
        f'<use class="shape" href="#{PREFIX}shape-{name}" fill="#fff" fill-opacity="0"/></g>'
    )


def _huts(name: str, pile: Sequence[int], in_village: bool) -> str:
    """Return one hut for each clan present, with the number of its huts if there are several."""
    present = [(clan, count) for clan, count in zip(CLANS, pile, strict=True) if count]
    slots = _slots(name, len(present), in_village)
    standing = sorted(zip(slots.places, present, strict=True), key=lambda one: one[0][1])
    drawn = (_hut(clan, count, place, slots) for place, (clan, count) in standing)
    return f'<g class="huts" data-territory="{name}">{"".join(drawn)}</g>'


def _slots(name: str, clans: int, in_village: bool) -> Slots:
    """Return where the huts of so many clans stand."""
    room = ROOMS[INDEX[name]]
    return (room.village if in_village else room.huts)[clans - 1]


def _hut(clan: str, count: int, place: tuple[float, float], slots: Slots) -> str:
    """Return a hut at its place: its emblem large if it stands alone, small in the gable above the number if not."""
    scale = min(slots.size, 66) / _HUT
    inside = f'<use href="#{PREFIX}hut-{clan}"/>'
    if count == 1:
        inside += f'<use href="#{PREFIX}emblem-{clan}" y="23"/>'
    else:
        inside += f'<text y="46" fill="{CLAN_INKS[clan]}">{count}</text>'
    return (
        f'<g class="hut" data-clan="{clan}" font-size="70" text-anchor="middle" '
        f'transform="translate({number(place[0])} {number(place[1])}) scale({scale:.3f})">{inside}</g>'
    )


def _palisade(name: str) -> str:
    """Return the green of a village, its gate, and the stakes around: the territory's outline, drawn in a little."""
    room = ROOMS[INDEX[name]]
    inner = 0.9
    x, y = room.centre
    shape = (
        f'<use href="#{PREFIX}shape-{name}" transform="translate({number(x * (1 - inner))} {number(y * (1 - inner))}) '
        f'scale({inner})"'
    )
    return (
        f'<g class="palisade" data-territory="{name}">{shape} fill="#f4edc4" fill-opacity=".72" stroke="#3b2612" '
        f'stroke-width="11" stroke-linejoin="round"/>{shape} fill="none" stroke="#b98a4e" stroke-width="7.5" '
        f'stroke-dasharray="4.5 2.5"/><text x="{number(room.name[0])}" y="{number(room.name[1] + 7.5)}" font-size="23" '
        f'text-anchor="middle" fill="{INK}" stroke="{PAPER}" stroke-width="5" stroke-linejoin="round" '
        f'paint-order="stroke" aria-hidden="true">{name}</text>'
        f'<use href="#{PREFIX}gate" x="{number(room.board[0])}" y="{number(room.board[1] - 5)}"/></g>'
    )


def _board(village: dict[str, Any]) -> str:
    """Return the board at a village's gate: the epoch in Roman numerals, then the value."""
    x, y = ROOMS[INDEX[village["territory"]]].board
    return (
        f'<g class="board-sign" transform="translate({number(x)} {number(y - 5)})" font-size="22" text-anchor="middle">'
        f'<rect x="-31" y="-14" width="62" height="28" rx="5" fill="{PAPER}" stroke="{INK}" stroke-width="2.5"/>'
        f'<path d="M-29-7q0-5 5-5H1V12H-24q-5 0-5-5Z" fill="#6b4a22"/>'
        f'<text x="-14" y="7.5" fill="{PAPER}">{NUMERALS[village["epoch"] - 1]}</text>'
        f'<text x="15" y="8" font-size="25" fill="{INK}">{village["value"]}</text></g>'
    )


def _outline(name: str) -> str:
    """Return the ring around a marked territory, dark within light so that it shows on every ground."""
    shape = f'<use href="#{PREFIX}shape-{name}" fill="none" stroke-linejoin="round"'
    return (
        f'<g class="mark" data-territory="{name}">{shape} stroke="{PAPER}" stroke-width="12"/>'
        f'{shape} stroke="{INK}" stroke-width="5.5"/></g>'
    )


def _numbers(marks: Sequence[str], taken: list[Disc]) -> str:
    """Return the numbers of the marked places; a place marked twice shows both."""
    places: dict[str, list[int]] = {}
    for n, name in enumerate(marks, 1):
        if name in INDEX:
            places.setdefault(name, []).append(n)
    drawn = []
    for name, numbers in places.items():
        x, y = _free_place(name, taken)
        taken.append((x, y, 20))
        text = "·".join(map(str, numbers))
        wide = 18 + 5.5 * (len(text) - 1)
        drawn.append(
            f'<g class="mark-number" data-territory="{name}" transform="translate({number(x)} {number(y)})">'
            f'<rect x="{number(-wide)}" y="-18" width="{number(2 * wide)}" height="36" rx="18" fill="{INK}" '
            f'stroke="{PAPER}" stroke-width="3.5"/><text y="9.5" font-size="29" text-anchor="middle" '
            f'fill="{PAPER}">{text}</text></g>'
        )
    return "".join(drawn)


def _taken(view: View) -> list[Disc]:
    """Return discs over everything that a number must not hide: names, huts, boards of villages."""
    villages = _villages(view)
    discs: list[Disc] = [(*room.name, 13) for room in ROOMS]
    for name, pile in view.table["huts"].items():
        slots = _slots(name, sum(map(bool, pile)), name in villages)
        discs += [(x, y, slots.size * 0.45) for x, y in slots.places]
    for name in villages:
        x, y = ROOMS[INDEX[name]].board
        discs += [(x + dx, y - 5, 14) for dx in (-20, 0, 20)]
    return discs


def _free_place(name: str, taken: Sequence[Disc]) -> tuple[float, float]:
    """Return where a number stands: amid an empty territory, else where it hides least, rather inside than outside."""
    x, y = ROOMS[INDEX[name]].centre
    near = [disc for disc in taken if abs(disc[0] - x) + abs(disc[1] - y) < 220]
    # The middle, then points ever nearer to the border: none can have more than 20 for its room.
    found = (x, y)
    best = min(_room(x, y, near, -1000.0), 20) + 4
    for inward in (0.4, 0.2, 0.05):
        if best >= 20 + 4 * inward:
            break
        for a, b in SHAPES[INDEX[name]].points:
            across, down = a + inward * (x - a), b + inward * (y - b)
            room = _room(across, down, near, best - 4 * inward)
            if min(room, 20) + 4 * inward > best:
                best, found = min(room, 20) + 4 * inward, (across, down)
    return found


def _room(x: float, y: float, near: list[Disc], least: float) -> float:
    """Return how far it is to the nearest disc; something less as soon as it is no more than `least`."""
    room = 1000.0
    for n, (across, down, radius) in enumerate(near):
        room = min(room, hypot(x - across, y - down) - radius)
        if room <= least:
            # What is in the way here is in the way next to here.
            near.insert(0, near.pop(n))
            break
    return room
