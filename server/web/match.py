"""The pages of one match: the table with its board, moves, talk."""

from __future__ import annotations

import secrets
from typing import Any

import flask
import flask_login

from engine.language import gettext as _
from server import clock, home, lobby, log, play, preferences, talk
from server.errors import Refused
from server.models import Match, User
from server.web.account import me, viewer
from server.web.boards import drawn
from server.web.guard import field, filled, form_of, number, wants_json
from server.web.present import match_page, replay_page, table_page

pages = flask.Blueprint("match", __name__, url_prefix="/matches/<int:match_id>")


@pages.get("")
def show(match_id: int) -> str:
    """Show the match. `?move=` shows what that move would do, with a button that makes it; `?from=` picks a piece."""
    match, user = visible(match_id)
    if match.status in {"open", "cancelled"}:
        given = {"strength": "steady", **filled("tables.invite"), **filled("tables.fill")}
        return flask.render_template("tables/show.html", **table_page(match, user), invitation="", given=given)
    if home.is_kept(match, user) and "result" not in flask.request.args:
        return flask.render_template(
            "match/kept.html", match=match, title=log.title(match), since=home.seen(match, user)
        )
    try:
        facts = match_page(match, user, clock.now())
    except Refused as fault:
        following = home.next_waiting(user, match) if user else None
        return flask.render_template(
            "match/damaged.html", match=match, fault=fault, rows=log.raw(match), following=following
        )
    if user is not None:
        home.visit(match, user, clock.now())
    asked = flask.request.args.get("move", "").strip()
    trial = _trial(match, facts, user, asked) if asked and facts["my_turn"] and user else None
    return flask.render_template(
        "match/show.html",
        **facts,
        trial=trial,
        picked=flask.request.args.get("from", ""),
        key=secrets.token_hex(12),
        given=filled("affairs.prepare"),
        letters=preferences.turn_mails_here(user) if user else (),
        following=home.next_waiting(user, match) if user else None,
    )


@pages.get("/preview")
@flask_login.login_required
def preview(match_id: int) -> Any:
    """Say what a move would do: its notation, its consequences in words, the board after it. Nothing is stored."""
    match, user = visible(match_id)
    seat = _seated(log.own_number(match, user))
    asked = flask.request.args
    trial = play.preview(match, seat, asked.get("move", ""), number(asked.get("expected")), me())
    board = drawn(log.game_of(match), trial.view, trial.touched)
    return flask.jsonify(text=trial.text, sentences=trial.sentences, board=board)


@pages.post("/moves")
@flask_login.login_required
@form_of("match.show")
def move(match_id: int) -> Any:
    """Make a move; what was stored is read back from the log."""
    text, asked, key = field("move"), number(field("expected")), field("key") or None
    try:
        done = play.submit(match_id, None, text, asked, me(), "web", now=clock.now(), key=key)
    except Refused:
        visible(match_id)  # who may not see it is told that there is none, and nothing else
        raise
    return _told(match_id, done)


@pages.post("/talk")
@flask_login.login_required
@form_of("match.show")
def say(match_id: int) -> Any:
    """Say a line at the table, which may be a command or a move."""
    visible(match_id)
    said = talk.say(
        match_id,
        me(),
        field("text"),
        expected=number(field("expected", "0")),
        via="web",
        now=clock.now(),
        key=field("key") or None,
    )
    if said.done:
        return _told(match_id, said.done)
    if wants_json():
        return flask.jsonify(kind=said.kind, sentences=said.sentences)
    for sentence in said.sentences:
        flask.flash(sentence, "talk" if said.kind in {"/help", "/status"} else "message")
    return flask.redirect(flask.url_for(".show", match_id=match_id, _anchor="talk"))


@pages.get("/replay")
def replay(match_id: int) -> Any:
    """Go to the last step, or the first of a finished match."""
    match = visible(match_id)[0]
    step = 0 if match.status == "finished" else match.length
    return flask.redirect(flask.url_for(".step", match_id=match_id, seq=step))


@pages.get("/replay/<int:seq>")
def step(match_id: int, seq: int) -> str:
    """Show the board after one row: a link that stays."""
    match, user = visible(match_id)
    opened = flask.request.args.get("open", "") == "1"
    facts = replay_page(match, user, seq, opened) if match.status in {"running", "finished"} else None
    if facts is None:
        raise Refused("not-found", _("The match has no such step."))
    kept = home.is_kept(match, user)
    if kept and user and seq == match.length:
        # Who has come to the last step has watched it.
        home.visit(match, user, clock.now())
    return flask.render_template("match/replay.html", **facts, kept=kept)


def visible(match_id: int) -> tuple[Match, User | None]:
    """Return the match and who looks at it. Raises `Refused` (not-found) if he may not."""
    match = log.get(match_id)
    user = viewer()
    if not lobby.may_see(match, user):
        raise Refused("not-found", _("There is no such match."))
    return match, user


def _seated(seat: int | None) -> int:
    if seat is None:
        raise Refused("not-yours", _("You have no seat in this match."))
    return seat


def _trial(match: Match, facts: dict[str, Any], user: User, text: str) -> dict[str, Any]:
    """Return what a move would do, or why it cannot be made, for a page without scripts."""
    try:
        trial = play.preview(match, facts["seat"], text, facts["expected"], user)
    except Refused as fault:
        return {"text": text, "fault": fault}
    return {
        "text": trial.text,
        "sentences": trial.sentences,
        "board": drawn(facts["game"], trial.view, trial.touched),
        "position": facts["game"].text(trial.view, facts["called"]),
        "fault": None,
    }


def _told(match_id: int, done: play.Done) -> Any:
    if wants_json():
        return flask.jsonify(match=done.match_id, seq=done.seq, text=done.text, sentences=done.sentences)
    flask.flash(" ".join((_("Your move {text} is made.").format(text=done.text), *done.sentences)))
    return flask.redirect(flask.url_for(".show", match_id=match_id))
