"""People: signing up, confirming an address, signing in, resetting, settings, leaving for good."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

import argon2

from engine.language import gettext as _
from server import db, languages, lettering, links, notify, outbox, throttle
from server.errors import Refused
from server.models import (
    Feed,
    Inbound,
    Match,
    Note,
    Prepared,
    ReplyToken,
    Seat,
    Token,
    Unwanted,
    User,
    Vacation,
    Way,
    Webhook,
)

# The letters shut out are those that show as nothing.
NAME: Final = re.compile("(?!.*[\u115f\u1160\u3164\uffa0])" + r"[^\W_](?:[\w .'’-]{0,28}[\w.])?")
LONGEST_KEY: Final = 80
# First words of names that the house and its keepers go by, and the words that a mail or the talk takes for a command.
OURS: Final = re.compile(
    r"(?:bot|visitor|former player|clachan|admin(?:istrator)?|moderator|postmaster|abuse)\b"
    r"|(?:back|move|say|join|start|bots|leave|rematch|resign|pause|vacation|status|help|stop)\W*$"
)
EMAIL: Final = re.compile(r"[^\s@<>,;:\"()\[\]\\]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*")
SHORTEST_PASSWORD: Final = 8
LONGEST_PASSWORD: Final = 200

_hasher: Final = argon2.PasswordHasher()
# Verified against when there is no such account, so that a stranger learns nothing from the time it takes.
_DECOY: Final = _hasher.hash(secrets.token_hex(16))


def sign_up(
    name: str,
    email: str,
    password: str,
    *,
    zone: str,
    language: str,
    source: str,
    now: datetime,
    house: str = "",
) -> None:
    """Make an account and queue the mail that confirms its address.

    An address that already has an account is told so by mail, and the page answers the same either way. `source` is the
    network address, for the throttle, and `house` one more name that is nobody's. Raises `Refused` (bad-input,
    throttled).
    """
    wanted = clean(name, email, password, zone, language, house)
    throttle.count("sign-up from", source, now)
    with claiming(hashed(wanted), now) as fields:
        user = User.create(session_key=secrets.token_hex(16), created_at=now, **fields)
        if user.email is not None:
            outbox.queue("confirm", now=now, user=user, key=f"confirm {user.id}")


def clean(name: str, email: str, password: str, zone: str, language: str, house: str) -> dict[str, str]:
    """Return what somebody wants as fields of `User`, the password as he wrote it. Raises `Refused` (bad-input)."""
    name, email = clean_name(name, house), clean_email(email)
    _check_password(password)
    return {
        "name": name,
        "name_key": name_key(name),
        "email": email,
        "email_key": email.casefold(),
        "password": password,
        "zone": clean_zone(zone),
        "language": clean_language(language),
    }


def hashed(wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the fields with the password as it is stored. It takes a while: not inside a transaction."""
    return {**wanted, "password": _hasher.hash(wanted["password"])}


@contextmanager
def claiming(wanted: Mapping[str, str], now: datetime, own: User | None = None) -> Iterator[dict[str, str | None]]:
    """Hold a transaction in which nobody but `own` has the wanted name; the block stores the fields it is given.

    If another has the address he is told by mail, and the fields are without address and password: the name is kept all
    the same, for as long as a confirmation would take; else trying the name again would tell. Raises `Refused`
    (bad-input).
    """
    taken = Refused("bad-input", _("The name {name} is taken. Choose another one.").format(name=wanted["name"]))
    others = User.id != (own.id if own else 0)
    try:
        with db.transaction():
            # Before the address, or a taken name would show whether an address has an account.
            if User.select().where((User.name_key == wanted["name_key"]) & others).exists():
                raise taken
            holder = User.get_or_none((User.email_key == wanted["email_key"]) & others)
            if holder is not None and holder.visiting:
                # What a visitor says is his he has not shown to be, and he may stay for long.
                _disclaim(holder)
                holder = None
            if holder is not None:
                outbox.queue("known", now=now, user=holder, key=f"known {holder.id} {now:%Y%m%d%H}")
            yield {**wanted, "email": None, "email_key": None, "password": ""} if holder else {**wanted}
    except db.Duplicate:
        # Another request for the name or the address was quicker by a moment.
        raise taken from None


