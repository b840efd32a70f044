"""Messages on people's devices: encrypted for one browser, signed by the house, and no more once a device is gone."""

from __future__ import annotations

import base64
import http.server
import json
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import flask
import http_ece
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from house import House
from hypothesis import given
from hypothesis import strategies as st
from py_vapid import Vapid02
from together import quick_pictures
from visitor import Visitor, application

from server import briefs, doctor, outbox, tidings, ways
from server.channels import Brief, DeliveryError, guarded, push
from server.channels.push import device, sending
from server.models import Outbox, User, Way
from server.web import devices

SECRET = "only for the tests, and long enough for a key"
URL = "https://play.example.org/matches/7"


def base64url(raw: bytes) -> str:
    """Return bytes as browsers write them."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class Phone:
    """A browser with a push service at loopback: it answers with `answers`, the last of them for ever, and keeps what
    it was sent."""

    def __init__(self, *answers: tuple[int, dict[str, str]]) -> None:
        self.answers = list(answers) or [(201, {})]
        self.sent: list[tuple[str, dict[str, str], bytes]] = []
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.auth = secrets.token_bytes(16)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        phone = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): text for name, text in self.headers.items()}
                phone.sent.append((self.path, headers, body))
                status, more = phone.answers.pop(0) if len(phone.answers) > 1 else phone.answers[0]
                self.send_response(status)
                for name, text in more.items():
                    self.send_header(name, text)
                self.send_header("Content-Length", "6")
                self.end_headers()
                self.wfile.write(b"secret")

            def log_message(self, *_given: Any) -> None:
                """Say nothing."""

        return Handler

    @property
    def address(self) -> dict[str, str]:
        """What the browser gives of itself."""
        point = self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        endpoint = f"http://127.0.0.1:{self.server.server_port}/send/abc?d=e"
        return {"endpoint": endpoint, "p256dh": base64url(point), "auth": base64url(self.auth)}

    def read(self) -> list[dict[str, str]]:
        """Return what the messages say."""
        options = {"private_key": self.key, "auth_secret": self.auth, "version": "aes128gcm"}
        return [json.loads(http_ece.decrypt(body, **options)) for _, _, body in self.sent]

    def close(self) -> None:
        """Take no more."""
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(10)


@pytest.fixture
def phone() -> Iterator[Phone]:
    found = Phone()
    yield found
    found.close()


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    quick_pictures(monkeypatch)
    return application(cottage, monkeypatch)


def channel(secret: str = SECRET, contact: str = "clachan@example.org", **passage: Any) -> push.PushChannel:
    return push.PushChannel(secret, contact, guarded.Passage(**{"loopback": True, **passage}))


def a_brief(phone: Phone, text: str = "Bran moved.", title: str = "Clans 7: it is your turn") -> Brief:
    return Brief(phone.address, "abc", title, text, URL, "de")


def run(house: House) -> None:
    """Hand over what is due."""
    tidings.run({"push": channel()}, briefs.writer(house.settings), lambda: house.now)


def told(house: House, name: str, phone: Phone, news: Sequence[str] = ways.USUAL) -> Way:
    """Let a phone be told of a person's matches, and receive its trial message."""
    found = ways.add(house.people[name], "push", phone.address, {"push": channel()}, house.now, news=news)
    house.people[name] = User.get_by_id(house.people[name].id)
    run(house)
    phone.sent.clear()
    house.later(seconds=1)
    return found


def test_a_message_is_read_by_its_device_and_by_nobody_on_the_way(phone: Phone) -> None:
    channel().deliver(a_brief(phone))
    [(path, headers, body)] = phone.sent
    assert path == "/send/abc?d=e"
    assert (headers["content-encoding"], headers["ttl"]) == ("aes128gcm", "86400")
    assert b"Bran" not in body
    assert phone.read() == [
        {"title": "Clans 7: it is your turn", "text": "Bran moved.", "path": "/matches/7", "language": "de"}
    ]
    phone.auth = secrets.token_bytes(16)
    with pytest.raises(http_ece.ECEException):
        phone.read()


@pytest.mark.parametrize("contact", ["clachan@example.org", "clachan@house"])
def test_the_service_can_tell_which_house_sends(phone: Phone, contact: str) -> None:
    channel(contact=contact).deliver(a_brief(phone))
    signed = phone.sent[0][1]["authorization"]
    token, shown = signed.removeprefix("vapid ").split(",")
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    assert Vapid02.verify(signed)
    assert shown == f"k={channel().key}"
    assert claims["aud"] == f"http://127.0.0.1:{phone.server.server_port}"
    assert claims["sub"] == f"mailto:{contact}"
    assert 0 < claims["exp"] - time.time() <= 86400


