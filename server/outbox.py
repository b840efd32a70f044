"""The queue of mails, calls and briefs: filled in the transaction of the cause, emptied by schedulers, each once."""

from __future__ import annotations

import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from server import db, handing
from server.channels import (
    Brief,
    Call,
    Carrier,
    Channel,
    DeliveryError,
    Kind,
    Message,
    apprise,
    email,
    guarded,
    push,
    webhook,
)
from server.handing import Hands, Heard, Thing, Writer, is_mail
from server.models import Match, Outbox, ReplyToken, User
from server.models.statements import Statement, insertion
from server.settings import Settings

LEASE: Final = handing.LEASE
WAITS: Final = handing.WAITS
CALL: Final = handing.CALL
# A person with this many mails about matches, all held up for FLOOD_AGE, gets one summary instead.
FLOOD: Final = 4
FLOOD_AGE: Final = timedelta(hours=1)
ADDRESSES_KEPT: Final = timedelta(days=30)
TOKENS_KEPT: Final = timedelta(days=120)
FOLDED: Final = ("turn", "reminder", "notice", "start", "end")
# So many calls, or briefs of a kind, a run hands over at most, and for so many seconds, before the last of them.
MOST_CALLED: Final = 100
CALLING: Final = 20.0
# Whoever takes so many seconds in a run has those that follow put off for so long, because all others wait for him.
SLOW: Final = 2.0
SLOW_PAUSE: Final = timedelta(minutes=5)
# When that is due which is held.
NEVER: Final = datetime(9999, 1, 1, tzinfo=UTC)
# So many mails at most are claimed at once, noted as being handed over at once, and noted as sent.
MOST_AT_ONCE: Final = 20
_QUEUE: Final = insertion(
    Outbox,
    *("key", "kind", "user", "address", "match", "seat", "asked", "facts", "message_id", "created_at", "due_at", "way"),
    ignoring=True,
)
_THREAD: Final = Statement[Outbox](
    lambda mail, user, match: (
        Outbox.select(Outbox.message_id)
        .where((Outbox.match == match) & (Outbox.user == user) & (Outbox.id < mail))
        .where((Outbox.state == "sent") & is_mail())
        .order_by(Outbox.id)
    )
)


def open_channel(settings: Settings) -> Channel | None:
    """Return the way out that the settings name: a mail server, the local mailbox, or None if there is neither."""
    sender = email.Sender(settings.mail_name, settings.mail_from, settings.mail_domain)
    if settings.smtp:
        smtp = settings.smtp
        return email.SmtpChannel(
            email.SmtpSettings(smtp.host, smtp.port, email.Tls(smtp.tls), smtp.user, smtp.password), sender
        )
    return email.LocalMailbox(settings.mailbox, sender) if settings.mailbox else None


def open_caller(settings: Settings) -> Carrier[Call]:
    """Return the way to people's own programs."""
    return webhook.WebhookChannel(loopback=settings.webhook_loopback)


def open_ways(settings: Settings) -> dict[str, Kind]:
    """Return the channels of other ways than mail, by the word that is stored for each."""
    passage = guarded.Passage(loopback=settings.webhook_loopback)
    found: dict[str, Kind] = dict(apprise.kinds(passage))
    if push.is_installed():
        found["push"] = push.PushChannel(settings.secret_key, settings.mail_from, passage)
    return found


def push_key(settings: Settings) -> str | None:
    """Return the key by which a browser lets this house show messages on its device, None if the house shows none."""
    channel = open_ways(settings).get("push")
    return channel.key if isinstance(channel, push.PushChannel) else None


def check_address(url: str, settings: Settings) -> None:
    """Raise `DeliveryError`, with a sentence to translate, if an address is none that may be called."""
    webhook.target(url, loopback=settings.webhook_loopback)


def queue(
    kind: str,
    *,
    key: str,
    now: datetime,
    user: User | None = None,
    address: str = "",
    match: Match | None = None,
    seat: int | None = None,
    asked: int | None = None,
    facts: Any = None,
    due_at: datetime | None = None,
    way: int | None = None,
) -> None:
    """Queue one mail, call or brief inside the caller's transaction; a second one with the same key is the first."""
    _QUEUE.put(
        key=key,
        kind=kind,
        user=user.id if user else None,
        address=address or (user.email if user and way is None else ""),
        match=match.id if match else None,
        seat=seat,
        asked=asked,
        facts=facts or {},
        message_id=secrets.token_hex(10),
        created_at=now,
        due_at=due_at or now,
        way=way,
    )


