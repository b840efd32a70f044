"""What a person wants of the house: zone, language, mails, reminders, hours that do not count."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from engine import counting
from server import accounts, columns, db, notify, vacations
from server.errors import Refused
from server.models import User

MOST_REMINDERS: Final = 3


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the form or program sent. `reminders` are percentages of the time like "50, 80"; `nights` like
    "22:00-07:00"; `forced` wants a move made when it is the only one, `keeps_results` to watch an end before being told
    it."""

    zone: str
    language: str = "en"
    turn_mail: bool = True
    reminders: str = "80"
    nights: str = ""
    forced: bool = False
    keeps_results: bool = False


def settle(user: User, wishes: Wishes, now: datetime) -> None:
    """Store what the person wants; who wants mails again is told where he is awaited. Raises `Refused` (bad-input).

    A changed zone or changed nightly hours count from his next turn on in each match.
    """
    zone, language = accounts.clean_zone(wishes.zone), accounts.clean_language(wishes.language)
    nights = _nights(zone, wishes.nights)
    with db.transaction():
        User.update(
            zone=zone,
            language=language,
            turn_mail=wishes.turn_mail,
            reminders=_reminders(wishes.reminders),
            nights=nights,
            forced=wishes.forced,
            keeps_results=wishes.keeps_results,
        ).where(User.id == user.id).execute()
        kept = User.get_by_id(user.id)
        if (kept.zone, kept.nights) != (user.zone, user.nights):
            vacations.note_hours(kept, "web", now=now)
        columns.remind_anew(kept, now)
        notify.catch_up(kept, now)


def speak(user: User, code: str) -> None:
    """Store in which language the person is spoken to. Raises `Refused` (bad-input)."""
    with db.transaction():
        User.update(language=accounts.clean_language(code)).where(User.id == user.id).execute()


def _reminders(text: str) -> str:
    steps = [step.strip().removesuffix("%").strip() for step in text.split(",") if step.strip()]
    if len(steps) > MOST_REMINDERS or not all(
        step.isdecimal() and step.isascii() and 0 < int(step) < 100 for step in steps
    ):
        raise Refused("bad-input", f"Reminders are up to {MOST_REMINDERS} percentages from 1 to 99, such as 50, 80.")
    return ",".join(map(str, sorted({int(step) for step in steps})))


def _nights(zone: str, text: str) -> str:
    nights = "".join(text.split())
    if nights:
        try:
            counting.hours(f"{zone} {nights}")
        except ValueError as fault:
            raise Refused("bad-input", str(fault)) from None
    return nights
