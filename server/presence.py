"""Who is on the site: when somebody last looked at a page, and from when on he counts as away."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from server import db
from server.models import User
from server.models.statements import change

_SEEN: Final = change(User, ["seen_at"])
# A second look within this time is not worth a write.
LOOK: Final = timedelta(minutes=1)
# Who has looked at nothing for so long is away; an open page that is in sight says so every five minutes.
QUIET: Final = timedelta(minutes=11)
# A page that is left open in sight for hours must not keep a turn from its player.
LONGEST: Final = timedelta(minutes=45)


def note(user: User, now: datetime) -> None:
    """Note that the person looks at a page; not if he just has, nor if nothing can be stored."""
    if user.seen_at is not None and now - user.seen_at < LOOK:
        return
    with suppress(*db.Unavailable), db.passing():
        _SEEN.run(id=user.id, seen_at=now)


def away_at(user: User, since: datetime) -> datetime:
    """Return from when on, not before `since`, the person counts as away; at the latest `LONGEST` after it."""
    gone = user.seen_at + QUIET if user.seen_at else since
    return min(max(gone, since), since + LONGEST)
