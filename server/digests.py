"""The one mail of a day for those who want no more: when it comes, and what waits for its reader.

By other ways than mail it comes at the same hour, to whoever wants it there.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from server import db, home, outbox, tidings, wording
from server.home import Item
from server.models import EPOCH, Match, Outbox, Seat, User

HOURS: Final = range(24)
APART: Final = timedelta(hours=20)
"""However zone and hour are changed, there is so much between two such mails."""


def wanted(user: User) -> bool:
    """Whether the person wants such a mail for all his matches or for one that runs."""
    one = (Seat.user == user) & Seat.ended_at.is_null() & (Seat.turn_mail == "daily")
    running = Seat.select().join(Match).where(one & (Match.status == "running"))
    return user.turn_mail == "daily" or bool(running.exists())


def plan(user: User, now: datetime) -> None:
    """Note when the person's next mail of a day is due, if he wants any; the caller holds a transaction."""
    due = following(user, max(now, _last(user) + APART)) if _comes(user) else None
    User.update(digest_at=due).where(User.id == user.id).execute()


def _last(user: User) -> datetime:
    """Return when the person's last mail of a day was queued; long ago if he has had none."""
    mine = (Outbox.user == user) & Outbox.match.is_null() & (Outbox.kind == "digest")
    mine &= Outbox.state.not_in(["dropped", "failed"])
    newest = Outbox.select().where(mine).order_by(Outbox.id.desc()).first()
    return newest.created_at if newest else EPOCH


def following(user: User, now: datetime) -> datetime:
    """Return the first instant after `now` at which the person's hour begins in his zone."""
    today = wording.today(now, user.zone)
    moments = (wording.o_clock(today + timedelta(days=n), user.digest_hour, user.zone) for n in range(3))
    return next(moment for moment in moments if moment > now)


def run(now: datetime, limit: int = 200) -> int:
    """Queue the mails whose hour has come, for those who are awaited; return how many.

    Any number of schedulers may do so: who changes the instant first queues the mail, and its key is that of the day.
    """
    due = User.select().where(User.digest_at <= now).order_by(User.digest_at).limit(limit)
    return sum(_queue(user, now) for user in list(due))


def waiting(user: User, now: datetime) -> list[Item]:
    """Return what the mail tells of: the matches that await the person, least time left first.

    None of which he wants to hear nothing, and none at all if none of them is one to be told of in such a mail.
    """
    items = [item for item in home.due(user, now) if item.mine.wish != "off"]
    return items if any(item.mine.wish == "daily" for item in items) else []


def _queue(user: User, now: datetime) -> bool:
    with db.transaction():
        due = following(user, now) if _comes(user) else None
        mine = (User.id == user.id) & (User.digest_at == user.digest_at)
        if User.update(digest_at=due).where(mine).execute() != 1 or due is None:
            return False
        day = str(wording.today(now, user.zone))
        if tidings.takes(user, "digest") and home.awaiting(user):
            tidings.digest(user, day, now)
        if not (user.reachable and _awaited(user)):
            return False
        outbox.queue("digest", key=f"digest {user.id} {day}", now=now, user=user)
    return True


def _comes(user: User) -> bool:
    """Whether the person wants the news of a day, by mail or by another way."""
    return wanted(user) or tidings.takes(user, "digest")


def _awaited(user: User) -> bool:
    """Whether the person is awaited where he wants to be told once a day; from the columns, without replay."""
    held = (Seat.user == user) & Seat.ended_at.is_null()
    running = Seat.select(Seat, Match).join(Match).where(held & (Match.status == "running"))
    return any(seat.number in seat.match.awaited and seat.wish == "daily" for seat in running)
