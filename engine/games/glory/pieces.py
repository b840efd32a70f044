"""What lies on the table of Clans and Glory in one position: cards, shields, and the marks of what a move touched."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from engine.base import Plain, View
from engine.games.glory.cards import PLACE, SPOT, SPOTS, SPOTS_IN_PLAY, card_words
from engine.games.glory.glyphs import (
    BOX,
    GOLD,
    INK,
    PAPER,
    SHIELD,
    number,
    use,
)
from engine.games.glory.layout import MIDDLE, PLACE_WIDTH, STRIP, middle, place_left, shield_middle
from engine.language import gettext as _


def targets(view: View) -> str:
    """Return places and spots as targets for pointer and keyboard, each with its title."""
    goals = {move.split()[1] for move in view.moves}
    places = "".join(_place(view, place) for place in range(view.table["places"]))
    spots = "".join(_spot(view, SPOTS[spot], SPOTS[spot] in goals) for spot in SPOTS_IN_PLAY[view.seats])
    of_places, of_spots = escape(_("Places")), escape(_("Spots"))
    return (
        f'<g class="places" role="group" aria-label="{of_places}">{places}</g>'
        f'<g class="spots" role="group" aria-label="{of_spots}">{spots}</g>'
    )


def pieces(view: View, marks: Sequence[str] = ()) -> str:
    """Return cards, shields and marks; `marks` are touched spots and places.

    None takes pointer events, and none is read out: the titles of spots and places say it all.
    """
    table = view.table
    return "".join(
        (
            '<g class="pieces" pointer-events="none" aria-hidden="true">',
            *(_card(name, card) for name, card in table["cards"].items()),
            *(_down(name, down["card"]) for name, down in table["down"].items()),
            *(_stack(table, place) for place in range(table["places"])),
            _marks(table, marks),
            "</g>",
        )
    )


def spot_title(table: Plain, name: str) -> str:
    """Return what lies on a spot, in words: `N7: red 5`."""
    if name in table["cards"]:
        return f"{name}: {card_words(table['cards'][name])}"
    if name not in table["down"]:
        return _("{spot}: free").format(spot=name)
    player, card = table["down"][name]["seat"] + 1, table["down"][name]["card"]
    if card:
        said = _("{spot}: a card of player {number}, face down, {card}")
        return said.format(spot=name, number=player, card=card_words(card))
    return _("{spot}: a card of player {number}, face down").format(spot=name, number=player)


def place_title(table: Plain, place: int) -> str:
    """Return the shields of a place in order, and what each would take now."""
    stack, takings = table["stacks"][str(place)], table["standings"].get(str(place), [])
    told = []
    for n, seat in enumerate(stack):
        if n < len(takings):
            said = _("player {number} takes {points} ({n} of strength {strength})")
            strength, cards = takings[n][1:]
            told.append(said.format(number=seat + 1, points=strength * cards, n=cards, strength=strength))
        else:
            told.append(_("player {number} takes nothing").format(number=seat + 1))
    if not told:
        return _("Place {place}: no shields").format(place=place)
    return _("Place {place}: {takings}").format(place=place, takings=_("; then ").join(told))


def _place(view: View, place: int) -> str:
    left, top = place_left(place), MIDDLE - STRIP / 2
    name = place + 1
    return (
        f'<g class="place" role="img" id="p-{name}" data-place="{name}" data-x="{number(left + PLACE_WIDTH / 2)}" '
        f'data-y="{number(MIDDLE)}"><title>{escape(place_title(view.table, name))}</title><rect class="shape" '
        f'x="{number(left)}" y="{number(top)}" width="{PLACE_WIDTH}" height="{STRIP}" rx="16" fill="#fff" '
        'fill-opacity="0"/></g>'
    )


def _spot(view: View, name: str, goal: bool) -> str:
    """Return a spot: the shape over it that takes the pointer."""
    x, y = middle(SPOT[name])
    free = name not in view.table["cards"] and name not in view.table["down"]
    classes = "spot" + (" free" if free else "") + (" can-move" if goal else "")
    return (
        f'<g class="{classes}" role="img" id="s-{name}" data-spot="{name}" data-place="{PLACE[SPOT[name]] + 1}" '
        f'data-x="{number(x)}" data-y="{number(y)}" transform="translate({number(x)} {number(y)})">'
        f'<title>{escape(spot_title(view.table, name))}</title><rect class="shape" {BOX} fill="#fff" fill-opacity="0"/>'
        "</g>"
    )


def _card(name: str, card: str) -> str:
    x, y = middle(SPOT[name])
    return (
        f'<g class="card" data-spot="{name}" data-card="{card}" transform="translate({number(x)} {number(y)})">'
        f"{_shadow()}{use(f'card-{card}')}</g>"
    )


def _down(name: str, card: str | None) -> str:
    """Return a card face down; whoever may know it sees its corner turned up."""
    x, y = middle(SPOT[name])
    corner = ""
    if card:
        corner = (
            f'<path d="M-45-36V-56Q-45-65-36-65H8L-6-36Z" fill="{PAPER}" stroke="{INK}" stroke-width="1.6"/>'
            f'<path d="M8-65L-6-36Q2-42 13-40Z" fill="#d8c9a4" stroke="{INK}" stroke-width="1.4" '
            f'stroke-linejoin="round"/><text x="-23" y="-42" font-size="27" text-anchor="middle" '
            f'fill="{INK}">{card}</text>'
        )
    return (
        f'<g class="card down" data-spot="{name}" transform="translate({number(x)} {number(y)})">'
        f"{_shadow()}{use('back')}{corner}</g>"
    )


def _shadow() -> str:
    return f'<rect {BOX} fill="#3a3420" fill-opacity=".35" transform="translate(2 4)"/>'


def _stack(table: Plain, place: int) -> str:
    """Return the shields of a place in order, the first placed with its banner, each with what it would take now."""
    name = str(place + 1)
    stack, takings = table["stacks"][name], table["standings"].get(name, [])
    drawn, first_words = [], escape(_("1st"))
    for n in reversed(range(len(stack))):
        x, y = shield_middle(place, n, len(stack))
        gain = takings[n][1] * takings[n][2] if n < len(takings) else 0
        first = (
            f'<circle r="{SHIELD + 3.5}" fill="none" stroke="{INK}" stroke-width="6"/>'
            f'<circle r="{SHIELD + 3.5}" fill="none" stroke="{GOLD}" stroke-width="3.4"/>'
            if n == 0
            else ""
        )
        banner = (
            f'<path d="M-22-48H22L17-39 22-30H-22L-17-39Z" fill="{GOLD}" stroke="{INK}" stroke-width="1.6" '
            f'stroke-linejoin="round"/><text y="-32.5" font-size="20" text-anchor="middle" '
            f'fill="{INK}">{first_words}</text>'
            if n == 0
            else ""
        )
        drawn.append(
            f'<g class="shield{" first" if n == 0 else ""}" data-place="{name}" data-seat="{stack[n]}" '
            f'transform="translate({number(x)} {number(y)})"><circle r="{SHIELD}" cx="2" cy="4" fill="#3a3420" '
            f'fill-opacity=".4"/>{first}{use(f"shield-{stack[n] + 1}")}{banner}{_gain(gain)}</g>'
        )
    return f'<g class="stack" data-place="{name}">{"".join(drawn)}</g>' if drawn else ""


def _gain(points: int) -> str:
    """Return the tag beneath a shield."""
    ground, ink = (PAPER, INK) if points else ("#d9d2b4", "#5b5340")
    return (
        f'<g class="gain" transform="translate(0 45)"><rect x="-18" y="-13" width="36" height="26" rx="7" '
        f'fill="{ground}" stroke="{INK}" stroke-width="1.4"/>'
        f'<text y="7.5" font-size="23" text-anchor="middle" fill="{ink}">{points}</text></g>'
    )


def _marks(table: Plain, marks: Sequence[str]) -> str:
    """Return a ring around each touched card or shield, and the numbers of the marks in order."""
    numbers: dict[str, list[int]] = {}
    for n, mark in enumerate(marks, 1):
        numbers.setdefault(mark, []).append(n)
    return "".join(_mark(table, mark, "·".join(map(str, some))) for mark, some in numbers.items())


def _mark(table: Plain, mark: str, text: str) -> str:
    """Return the mark of a spot or of the newest shield of a place: dark within light, to show on every ground."""
    if mark in SPOT:
        x, y = middle(SPOT[mark])
        shape = f'<rect {BOX} fill="none"'
        at, where = (31, -65), f'data-spot="{mark}"'
    elif table["stacks"].get(mark.removeprefix("place ")):
        place = int(mark.removeprefix("place ")) - 1
        count = len(table["stacks"][str(place + 1)])
        x, y = shield_middle(place, count - 1, count)
        shape = f'<circle r="{SHIELD + 1}" fill="none"'
        at, where = (27, -12), f'data-place="{place + 1}"'
    else:
        return ""
    wide = 15 + 5 * (len(text) - 1)
    return (
        f'<g class="mark" {where} transform="translate({number(x)} {number(y)})">{shape} stroke="{PAPER}" '
        f'stroke-width="9"/>{shape} stroke="{INK}" stroke-width="4.5"/>'
        f'<g class="mark-number" transform="translate({at[0]} {at[1]})">'
        f'<rect x="{-wide}" y="-15" width="{2 * wide}" height="30" rx="15" fill="{INK}" stroke="{PAPER}" '
        f'stroke-width="3"/><text y="8" font-size="25" text-anchor="middle" fill="{PAPER}">{text}</text></g></g>'
    )
