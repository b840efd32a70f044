"""The page on which somebody tries moves out, his own and others', from what he knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import flask
import flask_login

from engine.language import gettext as _
from server import log, story, whatif
from server.errors import Refused
from server.log import Played
from server.web.account import me
from server.web.boards import drawn
from server.web.guard import number
from server.web.match import visible
from server.whatif import Line

pages = flask.Blueprint("whatif", __name__)

LONGEST: Final = 2000


@pages.get("/matches/<int:match_id>/whatif")
@flask_login.login_required
def show(match_id: int) -> Any:
    """Show the board after the `moves`, separated by commas, and `move` if there is one more.

    `row` is the last row of the match when the line was begun, `from` what the moves to choose among begin with.
    """
    match = visible(match_id)[0]
    if match.status != "running":
        return flask.redirect(flask.url_for("match.show", match_id=match_id))
    asked = flask.request.args
    played, seats = log.read(match), log.places(match)
    seat, called = log.own_number(match, me()), story.names(seats)
    line = whatif.explore(played, seat, _texts(), called)
    return flask.render_template(
        "match/whatif.html",
        match=match,
        title=log.title(match),
        kind=match.game,
        game=played.game,
        seat=seat,
        seats=seats,
        called=called,
        line=line,
        view=line.view,
        board=drawn(played.game, line.view, line.touched),
        position=played.game.text(line.view, called),
        picked=asked.get("from", ""),
        typed=asked.get("move", "") if line.fault else "",
        row=played.position.seq,
        moved=number(asked.get("row", str(played.position.seq))) != played.position.seq,
        mine_now=seat in played.position.to_act,
        ahead=_ahead(line, seat, now=played.position.to_act),
        links=_links(played, line, asked.get("from", "")),
    )


def _texts() -> list[str]:
    """Return the moves asked for. Raises `Refused` (bad-input)."""
    asked = flask.request.args
    texts = [*asked.get("moves", "").split(","), asked.get("move", "")]
    if sum(map(len, texts)) > LONGEST:
        raise Refused("bad-input", _("That is too long."))
    return [text.strip() for text in texts if text.strip()]


def _ahead(line: Line, seat: int | None, now: tuple[int, ...]) -> tuple[str, str] | None:
    """Return the viewer's next move in the line and the one before it, "" if its text is hidden from him, to have it
    ready; None if there is none, or it is his turn."""
    place = next((place for place, step in enumerate(line.steps) if step.seat == seat), None)
    if place is None or seat in now:
        return None
    before = line.steps[place - 1] if place else None
    return line.steps[place].text, before.text if before and before.told else ""


def _links(played: Played, line: Line, picked: str) -> dict[str, Any]:
    """Return the addresses of lines: of this one, of the one before, of none, and with each move that may come next.

    Lists hold pairs of what is chosen and its address: `choices` for a move that was unclear, `heads` for what moves
    begin with, `moves` for those that begin with what is picked.
    """

    def link(texts: Sequence[str], **more: Any) -> str:
        number, row = played.match.id, played.position.seq
        return flask.url_for("whatif.show", match_id=number, moves=",".join(texts) or None, row=row, **more)

    def longer(texts: Sequence[str]) -> list[tuple[str, str]]:
        return [(text, link([*made, text])) for text in texts]

    made, head = [step.text for step in line.steps], played.game.head
    heads = dict.fromkeys(map(head, line.moves))
    return {
        "here": link(made),
        "back": link(made[:-1]),
        "start": link([]),
        "choices": longer(line.fault.choices if line.fault else ()),
        "heads": [(one, link(made, **{"from": one})) for one in heads],
        "moves": longer([text for text in line.moves if head(text) == picked]),
    }
