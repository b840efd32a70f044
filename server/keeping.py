"""What the keepers of a house may do to it: no deed is carried out that is not noted.

A keeper is a person with a right, not another kind of person: he sees of matches what spectators see, and plays like
everybody. Notes name people by their numbers alone, so that nothing of who has left stays here.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from email import policy
from email.parser import BytesHeaderParser
from typing import Any, Final

from engine.counting import LONGEST_STOP
from engine.language import gettext as _
from server import accounts, db, lobby, log, tournaments
from server.desk import writing
from server.errors import Refused
from server.inbound import door, parse
from server.log import Played, instant, stamp
from server.models import Deed, Inbound, Match, Outbox, Seat, User

PAGE: Final = 50
LONGEST_REASON: Final = 200
LONGEST_TEXT: Final = 20_000
STATUSES: Final = ("running", "open", "finished", "cancelled", "frozen")
STATES: Final = ("queued", "taken", "handed", "held", "failed", "dropped", "sent")
DONE: Final = frozenset({"failed", "dropped", "sent"})
# What became of a mail that is a report of another machine, and of one that is written to the keepers themselves.
REPORTS: Final = ("bounce-hard", "bounce-soft", "bounce-unclear", "silent-report")
TO_KEEPERS: Final = "for-keepers"


def require(user: User | None) -> User:
    """Return the person if he keeps this house. Raises `Refused` (not-found): nobody else learns that it is kept."""
    if user is None or not user.admin or user.deleted_at:
        raise Refused("not-found", _("There is no such page."))
    return user


def appoint(name: str, now: datetime, *, revoke: bool = False) -> User:
    """Give a person the right to keep the house, or take it away. Raises `Refused` (not-found, unconfirmed)."""
    user = accounts.by_name(name)
    if not revoke:
        accounts.require_confirmed(user)
    with db.transaction():
        User.update(admin=not revoke).where(User.id == user.id).execute()
        note(None, "revoke" if revoke else "appoint", f"person {user.id}", "", now)
    return user


def note(admin: User | None, act: str, thing: str, why: str, now: datetime) -> None:
    """Write down what was done, inside the caller's transaction; `admin` is None for the command line."""
    Deed.create(at=now, admin=admin, act=act, thing=thing, note=why[:LONGEST_REASON])


def freeze(match_id: int, admin: User, why: str, now: datetime) -> None:
    """Hold a running match: nothing happens in it and no time runs, for 90 days at most; players are told why.

    Raises `Refused` (not-found, not-running, frozen, bad-input).
    """
    why = _reason(why)
    with db.transaction():
        match = _running(match_id)
        if match.frozen_at:
            raise log.frozen(match)
        # What cannot be replayed has no clock to stop, and is held all the same.
        with suppress(Refused), writing(match_id, now) as desk:
            if desk.played.outcome is None:
                desk.put("pause", None, stamp(now + LONGEST_STOP), "clock")
        Match.update(frozen_at=now, frozen_why=why).where(Match.id == match_id).execute()
        note(admin, "freeze", f"match {match_id}", why, now)


def unfreeze(match_id: int, admin: User, now: datetime) -> None:
    """Let a match go on that was held; a pause of the players that is not over yet goes on too.

    Raises `Refused` (not-found, not-running).
    """
    with db.transaction():
        match = _running(match_id)
        if not match.frozen_at:
            raise Refused("not-running", _("Nobody holds this match."))
        with suppress(Refused), writing(match_id, now, frozen=True) as desk:
            if desk.played.clocks.paused(now):
                rest = _own_pause(desk.played, now)
                desk.put("resume", None, "", "clock")
                if rest:
                    desk.put("pause", rest[0], rest[1], "clock")
        Match.update(frozen_at=None, frozen_why="").where(Match.id == match_id).execute()
        note(admin, "unfreeze", f"match {match_id}", "", now)


