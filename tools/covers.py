"""Draw what pages show of the games as files, in static/games/<kind>/.

The cover comes from a recorded match at half-time. The mark stands for the game in lists. The ground is what lies
beneath the pieces of every match, where it is the same in all of them: so it is sent once and not with every page.
"""

from __future__ import annotations

from pathlib import Path

from engine import games, record, replay
from engine.base import Game, View
from engine.games.clans import glyphs as clans
from engine.games.glory import glyphs as glory
from server import signs

ROOT = Path(__file__).parent.parent
RECORDS = ROOT / "tests" / "records"
COVERED = {"clans": "clans-09.json", "glory": "glory-01.json"}
GROUNDED = ("clans",)


def path(kind: str, name: str) -> Path:
    """Return where a drawing of a game is."""
    return ROOT / "server" / "static" / "games" / kind / f"{name}.svg"


def cover(game: Game) -> str:
    """Return the drawing: what a spectator saw when half of the moves were made."""
    return signs.lettered(game.picture(_half_time(game)), game.kind) + "\n"


def ground(game: Game) -> str:
    """Return the drawing beneath the pieces."""
    return signs.lettered(game.picture(_half_time(game), (), "ground"), game.kind) + "\n"


def mark(kind: str) -> str:
    """Return the drawing that stands for a game in lists: two huts, or a card with a shield on it."""
    inner = {"clans": _huts, "glory": _card_and_shield}[kind]()
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64">{inner}</svg>\n'


def _huts() -> str:
    standing = (("green", 44, 20, 0.26), ("blue", 17, 24, 0.26), ("red", 31, 40, 0.36))
    return '<circle cx="32" cy="32" r="31" fill="#dfe8ae" stroke="#2b2118" stroke-width="2"/>' + "".join(
        f'<g transform="translate({x} {y}) scale({size})">{clans.hut(clan)}<g transform="translate(0 23)">'
        f"{clans.emblem(clan)}</g></g>"
        for clan, x, y, size in standing
    )


def _card_and_shield() -> str:
    tartan = glory.CLOTHS["B"]
    bands = "".join(
        f'<path d="M{12 + start * 1.1:.1f} 5h{width * 1.1:.1f}v52h-{width * 1.1:.1f}ZM10 {6 + start * 1.1:.1f}h34v'
        f'{width * 1.1:.1f}h-34Z" fill="{colour}" fill-opacity="{opacity}"/>'
        for repeat in range(4)
        for start, width, colour, opacity in ((s + repeat * 13.7, w, c, o) for s, w, c, o in tartan.bands)
        if start < 44
    )
    return (
        f'<clipPath id="card"><rect x="10" y="5" width="34" height="52" rx="4"/></clipPath>'
        f'<rect x="8" y="3" width="38" height="56" rx="6" fill="{glory.PAPER}" stroke="{glory.INK}" stroke-width="2"/>'
        f'<g clip-path="url(#card)"><rect x="10" y="5" width="34" height="52" fill="{tartan.ground}"/>{bands}</g>'
        f'<g transform="translate(43 42) scale(.68)">{glory.shield(0)}</g>'
    )


def _half_time(game: Game) -> View:
    found = record.load((RECORDS / COVERED[game.kind]).read_bytes())
    rows = record.rows_of(found)
    half = rows[: len(rows) // 2]
    position = replay.replay(game, found["setup"], len(found["players"]), found["options"], half)
    return game.view(position.state, None, None)


def main() -> None:
    """Draw them all."""
    for kind in COVERED:
        path(kind, "mark").write_text(mark(kind), encoding="utf-8")
        path(kind, "cover").write_text(cover(games.game(kind)), encoding="utf-8")
    for kind in GROUNDED:
        path(kind, "ground").write_text(ground(games.game(kind)), encoding="utf-8")


if __name__ == "__main__":
    main()
