"""Ratings of people in each game, as they follow from the matches that count; docs/ratings.md tells players of them.

They are a function of the notes in `parts`, taken match by match in the order of their ends. All numbers are stored as
whole millionths, so that every database holds, and every count gives, the same to the last digit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final, NamedTuple

from openskill.models import PlackettLuce

from engine.language import gettext as _
from server import db, parts
from server.errors import Refused
from server.models import Part, Rating, User, Watermark

# A match is taken when all that ended before it must be stored.
SETTLING: Final = timedelta(minutes=1)
UNIT: Final = 1_000_000
BEGINNING, SCALE = 1000, 40
# Rated matches from which on a rating is no longer provisional, and its owner on the ladder.
ENOUGH: Final = 5
# Who has not ended a rated match in this time is not on the ladder.
ACTIVE: Final = timedelta(days=365)
PAGE: Final = 50

_MODEL: Final = PlackettLuce()


class Skill(NamedTuple):
    """What is believed of how well somebody plays, in millionths: the mean, and how far it may be off."""

    mu: int
    sigma: int

    @property
    def shown(self) -> int:
        """The rating as people read it: the mean less how far it may be off; a newcomer has 1000."""
        gained = (self.mu - self.sigma) - (NEWCOMER.mu - NEWCOMER.sigma)
        return (BEGINNING * UNIT + SCALE * gained + UNIT // 2) // UNIT


NEWCOMER: Final = Skill(round(_MODEL.mu * UNIT), round(_MODEL.sigma * UNIT))


@dataclass(frozen=True, slots=True)
class Rung:
    """One line of a ladder; those with the same rating share their place."""

    place: int
    user: User
    shown: int
    matches: int


@dataclass(frozen=True, slots=True)
class Ladder:
    """A page of a ladder of `length` people; `more` is the mark of the next page, empty on the last."""

    rungs: tuple[Rung, ...]
    length: int
    more: str


def count_up(now: datetime, limit: int = 100) -> int:
    """Note and rate the matches that have ended; return how many were noted or rated, 0 when there is nothing left.

    Any number of schedulers may do so: each match is taken once, and all come to the same numbers.
    """
    return parts.note_finished(now - SETTLING, limit) + _rate(limit)


def rebuild(now: datetime) -> None:
    """Count everything again from nothing but the logs."""
    with db.transaction():
        parts.forget_all()
    while count_up(now):
        pass


def rated(before: Sequence[Skill], ranks: Sequence[int]) -> list[Skill]:
    """Return what is believed of people after a match in which they came out with these ranks, 1 the best."""
    # Sums of fractions depend on their order in the last digit; the order of seats must not.
    order = sorted(range(len(before)), key=lambda number: (ranks[number], before[number]))
    teams = [[_MODEL.rating(before[number].mu / UNIT, before[number].sigma / UNIT)] for number in order]
    found = _MODEL.rate(teams, ranks=[float(ranks[number]) for number in order])
    after = {
        number: Skill(round(team[0].mu * UNIT), round(team[0].sigma * UNIT))
        for number, team in zip(order, found, strict=True)
    }
    return [after[number] for number in range(len(before))]


def ladder(game: str, now: datetime, after: str = "", size: int | None = None) -> Ladder:
    """Return who plays a game best, `size` people at a time, else `PAGE`; `after` is the `more` of the page before.

    Former players are left out, and who has fewer than `ENOUGH` rated matches or was not `ACTIVE`. Raises `Refused`.
    """
    size = size or PAGE
    everybody = _on_ladder(game, now)
    length = everybody.count()
    query = everybody.where(_behind(after)) if after else everybody
    before = length - query.count()
    found = list(query.order_by(Rating.shown.desc(), Rating.user).limit(size + 1))
    rungs: list[Rung] = []
    for number, rating in enumerate(found[:size], before + 1):
        if not rungs:
            held = 1 + everybody.where(Rating.shown > rating.shown).count()
        elif rating.shown < rungs[-1].shown:
            held = number
        rungs.append(Rung(held, rating.user, rating.shown, rating.matches))
    more = f"{rungs[-1].shown}.{rungs[-1].user.id}" if len(found) > size else ""
    return Ladder(tuple(rungs), length, more)


def rating(user: User, game: str) -> Rating | None:
    """Return a person's rating in a game, None before his first rated match."""
    found: Rating | None = Rating.get_or_none((Rating.user == user) & (Rating.game == game))
    return found


def place(user: User, game: str, now: datetime) -> int | None:
    """Return a person's place on the ladder of a game, None if he is not on it."""
    everybody = _on_ladder(game, now)
    mine = everybody.where(Rating.user == user).first()
    return None if mine is None else 1 + everybody.where(Rating.shown > mine.shown).count()