def withdraw(user: User, now: datetime) -> None:
    """Drop what is still queued for the person, and forget the address, inside the caller's transaction."""
    # Invitations went to the address alone, in whatever case.
    theirs = (Outbox.user == user) | (db.lower(Outbox.address) == user.email_key)
    Outbox.update(state="dropped", done_at=now, note="the account was deleted").where(
        theirs & Outbox.done_at.is_null()
    ).execute()
    Outbox.update(address="").where(theirs).execute()


def came_back(mail: Outbox, why: str) -> None:
    """Stop mail to the address that returned this one, if its owner still has it, inside the caller's transaction."""
    Outbox.update(state="failed", note=why[:200]).where(Outbox.id == mail.id).execute()
    if mail.user_id is not None:
        same = (User.id == mail.user_id) & (User.email == mail.address)
        User.update(mail_stopped=why[:200]).where(same).execute()


def told(kind: str, user: User, match: Match, asked: int) -> bool:
    """Whether a mail of that kind about that turn has left or is about to."""
    same = (Outbox.kind == kind) & (Outbox.user == user) & (Outbox.match == match) & (Outbox.asked == asked)
    return bool(Outbox.select().where(same & Outbox.state.not_in(["dropped", "failed"])).exists())


def has_left(user: User, match: Match) -> bool:
    """Whether the last turn mail about the match to the person has left."""
    mine = (Outbox.kind == "turn") & (Outbox.user == user) & (Outbox.match == match)
    last = Outbox.select().where(mine).order_by(Outbox.id.desc()).first()
    return last is not None and last.state in {"handed", "sent"}


def put_forward(kind: str, user: User, match: Match, asked: int, due_at: datetime) -> None:
    """Let a mail of that kind about that turn wait no longer than until then, if none of its tries has failed."""
    same = (Outbox.kind == kind) & (Outbox.user == user) & (Outbox.match == match) & (Outbox.asked == asked)
    untried = (Outbox.state == "queued") & (Outbox.attempts == 0) & (Outbox.alarm == False)  # noqa: E712
    Outbox.update(due_at=due_at).where(same & untried & (Outbox.due_at > due_at)).execute()


def thread(mail: Outbox) -> tuple[str, ...]:
    """Return the stored ids of earlier mails about the same match to the same person, oldest first."""
    if mail.match_id is None or mail.user_id is None:
        return ()
    return tuple(sent for (sent,) in _THREAD.tuples(mail=mail.id, user=mail.user_id, match=mail.match_id))


def deliver_due(channel: Channel, write: Writer[Message], now: Callable[[], datetime], limit: int = 200) -> int:
    """Send the mails that are due, oldest first, and return how many mails left.

    `write` makes the message, or says in a few words why the mail is no longer true, or until when it has to wait. A
    mail that fails is put off or given up by itself and never holds up the others. After a fault of our own nothing is
    tried for a while.
    """
    if _stands_still(now()):
        return 0
    fold(now())
    hands = Hands(channel, write, now, lambda *_: None)
    return handing.empty(hands, limit, MOST_AT_ONCE, is_mail)


def call_due(
    caller: Carrier[Call],
    write: Writer[Call],
    now: Callable[[], datetime],
    heard: Heard,
    resting: Collection[int] = (),
) -> int:
    """Make the calls that are due, as mails are sent, but one for each person and for a bounded time.

    Return how many were taken. `heard` is told of each that was taken (None) or failed, in the transaction in which
    that is noted, and `resting` are those for whom nothing is to be tried now. So nobody's program, however slow,
    holds up the calls of others for long.
    """
    return _one_each(caller, write, now, heard, Outbox.kind == CALL, Outbox.user, resting)


def tell_due(
    kind: str,
    channel: Kind,
    write: Writer[Brief],
    now: Callable[[], datetime],
    heard: Heard,
    resting: Collection[int] = (),
) -> int:
    """Hand over the briefs of one kind of way that are due, one for each way and for a bounded time; as `call_due`."""
    rows = (Outbox.kind == kind) & Outbox.way.is_null(False)
    return _one_each(channel, write, now, heard, rows, Outbox.way, resting)


def untold(now: datetime) -> set[str]:
    """Return the kinds of ways by which a brief is due."""
    due = Outbox.way.is_null(False) & Outbox.done_at.is_null() & (Outbox.due_at <= now)
    return {row.kind for row in Outbox.select(Outbox.kind).where(due).distinct()}


