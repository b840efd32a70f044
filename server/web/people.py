"""Pages about people: what everybody may know of somebody, and the ladders of the games."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import flask

from engine import games
from engine.language import gettext as _
from server import archive, clock, companions, curve, home, people, ratings, wording
from server.archive import guests
from server.errors import Refused
from server.models import User
from server.web.account import viewer
from server.web.guard import number

pages = flask.Blueprint("people", __name__)


@pages.get("/people/<name>")
def show(name: str) -> str:
    """Show a person; of who has left, and of whom only records name, the matches alone."""
    user, reader, asked = people.find(name), viewer(), flask.request.args
    page = people.finished(user, number(asked.get("after", "0")))
    seats = archive.players(page.matches)
    return flask.render_template(
        "people/show.html",
        **_told(user, reader) if not (user.bot or user.deleted_at) else {"profile": None},
        person=user,
        stands_in=companions.is_stand_in(user),
        thinks=companions.about()[user.bot].thinks if user.bot else "",
        finished=people.finished_count(user) if user.bot else 0,
        starred=user.name.endswith(guests.STAR),
        everybody=asked.get("opponents") == "all",
        rows=[(match, seats[match.id]) for match in page.matches],
        untold=home.kept(reader, page.matches),
        more=page.more,
        after=asked.get("after", ""),
        games=games.games(),
    )


def _told(user: User, reader: User | None) -> dict[str, Any]:
    """Return what the page of somebody who is here tells of him."""
    profile = people.profile(user, reader, clock.now())
    return {
        "profile": profile,
        "charts": {record.game: curve.line(_numbers(record)) for record in profile.records if record.history},
        "arrived": wording.today(user.created_at, reader.zone if reader else "UTC"),
        "enough": ratings.ENOUGH,
        "few": people.OPPONENTS,
    }


@pages.get("/ladder")
def ladder() -> str:
    """Show who plays a game best; without a game the first there is."""
    reader, now = viewer(), clock.now()
    kind = flask.request.args.get("game", "") or next(iter(games.games()))
    if kind not in games.games():
        raise Refused("not-found", _("There is no such game here."))
    after = flask.request.args.get("after", "")
    return flask.render_template(
        "people/ladder.html",
        game=games.game(kind),
        games=games.games(),
        ladder=ratings.ladder(kind, now, after),
        after=after,
        mine=_mine(reader, kind, now) if reader else None,
        enough=ratings.ENOUGH,
    )


def _mine(reader: User, kind: str, now: datetime) -> dict[str, Any]:
    """Return where the reader himself stands, for the line above a ladder."""
    rating = ratings.rating(reader, kind)
    return {
        "place": ratings.place(reader, kind, now),
        "shown": rating.shown if rating else None,
        "matches": rating.matches if rating else 0,
    }


def _numbers(record: people.Record) -> list[int]:
    """Return the numbers of the chart of a rating: where it stood before the first match shown, and after each."""
    first = record.history[0]
    return [first.shown - first.change, *(step.shown for step in record.history)]
