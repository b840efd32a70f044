"""Web feeds (Atom, RFC 4287): what happens in one match, and a person's turns and ends.

All of it is what a spectator may know.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from xml.etree import ElementTree

from engine.language import gettext as _
from server import columns, home, log, story, wording
from server.errors import Refused
from server.log import Played
from server.models import Match, User
from server.settings import Settings

NAMESPACE: Final = "http://www.w3.org/2005/Atom"
# So many of the last steps of a match, and of the last matches that ended, are told.
STEPS: Final = 50
ENDS: Final = 10
# The year in the ids, which never change: RFC 4151 wants a day on which the domain was ours.
SINCE: Final = 2026
# What XML 1.0 cannot hold.
_UNFIT: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Item:
    """One entry: `key` makes its id, `path` is where it leads to."""

    key: str
    title: str
    text: str
    path: str
    at: datetime


def of_match(match: Match, settings: Settings) -> bytes:
    """Return the feed of a match as a spectator follows it, newest first. Raises `Refused` (damaged)."""
    here, items = f"/matches/{match.id}", []
    if match.status in {"running", "finished"}:
        played = log.read(match)
        called = story.names(log.places(match))
        told = story.lines(played, called, None)[-STEPS:]
        items = [
            Item(
                f"match/{match.id}/row/{line.seq}",
                line.sentences[0],
                _joined(line),
                f"{here}/replay/{line.seq}",
                line.at,
            )
            for line in told
        ]
        if match.status == "finished" and match.finished_at:
            items.append(_end(played, called, match.finished_at))
    return _feed(f"match/{match.id}", log.title(match), f"{here}/feed.atom", here, items, match.created_at, settings)


def of_person(user: User, settings: Settings) -> bytes:
    """Return the feed of a person: each turn while it waits for him, and the last matches of his that ended.

    It does not name its own address, which is a secret.
    """
    items = [*_turns(user), *_ends(user)]
    title = _("Matches of {name}").format(name=user.name)
    return _feed(f"person/{user.id}", title, "", "/", items, user.created_at, settings)


def _turns(user: User) -> Iterable[Item]:
    matches = home.awaiting(user)
    places = log.places_of(matches)
    for match in matches:
        # A damaged match keeps nobody from the others.
        with suppress(Refused):
            played, seats = log.read(match), places[match.id]
            seat = log.seat_of(seats, user)
            if seat in played.position.to_act:
                yield _turn(played, story.names(seats), seat, user)


def _turn(played: Played, called: list[str], seat: int, user: User) -> Item:
    match, until = played.match, columns.seat_deadline(played, seat)
    news = story.lines(played, called, None, story.since_own(played, seat), zone=user.zone)
    said = [_joined(line) for line in news]
    if until:
        said.append(_("You have until {when}.").format(when=wording.when(until, user.zone)))
    return Item(
        key=f"match/{match.id}/turn/{played.position.asked[seat] or 0}/{seat}",
        title=_("{match}: it is your turn").format(match=log.title(match)),
        text="\n".join(said),
        path=f"/matches/{match.id}",
        at=played.last_at,
    )


def _ends(user: User) -> Iterable[Item]:
    matches = home.latest(user, ENDS)
    places = log.places_of(matches)
    for match in matches:
        with suppress(Refused):
            end = _end(log.read(match), story.names(places[match.id]), match.finished_at)
            # Who wants to watch an end before being told it is told only that there is one.
            yield Item(end.key, end.title, "" if user.keeps_results else end.text, end.path, end.at)


def _end(played: Played, called: list[str], at: datetime) -> Item:
    number = played.match.id
    title = _("{match} has ended").format(match=log.title(played.match))
    return Item(f"match/{number}/end", title, story.standing(played, called, None), f"/matches/{number}", at)


def _joined(line: story.Line) -> str:
    return " ".join(line.sentences)


def _feed(
    key: str, title: str, path: str, page: str, items: Iterable[Item], since: datetime, settings: Settings
) -> bytes:
    newest = sorted(items, key=lambda item: item.at, reverse=True)
    feed = ElementTree.Element("feed", xmlns=NAMESPACE)
    _add(feed, "id", _tag(key, settings))
    _add(feed, "title", title)
    _add(feed, "updated", log.stamp(newest[0].at if newest else since))
    _add(ElementTree.SubElement(feed, "author"), "name", settings.mail_name)
    if path:
        ElementTree.SubElement(feed, "link", rel="self", href=settings.public_url + path)
    ElementTree.SubElement(feed, "link", href=settings.public_url + page)
    for item in newest:
        entry = ElementTree.SubElement(feed, "entry")
        _add(entry, "id", _tag(item.key, settings))
        _add(entry, "title", item.title)
        _add(entry, "updated", log.stamp(item.at))
        ElementTree.SubElement(entry, "link", href=settings.public_url + item.path)
        _add(entry, "content", item.text)
    return bytes(ElementTree.tostring(feed, encoding="utf-8", xml_declaration=True))


def _tag(key: str, settings: Settings) -> str:
    return f"tag:{settings.mail_domain},{SINCE}:{key}"


def _add(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, name).text = _UNFIT.sub("", text)
