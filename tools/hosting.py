"""The web application behind a real server in this process, and people who are signed in to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import flask
from flask.sessions import SecureCookieSessionInterface
from playwright.sync_api import Page

from server.models import User
from server.web import serving
from server.web.account import Person


@contextmanager
def running(app: flask.Flask, threads: int = 6) -> Iterator[Any]:
    """Serve the application on a free port of this machine and yield the server."""
    server = serving.open_server(app, host="127.0.0.1", port=0, threads=threads)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.streams.stop()
        # Before the sockets: who is just being answered still needs them. On a busy machine that may last; what is left
        # behind would go on in the database of whoever comes next.
        server.task_dispatcher.shutdown(timeout=30)
        server.close()
        thread.join(30)


@contextmanager
def served(app: flask.Flask) -> Iterator[str]:
    """Serve the application and yield its address."""
    with running(app) as server:
        yield f"http://127.0.0.1:{server.effective_port}"


def sign_in(page: Page, site: str, name: str, password: str) -> None:
    """Sign in by the form, in a window that speaks English."""
    page.goto(f"{site}/signin")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda address: not address.startswith(f"{site}/signin"))


def badge(app: flask.Flask, site: str, user: User) -> Any:
    """Return the cookie of somebody who has signed in, for a browser."""
    signer = cast(SecureCookieSessionInterface, app.session_interface).get_signing_serializer(app)
    if signer is None:
        raise ValueError("sessions need a secret key")
    value = signer.dumps({"_user_id": Person(user).get_id(), "_fresh": True})
    return {"name": app.config["SESSION_COOKIE_NAME"], "value": str(value), "url": site}
