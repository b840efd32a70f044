"""A table's time rule: how long a move may take, when clocks stand still, and what happens to who is out of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from engine import counting
from engine.base import listed

HOUR: Final = 3600
DAY: Final = 24 * HOUR
RANGES: Final = {
    "move": (HOUR, 60 * DAY),
    "bank": (HOUR, 90 * DAY),
    "increment": (60, 60 * DAY),
    "cap": (HOUR, 90 * DAY),
}
"""The least and most seconds of each; 0 for none is always possible."""
MISSING: Final = ("bot", "at-once", "loss", "vote")
MOST_MISSES: Final = 5

_CALLED = {
    "move": "The time for each move",
    "bank": "The time bank",
    "increment": "What a move adds to the time bank",
    "cap": "The most in the time bank",
}
_SORTS = {int: "a whole number", bool: "true or false", str: "a text"}
_COUNT = ("", "one", "two", "three", "four", "five")


class WrongRule(Exception):
    """A time rule that no table can have. `str(error)` is one sentence."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A table's time rule. Raises `WrongRule` for one that cannot be.

    `move` is the seconds for each move, `bank` those of the time bank at the start: a move that takes longer is charged
    to the bank. Every own move then adds `increment` to it, which never raises it above `cap` (0: as high as it gets).
    With neither `move` nor `bank` there is no limit.

    Saturday and Sunday do not count if `weekend`, nor do the hours that each player may name if `nights`, both in his
    own zone. With `daily`, such as "18:00 Europe/Prague", a deadline moves on to the next such instant just before
    which the clock runs. `vacations` says whether they stop clocks.

    `missing` is what becomes of who is out of time: "bot" (a simple move is made for him, and after `misses` in a row
    a bot takes the seat over), "at-once" (a bot takes it over), "loss", or "vote" (the others decide). `takeback` says
    whether moves may be taken back.
    """

    move: int = 0
    bank: int = 0
    increment: int = 0
    cap: int = 0
    weekend: bool = False
    nights: bool = False
    daily: str = ""
    vacations: bool = True
    missing: str = "bot"
    misses: int = 2
    takeback: bool = True

    def __post_init__(self) -> None:
        """Refuse what no table can have."""
        fault = _fault_of_one(self) or _fault_together(self)
        if fault:
            raise WrongRule(fault)

    @property
    def limitless(self) -> bool:
        """Whether nobody is ever out of time."""
        return self.move == self.bank == 0


_DEFAULTS: Final[dict[str, Any]] = {each.name: each.default for each in fields(Rule)}


def rule(found: Mapping[str, object]) -> Rule:
    """Return the time rule with these values, the rest being as usual. Raises `WrongRule`."""
    if not isinstance(found, Mapping):
        raise WrongRule("A time rule is an object of names and values.")
    for name in found:
        if name not in _DEFAULTS:
            raise WrongRule(f"A time rule has nothing called {str(name)[:40]!r}.")
    values: dict[str, Any] = dict(found)
    return Rule(**values)


def plain(found: Rule) -> dict[str, Any]:
    """Return what of the rule is not as usual, as `rule` reads it."""
    values = {name: getattr(found, name) for name in _DEFAULTS}
    return {name: value for name, value in values.items() if value != _DEFAULTS[name]}


def sentence(found: Rule) -> str:
    """Return the whole rule as one sentence."""
    parts = [_time(found)]
    if not found.limitless:
        parts += [_stops(found), _days(found), _missing(found)]
    if not found.takeback:
        parts.append("no move is taken back")
    return "; ".join(part for part in parts if part) + "."


def length(seconds: int) -> str:
    """Return a length of time in words, exactly: 1 day 12 hours."""
    parts = []
    for unit, size in (("day", DAY), ("hour", HOUR), ("minute", 60), ("second", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {unit}{'' if count == 1 else 's'}")
    return " ".join(parts)


def _fault_of_one(found: Rule) -> str:
    """Return what is wrong with one value by itself, or nothing."""
    for name, default in _DEFAULTS.items():
        if type(getattr(found, name)) is not type(default):
            return f"{name!r} of a time rule is {_SORTS[type(default)]}."
    for name, (least, most) in RANGES.items():
        value = getattr(found, name)
        if value and not least <= value <= most:
            return f"{_CALLED[name]} is none or from {length(least)} to {length(most)}."
    if found.missing not in MISSING:
        return f"What becomes of who is out of time is one of {', '.join(MISSING)}."
    if not 1 <= found.misses <= MOST_MISSES:
        return f"A bot takes a seat over after 1 to {MOST_MISSES} missed moves in a row."
    if found.daily:
        try:
            counting.daily(found.daily)
        except ValueError as error:
            return str(error)
    return ""


def _fault_together(found: Rule) -> str:
    """Return why values do not go together, or nothing."""
    if found.limitless and (found.increment or found.cap or found.weekend or found.nights or found.daily):
        return "Where neither moves nor the match have a limit, nothing else can be said about time."
    if found.cap and not found.increment:
        return "Only a time bank that grows needs a most."
    if found.cap and found.cap < found.bank:
        return "The most in the time bank is less than what is in it at the start."
    if found.daily and found.nights:
        return "Deadlines at one time of the day may lie in somebody's night, so there are no nightly hours with them."
    return ""


def _time(found: Rule) -> str:
    if found.limitless:
        return "No time limit"
    grows = f" that grows by {length(found.increment)} with each own move" if found.increment else ""
    grows += f", up to {length(found.cap)}" if found.cap else ""
    if not found.move:
        return f"A time bank of {length(found.bank)} for all moves together{',' * bool(grows)}{grows}"
    each = f"{length(found.move)} for each move"
    if found.bank:
        return f"{each} and beside it a time bank of {length(found.bank)}{grows}"
    return f"{each} and beside it a time bank, empty at first,{grows}" if grows else each


def _stops(found: Rule) -> str:
    still = []
    if found.weekend:
        still.append("on Saturdays and Sundays in each player's time zone")
    if found.nights:
        still.append("in the nightly hours that each player may name")
    if found.vacations:
        still.append("during vacations")
    if not still:
        return "vacations do not stop the clock"
    but = "" if found.vacations else ", but not during vacations"
    return f"the clock stands still {listed(still)}{but}"


def _days(found: Rule) -> str:
    if not found.daily:
        return ""
    clock, _, place = found.daily.partition(" ")
    return f"a deadline is always at {clock} in the time zone {place}"


def _missing(found: Rule) -> str:
    if found.missing == "at-once":
        return "who runs out of time has his seat taken over by a bot"
    if found.missing == "loss":
        return "who runs out of time loses"
    if found.missing == "vote":
        return "when somebody runs out of time the others decide what becomes of him"
    moved = "who runs out of time has a simple move played for him"
    if found.misses == 1:
        return f"{moved}, and a bot takes the seat over"
    return f"{moved}, and after {_COUNT[found.misses]} in a row a bot takes the seat over"
