"""The front page for strangers, the turn list for people, and the rules."""

from __future__ import annotations

import flask
import flask_login

from engine import games
from engine.language import gettext as _
from server import archive, clock, home, lobby, log, tournaments, vacations
from server.errors import Refused
from server.models import User
from server.web.account import me
from server.web.present import table_cards

pages = flask.Blueprint("front", __name__)


@pages.get("/")
def index() -> str:
    """Show a person what waits for him, a stranger what this is."""
    if not flask_login.current_user.is_authenticated:
        return flask.render_template("front.html", games=games.games(), tables=table_cards(lobby.open_tables()[:5]))
    user, now = me(), clock.now()
    unseen = home.unseen(user)
    kept = home.kept(user, unseen)
    finished = home.finished(user, _shown(user))
    places = log.places_of([*unseen, *finished])
    ended = [(match, "" if match.id in kept else archive.result(places[match.id])) for match in unseen]
    items = home.items(user, now)
    return flask.render_template(
        "home.html",
        items=items,
        contests=tournaments.origins([item.match for item in items]),
        tables=table_cards(home.tables(user)),
        invitations=table_cards(home.invitations(user)),
        ended=ended,
        finished=[(match, archive.result(places[match.id])) for match in finished],
        lost=home.lost(user),
        vacation=vacations.current(user, now),
        games=games.games(),
    )


def _shown(user: User) -> int:
    """Return how many finished matches somebody's list shows; the archive has the others, but not those of visitors."""
    return 50 if user.visiting else 5


@pages.get("/rules")
def all_rules() -> str:
    """List the games."""
    return flask.render_template("rules.html", games=games.games())


@pages.get("/rules/<kind>")
def rules(kind: str) -> str:
    """Show the rules of a game."""
    try:
        game = games.game(kind)
    except LookupError:
        raise Refused("not-found", _("There is no such game here.")) from None
    return flask.render_template([f"games/{game.kind}/rules.html", "games/default/rules.html"], game=game)
