"""The queue of mails: filled in the transaction of the cause, emptied by schedulers, each mail once."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from server import db
from server.channels import Channel, DeliveryError, Message, email
from server.models import Match, Outbox, User
from server.settings import Settings

log = logging.getLogger(__name__)

LEASE: Final = timedelta(minutes=5)
# How long to wait after the first, second ... failed try.
WAITS: Final = tuple(timedelta(minutes=m) for m in (1, 5, 15, 60, 180, 360, 720, 1440))
# After our own fault (a wrong password, say) nothing is tried for this long.
ALARM_PAUSE: Final = timedelta(minutes=15)
# A person with this many mails about matches, all held up for FLOOD_AGE, gets one summary instead.
FLOOD: Final = 4
FLOOD_AGE: Final = timedelta(hours=1)
FOLDED: Final = ("turn", "reminder", "notice", "start", "end")
# Notes of mails in hand and of those put off. A mail that may have arrived is sent once more and never again.
SENDING: Final = "being sent"
RESENDING: Final = "being sent once more, though it may have arrived"
DOUBT: Final = "may have arrived: "
ALARM: Final = "nothing is sent: "

Writer = Callable[[Outbox, datetime], Message | str]


def open_channel(settings: Settings) -> Channel | None:
    """Return the way out that the settings name: a mail server, the local mailbox, or None if there is neither."""
    sender = email.Sender(settings.mail_name, settings.mail_from, settings.mail_domain)
    if settings.smtp:
        smtp = settings.smtp
        return email.SmtpChannel(
            email.SmtpSettings(smtp.host, smtp.port, email.Tls(smtp.tls), smtp.user, smtp.password), sender
        )
    return email.LocalMailbox(settings.mailbox, sender) if settings.mailbox else None


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
) -> None:
    """Queue one mail inside the caller's transaction; a second one with the same key is the first."""
    Outbox.insert(
        key=key,
        kind=kind,
        user=user,
        address=address or (user.email if user else ""),
        match=match,
        seat=seat,
        asked=asked,
        facts=facts or {},
        message_id=secrets.token_hex(10),
        created_at=now,
        due_at=due_at or now,
    ).on_conflict_ignore().execute()


def withdraw(user: User, now: datetime) -> None:
    """Drop what is still queued for the person, and forget the address, inside the caller's transaction."""
    # Invitations went to the address alone, in whatever case.
    theirs = (Outbox.user == user) | (db.lower(Outbox.address) == user.email_key)
    Outbox.update(state="dropped", done_at=now, note="the account was deleted").where(
        theirs & (Outbox.state == "queued")
    ).execute()
    Outbox.update(address="").where(theirs).execute()


def try_again(user: User, now: datetime) -> None:
    """Take an address that refused mail back into use; its owner asked for it."""
    with db.transaction():
        User.update(mail_stopped="").where(User.id == user.id).execute()


def thread(mail: Outbox) -> tuple[str, ...]:
    """Return the stored ids of earlier mails about the same match to the same person, oldest first."""
    if mail.match_id is None or mail.user_id is None:
        return ()
    earlier = Outbox.select(Outbox.message_id).where(
        (Outbox.match == mail.match_id)
        & (Outbox.user == mail.user_id)
        & (Outbox.id < mail.id)
        & (Outbox.state == "sent")
    )
    return tuple(row.message_id for row in earlier.order_by(Outbox.id))


def deliver_due(channel: Channel, write: Writer, now: Callable[[], datetime], limit: int = 200) -> int:
    """Send what is due, oldest first, and return how many mails left.

    `write` makes the message, or says in a few words why the mail is no longer true. A mail that fails is put off or
    given up by itself and never holds up the others. After a fault of our own nothing is tried for a while.
    """
    if _stands_still(now()):
        return 0
    fold(now())
    sent = 0
    for _ in range(limit):
        mail = _claim(now())
        if mail is None:
            break
        try:
            message = write(mail, now())
            if isinstance(message, str):
                _close(mail, "dropped", message, now())
                continue
            channel.deliver(message)
        except DeliveryError as fault:
            if not _failed(mail, fault, now()):
                break
        except Exception as fault:
            # A mail that cannot be written must not stop the queue; it is tried again like one that was put off.
            log.exception("mail %s cannot be written", mail.id)
            _failed(mail, DeliveryError(f"cannot be written: {type(fault).__name__}"), now())
        else:
            _close(mail, "sent", "", now())
            sent += 1
    return sent


