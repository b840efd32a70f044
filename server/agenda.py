"""A person's deadlines as a calendar (iCalendar, RFC 5545) that other programs subscribe to."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from icalendar import Calendar, Event

from engine.language import gettext as _
from server import columns, home, log, story, wording
from server.errors import Refused
from server.log import Played
from server.models import Seat, User
from server.settings import Settings

# How often a program should look again.
REFRESH: Final = timedelta(hours=1)


def calendar(user: User, settings: Settings) -> bytes:
    """Return the calendar: one event for each turn of his that has a deadline, gone when the turn is taken.

    The same as long as nothing happens in his matches.
    """
    made = Calendar()
    made.add("PRODID", f"-//{settings.mail_name}//Clachan//EN")
    made.add("VERSION", "2.0")
    made.add("METHOD", "PUBLISH")
    made.add("X-WR-CALNAME", settings.mail_name)
    made.add("REFRESH-INTERVAL", REFRESH, parameters={"VALUE": "DURATION"})
    made.add("X-PUBLISHED-TTL", "PT1H")
    matches = home.awaiting(user)
    places = log.places_of(matches)
    for match in matches:
        # A damaged match keeps nobody from the others.
        with suppress(Refused):
            played, seats = log.read(match), places[match.id]
            seat = log.seat_of(seats, user)
            until = columns.seat_deadline(played, seat) if seat in played.position.to_act else None
            if until and not columns.undecided(played, seat):
                made.add_component(_event(played, seats, seat, until, settings))
    return bytes(made.to_ical())


def _event(played: Played, seats: Sequence[Seat], seat: int, until: datetime, settings: Settings) -> Event:
    """Return the event of a turn. A deadline moves by a row only, so the number of rows since the turn began is a
    SEQUENCE that rises whenever it does."""
    match, asked = played.match, played.position.asked[seat] or 0
    url = f"{settings.public_url}/matches/{match.id}"
    changed = played.last_at.replace(microsecond=0)
    event = Event()
    event.add("UID", f"turn-{match.id}-{asked}-{seat}@{settings.mail_domain}")
    event.add("SEQUENCE", played.position.seq - asked)
    event.add("DTSTAMP", changed)
    event.add("LAST-MODIFIED", changed)
    event.add("DTSTART", until.replace(microsecond=0))
    event.add("SUMMARY", _("{match}: your time is up").format(match=log.title(match)))
    players = wording.listed(story.names(seats))
    event.add("DESCRIPTION", f"{players}\n{log.rule_sentence(match)}\n{url}")
    event.add("URL", url)
    event.add("TRANSP", "TRANSPARENT")
    return event
