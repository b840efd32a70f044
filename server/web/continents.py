"""The names of the time zones in groups: five hundred in one row are too many to choose from."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple
from unicodedata import normalize

from babel import Locale
from babel.core import get_global
from babel.dates import get_timezone_location

from engine.language import gettext as _
from engine.language import later
from server import languages

_GROUPS: Final = {
    "Europe": later("Europe"),
    "America": later("America"),
    "Asia": later("Asia"),
    "Africa": later("Africa"),
    "Australia": later("Australia"),
    "Pacific": later("Pacific Ocean"),
    "Atlantic": later("Atlantic Ocean"),
    "Indian": later("Indian Ocean"),
    "Antarctica": later("Antarctica"),
}
_OTHERS: Final = later("Other names")
# What a city was called before; other names that mean the same zone are those of cities of their own.
_FORMER: Final = frozenset(
    {
        "Africa/Asmera",
        "America/Godthab",
        "Asia/Ashkhabad",
        "Asia/Calcutta",
        "Asia/Chungking",
        "Asia/Dacca",
        "Asia/Katmandu",
        "Asia/Macao",
        "Asia/Rangoon",
        "Asia/Saigon",
        "Asia/Thimbu",
        "Asia/Ujung_Pandang",
        "Asia/Ulan_Bator",
        "Atlantic/Faeroe",
        "Europe/Kiev",
        "Pacific/Enderbury",
        "Pacific/Ponape",
        "Pacific/Truk",
    }
)


class Zone(NamedTuple):
    """A zone to choose: its name, the place that is read, and other names of it that are not listed."""

    name: str
    place: str
    also: tuple[str, ...] = ()


def grouped(zones: Iterable[str]) -> list[tuple[str, list[Zone]]]:
    """Return the zones as pairs of a group's label and its zones, in the order of their places.

    Within a continent a zone is read as its city in the language spoken, `Europe/Prague` as Prague or Praha, and of
    several names for one city that of today is listed.
    """
    found: dict[str, list[str]] = {group: [] for group in (*_GROUPS, "")}
    for zone in zones:
        group, _slash, place = zone.partition("/")
        found[group if group in _GROUPS and place else ""].append(zone)
    locale = languages.locale()
    return [(_(_GROUPS.get(group, _OTHERS)), _listed(names, locale)) for group, names in found.items() if names]


def _listed(names: Iterable[str], locale: Locale) -> list[Zone]:
    """Return the zones of a group by the places that are read, each place once."""
    by_place: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda name: (_is_other(name), name)):
        by_place.setdefault(_place(name, locale), []).append(name)
    listed = [Zone(some[0], place, tuple(some[1:])) for place, some in by_place.items()]
    return sorted(listed, key=lambda zone: normalize("NFKD", zone.place.casefold()))


@cache
def _place(name: str, locale: Locale) -> str:
    """Return what is read of a zone."""
    group, _slash, place = name.partition("/")
    if group not in _GROUPS or not place:
        return name.replace("_", " ")
    if _is_other(name) and name not in _FORMER:
        return place.rpartition("/")[2].replace("_", " ")
    return get_timezone_location(name, locale=locale, return_city=True)


def _is_other(name: str) -> bool:
    """Whether the zone has a better known name."""
    return name in _FORMER or name in get_global("zone_aliases")