def _own_pause(played: Played, now: datetime) -> tuple[int, str] | None:
    """Return seat and end of the pause that the players agreed on, if it is not over yet."""
    since = max((row.seq for row in played.rows if row.kind == "resume"), default=0)
    theirs = [
        (instant(row.text), row.seat, row.text)
        for row in played.rows[since:]
        if row.kind == "pause" and row.seat is not None and instant(row.text) > now
    ]
    return max(theirs)[1:] if theirs else None


def _running(match_id: int) -> Match:
    match = log.get(match_id, hold=True)
    if match.status != "running":
        raise Refused("not-running", _("This match is not running."))
    return match


def _reason(why: str) -> str:
    why = " ".join(why.split())
    if not 0 < len(why) <= LONGEST_REASON or not why.isprintable():
        raise Refused("bad-input", _("Write a reason of at most {n} characters.").format(n=LONGEST_REASON))
    return why


def stop_mail(number: int, admin: User, why: str, now: datetime) -> None:
    """Send a person no more mail until he asks for it again on his page. Raises `Refused` (not-found, bad-input)."""
    why = _reason(why)
    with db.transaction():
        user = person(number)
        User.update(mail_stopped=why).where(User.id == user.id).execute()
        note(admin, "stop-mail", f"person {number}", why, now)


def end_sessions(number: int, admin: User, now: datetime) -> None:
    """Sign a person out everywhere. Raises `Refused` (not-found)."""
    with db.transaction():
        accounts.sign_out_everywhere(person(number))
        note(admin, "end-sessions", f"person {number}", "", now)


def remove(number: int, admin: User, name: str, now: datetime) -> None:
    """Delete the account of a person, as he could himself; `name` is his, to be sure.

    Raises `Refused` (not-found, not-yours, bad-input, frozen).
    """
    user = person(number)
    if user.admin:
        raise Refused("not-yours", _("The account of a keeper is not deleted here; take the right away first."))
    if accounts.name_key(name) != user.name_key:
        raise Refused("bad-input", _("Write the name of the person to delete the account."))
    lobby.require_free(user)
    # Seats are given up one by one: so it is noted before, and again if it has to be done again.
    with db.transaction():
        note(admin, "delete", f"person {number}", "", now)
    lobby.leave_all(user, now)
    tournaments.leave_all(user, now)
    accounts.forget(user, now)


def person(number: int) -> User:
    """Return somebody who is here, no bot. Raises `Refused` (not-found)."""
    here = (User.id == number) & (User.bot == "") & User.deleted_at.is_null()
    user: User | None = User.select().where(here).first() if 0 < number < 2**31 else None
    if user is None:
        raise Refused("not-found", _("There is nobody of that name."))
    return user


def retry(number: int, admin: User, now: datetime) -> None:
    """Have a mail that waits or has failed tried at once. Raises `Refused` (not-found, bad-input).

    One in hand is left alone, and so is one whose address is forgotten.
    """
    with db.transaction():
        found: Any = db.locked(Outbox.select().where(Outbox.id == number)).first() if 0 < number < 2**31 else None
        if found is None:
            raise Refused("not-found", _("There is no such mail."))
        if found.state not in {"queued", "failed"} or not (found.address or found.way):
            raise Refused("bad-input", _("This mail is not waiting, so it cannot be tried again."))
        again = {"state": "queued", "due_at": now, "done_at": None, "attempts": 0, "alarm": False, "lease": ""}
        Outbox.update(**again).where(Outbox.id == number).execute()
        note(admin, "retry-mail", f"mail {number}", "", now)


@dataclass(frozen=True, slots=True)
class Page:
    """Some of a list, newest first; `more` is where the next page begins, 0 if this is the last."""

    rows: tuple[Any, ...]
    more: int


def matches(text: str, status: str, before: int) -> Page:
    """Return matches with this number or of the person of this name, and in this status, "" for any."""
    query = Match.select()
    if status:
        held = Match.frozen_at.is_null(False)
        query = query.where(held if status == "frozen" else Match.status == status)
    if text.isdecimal() and text.isascii():
        query = query.where(Match.id == min(int(text[:10]), 2**31 - 1))
    elif text:
        query = query.where(Match.id.in_(_seated(text)))
    return _page(query, Match.id, before)