def sign_up_by_mail(email: str, name: str, now: datetime, language: str = "en") -> User:
    """Make the account of somebody whose address is proven by his answer, inside the caller's transaction.

    The name is what his mails say, or the address before the @, with a number if another has it; he has no password
    until he asks for one. An account that somebody has made with the address and never confirmed becomes his, with
    nothing of what that somebody chose. Raises `Refused` (bad-input).
    """
    email = clean_email(email)
    for claimed in User.select().where((User.email_key == email.casefold()) & User.confirmed_at.is_null()):
        _disclaim(claimed)
    free = _free_name(name, email)
    return User.create(
        name=free,
        name_key=name_key(free),
        email=email,
        email_key=email.casefold(),
        confirmed_at=now,
        language=language,
        session_key=secrets.token_hex(16),
        created_at=now,
    )


def _disclaim(user: User) -> None:
    """Take an address from somebody who never confirmed it."""
    links.revoke("confirm", user)
    User.update(email=None, email_key=None).where(User.id == user.id).execute()


def refuse_invitations(email: str, now: datetime) -> None:
    """Send the address no more invitations."""
    with db.transaction():
        Unwanted.insert(hash=links.digest(email.casefold()), at=now).on_conflict_ignore().execute()


def _free_name(name: str, email: str) -> str:
    """Return a name that nobody has, made of the one that is wished for."""
    for wished in (name, email.partition("@")[0], "Player"):
        with suppress(Refused):
            stem = clean_name("".join(mark if NAME.fullmatch(f"a{mark}a") else " " for mark in wished)[:24])
            for number in range(1, 100):
                tried = stem if number == 1 else f"{stem} {number}"
                if not User.select().where(User.name_key == name_key(tried)).exists():
                    return tried
    return f"Player {secrets.token_hex(4)}"


def confirm(token: str, now: datetime) -> User:
    """Confirm the address that the link went to. Raises `Refused` (link-spent)."""
    with db.transaction():
        user = _spent("confirm", token, now)
        User.update(confirmed_at=now, mail_stopped="").where(User.id == user.id).execute()
        return _settled(user, now)


def _spent(purpose: str, token: str, now: datetime) -> User:
    """Use a mailed link up and return whose it is. Raises `Refused` (link-spent)."""
    # Held before the link is used up: a visitor is being forgotten, or becomes a person, but not both.
    number = links.find(purpose, token, now).user_id
    db.locked(User.select().where(User.id == number)).first()
    return _read(links.spend(purpose, token, now).user_id)


def require_confirmed(user: User | None) -> None:
    """Raise `Refused` (unconfirmed) for who has no account, or has not confirmed its address."""
    if user is not None and user.visiting:
        raise Refused("unconfirmed", _("Visitors play against bots. To meet people, make an account first."))
    if user is None or user.confirmed_at is None:
        raise Refused("unconfirmed", _("Please confirm your mail address first: the letter is in your mailbox."))


def _settled(user: User, now: datetime) -> User:
    """Make a visitor whose address has been confirmed a person like others, and return him as he is now.

    His matches are shown in lists, and mail tells him where he is awaited.
    """
    if user.visiting:
        User.update(visitor_until=None).where(User.id == user.id).execute()
        theirs = Seat.select(Seat.match).where(Seat.owner == user)
        Match.update(unlisted=False).where(Match.id.in_(theirs)).execute()
        notify.catch_up(_read(user.id), now)
    return _read(user.id)