def _one_each(
    channel: Carrier[Thing],
    write: Writer[Thing],
    now: Callable[[], datetime],
    heard: Heard,
    rows: Any,
    whose: Any,
    resting: Collection[int],
) -> int:
    """Hand over what is due of some rows, one for each value of the column `whose` but those that rest, and none for
    people who have taken long in this run already; return how many were taken."""
    met, spent = set[int | None](resting), defaultdict[int | None, float](float)
    began = begun = time.monotonic()

    def which() -> Any:
        nonlocal begun
        begun = time.monotonic()
        slow = [person for person, seconds in spent.items() if seconds > SLOW]
        return rows & whose.not_in(met) & Outbox.user.not_in(slow) if begun - began < CALLING else None

    def noted(mail: Outbox, fault: DeliveryError | None, at: datetime) -> None:
        met.add(getattr(mail, whose.column_name))
        spent[mail.user_id] += time.monotonic() - begun
        heard(mail, fault, at)
        if fault is None and spent[mail.user_id] > SLOW:
            put_off(rows & (Outbox.user == mail.user_id), at + SLOW_PAUSE)

    return handing.empty(Hands(channel, write, now, noted), MOST_CALLED, 1, which)


def put_off(which: Any, until: datetime) -> None:
    """Let the rows that meet a condition wait until then at least, inside the caller's transaction."""
    waiting = which & (Outbox.state == "queued") & Outbox.done_at.is_null()
    Outbox.update(due_at=until).where(waiting & (Outbox.due_at < until)).execute()


def put_all_forward(which: Any, now: datetime) -> None:
    """Let no row that meets a condition wait any longer, inside the caller's transaction."""
    waiting = which & (Outbox.state == "queued") & Outbox.done_at.is_null()
    Outbox.update(due_at=now).where(waiting & (Outbox.due_at > now)).execute()


def drop(which: Any, note: str, now: datetime) -> None:
    """Let none of the rows leave that meet a condition and still wait, inside the caller's transaction."""
    Outbox.update(state="dropped", note=note, done_at=now).where(which & Outbox.done_at.is_null()).execute()


def _stands_still(now: datetime) -> bool:
    """Whether a mail met a fault of our own and waits for its next try; the others wait with it."""
    # Only those are looked at that come next: the rest of a long queue says nothing of it.
    coming = Outbox.done_at.is_null() & (Outbox.due_at > now) & (Outbox.due_at <= now + handing.ALARM_PAUSE)
    alarmed = coming & (Outbox.state == "queued") & (Outbox.alarm == True)  # noqa: E712
    return bool(Outbox.select().where(alarmed).exists())


def fold(now: datetime) -> int:
    """Replace each flood of held-up mails about matches by one summary; return how many people had one."""
    held = (
        Outbox.done_at.is_null()
        & (Outbox.state == "queued")
        & Outbox.kind.in_(FOLDED)
        & (Outbox.created_at <= now - FLOOD_AGE)
        & (Outbox.due_at <= now)
    )
    flooded = Outbox.select(Outbox.user).where(held).group_by(Outbox.user).having(db.count_all() >= FLOOD)
    people = [row.user for row in flooded if row.user]
    for user in people:
        with db.transaction():
            mine = held & (Outbox.user == user)
            ended = [row.match_id for row in Outbox.select().where(mine & (Outbox.kind == "end"))]
            # Another scheduler may have been quicker.
            if Outbox.update(state="dropped", note="folded into a summary", done_at=now).where(mine).execute():
                key = f"summary {user.id} {now.timestamp():.0f}"
                queue("summary", key=key, now=now, user=user, facts={"ended": ended})
    return len(people)


def hold() -> int:
    """Keep all that waits from leaving, inside the caller's transaction; return how many mails and calls that are.

    After a restore nobody knows which of them have left since the backup was made.
    """
    waiting = Outbox.done_at.is_null() & (Outbox.state != "held")
    # One that was being handed over may have been delivered even then.
    Outbox.update(unsure=True).where(waiting & (Outbox.state == "handed")).execute()
    return int(Outbox.update(state="held", due_at=NEVER, lease="").where(waiting).execute())


def release(now: datetime, *, drop: bool = False) -> int:
    """Let what is held go out, or drop it; return how many mails and calls that are."""
    free = {"state": "dropped", "done_at": now, "note": "held after a restore"} if drop else {"state": "queued"}
    with db.transaction():
        held = Outbox.done_at.is_null() & (Outbox.state == "held")
        return int(Outbox.update(due_at=now, **free).where(held).execute())


def sweep(now: datetime) -> None:
    """Forget the addresses of strangers who were invited, and tokens that nobody will answer to any more."""
    with db.transaction():
        old = Outbox.user.is_null() & (Outbox.done_at < now - ADDRESSES_KEPT) & (Outbox.address != "")
        Outbox.update(address="").where(old).execute()
        ReplyToken.delete().where(ReplyToken.created_at < now - TOKENS_KEPT).execute()


def oldest_due(now: datetime) -> timedelta:
    """Return how long the oldest due mail has been waiting."""
    due = is_mail() & Outbox.done_at.is_null() & (Outbox.due_at <= now)
    first = Outbox.select().where(due).order_by(Outbox.due_at).first()
    return now - first.due_at if first else timedelta(0)
