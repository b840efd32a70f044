"""Pages for who keeps the house: for everybody else there are none. No page shows what a spectator may not see."""

from __future__ import annotations

from typing import Any

import flask

from engine.language import gettext as _
from server import clock, gauges, keeping, log
from server.models import User
from server.web.account import viewer
from server.web.guard import again, field, filled, number

pages = flask.Blueprint("admin", __name__, url_prefix="/admin")


@pages.before_request
def guard() -> None:
    """Let only keepers in. Raises `Refused` (not-found)."""
    keeping.require(viewer())


def keeper() -> User:
    """Return the keeper who asks. Raises `Refused` (not-found)."""
    return keeping.require(viewer())


def before() -> int:
    """Return where the asked page of a list begins, 0 for the first. Raises `Refused` (bad-input)."""
    return number(flask.request.args.get("before", "0"))


def asked(name: str) -> str:
    """Return a word of the address."""
    return flask.request.args.get(name, "").strip()[:254]


def chosen(name: str, known: tuple[str, ...]) -> str:
    """Return a word of the address if it is a known one, else none."""
    return asked(name) if asked(name) in known else ""


@pages.get("")
def index() -> str:
    """Show how the house does."""
    now, settings = clock.now(), flask.current_app.config["SETTINGS"]
    return flask.render_template(
        "admin/index.html",
        works=gauges.works(now, settings.tick_seconds),
        overdue=gauges.overdue(now),
        lag=gauges.lag(now),
        mail_states=gauges.mails(now),
        queues=gauges.queues(),
    )


@pages.get("/matches")
def matches() -> str:
    """List matches, by number, player and status."""
    status = chosen("status", keeping.STATUSES)
    page = keeping.matches(asked("q"), status, before())
    seats = log.places_of(page.rows)
    return flask.render_template(
        "admin/matches.html", page=page, seats=seats, q=asked("q"), status=status, statuses=keeping.STATUSES
    )


@pages.get("/matches/<int:match_id>")
def match(match_id: int) -> str:
    """Show what is known of a match beside its board, and the form that holds it."""
    found = log.get(match_id)
    return flask.render_template(
        "admin/match.html", match=found, seats=log.places(found), given=filled("admin.freeze", why="")
    )


@pages.post("/matches/<int:match_id>/freeze")
@again("admin.match")
def freeze(match_id: int) -> Any:
    """Hold a running match."""
    keeping.freeze(match_id, keeper(), field("why"), clock.now())
    flask.flash(_("The match is held: no move is taken, and no time runs."))
    return flask.redirect(flask.url_for(".match", match_id=match_id))


@pages.post("/matches/<int:match_id>/unfreeze")
@again("admin.match")
def unfreeze(match_id: int) -> Any:
    """Let a match go on."""
    keeping.unfreeze(match_id, keeper(), clock.now())
    flask.flash(_("The match goes on."))
    return flask.redirect(flask.url_for(".match", match_id=match_id))


@pages.get("/people")
def people() -> str:
    """List people, by name, number and address."""
    return flask.render_template("admin/people.html", page=keeping.people(asked("q"), before()), q=asked("q"))


@pages.get("/people/<int:who>")
def person(who: int) -> str:
    """Show one person and what can be done."""
    given = {**filled("admin.stop_mail", why=""), **filled("admin.delete", name="")}
    return flask.render_template("admin/person.html", person=keeping.person(who), given=given)


@pages.post("/people/<int:who>/stop-mail")
@again("admin.person")
def stop_mail(who: int) -> Any:
    """Send a person no more mail."""
    keeping.stop_mail(who, keeper(), field("why"), clock.now())
    flask.flash(_("No more mail is sent there, until the person asks for it."))
    return flask.redirect(flask.url_for(".person", who=who))


@pages.post("/people/<int:who>/end-sessions")
@again("admin.person")
def end_sessions(who: int) -> Any:
    """Sign a person out everywhere."""
    keeping.end_sessions(who, keeper(), clock.now())
    flask.flash(_("The person is signed out everywhere."))
    return flask.redirect(flask.url_for(".person", who=who))


@pages.post("/people/<int:who>/delete")
@again("admin.person")
def delete(who: int) -> Any:
    """Delete the account of a person."""
    keeping.remove(who, keeper(), field("name"), clock.now())
    flask.flash(_("The account is deleted."))
    return flask.redirect(flask.url_for(".people"))


@pages.get("/mail-out")
def mail_out() -> str:
    """List mails to be sent, by state."""
    state = chosen("state", keeping.STATES)
    page = keeping.mails(state, before())
    return flask.render_template("admin/mail_out.html", page=page, state=state, states=keeping.STATES)


@pages.post("/mail-out/<int:mail>/retry")
@again("admin.mail_out")
def retry(mail: int) -> Any:
    """Have a mail tried again at once."""
    keeping.retry(mail, keeper(), clock.now())
    flask.flash(_("The mail is tried again within seconds."))
    return flask.redirect(flask.url_for(".mail_out"))


@pages.get("/mail-in")
def mail_in() -> str:
    """List mails that came in: who, about what, and what became of them."""
    page = keeping.arrived(asked("verdict"), before())
    return flask.render_template("admin/mail_in.html", page=page, verdict=asked("verdict"))


@pages.get("/mail-in/<int:mail>")
def mail_read(mail: int) -> str:
    """Show one mail that came in; what it says only if it is a report of a machine or could not be worked on."""
    came, text = keeping.report(mail)
    return flask.render_template("admin/mail_read.html", came=came, text=text)


@pages.get("/deeds")
def deeds() -> str:
    """List what keepers did."""
    return flask.render_template("admin/deeds.html", page=keeping.deeds(before()))