def _rate(limit: int) -> int:
    """Rate matches whose turn it is; return how many."""
    if not _pending(1):
        return 0
    with db.transaction():
        mark = parts.hold()
        waiting = _pending(limit) if mark else []
        if mark is None or not waiting:
            return 0
        if mark.finished_at and _place(waiting[0]) <= (mark.finished_at, mark.match_id):
            # It was worked on later than it ended, as a mail that had lain in its mailbox.
            _go_back(waiting[0])
            waiting = _pending(limit)
        matches = [list(group) for _, group in groupby(waiting, key=_place)]
        ratings: dict[tuple[int, str], Rating] = {}
        for match in matches:
            _rate_match(match, ratings)
        for rating in ratings.values():
            _store(rating)
        last, number = _place(waiting[-1])
        Watermark.update(finished_at=last, match_id=number).where(Watermark.name == parts.MARK).execute()
    return len(matches)


def _place(part: Part) -> tuple[datetime, int]:
    """Return where a match stands in the order in which matches are rated."""
    return part.finished_at, part.match_id


def _pending(limit: int) -> list[Part]:
    """Return who is to be rated in the first matches that wait for it, in order."""
    waiting = Part.select().where(Part.pending == True)  # noqa: E712
    first = waiting.select(Part.finished_at, Part.match).distinct()
    numbers = [part.match_id for part in first.order_by(Part.finished_at, Part.match).limit(limit)]
    return list(waiting.where(Part.match.in_(numbers)).order_by(Part.finished_at, Part.match, Part.user))


def _rate_match(people: Sequence[Part], ratings: dict[tuple[int, str], Rating]) -> None:
    """Rate the people of one match, and note in `ratings` where they stand then."""
    for part in people:
        if (part.user_id, part.game) not in ratings:
            ratings[part.user_id, part.game] = _rating(part)
    mine = [ratings[part.user_id, part.game] for part in people]
    before = [Skill(rating.mu, rating.sigma) for rating in mine]
    after = rated(before, [part.rank or 0 for part in people])
    for part, rating, skill in zip(people, mine, after, strict=True):
        rating.mu, rating.sigma, rating.shown = *skill, skill.shown
        rating.matches += 1
        rating.last_at = part.finished_at
        Part.update(pending=False, mu=skill.mu, sigma=skill.sigma, shown=skill.shown).where(_is(part)).execute()


def _rating(part: Part) -> Rating:
    """Return where a person stands in a game, a newcomer at the beginning."""
    mine = (Rating.user == part.user_id) & (Rating.game == part.game)
    newcomer = {"mu": NEWCOMER.mu, "sigma": NEWCOMER.sigma, "shown": NEWCOMER.shown, "matches": 0}
    return Rating.get_or_none(mine) or Rating(user=part.user_id, game=part.game, **newcomer)


def _is(part: Part) -> Any:
    return (Part.match == part.match_id) & (Part.user == part.user_id)


def _store(rating: Rating) -> None:
    fields = {name: getattr(rating, name) for name in ("mu", "sigma", "shown", "matches", "last_at")}
    Rating.insert(user=rating.user_id, game=rating.game, **fields).on_conflict(
        conflict_target=[Rating.user, Rating.game], update=fields
    ).execute()


def _go_back(first: Part) -> None:
    """Undo all that was rated from a place on, so that it is rated again."""
    # The first half says nothing new, but lets the database begin there.
    behind = (Part.finished_at >= first.finished_at) & (
        (Part.finished_at > first.finished_at) | (Part.match > first.match_id)
    )
    undone = (Part.pending == False) & Part.mu.is_null(False) & behind  # noqa: E712
    touched = list(Part.select(Part.user, Part.game).where(undone).distinct())
    Part.update(pending=True, mu=None, sigma=None, shown=None).where(undone).execute()
    for part in touched:
        _remember(part.user_id, part.game)


def _remember(user_id: int, game: str) -> None:
    """Bring a person's rating to where the last of his rated matches left it."""
    mine = (Part.user == user_id) & (Part.game == game) & Part.mu.is_null(False)
    last = Part.select().where(mine).order_by(Part.finished_at.desc(), Part.match.desc()).first()
    if last is None:
        Rating.delete().where((Rating.user == user_id) & (Rating.game == game)).execute()
        return
    fields = {"mu": last.mu, "sigma": last.sigma, "shown": last.shown, "last_at": last.finished_at}
    _store(Rating(user=user_id, game=game, matches=Part.select().where(mine).count(), **fields))


def _on_ladder(game: str, now: datetime) -> Any:
    enough = (Rating.game == game) & (Rating.matches >= ENOUGH) & (Rating.last_at >= now - ACTIVE)
    return Rating.select(Rating, User).join(User).where(enough & User.deleted_at.is_null())


# A rating and the number of a person, neither larger than the database's.
_MARK: Final = re.compile(r"(-?[0-9]{1,6})\.([0-9]{1,9})")


def _behind(text: str) -> Any:
    """Return the condition that somebody stands behind a mark in the order of a ladder."""
    mark = _MARK.fullmatch(text)
    if not mark:
        raise Refused("bad-input", _("This page of the ladder does not exist."))
    shown, number = int(mark[1]), int(mark[2])
    return (Rating.shown < shown) | ((Rating.shown == shown) & (Rating.user > number))
