"""What guards every request and every response: tokens, origins, headers, targets."""

from __future__ import annotations

import flask
import pytest
from house import House
from visitor import Visitor, application, error

from server import log
from server.web.guard import POLICY, safe_target


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


def paths(app: flask.Flask, method: str, **values: object) -> list[str]:
    """Return every address of the site that takes the method, its variables filled in."""
    given = {
        "match_id": 1,
        "seq": 0,
        "seat": 0,
        "kind": "clans",
        "token": "none",
        "name": "Ailsa",
        "key": "no-such-key",
        "edition": "x",
        "code": "cs",
        "filename": "house.css",
        "who": 1,
        "mail": 1,
        "which": 1,
        "way": 1,
        **values,
    }
    with app.test_request_context():
        adapter = app.url_map.bind("localhost")
        return [
            adapter.build(rule.endpoint, {name: given[name] for name in rule.arguments}, method=method)
            for rule in app.url_map.iter_rules()
            if method in rule.methods
        ]


def test_what_is_the_same_for_everybody_may_be_kept_on_the_way_and_bears_no_cookie(
    app: flask.Flask, cottage: House
) -> None:
    match = cottage.started("Ailsa", "Bran")
    ailsa = Visitor(app, cottage.people["Ailsa"])
    with ailsa.client.session_transaction() as session:
        session.permanent = True
    with app.test_request_context():
        sheet = flask.url_for("static", filename="house.css")
    poster, feed = f"/matches/{match.id}/share/0.png", f"/matches/{match.id}/feed.atom"
    for path in (sheet, "/words/cs.json", "/share.png", poster, feed):
        answer = ailsa.get(path)
        assert (answer.status_code, answer.cache_control.public) == (200, True), path
        assert "Cookie" not in answer.vary, path
        assert "Set-Cookie" not in answer.headers, path
    for path, kept in (("/words/none.json", False), ("/", True)):
        answer = ailsa.get(path)
        assert not answer.cache_control.public
        assert "Cookie" in answer.vary
        assert ("Set-Cookie" in answer.headers) == kept, "the session goes on by pages"


def test_every_post_without_its_token_is_refused(app: flask.Flask, cottage: House) -> None:
    cottage.started("Ailsa", "Bran")
    ailsa = Visitor(app, cottage.people["Ailsa"])
    posts = [path for path in paths(app, "POST") if not path.startswith("/unsubscribe")]
    assert len(posts) > 15
    for path in posts:
        answer = ailsa.client.post(path, data={"csrf_token": "wrong"}, headers={"Accept": "application/json"})
        assert (answer.status_code, error(answer)) == (400, "forged"), path
    assert cottage.played(log.get(1)).rows == []


def test_every_post_from_another_site_is_refused(app: flask.Flask, cottage: House) -> None:
    ailsa = Visitor(app, cottage.people["Ailsa"])
    token = ailsa.token()
    for path in paths(app, "POST"):
        if path.startswith("/unsubscribe"):
            continue
        for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
            answer = ailsa.client.post(
                path, data={"csrf_token": token}, headers={"Accept": "application/json", **headers}
            )
            assert error(answer) == "forged", (path, headers)


def test_no_get_changes_anything(app: flask.Flask, cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran")
    ailsa = Visitor(app, cottage.people["Ailsa"])
    before = (cottage.played(match).rows, len(cottage.queued()))
    for path in paths(app, "GET"):
        assert ailsa.get(path).status_code < 500 or path == "/readyz", path
    for path in set(paths(app, "POST")) - set(paths(app, "GET")):
        assert ailsa.get(path).status_code in {302, 404, 405}, path
    assert (cottage.played(match).rows, len(cottage.queued())) == before


def test_every_response_carries_the_guards(app: flask.Flask, cottage: House) -> None:
    cottage.started("Ailsa", "Bran")
    for visitor in (Visitor(app), Visitor(app, cottage.people["Ailsa"])):
        for path in [*paths(app, "GET"), "/nowhere", "/matches/99", "/matches/1/moves"]:
            headers = visitor.get(path).headers
            assert headers["Content-Security-Policy"] == POLICY, path
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["X-Frame-Options"] == "DENY"
            if "/none" in path:
                assert headers["Referrer-Policy"] == "strict-origin", path


def test_the_policy_is_the_strict_one() -> None:
    assert POLICY.startswith("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;")
    assert "unsafe" not in POLICY
    assert "http" not in POLICY


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "/\\evil.example", "http:/evil", "https://evil", "/a\\b", "/a\nb", "", None, "evil", "/" * 600],
)
def test_no_redirect_leaves_the_site(target: str | None) -> None:
    assert safe_target(target) == "/"


def test_a_redirect_within_the_site_is_kept() -> None:
    assert safe_target("/matches/17?move=A5-B1") == "/matches/17?move=A5-B1"


def test_a_session_cookie_is_out_of_reach(app: flask.Flask, cottage: House) -> None:
    cookie = Visitor(app).get("/signin").headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


def test_a_fault_inside_becomes_a_plain_page(
    app: flask.Flask, cottage: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr("server.lobby.open_tables", broken)
    answer = Visitor(app).get("/tables")
    assert answer.status_code == 500
    assert "the inside" not in answer.text
    assert "the inside" in caplog.text


def test_a_form_too_large_is_refused(app: flask.Flask, cottage: House) -> None:
    answer = Visitor(app).client.post("/signin", data={"name": "x" * 100_000}, headers={"Accept": "application/json"})
    assert answer.status_code == 413
