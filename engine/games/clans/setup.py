"""What chance decides in Clans: the deal, and the first position made of it. Source: the rule sheet, section Setup."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.base import InvalidSetup, Option, Plain, Stream
from engine.games.clans.board import CLANS, INDEX, LAND, REGIONS, TERRITORIES
from engine.games.clans.rules import ALL_LEAVE, ALL_STAY, HUT, NUMBER, State, Table
from engine.language import gettext as _

SEAT_COUNTS = range(2, 5)
KEYS = {"huts", "clans", "first"}
PILES = dict(zip(CLANS, HUT, strict=True))
"""The pile of one hut, by the name of its clan."""
ONE_OF_EACH = sum(HUT)
"""What the piles of a region come to; no other five do."""


def options() -> tuple[Option, ...]:
    """Return the rules that a table may choose."""
    choices = ((ALL_LEAVE, _("all huts leave and nobody scores")), (ALL_STAY, _("all huts stay and score")))
    return (Option("five_singles", _("A village of one hut of each clan"), choices),)


def deal(stream: Stream, seats: int) -> Plain:
    """Return a setup drawn from the stream: `huts` (territory to clan), `clans` (by seat) and `first` (a seat).

    The order of the draws is part of docs/fair-deal.md: the regions A to L, the secret clans, the start seat.
    """
    huts: dict[str, str] = {}
    for region in REGIONS:
        names = (f"{region}{number}" for number in range(1, 6))
        huts.update(zip(names, stream.shuffled(CLANS), strict=True))
    return {"huts": huts, "clans": stream.shuffled(CLANS)[:seats], "first": stream.below(seats)}


def begin(setup: Plain, seats: int, options: Mapping[str, str]) -> State:
    """Return the first position. Raises `InvalidSetup` for anything that is not a setup for so many seats."""
    if seats not in SEAT_COUNTS:
        raise InvalidSetup(_("Clans is for 2 to 4 players, not {n}.").format(n=seats))
    five_singles = _option(options)
    if not isinstance(setup, dict) or set(setup) != KEYS:
        raise InvalidSetup(_("A setup of Clans has huts, clans and first, and nothing else."))
    huts = _huts(setup["huts"])
    clans = _clans(setup["clans"], seats)
    first = setup["first"]
    if type(first) is not int or not 0 <= first < seats:
        raise InvalidSetup(_("The start seat must be a number from 0 to {last}.").format(last=seats - 1))
    following = tuple(((seat + 1) % seats,) for seat in range(seats))
    return State(
        table=Table(clans, five_singles, following),
        huts=huts,
        occupied=LAND,
        settled=0,
        points=(0,) * len(CLANS),
        chips=(0,) * seats,
        villages=(),
        to_act=(first,),
    )


def _option(options: Any) -> str:
    """Return the value of `five_singles`; there is no other option."""
    if not isinstance(options, Mapping):
        raise InvalidSetup(_("Options must be names with values."))
    for name, value in options.items():
        if name != "five_singles":
            raise InvalidSetup(_("Clans has no such option; it has five_singles."))
        if value not in (ALL_LEAVE, ALL_STAY):
            raise InvalidSetup(_("The option five_singles must be all_leave or all_stay."))
    return str(options.get("five_singles", ALL_LEAVE))


def _huts(huts: Any) -> tuple[int, ...]:
    """Return the first piles: one hut on each territory, one of each clan in each region."""
    if not isinstance(huts, dict) or huts.keys() != INDEX.keys():
        raise InvalidSetup(_("There must be one hut on each of the 60 territories A1 to L5, and nowhere else."))
    held = (huts[name] for name in TERRITORIES)
    piles = tuple(PILES.get(clan, 0) if isinstance(clan, str) else 0 for clan in held)
    for number, region in enumerate(REGIONS):
        if sum(piles[5 * number : 5 * number + 5]) != ONE_OF_EACH:
            why = _("Region {region} must have one hut of each of the five clans.")
            raise InvalidSetup(why.format(region=region))
    return piles


def _clans(clans: Any, seats: int) -> tuple[int, ...]:
    """Return the secret clan of each seat as places in `CLANS`."""
    if not isinstance(clans, list) or len(clans) != seats:
        raise InvalidSetup(_("Each seat must have one secret clan."))
    if not all(isinstance(clan, str) and clan in CLANS for clan in clans):
        raise InvalidSetup(_("The clans are red, blue, green, yellow and black."))
    if len(set(clans)) != seats:
        raise InvalidSetup(_("No two seats may have the same secret clan."))
    return tuple(NUMBER[clan] for clan in clans)
