"""The games of this house, found by themselves: each sub-package here with a `GAME`, and installed plug-ins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from types import MappingProxyType

from engine.base import Game
from engine.language import gettext as _

PLUG_INS = "clachan.games"
"""The entry point group in which an installed package may name a `Game` object."""


class UnknownGame(KeyError):
    """There is no game of this kind. `str(error)` is one sentence that names those there are."""

    def __str__(self) -> str:
        """Return the sentence as it is; a KeyError would show it in quotes."""
        return str(self.args[0])


@cache
def games() -> Mapping[str, Game]:
    """Return every game by its kind, in alphabetical order. A game of the house is not replaced by a plug-in."""
    found: dict[str, Game] = {}
    for entry in entry_points(group=PLUG_INS):
        plug_in: Game = entry.load()
        found[plug_in.kind] = plug_in
    for module in iter_modules(__path__):
        if module.ispkg:
            own: Game | None = getattr(import_module(f"{__name__}.{module.name}"), "GAME", None)
            if own is not None:
                found[own.kind] = own
    return MappingProxyType(dict(sorted(found.items())))


def game(kind: str) -> Game:
    """Return the game of this kind. Raises `UnknownGame`."""
    known = games()
    if kind not in known:
        if not known:
            raise UnknownGame(_("There is no game called {name}; there are none.").format(name=repr(kind[:40])))
        sentence = _("There is no game called {name}; there are {games}.")
        raise UnknownGame(sentence.format(name=repr(kind[:40]), games=", ".join(known)))
    return known[kind]
