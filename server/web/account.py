"""Pages of a person's account. A GET never acts: mail scanners follow links, so each shows a button."""

from __future__ import annotations

import functools
from datetime import timedelta
from typing import Any, Final

import flask
import flask_login

from engine.language import gettext as _
from server import (
    accounts,
    clock,
    digests,
    feeds,
    hooks,
    links,
    lobby,
    preferences,
    sessions,
    tokens,
    tournaments,
    vacations,
    visitors,
    wording,
)
from server.http.days import day
from server.http.origins import source
from server.models import User
from server.web.guard import View, again, field, filled, form_of, number, safe_target

pages = flask.Blueprint("account", __name__)

IDENTITY: Final = "_user_id"
"""Under this name Flask-Login keeps in the session what `Person.get_id` returns."""


class Person(flask_login.UserMixin):
    """A signed-in person, as Flask-Login wants it."""

    def __init__(self, user: User) -> None:
        self.user = user

    def get_id(self) -> str:
        """Return what a new session of the person remembers of him."""
        return sessions.identity(self.user)


def me() -> User:
    """Return the signed-in person's account; only in views that need one."""
    user: User = flask_login.current_user.user
    return user


def viewer() -> User | None:
    """Return the account of who looks at a page, None for a stranger."""
    return me() if flask_login.current_user.is_authenticated else None


def enter(user: User) -> None:
    """Begin a new session for the person; nothing of the old one survives."""
    flask.session.clear()
    flask.session.permanent = True
    flask_login.login_user(Person(user))


def account_required(view: View) -> View:
    """Let only people with an account in: a stranger is asked to sign in, a visitor is shown how he gets one."""

    @functools.wraps(view)
    @flask_login.login_required
    def guarded(**values: Any) -> Any:
        if me().visiting and flask.request.method == "GET":
            return flask.redirect(flask.url_for("visit.keep"))
        accounts.require_confirmed(me())
        return view(**values)

    return guarded  # type: ignore[return-value]


def target() -> str:
    """Return where a person wanted to go who was asked to sign in first, and forget it."""
    return safe_target(flask.session.pop("target", None))


def applied() -> dict[str, Any]:
    """Return what was filled in to get an account, as services are given it."""
    return {
        "name": field("name"),
        "email": field("email"),
        "password": field("password"),
        "zone": field("zone", "UTC"),
        "language": field("language", "en"),
        "house": flask.current_app.config["SETTINGS"].mail_name,
        "source": source(),
        "now": clock.now(),
    }


@pages.get("/signup")
def sign_up() -> Any:
    """Show the form; a visitor has one of his own."""
    user = viewer()
    if user is not None and user.visiting and flask.request.method == "GET":
        return flask.redirect(flask.url_for("visit.keep"))
    given = filled("account.sign_up_post", zone="UTC")
    return flask.render_template("account/signup.html", zones=accounts.zones(), given=given)


@pages.post("/signup")
@again("account.sign_up")
def sign_up_post() -> Any:
    """Make an account; the answer is the same for an address that has one already."""
    accounts.sign_up(**applied())
    return flask.redirect(flask.url_for(".sent"))


@pages.get("/sent")
def sent() -> str:
    """Say that a letter is on its way."""
    return flask.render_template("account/sent.html")


@pages.get("/confirm/<token>")
def confirm(token: str) -> str:
    """Show the button."""
    account = links.find("confirm", token, clock.now()).user
    return flask.render_template("account/confirm.html", token=token, name=account.name if account else "")


@pages.post("/confirm/<token>")
def confirm_post(token: str) -> Any:
    """Confirm the address. Who holds the link still has to sign in: it may be another than who chose the password."""
    person, here = accounts.confirm(token, clock.now()), viewer()
    if here is not None and here.id == person.id:
        flask.flash(_("Your address is confirmed, and all that you played is yours. Welcome!"))
        return flask.redirect("/")
    flask.flash(_("Your address is confirmed. Welcome! Please sign in."))
    return flask.redirect(flask.url_for(".sign_in"))


@pages.get("/signin")
def sign_in() -> str:
    """Show the form. Where to go on to is kept in the session: it may hold a token, which no address should repeat."""
    if "next" in flask.request.args:
        flask.session["target"] = safe_target(flask.request.args["next"])
    return flask.render_template("account/signin.html", given=filled("account.sign_in_post"))


@pages.post("/signin")
@again("account.sign_in")
def sign_in_post() -> Any:
    """Sign in by name or address and password."""
    user, wanted = accounts.sign_in(field("name"), field("password"), source=source(), now=clock.now()), target()
    enter(user)
    return flask.redirect(wanted)


@pages.post("/signout")
def sign_out() -> Any:
    """End this session; a visitor can never come back to his."""
    user = viewer()
    if user is not None and user.visiting:
        visitors.leave(user, clock.now())
    # Answers that are on their way may still bring the cookie of this session back, so it must be worth nothing.
    if user is not None:
        sessions.end(flask.session[IDENTITY], clock.now())
    flask_login.logout_user()
    flask.session.clear()
    return flask.redirect("/")


@pages.get("/forgot")
def forgot() -> str:
    """Show the form."""
    return flask.render_template("account/forgot.html", given=filled("account.forgot_post"))


@pages.post("/forgot")
@again("account.forgot")
def forgot_post() -> Any:
    """Send a reset link if the address has an account; whether it has is not said."""
    accounts.forgot(field("email"), source=source(), now=clock.now())
    return flask.redirect(flask.url_for(".sent"))


