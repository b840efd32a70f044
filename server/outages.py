"""Times in which no scheduler ran: noticed by the next one that does, and given back before anybody is out of time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from server import columns, db, notify
from server.desk import writing
from server.errors import Refused
from server.log import stamp
from server.models import Job, Match, Outage
from server.models.statements import Statement

# Restarts and slow ticks are no outage.
LEAST: Final = timedelta(minutes=10)
BEAT: Final = "beat"


def beat(now: datetime) -> None:
    """Note that a scheduler is at work; what has passed since the last time, if it is long, is an outage."""
    with db.transaction():
        last = db.locked(Job.select().where(Job.name == BEAT)).first()
        if last is None:
            Job.insert(name=BEAT, began_at=now, succeeded_at=now, fault="").on_conflict_ignore().execute()
            return
        if now - last.began_at >= LEAST:
            Outage.create(began_at=last.began_at, ended_at=now)
        # A clock that is set back begins anew from there.
        Job.update(began_at=now, succeeded_at=now).where(Job.name == BEAT).execute()


def at_work(now: datetime, within: timedelta) -> bool:
    """Whether a scheduler has been at work so short a time ago; also on a database of an older schema, or of none."""
    if not db.has_table(Job):
        return False
    last = Job.select(Job.succeeded_at).where((Job.name == BEAT) & Job.succeeded_at.is_null(False)).first()
    return last is not None and abs(now - last.succeeded_at) < within


def restored(since: datetime, now: datetime) -> None:
    """Give back what has passed since an instant, however short, and tell people that all is as it was then."""
    with db.transaction():
        Job.delete().where(Job.name == BEAT).execute()
        # From here on the next outage counts; no scheduler has been at work yet.
        Job.insert(name=BEAT, began_at=now, succeeded_at=None, fault="").execute()
        if since < now:
            # The mail of this key is the only one about the outage.
            notify.outage(Outage.create(began_at=since, ended_at=now), now, restored=True)
    while not give_back(now):
        pass


def give_back(now: datetime, limit: int = 500) -> bool:
    """Move the deadlines of running matches on by the outages that are not settled; return whether all are.

    Until then nobody may be timed out. Each match gets its row once, whoever is at work on it and wherever that ended.
    """
    for outage in list(Outage.select().where(Outage.done_at.is_null()).order_by(Outage.id)):
        begun = (Match.status == "running") & (Match.id > outage.place) & (Match.started_at < outage.ended_at)
        matches = list(Match.select().where(begun).order_by(Match.id).limit(limit))
        for match in matches:
            _give_back(match, outage, now)
            with db.transaction():
                Outage.update(place=match.id).where((Outage.id == outage.id) & (Outage.place < match.id)).execute()
        if len(matches) == limit:
            return False
        with db.transaction():
            mine = (Outage.id == outage.id) & Outage.done_at.is_null()
            if Outage.update(done_at=now).where(mine).execute() == 1:
                notify.outage(outage, now)
    return True


def _give_back(match: Match, outage: Outage, now: datetime) -> None:
    text = f"{stamp(outage.began_at)}/{stamp(outage.ended_at)}"
    try:
        with writing(match.id, now) as desk:
            told = any(row.kind == "outage" and row.text == text for row in desk.played.rows)
            if not told and not desk.played.outcome and columns.deadline(desk.played):
                desk.put("outage", None, text, "clock")
    except Refused:
        # A damaged match is frozen anyway.
        return


_UNSETTLED: Final = Statement[Job](
    lambda unseen: (
        Job.select(Job.began_at).where((Job.name == BEAT) & (Job.began_at <= unseen))
        | Outage.select(Outage.began_at).where(Outage.done_at.is_null())
    )
)


def unsettled(now: datetime) -> bool:
    """Whether there is an outage that has not been given back, or noticed, yet."""
    return bool(_UNSETTLED.tuples(unseen=now - LEAST))
