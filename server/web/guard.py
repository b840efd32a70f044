"""What guards every request and response: headers, origins, targets of redirects, the one shape of an error."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import flask
from markupsafe import escape
from werkzeug.exceptions import BadHost, HTTPException

from engine.language import gettext as _
from server.errors import Refused
from server.http import faults, heads
from server.settings import Settings

logger = logging.getLogger(__name__)

View = TypeVar("View", bound=Callable[..., Any])

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "worker-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "object-src 'none'",
    )
)


def install(app: flask.Flask) -> None:
    """Put the guards in front of and behind every view."""
    settings: Settings = app.config["SETTINGS"]

    @app.before_request
    def same_origin() -> None:
        if flask.request.method in {"GET", "HEAD", "OPTIONS"} or flask.request.endpoint == "account.unsubscribe":
            return
        origin = flask.request.headers.get("Origin")
        own = {settings.public_url, flask.request.host_url.rstrip("/")}
        foreign = origin is not None and origin not in {
            f"{urlsplit(url).scheme}://{urlsplit(url).netloc}" for url in own
        }
        if foreign or flask.request.headers.get("Sec-Fetch-Site") == "cross-site":
            raise Refused("forged", _("This form came from another site; nothing was done."))

    @app.after_request
    def headers(response: flask.Response) -> flask.Response:
        heads.protect(response, settings, POLICY)
        # Some addresses hold the token of a link out of a mail; they must not travel on. (With "no-referrer" browsers
        # hide the origin of forms too, and the form of such a page would look as if it came from elsewhere.)
        response.headers["Referrer-Policy"] = "strict-origin" if secret_address() else "same-origin"
        if flask.request.endpoint != "static":
            response.headers.setdefault("Cache-Control", "private, no-cache")
            if not response.cache_control.public:
                response.vary.update(("Cookie", "Accept-Language"))
        return response


def secret_address() -> bool:
    """Whether the requested address itself holds a token."""
    return bool(flask.request.view_args and "token" in flask.request.view_args)


def wants_json() -> bool:
    """Whether the request prefers JSON to a page."""
    accepted = flask.request.accept_mimetypes
    return accepted["application/json"] > accepted["text/html"]


def refusal(fault: Refused) -> Any:
    """Return the page or the JSON body of a refusal."""
    headers = faults.headers(fault)
    if wants_json():
        return flask.jsonify(faults.body(fault)), fault.status, headers
    page = f"<!doctype html><title>Clachan</title><p>{escape(fault.sentence)}</p>"
    if isinstance(flask.request.routing_exception, BadHost):
        # No address can be made of a host that is none, and no page can do without.
        return page, fault.status, headers
    try:
        page = flask.render_template("error.html", fault=fault, draft=_draft())
    except Exception:
        # The page itself met the fault, say a database that is gone.
        logger.exception("the page of a refusal failed")
    return page, fault.status, headers


def form_of(endpoint: str) -> Callable[[View], View]:
    """Mark a view as one that takes a form of the page of this endpoint."""

    def marked(view: View) -> View:
        view.page = endpoint  # type: ignore[attr-defined]
        return view

    return marked


def again(endpoint: str, place: str = "") -> Callable[[View], View]:
    """Let a view that refuses a form of the page of this endpoint show that page again, with the reason on top, or in
    the place of it that took the form, and what was filled in.

    The page is asked for with the values of the address; `filled` gives it what to put into its fields.
    """

    def guarded(view: View) -> View:
        @functools.wraps(view)
        def shown(**values: Any) -> Any:
            try:
                return view(**values)
            except Refused as fault:
                if wants_json():
                    raise
                flask.g.refused, flask.g.refused_at = fault, place
                try:
                    return flask.current_app.view_functions[endpoint](**_held(endpoint, values)), fault.status
                except Refused:
                    # There is no such page for this person; then only the reason is said.
                    flask.g.pop("refused")
                    raise fault from None

        return form_of(endpoint)(shown)  # type: ignore[return-value]

    return guarded


def page_of_form() -> str | None:
    """Return the address of the page whose form is sent to this address, None if it takes no form or has no such page.

    A refused form is shown under the address that it was sent to, and people load that page again, or keep its address.
    """
    views = flask.current_app.view_functions
    adapter = flask.current_app.create_url_adapter(flask.request)
    try:
        endpoint, values = adapter.match(method="POST") if adapter else ("", {})
    except HTTPException:
        return None
    page = getattr(views.get(endpoint), "page", None)
    return flask.url_for(page, **_held(page, values)) if page else None


def _held(endpoint: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the values that the address of an endpoint holds."""
    rule = next(flask.current_app.url_map.iter_rules(endpoint))
    return {name: value for name, value in values.items() if name in rule.arguments}


def refused() -> Refused | None:
    """Return why the form was refused that this page shows again, None on any other page."""
    fault: Refused | None = flask.g.get("refused")
    return fault


def refused_at() -> str:
    """Return in which place of the page that is said, "" for its top."""
    return str(flask.g.get("refused_at", ""))


def filled(endpoint: str, kept: Collection[str] = (), **usual: object) -> Mapping[str, object]:
    """Return what the fields of the form for this endpoint hold: what was sent if it was refused, else as usual.

    `kept` are fields that the page may hide.
    """
    if not (refused() and flask.request.endpoint == endpoint):
        return usual
    # A field that the page hides is not sent; it is as usual. A tick that was taken away is not sent either.
    hidden = {name: value for name, value in usual.items() if name not in flask.request.form and name in kept}
    return {**flask.request.form.to_dict(), **hidden}


def _draft() -> str:
    """Return the move in the form that was refused, empty if the form itself could not be read."""
    try:
        return flask.request.form.get("move", "")
    except HTTPException:
        return ""


def here() -> str:
    """Return the address of this page as a target to come back to."""
    return flask.request.full_path.rstrip("?") if flask.request.method == "GET" else "/"


def safe_target(target: str | None) -> str:
    """Return the target if it is a path of this site, else the front page.

    One leading slash, then neither slash nor backslash, no backslash and no control character anywhere: browsers read
    `//host`, `/\\host` and `http:/host` as other sites.
    """
    if (
        target
        and target.startswith("/")
        and not target.startswith(("//", "/\\"))
        and "\\" not in target
        and target.isprintable()
        and len(target) < 500
    ):
        return target
    return "/"


def field(name: str, default: str = "") -> str:
    """Return one text field of the form."""
    return flask.request.form.get(name, default)


def number(text: str | None) -> int:
    """Return a whole number from a form or address. Raises `Refused` (bad-input)."""
    if text is None or not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Refused("bad-input", _("A number was expected."))
    return int(text)
