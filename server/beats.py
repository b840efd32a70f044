"""What an open page is told of the server: a few numbers, by which it sees that something has changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from server import db, home, lobby, sessions
from server.models import Match, Seat, Talk, User
from server.models.statements import Statement

Beat = dict[str, int | str]
"""`waiting` is how much waits for the person (`home.waiting`), `rows` how many rows the matches that he plays have
together; of a match `seq` is the number of the last row, `status` its status and `talk` the number of the last line of
talk."""


_LENGTHS: Final = Statement[Match](
    lambda user: (
        Match.select(Match.length)
        .join(Seat)
        .where((Seat.user == user) & Seat.ended_at.is_null() & (Match.status == "running"))
    )
)
_LAST: Final = Statement[Talk](lambda match: Talk.select(db.highest(Talk.id)).where(Talk.match == match))


class Mine(NamedTuple):
    """What there is for a person: how much waits for him, how many rows his running matches have together."""

    waiting: int = 0
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Watch:
    """An open page: of which match, if of one, and whose.

    `key` is that of all his sessions when he opened it, `session` the one in which he did (`sessions.identity`).
    """

    match_id: int | None
    user_id: int | None
    key: str = ""
    session: str = ""


def watch(match: Match | None, user: User | None, session: str = "") -> Watch:
    """Return a page that a person, or a stranger, opens; without a session it does not end with one."""
    key = user.session_key if user else ""
    return Watch(match.id if match else None, user.id if user else None, key, session)


def beat(match: Match | None, user: User | None) -> Beat:
    """Return the numbers for a page as they are now, of a match that has just been read and its reader may look at.

    They are those of `beats`, by queries that are written already: a page or a program asks again and again.
    """
    mine = Mine()
    if user is not None:
        mine = Mine(home.waiting(user), sum(length for (length,) in _LENGTHS.tuples(user=user.id)))
    if match is None:
        return mine._asdict()
    return {**mine._asdict(), **_of_match(match, {match.id: _LAST.tuples(match=match.id)[0][0] or 0})}


def beats(watches: Collection[Watch]) -> dict[Watch, Beat]:
    """Return the numbers for many pages at once; a page that its reader may not look at any more is left out."""
    users = _users({each.user_id for each in watches if each.user_id is not None})
    matches = _matches({each.match_id for each in watches if each.match_id is not None})
    talk = _talk(matches)
    mine = _mine(users)
    among = lobby.admitted(matches.values())
    signed_out = sessions.ended({each.session for each in watches if each.session})
    found = {}
    for each in watches:
        user, match = users.get(each.user_id or 0), matches.get(each.match_id or 0)
        ended = each.user_id is not None and (user is None or user.session_key != each.key)
        ended = ended or each.session in signed_out
        hidden = each.match_id is not None and (match is None or not _may_see(match, each, among))
        if not (ended or hidden):
            own = mine.get(user.id, Mine()) if user else Mine()
            found[each] = {**own._asdict(), **(_of_match(match, talk) if match else {})}
    return found


def _may_see(match: Match, opened: Watch, among: Collection[tuple[int, int]]) -> bool:
    """As `lobby.may_see`, without asking for each page; `among` are those who may see tables that are not for all."""
    return lobby.is_for_all(match) or (match.id, opened.user_id or 0) in among


def _of_match(match: Match, talk: dict[int, int]) -> Beat:
    return {"seq": match.length, "status": match.status, "talk": talk.get(match.id, 0)}


def _users(numbers: Iterable[int]) -> dict[int, User]:
    fields = (User.id, User.session_key)
    living = User.id.in_(list(numbers)) & User.deleted_at.is_null()
    return {user.id: user for user in User.select(*fields).where(living)}


def _matches(numbers: Iterable[int]) -> dict[int, Match]:
    fields = (Match.id, Match.length, Match.status, Match.invited_only)
    return {match.id: match for match in Match.select(*fields).where(Match.id.in_(list(numbers)))}


def _talk(numbers: Iterable[int]) -> dict[int, int]:
    """Return the number of the last line of talk of each match that has any."""
    last = Talk.select(Talk.match, db.highest(Talk.id)).where(Talk.match.in_(list(numbers))).group_by(Talk.match)
    rows: list[Any] = list(last.tuples())
    return dict(rows)


def _mine(numbers: Iterable[int]) -> dict[int, Mine]:
    """Return of each person who plays what there is to do for him; from the columns, without replay."""
    numbers = set(numbers)
    waiting, rows = home.waiting_for(numbers), Counter[int]()
    theirs = Seat.user.in_(list(numbers)) & Seat.ended_at.is_null() & (Match.status == "running")
    entries: list[Any] = list(Seat.select(Seat.user, Match.length).join(Match).where(theirs).tuples())
    for user, length in entries:
        rows[user] += length
    return {user: Mine(waiting[user], rows[user]) for user in numbers}