def test_all_machines_of_a_house_have_the_same_key_and_no_other_house_has_it() -> None:
    assert channel().key == channel().key
    assert channel().key != channel("another secret key of another house").key
    assert len(base64.urlsafe_b64decode(channel().key + "=")) == 65


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_every_answer_of_success_is_one(phone: Phone, status: int) -> None:
    phone.answers = [(status, {})]
    channel().deliver(a_brief(phone))


@pytest.mark.parametrize(
    ("status", "gone"),
    [
        (101, False),
        (103, False),
        (307, False),
        (400, False),
        (403, False),
        (404, True),
        (410, True),
        (413, False),
        (503, False),
    ],
)
def test_a_refusal_says_its_number_and_nothing_that_the_service_wrote(phone: Phone, status: int, gone: bool) -> None:
    phone.answers = [(status, {"Location": phone.address["endpoint"]})]
    with pytest.raises(DeliveryError, match=f"^the answer was {status}$") as fault:
        channel().deliver(a_brief(phone))
    assert (fault.value.gone, fault.value.permanent, len(phone.sent)) == (gone, gone, 1)


@pytest.mark.parametrize("status", [429, 503])
def test_a_service_is_left_alone_for_as_long_as_it_asks(cottage: House, phone: Phone, status: int) -> None:
    way = told(cottage, "Ailsa", phone)
    ways.try_out(cottage.people["Ailsa"], way.id, cottage.now)
    phone.answers = [(status, {"Retry-After": "1800"}), (201, {})]
    run(cottage)
    cottage.later(minutes=29)
    run(cottage)
    assert len(phone.sent) == 1
    cottage.later(minutes=2)
    run(cottage)
    assert len(phone.sent) == 2
    assert Way.get_by_id(way.id).failures == 0


@pytest.mark.parametrize("seconds", ["86400", "999999", "99999999999", "9" * 5000])
def test_a_service_that_asks_for_ages_is_left_alone_for_a_day(phone: Phone, cottage: House, seconds: str) -> None:
    way = told(cottage, "Ailsa", phone)
    ways.try_out(cottage.people["Ailsa"], way.id, cottage.now)
    phone.answers = [(429, {"Retry-After": seconds}), (201, {})]
    run(cottage)
    [row] = Outbox.select().where((Outbox.way == way.id) & Outbox.done_at.is_null())
    assert row.due_at - cottage.now == outbox.WAITS[-1]


def test_an_answer_counts_though_the_rest_of_it_cannot_be_read(phone: Phone) -> None:
    phone.answers = [(201, {"Transfer-Encoding": "chunked"}), (500, {"Transfer-Encoding": "chunked"})]
    channel().deliver(a_brief(phone))
    with pytest.raises(DeliveryError, match=r"^the answer was 500$"):
        channel().deliver(a_brief(phone))


@pytest.mark.parametrize("status", [404, 410])
def test_a_device_that_is_gone_is_forgotten_without_a_word(cottage: House, phone: Phone, status: int) -> None:
    told(cottage, "Ailsa", phone)
    phone.answers = [(status, {})]
    cottage.started("Ailsa", "Bran")
    run(cottage)
    assert list(Way.select()) == []
    assert not User.get_by_id(cottage.people["Ailsa"].id).other_ways
    assert not Outbox.select().where(Outbox.kind == "untold").exists()


def test_a_device_hears_of_a_turn_what_everybody_may_know(cottage: House, phone: Phone) -> None:
    User.update(language="de").execute()
    for name in ("Ailsa", "Bran"):
        told(cottage, name, phone, ["turn"])
    match = cottage.started("Bran", "Ailsa")
    run(cottage)
    [said] = phone.read()  # one of the two begins
    assert (said["path"], said["language"]) == (f"/matches/{match.id}", "de")
    assert f"Clans {match.id}" in said["title"]


@given(title=st.text(max_size=300), text=st.text(max_size=2000))
def test_no_message_is_larger_than_services_take(title: str, text: str) -> None:
    said = sending.payload(Brief({}, "abc", title, text, URL))
    assert len(said.encode(errors="replace")) < 4096 - 103
    assert json.loads(said)["path"] == "/matches/7"