@pages.get("/reset/<token>")
def reset(token: str) -> str:
    """Show the form."""
    links.find("reset", token, clock.now())
    return flask.render_template("account/reset.html", token=token)


@pages.post("/reset/<token>")
@again("account.reset")
def reset_post(token: str) -> Any:
    """Set the new password and sign in."""
    enter(accounts.reset(token, field("password"), clock.now()))
    flask.flash(_("Your new password is set; all other sessions have ended."))
    return flask.redirect("/")


@pages.get("/unsubscribe/<token>")
def unsubscribe_page(token: str) -> str:
    """Show the buttons: of the link's match, if it is about one, and of all."""
    link = links.find("unsubscribe", token, clock.now())
    return flask.render_template("account/unsubscribe.html", token=token, match=link.match)


@pages.post("/unsubscribe/<token>")
def unsubscribe(token: str) -> Any:
    """Stop turn mails: from one of the page's buttons, or a mail program's one click without a session."""
    everywhere = field("everywhere") == "yes"
    match = links.find("unsubscribe", token, clock.now()).match
    accounts.unsubscribe(token, clock.now(), everywhere=everywhere)
    return flask.render_template("account/unsubscribed.html", match=None if everywhere else match)


@pages.get("/settings")
@account_required
def settings() -> str:
    """Show the person's settings."""
    user, now = me(), clock.now()
    dusk, _dash, dawn = user.nights.partition("-")
    hush, _dash, wake = user.quiet.partition("-")
    wishes = {
        "zone": user.zone,
        "language": user.language,
        "turn_mail": user.turn_mail,
        "digest_hour": user.digest_hour,
        "reminders": user.reminders.replace(",", ", "),
        "dusk": dusk,
        "dawn": dawn,
        "hush": hush,
        "wake": wake,
        "forced": user.forced,
        "keeps_results": user.keeps_results,
    }
    today = wording.today(now, user.zone)
    return flask.render_template(
        "account/settings.html",
        zones=accounts.zones(),
        given=filled("account.settings_post", **wishes),
        leave=filled("account.vacation_post"),
        feeds=feeds.made(user),
        hook=hooks.of(user),
        calling=filled("telling.webhook"),
        tokens=tokens.made(user, now),
        making=filled("tokens.make", read="yes", play="yes"),
        vacation=vacations.current(user, now),
        turn_mails=preferences.turn_mails(),
        hours=[(hour, f"{hour}:00") for hour in digests.HOURS],
        today=today,
        days=[(year, vacations.days_left(user, year)) for year in (today.year, today.year + 1)],
        most={"a_year": vacations.DAYS_A_YEAR, "at_once": vacations.LONGEST.days},
    )


@pages.post("/settings")
@account_required
@again("account.settings")
def settings_post() -> Any:
    """Store them."""
    wishes = preferences.Wishes(
        zone=field("zone"),
        language=field("language", "en"),
        turn_mail=field("turn_mail", me().turn_mail),
        digest_hour=number(field("digest_hour", str(me().digest_hour))),
        reminders=field("reminders"),
        nights="-".join(filter(None, (field("dusk"), field("dawn")))),
        forced=bool(field("forced")),
        keeps_results=bool(field("keeps_results")),
        quiet="-".join(filter(None, (field("hush"), field("wake")))),
    )
    preferences.settle(me(), wishes, clock.now())
    flask.flash(_("Your settings are stored."))
    return flask.redirect(flask.url_for(".settings"))


@pages.post("/settings/vacation")
@account_required
@again("account.settings")
def vacation_post() -> Any:
    """Announce a vacation, from the morning of one day to the end of another in the person's zone, or end it."""
    user, now = me(), clock.now()
    if field("end"):
        vacations.end(user, "web", now=now)
        flask.flash(_("Your vacation is over; your clocks run."))
        return flask.redirect(safe_target(field("next")) if field("next") else flask.url_for(".settings"))
    first = wording.morning(day(field("from")), user.zone)
    after = wording.morning(day(field("until")) + timedelta(days=1), user.zone)
    vacations.announce(user, first, after, "web", now=now)
    flask.flash(_("Your vacation is announced; all who play with you can see it."))
    return flask.redirect(flask.url_for(".settings"))


@pages.post("/settings/password")
@account_required
@again("account.settings")
def password_post() -> Any:
    """Change the password; other sessions end, this one goes on."""
    enter(accounts.change_password(me(), field("old"), field("new"), source=source(), now=clock.now()))
    flask.flash(_("Your password is changed; all other sessions have ended."))
    return flask.redirect(flask.url_for(".settings"))


@pages.post("/settings/sessions")
@flask_login.login_required
@form_of("account.settings")
def sessions_post() -> Any:
    """End every session, this one too."""
    accounts.sign_out_everywhere(me())
    return sign_out()


@pages.post("/settings/mail")
@account_required
@form_of("account.settings")
def mail_post() -> Any:
    """Try an address again that refused mail."""
    accounts.try_mail_again(me(), clock.now())
    flask.flash(_("Mail will be sent to you again."))
    return flask.redirect(flask.url_for(".settings"))


@pages.post("/settings/delete")
@account_required
@again("account.settings")
def delete_post() -> Any:
    """Delete the account: seats are given up, the name becomes anonymous, matches stay."""
    user = accounts.own(me(), field("password"), source=source(), now=clock.now())
    lobby.leave_all(user, clock.now())
    tournaments.leave_all(user, clock.now())
    accounts.forget(user, clock.now())
    flask_login.logout_user()
    flask.session.clear()
    flask.flash(_("Your account is deleted."))
    return flask.redirect("/")
