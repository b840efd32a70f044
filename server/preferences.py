"""What a person wants of the house: zone, language, mails, reminders, hours that do not count."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from engine import counting
from engine.language import gettext as _
from server import accounts, columns, db, digests, log, notify, quiet, vacations
from server.errors import Refused
from server.models import Match, Seat, User

MOST_REMINDERS: Final = 3
# How one may be told of one's turns: a mail for each at once, or when one is away, one mail a day, or none.
TURN_MAILS: Final = ("at-once", "away", "daily", "off")


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the form or program sent. `turn_mail` is one of `TURN_MAILS`, `digest_hour` the hour of his zone at which
    the one mail of a day comes. `reminders` are percentages of the time like "50, 80"; `nights` like "22:00-07:00";
    `forced` wants a move made when it is the only one, `keeps_results` to watch an end before being told
    it; over the `quiet` hours, like `nights`, no message but mail comes; None leaves them as they are."""

    zone: str
    language: str = "en"
    turn_mail: str = "at-once"
    digest_hour: int = 7
    reminders: str = "80"
    nights: str = ""
    forced: bool = False
    keeps_results: bool = False
    quiet: str | None = None


def turn_mails() -> list[tuple[str, str]]:
    """Return how one may be told of one's turns: each word of `TURN_MAILS` with what it means."""
    said = (_("at once"), _("when I am not here"), _("in one letter a day"), _("not at all"))
    return list(zip(TURN_MAILS, said, strict=True))


def turn_mails_here(user: User) -> list[tuple[str, str]]:
    """Return the same for one match, with the choice to be told as in all others first."""
    usual = dict(turn_mails()).get(user.turn_mail, "")
    return [("", _("as for all my matches: {way}").format(way=usual)), *turn_mails()]


def settle(user: User, wishes: Wishes, now: datetime) -> None:
    """Store what the person wants; who wants mails again is told where he is awaited. Raises `Refused` (bad-input).

    A changed zone or changed nightly hours count from his next turn on in each match.
    """
    zone, language = accounts.clean_zone(wishes.zone), accounts.clean_language(wishes.language)
    _check_turn_mail(wishes.turn_mail)
    if wishes.digest_hour not in digests.HOURS:
        raise Refused("bad-input", _("Choose an hour from 0 to 23."))
    nights, still = _nights(zone, wishes.nights), user.quiet if wishes.quiet is None else quiet.read(wishes.quiet)
    with db.transaction():
        User.update(
            zone=zone,
            language=language,
            turn_mail=wishes.turn_mail,
            digest_hour=wishes.digest_hour,
            reminders=_reminders(wishes.reminders),
            nights=nights,
            forced=wishes.forced,
            keeps_results=wishes.keeps_results,
            quiet=still,
        ).where(User.id == user.id).execute()
        kept = User.get_by_id(user.id)
        if (kept.zone, kept.nights) != (user.zone, user.nights):
            vacations.note_hours(kept, "web", now=now)
        columns.remind_anew(kept, now)
        _tell_anew(kept, now)


def choose(match: Match, user: User, word: str, now: datetime) -> None:
    """Store how the person is told of his turns in one match, "" as in all his matches; where that makes it due, tell.

    Raises `Refused` (bad-input, not-yours).
    """
    if word:
        _check_turn_mail(word)
    log.seat_of(log.places(match), user)
    with db.transaction():
        Seat.update(turn_mail=word).where((Seat.match == match) & (Seat.user == user)).execute()
        _tell_anew(User.get_by_id(user.id), now)


def _tell_anew(user: User, now: datetime) -> None:
    digests.plan(user, now)
    notify.catch_up(user, now)


def _check_turn_mail(word: str) -> None:
    if word not in TURN_MAILS:
        raise Refused("bad-input", _("Choose from the list how to be told of your turns."))


def speak(user: User, code: str) -> None:
    """Store in which language the person is spoken to. Raises `Refused` (bad-input)."""
    with db.transaction():
        User.update(language=accounts.clean_language(code)).where(User.id == user.id).execute()


def _reminders(text: str) -> str:
    steps = [step.strip().removesuffix("%").strip() for step in text.split(",") if step.strip()]
    if len(steps) > MOST_REMINDERS or not all(
        step.isdecimal() and step.isascii() and len(step) < 4 and 0 < int(step) < 100 for step in steps
    ):
        told = _("Reminders are up to {n} percentages from 1 to 99, such as 50, 80.").format(n=MOST_REMINDERS)
        raise Refused("bad-input", told)
    return ",".join(map(str, sorted({int(step) for step in steps})))


def _nights(zone: str, text: str) -> str:
    nights = "".join(text.split())
    if nights:
        try:
            counting.hours(f"{zone} {nights}")
        except ValueError as fault:
            raise Refused("bad-input", str(fault)) from None
    return nights
