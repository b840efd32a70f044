"""What players of a match decide beside their moves: time, seats, the end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import flask
import flask_login

from engine.language import gettext as _
from server import ahead, clock, play, seating, votes, wording
from server.http.days import day
from server.web.account import me
from server.web.guard import again, field, number
from server.web.match import visible

pages = flask.Blueprint("affairs", __name__, url_prefix="/matches/<int:match_id>")


@pages.before_request
@flask_login.login_required
def signed_in() -> None:
    """Let only signed-in people in."""


@pages.post("/resign")
@again("match.show")
def resign(match_id: int) -> Any:
    """Give the match up."""
    return _done(match_id, seating.resign, _("You have resigned."))


@pages.post("/cancel")
@again("match.show")
def cancel(match_id: int) -> Any:
    """Call the match off before the first move."""
    return _done(match_id, seating.cancel, _("The match is called off."))


@pages.post("/undo")
@again("match.show")
def undo(match_id: int) -> Any:
    """Take the last move back: the one whose `row` the page named, and no other."""
    visible(match_id)
    play.take_back(match_id, me(), "web", row=number(field("row")), now=clock.now())
    return _back(match_id, _("Your move is taken back. Make another."))


@pages.post("/nudge")
@again("match.show")
def nudge(match_id: int) -> Any:
    """Have those awaited told once more."""
    return _done(match_id, play.nudge, _("Who is awaited gets one more mail."))


@pages.post("/back")
@again("match.show")
def come_back(match_id: int) -> Any:
    """Take the own seat back from the bot."""
    return _done(match_id, seating.come_back, _("You have your seat back."))


@pages.post("/seats/<int:seat>/offer")
@again("match.show")
def offer(match_id: int, seat: int) -> Any:
    """Let anybody take over a seat that a bot plays."""
    visible(match_id)
    seating.offer(match_id, seat, me(), "web", now=clock.now())
    return _back(match_id, _("The seat is free for anybody who wants it."))


@pages.post("/seats/<int:seat>/take")
@again("match.show")
def take(match_id: int, seat: int) -> Any:
    """Take over a free seat."""
    visible(match_id)
    seating.take(match_id, seat, me(), "web", now=clock.now())
    return _back(match_id, _("The seat is yours. Good luck!"))


@pages.post("/vote")
@again("match.show")
def vote(match_id: int) -> Any:
    """Propose something, or agree to it: a `topic` as the page has it, or a pause until the end of a day."""
    visible(match_id)
    topic = field("topic")
    if topic == "pause":
        topic = votes.pause_topic(wording.morning(day(field("until")) + timedelta(days=1), me().zone))
    decided = votes.vote(match_id, me(), topic, "web", now=clock.now())
    told = _("That is decided.") if decided else _("The others are told.") if topic else _("Withdrawn.")
    return _back(match_id, told)


@pages.post("/prepare")
@again("match.show")
def prepare(match_id: int) -> Any:
    """Have a move ready for the next turn, or put it away."""
    visible(match_id)
    if field("away"):
        ahead.put_away(match_id, me())
        return _back(match_id, _("Put away."))
    made = ahead.prepare(match_id, me(), field("move"), after=field("after"), now=clock.now())
    told = _("{move} will be played as soon as it is your turn, if it is legal then.").format(move=made.text)
    return _back(match_id, told)


def _done(match_id: int, act: Callable[..., None], told: str) -> Any:
    visible(match_id)
    act(match_id, me(), "web", now=clock.now())
    return _back(match_id, told)


def _back(match_id: int, told: str) -> Any:
    flask.flash(told)
    return flask.redirect(flask.url_for("match.show", match_id=match_id))