def _claim(now: datetime) -> Outbox | None:
    """Take the oldest due mail for a while; nobody else will, and if this process dies somebody will later."""
    lease = secrets.token_hex(8)
    free = Outbox.leased_until.is_null() | (Outbox.leased_until <= now)
    due = (Outbox.state == "queued") & (Outbox.due_at <= now) & free
    with db.transaction():
        # A process died in the second try as well, or in the one after an unknown end: either may have delivered it.
        cut_off = due & (Outbox.note == RESENDING)
        Outbox.update(state="failed", done_at=now, note="cut off twice while sending").where(cut_off).execute()
        mail = db.locked(Outbox.select().where(due).order_by(Outbox.due_at, Outbox.id).limit(1), skip=True).first()
        if mail is None:
            return None
        mail.note = RESENDING if mail.note == SENDING or mail.note.startswith(DOUBT) else SENDING
        mail.attempts += 1
        Outbox.update(leased_until=now + LEASE, lease=lease, attempts=mail.attempts, note=mail.note).where(
            Outbox.id == mail.id
        ).execute()
    mail.lease = lease
    return mail  # type: ignore[no-any-return]


def _close(mail: Outbox, state: str, note: str, now: datetime) -> None:
    with db.transaction():
        Outbox.update(state=state, note=note[:200], done_at=now, leased_until=None).where(
            (Outbox.id == mail.id) & (Outbox.lease == mail.lease)
        ).execute()


def _failed(mail: Outbox, fault: DeliveryError, now: datetime) -> bool:
    """Put the mail off or give it up; return whether the others may be tried."""
    again = mail.note == RESENDING
    reason = f"{DOUBT if again or fault.unknown else ''}{ALARM if fault.alarm else ''}{fault}"
    if fault.alarm:
        log.critical("outgoing mail stands still: %s", fault)
        _put_off(mail, reason, now + ALARM_PAUSE, attempts=mail.attempts - 1)
        return False
    if fault.permanent or (fault.unknown and again) or mail.attempts > len(WAITS):
        _close(mail, "failed", str(fault), now)
        if fault.permanent and mail.user_id is not None:
            with db.transaction():
                User.update(mail_stopped=str(fault)[:200]).where(User.id == mail.user_id).execute()
        return True
    _put_off(mail, reason, now + WAITS[mail.attempts - 1], attempts=mail.attempts)
    return True


def _put_off(mail: Outbox, note: str, due_at: datetime, *, attempts: int) -> None:
    with db.transaction():
        Outbox.update(due_at=due_at, note=note[:200], leased_until=None, attempts=attempts).where(
            (Outbox.id == mail.id) & (Outbox.lease == mail.lease) & (Outbox.state == "queued")
        ).execute()


def _stands_still(now: datetime) -> bool:
    """Whether a mail met a fault of our own and waits for its next try; the others wait with it."""
    alarmed = (Outbox.state == "queued") & (Outbox.due_at > now) & Outbox.note.contains(ALARM)
    return bool(Outbox.select().where(alarmed).exists())


def fold(now: datetime) -> int:
    """Replace each flood of held-up mails about matches by one summary; return how many people had one."""
    held = (
        (Outbox.state == "queued")
        & Outbox.kind.in_(FOLDED)
        & (Outbox.created_at <= now - FLOOD_AGE)
        & (Outbox.due_at <= now)
        & (Outbox.leased_until.is_null() | (Outbox.leased_until <= now))
    )
    flooded = Outbox.select(Outbox.user).where(held).group_by(Outbox.user).having(db.count_all() >= FLOOD)
    people = [row.user for row in flooded if row.user]
    for user in people:
        with db.transaction():
            mine = held & (Outbox.user == user)
            # Another scheduler may have been quicker.
            if Outbox.update(state="dropped", note="folded into a summary", done_at=now).where(mine).execute():
                queue("summary", key=f"summary {user.id} {now.timestamp():.0f}", now=now, user=user)
    return len(people)


def oldest_due(now: datetime) -> timedelta:
    """Return how long the oldest due mail has been waiting."""
    first = Outbox.select().where((Outbox.state == "queued") & (Outbox.due_at <= now)).order_by(Outbox.due_at).first()
    return now - first.due_at if first else timedelta(0)