def sign_in(who: str, password: str, *, source: str, now: datetime) -> User:
    """Return the person with that name or address and password. Raises `Refused` (bad-credentials, throttled)."""
    who = unicodedata.normalize("NFC", who).strip()[:254]
    throttle.count("sign-in from", source, now)
    throttle.count("sign-in as", f"{links.digest(name_key(who)).hex()[:16]} {source}", now)
    user = User.get_or_none((User.name_key == name_key(who)) | (User.email_key == who.casefold()))
    stored = user.password if user is not None else ""
    try:
        _hasher.verify(stored or _DECOY, password[:LONGEST_PASSWORD])
    except argon2.exceptions.VerificationError:
        stored = ""
    # Not before the address is confirmed: that somebody may sign in would tell that the address was new.
    if user is None or not stored or user.confirmed_at is None:
        raise Refused("bad-credentials", _("Name or password is wrong, or your address is not confirmed yet."))
    return user


def own(user: User, password: str, *, source: str, now: datetime) -> User:
    """Return the person anew if that is his password. Raises `Refused` (bad-credentials, throttled)."""
    try:
        return sign_in(user.name, password, source=source, now=now)
    except Refused as fault:
        if fault.code != "bad-credentials":
            raise
        raise Refused("bad-credentials", _("The present password is wrong.")) from None


def forgot(email: str, *, source: str, now: datetime) -> None:
    """Queue a reset mail if the address has an account; whether it has is not said."""
    email = clean_email(email)
    throttle.count("reset from", source, now)
    # By both: a stranger who asks and asks must not keep the owner from asking.
    throttle.count("mail to", f"{email.casefold()} {source}", now)
    with db.transaction():
        user = User.get_or_none(User.email_key == email.casefold())
        if user is not None:
            outbox.queue("reset", now=now, user=user, key=f"reset {user.id} {secrets.token_hex(4)}")
        else:
            # A link that nobody is sent: a stranger learns nothing from the time that storing takes.
            links.mint("reset", now)


def reset(token: str, password: str, now: datetime) -> User:
    """Set a new password by a mailed link and end every session. Raises `Refused` (link-spent, bad-input)."""
    _check_password(password)
    hashed = _hasher.hash(password)
    with db.transaction():
        user = _spent("reset", token, now)
        links.revoke("reset", user)
        # Whoever reads the mail owns the address, so the link confirms it too.
        User.update(password=hashed, session_key=secrets.token_hex(16), confirmed_at=user.confirmed_at or now).where(
            User.id == user.id
        ).execute()
        return _settled(user, now)


def change_password(user: User, old: str, new: str, *, source: str, now: datetime) -> User:
    """Change the password and end every other session. Raises `Refused` (bad-credentials, bad-input, throttled)."""
    own(user, old, source=source, now=now)
    _check_password(new)
    hashed = _hasher.hash(new)
    with db.transaction():
        links.revoke("reset", user)
        User.update(password=hashed, session_key=secrets.token_hex(16)).where(User.id == user.id).execute()
    return _read(user.id)


def sign_out_everywhere(user: User) -> None:
    """End every session of the person, and every way back in that was mailed."""
    with db.transaction():
        links.revoke("reset", user)
        User.update(session_key=secrets.token_hex(16)).where(User.id == user.id).execute()


def try_mail_again(user: User, now: datetime) -> None:
    """Take an address that refused mail back into use; its owner asked for it, and is told where he is awaited."""
    with db.transaction():
        User.update(mail_stopped="").where(User.id == user.id).execute()
        notify.catch_up(_read(user.id), now)


def unsubscribe(token: str, now: datetime, *, everywhere: bool = False) -> None:
    """Stop turn mails by the link in one of them: of its match, or everywhere if that is wanted or it has no match.

    Raises `Refused` (link-spent).
    """
    with db.transaction():
        link = links.spend("unsubscribe", token, now)
        if everywhere or link.match_id is None:
            stop_turn_mails(_read(link.user_id))
        else:
            Seat.update(turn_mail="off").where((Seat.match == link.match_id) & (Seat.user == link.user_id)).execute()


def stop_turn_mails(user: User) -> None:
    """Send the person no more mails about turns, whatever he has chosen for single matches."""
    with db.transaction():
        User.update(turn_mail="off", digest_at=None).where(User.id == user.id).execute()
        Seat.update(turn_mail="").where((Seat.user == user) & (Seat.turn_mail != "")).execute()


