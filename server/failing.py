"""What keeps failing at somebody's own machine or service: how long that is borne, and when nothing more is tried."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from server import handing, outbox
from server.channels import DeliveryError
from server.models import Outbox, Way, Webhook

# Where so many things in a row have failed, for so long, nothing more is tried.
PATIENCE: Final = timedelta(days=1)
FAILURES: Final = 5
Counted = TypeVar("Counted", Way, Webhook)


def resting(table: type[Counted], one: Any, whose: Any, rows: Any, now: datetime) -> set[int]:
    """Return those that fail, and of whom something waits for its next try: until then nothing new is tried either.

    `one` is the column of `table`, and `whose` that of the queue, by which they are known; `rows` is the condition of
    what is queued for such.
    """
    failed = rows & (Outbox.state == "queued") & Outbox.done_at.is_null() & (Outbox.attempts > 0)
    waiting = Outbox.select(whose).where(failed & (Outbox.due_at > now) & whose.is_null(False))
    found: Any = table.select(one).where((table.failures > 0) & one.in_(waiting)).tuples()
    return {number for (number,) in found}


def heard(table: type[Counted], one: Any, waiting: Any, fault: DeliveryError | None, now: datetime) -> Counted | None:
    """Count a failure, or that there is an end of it; return the row if it is to be given up.

    `one` is the condition of the row of `table` that counts, `waiting` that of what is queued for there. The caller
    holds a transaction.
    """
    if fault is None:
        if table.update(failures=0, failing_since=None).where(one & table.failing_since.is_null(False)).execute():
            outbox.put_all_forward(waiting, now)
        return None
    # Another scheduler may have heard of another failure at the same moment.
    table.update(failures=table.failures + 1).where(one).execute()
    table.update(failing_since=now).where(one & table.failing_since.is_null()).execute()
    found: Counted | None = table.get_or_none(one)
    if found is None:
        return None
    # What else waits would fail too, and others wait for it.
    outbox.put_off(waiting, now + handing.pause(found.failures, fault))
    lasts = now - (found.failing_since or now)
    given_up = fault.permanent or (found.failures >= FAILURES and lasts >= PATIENCE)
    return found if given_up else None
