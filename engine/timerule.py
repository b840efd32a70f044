"""A table's time rule: how long a move may take, when clocks stand still, and what happens to who is out of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from engine import counting
from engine.base import listed
from engine.language import gettext as _
from engine.language import later, ngettext

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
    "move": later("The time for each move"),
    "bank": later("The time bank"),
    "increment": later("What a move adds to the time bank"),
    "cap": later("The most in the time bank"),
}
_SORTS: Final[dict[type, str]] = {
    int: later("{name} of a time rule is a whole number."),
    bool: later("{name} of a time rule is true or false."),
    str: later("{name} of a time rule is a text."),
}
_MOVED: Final = (
    "",
    later("who runs out of time has a simple move played for him, and a bot takes the seat over"),
    later("who runs out of time has a simple move played for him, and after two in a row a bot takes the seat over"),
    later("who runs out of time has a simple move played for him, and after three in a row a bot takes the seat over"),
    later("who runs out of time has a simple move played for him, and after four in a row a bot takes the seat over"),
    later("who runs out of time has a simple move played for him, and after five in a row a bot takes the seat over"),
)
"""What becomes of who is out of time, by the number of moves after which a bot comes."""


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
        raise WrongRule(_("A time rule is an object of names and values."))
    for name in found:
        if name not in _DEFAULTS:
            raise WrongRule(_("A time rule has nothing called {name}.").format(name=repr(str(name)[:40])))
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
        parts.append(_("no move is taken back"))
    return "; ".join(part for part in parts if part) + "."


def length(seconds: int) -> str:
    """Return a length of time in words, exactly: 1 day 12 hours."""
    days, seconds = divmod(seconds, DAY)
    hours, seconds = divmod(seconds, HOUR)
    minutes, seconds = divmod(seconds, 60)
    parts = (
        ngettext("{n} day", "{n} days", days).format(n=days) if days else "",
        ngettext("{n} hour", "{n} hours", hours).format(n=hours) if hours else "",
        ngettext("{n} minute", "{n} minutes", minutes).format(n=minutes) if minutes else "",
        ngettext("{n} second", "{n} seconds", seconds).format(n=seconds) if seconds else "",
    )
    return " ".join(part for part in parts if part)


def _fault_of_one(found: Rule) -> str:
    """Return what is wrong with one value by itself, or nothing."""
    for name, default in _DEFAULTS.items():
        if type(getattr(found, name)) is not type(default):
            return _(_SORTS[type(default)]).format(name=repr(name))
    for name, (least, most) in RANGES.items():
        value = getattr(found, name)
        if value and not least <= value <= most:
            return _("{what} is none or from {least} to {most}.").format(
                what=_(_CALLED[name]), least=length(least), most=length(most)
            )
    if found.missing not in MISSING:
        return _("What becomes of who is out of time is one of {codes}.").format(codes=", ".join(MISSING))
    if not 1 <= found.misses <= MOST_MISSES:
        return _("A bot takes a seat over after 1 to {most} missed moves in a row.").format(most=MOST_MISSES)
    if found.daily:
        try:
            counting.daily(found.daily)
        except ValueError as error:
            return str(error)
    return ""


def _fault_together(found: Rule) -> str:
    """Return why values do not go together, or nothing."""
    if found.limitless and (found.increment or found.cap or found.weekend or found.nights or found.daily):
        return _("Where neither moves nor the match have a limit, nothing else can be said about time.")
    if found.cap and not found.increment:
        return _("Only a time bank that grows needs a most.")
    if found.cap and found.cap < found.bank:
        return _("The most in the time bank is less than what is in it at the start.")
    if found.daily and found.nights:
        return _(
            "Deadlines at one time of the day may lie in somebody's night, so there are no nightly hours with them."
        )
    return ""


def _time(found: Rule) -> str:
    facts = {
        "move": length(found.move),
        "bank": length(found.bank),
        "increment": length(found.increment),
        "cap": length(found.cap),
    }
    if found.limitless:
        said = _("No time limit")
    elif not found.move:
        said = _time_of_bank(found)
    elif found.bank:
        said = _time_and_bank(found)
    elif not found.increment:
        said = _("{move} for each move")
    elif not found.cap:
        said = _(
            "{move} for each move and beside it a time bank, empty at first, that grows by {increment} with each own"
            " move"
        )
    else:
        said = _(
            "{move} for each move and beside it a time bank, empty at first, that grows by {increment} with each own"
            " move, up to {cap}"
        )
    return said.format(**facts)


def _time_of_bank(found: Rule) -> str:
    """Return how to say that there is a time bank and nothing beside it."""
    if not found.increment:
        return _("A time bank of {bank} for all moves together")
    if not found.cap:
        return _("A time bank of {bank} for all moves together, that grows by {increment} with each own move")
    return _("A time bank of {bank} for all moves together, that grows by {increment} with each own move, up to {cap}")


def _time_and_bank(found: Rule) -> str:
    """Return how to say that there is a time for each move and a bank with something in it at the start."""
    if not found.increment:
        return _("{move} for each move and beside it a time bank of {bank}")
    if not found.cap:
        return _(
            "{move} for each move and beside it a time bank of {bank} that grows by {increment} with each own move"
        )
    return _(
        "{move} for each move and beside it a time bank of {bank} that grows by {increment} with each own move, up to"
        " {cap}"
    )


def _stops(found: Rule) -> str:
    still = []
    if found.weekend:
        still.append(_("on Saturdays and Sundays in each player's time zone"))
    if found.nights:
        still.append(_("in the nightly hours that each player may name"))
    if found.vacations:
        still.append(_("during vacations"))
    if not still:
        return _("vacations do not stop the clock")
    if found.vacations:
        return _("the clock stands still {times}").format(times=listed(still))
    return _("the clock stands still {times}, but not during vacations").format(times=listed(still))


def _days(found: Rule) -> str:
    if not found.daily:
        return ""
    clock, _space, place = found.daily.partition(" ")
    return _("a deadline is always at {clock} in the time zone {place}").format(clock=clock, place=place)


def _missing(found: Rule) -> str:
    if found.missing == "at-once":
        return _("who runs out of time has his seat taken over by a bot")
    if found.missing == "loss":
        return _("who runs out of time loses")
    if found.missing == "vote":
        return _("when somebody runs out of time the others decide what becomes of him")
    return _(_MOVED[found.misses])