def forget(user: User, now: datetime) -> None:
    """Make the person anonymous for ever: name, address and password go, matches stay.

    Seats in running matches must have been given up before (`lobby.leave_all`).
    """
    with db.transaction():
        db.locked(User.select().where(User.id == user.id)).first()
        if Seat.select().join(Match).where((Seat.user == user) & Match.status.in_(["open", "running"])).exists():
            raise Refused("not-open", _("A seat was taken at this moment. Please try again."))
        for purpose in links.LIFETIMES:
            links.revoke(purpose, user)
        ReplyToken.delete().where(
            (ReplyToken.user == user) | (db.lower(ReplyToken.address) == user.email_key)
        ).execute()
        Inbound.delete().where((Inbound.user == user) | (db.lower(Inbound.sender) == user.email_key)).execute()
        for theirs in (Vacation, Prepared, Note, Feed, Webhook, Way, Token):
            theirs.delete().where(theirs.user == user).execute()
        outbox.withdraw(user, now)
        User.update(
            name=f"Former player {user.id}",
            name_key=f"former player {user.id}",
            email=None,
            email_key=None,
            confirmed_at=None,
            password="",
            session_key=secrets.token_hex(16),
            turn_mail="off",
            digest_at=None,
            visitor_until=None,
            admin=False,
            other_ways=False,
            quiet="",
            deleted_at=now,
        ).where(User.id == user.id).execute()


def sweep(now: datetime) -> None:
    """Forget those who never confirmed their address, so that their names are free again."""
    with db.transaction():
        nobody = User.confirmed_at.is_null() & User.deleted_at.is_null() & (User.bot == "")
        late = nobody & User.visitor_until.is_null()
        User.delete().where(late & (User.created_at < now - links.LIFETIMES["confirm"])).execute()


def by_name(name: str) -> User:
    """Return the person of that name. Raises `Refused` (not-found)."""
    user = User.get_or_none(User.name_key == name_key(name))
    if user is None:
        raise Refused("not-found", _("There is nobody of that name."))
    return user


def name_key(name: str) -> str:
    """Return the form in which two names that look alike to a reader of case are equal."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def clean_name(text: str, house: str = "") -> str:
    """Return the name as it will be shown; `house` is one more that the house goes by. Raises `Refused` (bad-input)."""
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not NAME.fullmatch(name) or len(name_key(name)) > LONGEST_KEY:
        told = _("A name has 1 to 30 letters, digits, spaces or . ' -, and begins with a letter or digit.")
        raise Refused("bad-input", told)
    if lettering.mixed(name):
        told = _("A name is written in one script: Latin, Cyrillic or Greek letters, say, not mixed.")
        raise Refused("bad-input", told)
    read = lettering.looks(name_key(name))
    if OURS.match(read) or (house and read == lettering.looks(name_key(house))):
        raise Refused("bad-input", _("This name is kept for the house. Choose another one."))
    return name


def clean_email(text: str) -> str:
    """Return the address. Raises `Refused` (bad-input)."""
    email = text.strip()
    if len(email) > 254 or not EMAIL.fullmatch(email) or not email.isprintable() or ".." in email:
        raise Refused("bad-input", _("That does not look like a mail address, such as ailsa@example.org."))
    return email


def zones() -> list[str]:
    """Return the names of the time zones to choose from, in order."""
    return sorted(name for name in available_timezones() if "/" in name or name == "UTC")


def clean_zone(text: str) -> str:
    """Return the time zone's name. Raises `Refused` (bad-input)."""
    if text not in zones():
        raise Refused("bad-input", _("Choose a time zone from the list, such as Europe/Prague."))
    return ZoneInfo(text).key


def clean_language(text: str) -> str:
    """Return the language's code. Raises `Refused` (bad-input)."""
    if text not in languages.LANGUAGES:
        raise Refused("bad-input", _("Choose a language from the list."))
    return text


def _read(number: int | None) -> User:
    user: User = User.get_by_id(number)
    return user


def _check_password(password: str) -> None:
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        told = _("A password has {least} to {most} characters.")
        raise Refused("bad-input", told.format(least=SHORTEST_PASSWORD, most=LONGEST_PASSWORD))
