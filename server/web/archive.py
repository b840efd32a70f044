"""Pages of the archive: finished matches for ever, to find, to take away and to check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import flask
import flask_login

from engine import games, record
from engine.language import gettext as _
from server import archive, clock, home, languages, lobby, log, story, throttle
from server.errors import Refused
from server.http.days import day
from server.models import Match
from server.web.account import me, viewer
from server.web.guard import number, wants_json
from server.web.match import visible

pages = flask.Blueprint("archive", __name__)

ASKED: Final = (
    "game",
    "player",
    "opponent",
    "result",
    "reason",
    "since",
    "until",
    "least",
    "most",
    "rated",
    "after",
)


@pages.get("/archive")
def index() -> Any:
    """List the finished matches that are asked for; what cannot be asked so is shown again with the reason."""
    asked = {name: flask.request.args.get(name, "").strip() for name in ASKED}
    fault = None
    try:
        page = _find(asked)
    except Refused as refused:
        if wants_json():
            raise
        fault, page = refused, archive.Page((), "")
    seats, user = archive.players(page.matches), viewer()
    shown = flask.render_template(
        "archive/index.html",
        rows=[(match, seats[match.id]) for match in page.matches],
        untold=home.kept(user, page.matches),
        more=page.more,
        asked={name: text for name, text in asked.items() if text},
        fault=fault,
        games=games.games(),
        reasons=archive.reasons(),
    )
    return shown, fault.status if fault else 200


def _find(asked: Mapping[str, str]) -> archive.Page:
    """Look for what the fields of the form say. Raises `Refused` (bad-input)."""
    if asked["rated"] not in {"", "yes", "no"}:
        raise Refused("bad-input", _("Rated is yes or no."))
    return archive.find(
        game=asked["game"],
        player=asked["player"],
        opponent=asked["opponent"],
        result=asked["result"],
        reason=asked["reason"],
        since=day(asked["since"]) if asked["since"] else None,
        until=day(asked["until"]) if asked["until"] else None,
        least=number(asked["least"]) if asked["least"] else None,
        most=number(asked["most"]) if asked["most"] else None,
        rated=asked["rated"] == "yes" if asked["rated"] else None,
        after=asked["after"],
    )


@pages.get("/archive/mine.zip")
@flask_login.login_required
def mine() -> Any:
    """Send all finished matches of the signed-in person in one file, as it is made."""
    throttle.count("bundle by", str(me().id), clock.now())
    return _file(_said(archive.bundle(me()), languages.current()), "application/zip", "clachan-matches.zip")


def _said(pieces: Iterable[bytes], code: str) -> Iterator[bytes]:
    """Yield what is made after the request has ended, in the language that it was asked for in."""
    made = iter(pieces)
    while True:
        with languages.speaking(code):
            piece = next(made, None)
        if piece is None:
            return
        yield piece


@pages.get("/matches/<int:match_id>/record.json")
def download(match_id: int) -> Any:
    """Send the record of a finished match."""
    match = log.get(match_id)
    return _file(record.dump(archive.export(match)), "application/json", archive.file_name(match, ".json"))


@pages.get("/matches/<int:match_id>/record.txt")
def text(match_id: int) -> Any:
    """Send a finished match as a text to read."""
    match = log.get(match_id)
    return _file(archive.told(match), "text/plain", archive.file_name(match, ".txt"))


def _file(content: str | Iterable[bytes], mimetype: str, name: str) -> flask.Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return flask.Response(content, mimetype=mimetype, headers=headers)


@pages.get("/matches/<int:match_id>/verify")
def verify(match_id: int) -> str:
    """Check a match: `?check=1` all of a finished one, `?hash=` whether a hash out of an old mail is one of its own."""
    match = visible(match_id)[0]
    if match.status not in {"running", "finished"}:
        raise Refused("not-found", _("There is nothing to check before a match has begun."))
    over = match.status == "finished"
    findings = archive.check(match) if over and "check" in flask.request.args else []
    wrong = [finding for finding in findings if finding.holds is False]
    return flask.render_template(
        "archive/verify.html",
        match=match,
        over=over,
        origin=_origin(match),
        findings=findings,
        wrong=wrong,
        broken={finding.row for finding in wrong},
        rows=[(row, bytes(row.hash).hex()) for row in archive.stored(match)] if wrong else [],
        looked=_looked_up(match, flask.request.args.get("hash", "").strip()),
        **({} if over else _public(match)),
    )


def _origin(match: Match) -> str:
    """Return where an imported match comes from, "" for one that was played here, or of which that cannot be read."""
    try:
        return archive.origin(match) if match.imported_at else ""
    except Refused:
        return ""


def _looked_up(match: Match, text: str) -> dict[str, Any] | None:
    """Return what became of a pasted hash, None if there is none: `row` is its row, `fault` why it is no hash."""
    if not text:
        return None
    digest, row, fault = archive.read_hash(text), None, ""
    if digest:
        try:
            row = archive.row_of(match, digest)
        except Refused as refused:
            fault = refused.sentence
    else:
        fault = _("That is no hash. A hash has 64 signs, digits and the letters a to f; copy it whole.")
    return {"text": text[:200], "digest": digest, "row": row, "fault": fault}


def _public(match: Match) -> dict[str, Any]:
    """Return what everybody may know of the proofs of a running match."""
    try:
        played = log.current(match.id)
    except Refused as refused:
        return {"fault": refused}
    return {
        "last": played.position.seq,
        "last_hash": story.shown_hash(played),
        "sealed": story.first_secret(played) is not None,
        "commitment": lobby.commitment(match),
    }