def test_a_long_text_ends_with_dots() -> None:
    said = json.loads(sending.payload(Brief({}, "abc", "t", "word " * 200, "https://play.example.org/")))
    assert said["text"].endswith("word…")
    assert (len(said["text"]) <= sending.LONGEST_TEXT, said["path"]) == (True, "/")


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "nonsense",
        "http://push.example.org/abc",
        "https://127.0.0.1/abc",
        "https://10.0.0.1/abc",
        "https://[::1]/abc",
        "https://localhost/abc",
        "https://me@push.example.org/abc",
        "https://push.example.org:25/abc",
        "https://push.example.org/a b",
        "https://push.example.org/" + "a" * 500,
    ],
)
def test_a_service_is_a_public_machine_that_speaks_https(phone: Phone, endpoint: str) -> None:
    with pytest.raises(DeliveryError):
        device.read(phone.address | {"endpoint": endpoint}, loopback=False)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p256dh", ""),
        ("p256dh", "AAAA"),
        ("p256dh", base64url(b"\x04" + b"\x01" * 64)),
        ("p256dh", base64url(b"\x02" + b"\x01" * 64)),
        ("auth", ""),
        ("auth", base64url(bytes(15))),
        ("auth", "A" * 21),
        ("auth", "A" * 500),
        ("auth", "+" * 22),
        ("auth", "ä" * 22),
    ],
)
def test_keys_that_are_none_are_refused(phone: Phone, name: str, text: str) -> None:
    with pytest.raises(DeliveryError, match="cannot be read"):
        device.read(phone.address | {name: text}, loopback=True)


def test_keys_may_be_padded(phone: Phone) -> None:
    padded = phone.address | {name: f"{phone.address[name]}==" for name in device.KEYS}
    assert device.read(padded, loopback=True) == phone.address


def test_a_name_that_leads_into_our_own_network_is_not_called(phone: Phone) -> None:
    inside = Brief(phone.address | {"endpoint": "https://push.example.org/abc"}, "abc", "title", "text", URL)
    with pytest.raises(DeliveryError, match="does not belong to a public machine"):
        channel(loopback=False, resolve=lambda _name, _seconds: ["10.0.0.1"]).deliver(inside)


def test_a_service_that_never_answers_holds_nobody_up(phone: Phone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "LONGEST", 0.2)
    phone.server.shutdown()
    began = time.monotonic()
    with pytest.raises(DeliveryError, match="too long"):
        channel().deliver(a_brief(phone))
    assert time.monotonic() - began < 2


def test_a_key_that_no_library_takes_is_a_failure_like_others(phone: Phone) -> None:
    literal = Brief(phone.address | {"endpoint": "https://[2606:4700::1111]/abc"}, "abc", "title", "text", URL)
    with pytest.raises(DeliveryError, match="nothing was sent"):
        channel().deliver(literal)


def test_the_settings_offer_it_and_tell_no_address(cottage: House, app: flask.Flask, phone: Phone) -> None:
    way = told(cottage, "Ailsa", phone)
    page = Visitor(app, cottage.people["Ailsa"]).get("/settings").text
    assert f'data-key="{outbox.push_key(cottage.settings)}"' in page
    assert f'data-known="{devices.mark(phone.address["endpoint"])}"' in page
    assert not any(secret in page for secret in way.address.values())


def test_a_device_is_stored_by_the_form_and_taken_away_by_it(cottage: House, app: flask.Flask, phone: Phone) -> None:
    endpoint = "https://push.example.org/abc"
    given = phone.address | {"endpoint": endpoint}
    ailsa, bran = (Visitor(app, cottage.people[name]) for name in ("Ailsa", "Bran"))
    answers = [one.post("/settings/devices", **given) for one in (ailsa, ailsa, bran)]
    assert [(one.status_code, one.location) for one in answers] == [(302, "/settings#ways-told")] * 3
    assert [(way.user_id, way.kind, way.address["endpoint"]) for way in Way.select().order_by(Way.id)] == [
        (cottage.people[name].id, "push", endpoint) for name in ("Ailsa", "Bran")
    ]
    ailsa.post("/settings/devices", endpoint=endpoint, end="yes")
    ailsa.post("/settings/devices", endpoint="", end="yes")
    assert [way.user_id for way in Way.select()] == [cottage.people["Bran"].id]


def test_what_is_no_device_is_refused_on_the_same_page(cottage: House, app: flask.Flask) -> None:
    answer = Visitor(app, cottage.people["Ailsa"]).post("/settings/devices", endpoint="https://10.0.0.1/")
    assert answer.status_code == 422
    assert "That is not the address of a public machine." in answer.text
    assert not Way.select().exists()


def test_without_the_package_nothing_is_offered(
    cottage: House, app: flask.Flask, phone: Phone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(push, "is_installed", lambda: False)
    ailsa = Visitor(app, cottage.people["Ailsa"])
    assert "/settings/devices" not in ailsa.get("/settings").text
    assert ailsa.post("/settings/devices", **phone.address).status_code == 422
    [line] = [found.sentence for found in doctor.examine(cottage.settings, cottage.now) if "phones" in found.sentence]
    assert "pip install 'clachan[push]'" in line


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"),
        ("Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0", "Firefox, Android"),
        (
            "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36",
            "Chrome, Android",
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0",
            "Edge, Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1",
            "Safari, iPhone",
        ),
        ("curl/8", ""),
        ("", ""),
    ],
)
def test_a_device_is_called_what_people_call_it(agent: str, name: str) -> None:
    assert devices.named(agent) == name
