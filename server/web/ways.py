"""A person's ways to be told besides by letters: added, tried out, changed and removed on his settings page."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import flask

from engine.language import gettext as _
from server import clock, tidings, ways
from server.channels import Kind
from server.http.kinds import kinds
from server.models import Way
from server.web.account import account_required, me
from server.web.guard import again, field, filled
from server.web.telling import told

pages = flask.Blueprint("ways", __name__)


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page tells of the ways: the person's own with what may be seen of their addresses, the kinds that a form
    can give, the words for news, what is filled into the form that was refused, and when what failed is tried again."""

    own: list[tuple[Way, str, str]]
    kinds: Mapping[str, Kind]
    news: list[tuple[str, str]]
    given: Mapping[str, object]
    next_tries: Mapping[int, datetime]
    usual: Collection[str] = ways.USUAL

    def ticked(self) -> list[str]:
        """Return the kinds of news that are ticked in the form that was refused."""
        return [news for news in tidings.NEWS if self.given.get(f"takes-{news}")]


@pages.app_template_global("other_ways")
def other_ways() -> Shown:
    """Return what the settings page of the reader tells of his ways."""
    opened = kinds()
    own = [(way, *ways.shown(way, opened)) for way in ways.of(me())]
    fit = {word: kind for word, kind in opened.items() if kind.blanks}
    return Shown(own, fit, news_in_words(), filled("ways.add"), tidings.next_tries(me(), clock.now()))


def news_in_words() -> list[tuple[str, str]]:
    """Return the kinds of news, each with what it is."""
    said = (_("my turns"), _("reminders"), _("beginnings"), _("ends"), _("the list of a day"))
    return list(zip(tidings.NEWS, said, strict=True))


@pages.post("/settings/ways")
@account_required
@again("account.settings", "ways")
def add() -> Any:
    """Store a way, and send a trial message there."""
    kind, opened = field("kind"), kinds()
    blanks = opened[kind].blanks if kind in opened else ()
    given = {blank.name: field(blank.name) for blank in blanks}
    ways.add(me(), kind, given, opened, clock.now(), label=field("label"), news=_ticked())
    return told("ways", _("It is stored, and a trial message is on its way."))


@pages.post("/settings/ways/<int:way>")
@account_required
@again("account.settings", "ways")
def act(way: int) -> Any:
    """Send a trial message to one of the person's ways, remove it, or change its name and what it takes."""
    if field("remove"):
        ways.remove(me(), way, clock.now())
        return told("ways", _("It is removed; nothing is sent there any more."))
    if field("trial"):
        ways.try_out(me(), way, clock.now())
        said = _("A trial message is on its way. Load the page again in a minute to see what became of it.")
        return told("ways", said)
    ways.change(me(), way, field("label"), _ticked(), clock.now())
    return told("ways", _("Your choice is stored."))


def _ticked() -> list[str]:
    return [news for news in tidings.NEWS if field(f"takes-{news}")]