def _seated(name: str) -> Any:
    whose = [user.id for user in User.select(User.id).where(User.name_key == accounts.name_key(name))]
    return Seat.select(Seat.match).where(Seat.user.in_(whose) | Seat.owner.in_(whose))


def people(text: str, before: int) -> Page:
    """Return people whose name begins so, or who have this number or mail address."""
    query = User.select().where(User.bot == "")
    if text.isdecimal() and text.isascii():
        query = query.where(User.id == min(int(text[:10]), 2**31 - 1))
    elif "@" in text:
        query = query.where(User.email_key == text.casefold())
    elif text:
        query = query.where(User.name_key.startswith(accounts.name_key(text)))
    return _page(query, User.id, before)


def mails(state: str, before: int) -> Page:
    """Return mails and calls to be sent, in this state, "" for any; of those done with the last done with first."""
    if state in DONE:
        return _done(state, before)
    waiting = Outbox.done_at.is_null() & (Outbox.state == state)
    return _page(Outbox.select().where(waiting) if state else Outbox.select(), Outbox.id, before)


def _done(state: str, before: int) -> Page:
    query = Outbox.select().where(Outbox.done_at.is_null(False) & (Outbox.state == state))
    last: Any = Outbox.get_or_none((Outbox.id == before) & Outbox.done_at.is_null(False)) if before else None
    if last is not None:
        at = Outbox.done_at <= last.done_at
        query = query.where(at & ((Outbox.done_at < last.done_at) | (Outbox.id < last.id)))
    rows = list(query.order_by(Outbox.done_at.desc(), Outbox.id.desc()).limit(PAGE + 1))
    return Page(tuple(rows[:PAGE]), rows[PAGE - 1].id if len(rows) > PAGE else 0)


@dataclass(frozen=True, slots=True)
class Came:
    """A mail that came in: its row without the content, who it says wrote it, and what about."""

    mail: Inbound
    sender: str
    subject: str


def arrived(verdict: str, before: int) -> Page:
    """Return mails that came in, with this verdict, "" for any, and what their headers say."""
    query = Inbound.select().where(Inbound.verdict == verdict) if verdict else Inbound.select()
    found = _page(query, Inbound.id, before)
    return Page(tuple(_came(mail) for mail in found.rows), found.more)


def _came(mail: Inbound) -> Came:
    with suppress(Exception):
        head = BytesHeaderParser(policy=policy.default).parsebytes(bytes(mail.content or b""))
        return Came(mail, _plain(str(head["From"] or mail.sender or "")), _plain(str(head["Subject"] or "")))
    return Came(mail, mail.sender or "", "")


def _plain(text: str) -> str:
    return "".join(letter for letter in text if letter.isprintable())[:200]


def report(number: int) -> tuple[Came, str]:
    """Return a mail that came in, and of what it says only what is meant for keepers, else "".

    That is what was written to them, and of a report of another machine the part that machines read: the rest returns
    our own mail, with what only its reader may know. Raises `Refused` (not-found).
    """
    mail: Any = Inbound.get_or_none(Inbound.id == number) if 0 < number < 2**31 else None
    if mail is None:
        raise Refused("not-found", _("There is no such mail."))
    text = ""
    with suppress(parse.Unreadable):
        if mail.verdict == TO_KEEPERS:
            text = parse.parse(bytes(mail.content or b"")).text
        elif mail.verdict in REPORTS:
            text = "\n\n".join(parse.parse(bytes(mail.content or b"")).reports)
    return _came(mail), door.without_tokens(text.encode()).decode()[:LONGEST_TEXT]


def deeds(before: int) -> Page:
    """Return what keepers did."""
    return _page(Deed.select(), Deed.id, before)


def _page(query: Any, key: Any, before: int) -> Page:
    if before:
        query = query.where(key < before)
    rows = list(query.order_by(key.desc()).limit(PAGE + 1))
    return Page(tuple(rows[:PAGE]), rows[PAGE - 1].id if len(rows) > PAGE else 0)
