"""A person's ways to be told besides by letters: added, tried out, changed and removed on his settings page."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import flask

from engine.language import gettext as _
from server import clock, outbox, tidings, ways
from server.channels import Kind
from server.models import Way
from server.web.account import account_required, me
from server.web.guard import again, field, filled

pages = flask.Blueprint("ways", __name__)


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page tells of the ways: the person's own with what may be seen of their addresses, the kinds that a form
    can give, the words for news, and what is filled into the form that was refused."""

    own: list[tuple[Way, str, str]]
    kinds: Mapping[str, Kind]
    news: list[tuple[str, str]]
    given: Mapping[str, object]
    usual: Collection[str] = ways.USUAL

    def ticked(self) -> list[str]:
        """Return the kinds of news that are ticked in the form that was refused."""
        return [news for news in tidings.NEWS if self.given.get(f"takes-{news}")]


@pages.app_template_global("other_ways")
def other_ways() -> Shown:
    """Return what the settings page of the reader tells of his ways."""
    kinds = _kinds()
    own = [(way, *_told(way, kinds)) for way in ways.of(me())]
    fit = {word: kind for word, kind in kinds.items() if kind.blanks}
    return Shown(own, fit, news_in_words(), filled("ways.add"))


def news_in_words() -> list[tuple[str, str]]:
    """Return the kinds of news, each with what it is."""
    said = (_("my turns"), _("reminders"), _("beginnings"), _("ends"), _("the list of a day"))
    return list(zip(tidings.NEWS, said, strict=True))


@pages.post("/settings/ways")
@account_required
@again("account.settings")
def add() -> Any:
    """Store a way, and send a trial message there."""
    kind, kinds = field("kind"), _kinds()
    blanks = kinds[kind].blanks if kind in kinds else ()
    given = {blank.name: field(blank.name) for blank in blanks}
    ways.add(me(), kind, given, kinds, clock.now(), label=field("label"), news=_ticked())
    flask.flash(_("It is stored, and a trial message is on its way."))
    return _back()


@pages.post("/settings/ways/<int:way>")
@account_required
@again("account.settings")
def act(way: int) -> Any:
    """Send a trial message to one of the person's ways, remove it, or change its name and what it takes."""
    if field("remove"):
        ways.remove(me(), way, clock.now())
        flask.flash(_("It is removed; nothing is sent there any more."))
    elif field("trial"):
        ways.try_out(me(), way, clock.now())
        flask.flash(_("A trial message is on its way. Load the page again in a minute to see what became of it."))
    else:
        ways.change(me(), way, field("label"), _ticked(), clock.now())
        flask.flash(_("Your choice is stored."))
    return _back()


def _ticked() -> list[str]:
    return [news for news in tidings.NEWS if field(f"takes-{news}")]


def _told(way: Way, kinds: Mapping[str, Kind]) -> tuple[str, str]:
    """Return the name of the service of a way, and what may be seen of its address."""
    kind = kinds.get(way.kind)
    return (kind.name, kind.shown(way.address)) if kind else (way.kind, "")


def _kinds() -> dict[str, Kind]:
    return outbox.open_ways(flask.current_app.config["SETTINGS"])


def _back() -> Any:
    return flask.redirect(flask.url_for("account.settings", _anchor="ways"))
