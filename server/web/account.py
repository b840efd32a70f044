"""Pages of a person's account. A GET never acts: mail scanners follow links, so each shows a button."""

from __future__ import annotations

from typing import Any

import flask
import flask_login

from server import accounts, clock, links, lobby
from server.models import User
from server.web.guard import field, safe_target, source

pages = flask.Blueprint("account", __name__)


class Person(flask_login.UserMixin):
    """A signed-in person, as Flask-Login wants it."""

    def __init__(self, user: User) -> None:
        self.user = user

    def get_id(self) -> str:
        """Return what the session remembers: the account and the key that ends all its sessions when it changes."""
        return f"{self.user.id}.{self.user.session_key}"


def me() -> User:
    """Return the signed-in person's account; only in views that need one."""
    user: User = flask_login.current_user.user
    return user


def enter(user: User) -> None:
    """Begin a new session for the person; nothing of the old one survives."""
    flask.session.clear()
    flask.session.permanent = True
    flask_login.login_user(Person(user))


def target() -> str:
    """Return where a person wanted to go who was asked to sign in first, and forget it."""
    return safe_target(flask.session.pop("target", None))


@pages.get("/signup")
def sign_up() -> str:
    """Show the form."""
    return flask.render_template("account/signup.html", zones=accounts.zones())


@pages.post("/signup")
def sign_up_post() -> Any:
    """Make an account; the answer is the same for an address that has one already."""
    accounts.sign_up(
        field("name"),
        field("email"),
        field("password"),
        zone=field("zone", "UTC"),
        language=field("language", "en"),
        source=source(),
        now=clock.now(),
    )
    return flask.redirect(flask.url_for(".sent"))


@pages.get("/sent")
def sent() -> str:
    """Say that a letter is on its way."""
    return flask.render_template("account/sent.html")


@pages.get("/confirm/<token>")
def confirm(token: str) -> str:
    """Show the button."""
    links.find("confirm", token, clock.now())
    return flask.render_template("account/confirm.html", token=token)


@pages.post("/confirm/<token>")
def confirm_post(token: str) -> Any:
    """Confirm the address. Who holds the link still has to sign in: it may be another than who chose the password."""
    accounts.confirm(token, clock.now())
    flask.flash("Your address is confirmed. Welcome! Please sign in.")
    return flask.redirect(flask.url_for(".sign_in"))


@pages.get("/signin")
def sign_in() -> str:
    """Show the form. Where to go on to is kept in the session: it may hold a token, which no address should repeat."""
    if "next" in flask.request.args:
        flask.session["target"] = safe_target(flask.request.args["next"])
    return flask.render_template("account/signin.html")


@pages.post("/signin")
def sign_in_post() -> Any:
    """Sign in by name or address and password."""
    user, wanted = accounts.sign_in(field("name"), field("password"), source=source(), now=clock.now()), target()
    enter(user)
    return flask.redirect(wanted)


@pages.post("/signout")
def sign_out() -> Any:
    """End this session."""
    flask_login.logout_user()
    flask.session.clear()
    return flask.redirect("/")


@pages.get("/forgot")
def forgot() -> str:
    """Show the form."""
    return flask.render_template("account/forgot.html")


@pages.post("/forgot")
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
def reset_post(token: str) -> Any:
    """Set the new password and sign in."""
    enter(accounts.reset(token, field("password"), clock.now()))
    flask.flash("Your new password is set; all other sessions have ended.")
    return flask.redirect("/")


@pages.get("/unsubscribe/<token>")
def unsubscribe_page(token: str) -> str:
    """Show the button."""
    links.find("unsubscribe", token, clock.now())
    return flask.render_template("account/unsubscribe.html", token=token)


@pages.post("/unsubscribe/<token>")
def unsubscribe(token: str) -> Any:
    """Stop turn mails: from the page's button, or a mail program's one click without a session."""
    accounts.unsubscribe(token, clock.now())
    return flask.render_template("account/unsubscribed.html")


@pages.get("/settings")
@flask_login.login_required
def settings() -> str:
    """Show the person's settings."""
    return flask.render_template("account/settings.html", zones=accounts.zones(), languages=accounts.LANGUAGES)


@pages.post("/settings")
@flask_login.login_required
def settings_post() -> Any:
    """Store them."""
    wanted = bool(field("turn_mail"))
    accounts.settle(me(), zone=field("zone"), language=field("language", "en"), turn_mail=wanted, now=clock.now())
    flask.flash("Your settings are stored.")
    return flask.redirect(flask.url_for(".settings"))


@pages.post("/settings/password")
@flask_login.login_required
def password_post() -> Any:
    """Change the password; other sessions end, this one goes on."""
    enter(accounts.change_password(me(), field("old"), field("new"), source=source(), now=clock.now()))
    flask.flash("Your password is changed; all other sessions have ended.")
    return flask.redirect(flask.url_for(".settings"))


@pages.post("/settings/sessions")
@flask_login.login_required
def sessions_post() -> Any:
    """End every session, this one too."""
    accounts.sign_out_everywhere(me())
    return sign_out()


@pages.post("/settings/mail")
@flask_login.login_required
def mail_post() -> Any:
    """Try an address again that refused mail."""
    accounts.try_mail_again(me(), clock.now())
    flask.flash("Mail will be sent to you again.")
    return flask.redirect(flask.url_for(".settings"))


@pages.post("/settings/delete")
@flask_login.login_required
def delete_post() -> Any:
    """Delete the account: seats are given up, the name becomes anonymous, matches stay."""
    user = accounts.sign_in(me().name, field("password"), source=source(), now=clock.now())
    lobby.leave_all(user, clock.now())
    accounts.forget(user, clock.now())
    flask_login.logout_user()
    flask.session.clear()
    flask.flash("Your account is deleted.")
    return flask.redirect("/")
