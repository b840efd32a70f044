"""The pages of tournaments."""

from __future__ import annotations

from typing import Any, Final

import flask
import flask_login
from babel.numbers import format_decimal

from engine import games
from engine.language import gettext as _
from server import accounts, clock, languages, log, tournaments, wording
from server.errors import Refused
from server.http.days import day
from server.models import Match, Tournament
from server.tournaments.standings import WIN, Line
from server.web.account import account_required, me, viewer
from server.web.guard import again, field, filled, number
from server.web.present import chosen, rule_sentence
from server.web.tables import HIDDEN, lengths, time_rule, usual_rule

pages = flask.Blueprint("tournaments", __name__, url_prefix="/tournaments")

# Fields of the form that the page hides where they do not matter.
HIDDEN_HERE: Final = (*HIDDEN, "rounds")
HOURS: Final = range(24)


@pages.get("")
def index() -> str:
    """List the tournaments that one may enter, that run, and that are over."""
    return flask.render_template("tournaments/index.html", lists=tournaments.lists(viewer()), games=games.games())


@pages.get("/new")
@account_required
def new() -> str:
    """Show the form that announces a tournament."""
    usual = {
        "seats": 2,
        "system": "swiss",
        "rounds": 4,
        "least": 4,
        "most": 16,
        "hour": 18,
        **usual_rule(),
    }
    return flask.render_template(
        "tournaments/new.html",
        games=games.games(),
        zones=accounts.zones(),
        lengths=lengths(),
        hours=[(hour, f"{hour}:00") for hour in HOURS],
        most=tournaments.MOST,
        most_rounds=tournaments.MOST_ROUNDS,
        given=filled("tournaments.new_post", HIDDEN_HERE, **usual),
    )


@pages.post("/new")
@account_required
@again("tournaments.new")
def new_post() -> Any:
    """Announce a tournament."""
    kind, hour = field("game"), number(field("hour"))
    names = [option.name for option in games.games()[kind].options] if kind in games.games() else []
    if hour not in HOURS:
        raise Refused("bad-input", _("Choose an hour from 0 to 23."))
    plan = tournaments.Plan(
        name=field("name"),
        game=kind,
        seats=number(field("seats")),
        clock=time_rule(),
        options={name: field(f"option-{kind}-{name}") for name in names if field(f"option-{kind}-{name}")},
        form=field("system"),
        rounds=number(field("rounds", "0")),
        least=number(field("least")),
        most=number(field("most")),
        starts_at=wording.o_clock(day(field("day")), hour, me().zone),
        rated=field("rated", "yes") == "yes",
    )
    return _to(tournaments.announce(me(), plan, clock.now()))


@pages.get("/<int:which>")
def show(which: int) -> str:
    """Show a tournament: what is agreed, who takes part, how it stands, its rounds."""
    page = tournaments.page(which, viewer())
    alike = _match_of(page.tournament)
    return flask.render_template(
        "tournaments/show.html",
        page=page,
        tournament=page.tournament,
        game=log.game_of(alike),
        rule=rule_sentence(alike),
        options=chosen(alike),
        standing=[_told(line) for line in page.lines],
        win=WIN,
        may_enter=page.tournament.status == "open" and page.tournament.starts_at > clock.now(),
        given=filled("tournaments.enter"),
    )


@pages.post("/<int:which>/enter")
@flask_login.login_required
@again("tournaments.show")
def enter(which: int) -> Any:
    """Take part."""
    tournament = tournaments.enter(which, me(), clock.now(), field("contribution"))
    flask.flash(_("You take part. A letter tells you when it begins."))
    return _to(tournament)


@pages.post("/<int:which>/withdraw")
@flask_login.login_required
@again("tournaments.show")
def withdraw(which: int) -> Any:
    """Take part no longer."""
    tournament = tournaments.withdraw(which, me(), clock.now())
    flask.flash(_("You have withdrawn."))
    return _to(tournament)


@pages.post("/<int:which>/call-off")
@flask_login.login_required
@again("tournaments.show")
def call_off(which: int) -> Any:
    """Call it off before it begins."""
    tournament = tournaments.call_off(which, me(), clock.now())
    flask.flash(_("The tournament is called off. Everybody who has entered is told."))
    return _to(tournament)


def _to(tournament: Tournament) -> Any:
    return flask.redirect(flask.url_for("tournaments.show", which=tournament.id))


def _match_of(tournament: Tournament) -> Match:
    """Return a match, in no table, on the terms of a tournament, to say them in words."""
    return Match(game=tournament.game, options=tournament.options, clock=tournament.clock)


def _told(line: Line) -> dict[str, Any]:
    """Return a line of the standing with its fractions in words."""
    locale = languages.locale()
    return {
        "line": line,
        "opponents": format_decimal(round(float(line.opponents), 1), locale=locale),
        "direct": format_decimal(line.direct / 2, locale=locale),
        "share": wording.percent(round(100 * line.share)),
    }
