"""The mailbox page of a newcomer's machine: a whole match by mail without a mail program."""

from __future__ import annotations

import re

import flask
import pytest
from house import House, house_settings
from together import quick_pictures
from visitor import Visitor, application

from server import letters, log, outbox
from server.models import Inbound


@pytest.fixture
def village(cottage: House, monkeypatch: pytest.MonkeyPatch) -> House:
    """A house on a newcomer's machine."""
    quick_pictures(monkeypatch)
    chosen = cottage.settings
    cottage.settings = house_settings(chosen.database, chosen.data, DEVELOPMENT="1")
    return cottage


@pytest.fixture
def app(village: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(village, monkeypatch)


def deliver(house: House) -> None:
    """Let the post come."""
    channel = outbox.open_channel(house.settings)
    assert channel
    outbox.deliver_due(channel, letters.writer(house.settings), lambda: house.now)


def newest(visitor: Visitor) -> list[str]:
    """Return the addresses of the mails, newest first."""
    return re.findall(r'href="(/mailbox/[^"]+)"', visitor.get("/mailbox").text)


def test_a_whole_match_is_played_in_the_mailbox(village: House, app: flask.Flask) -> None:
    match = village.started("Ailsa", "Bran")
    visitor, answered = Visitor(app), set()
    for _ in range(300):
        deliver(village)
        if log.get(match.id).status == "finished":
            break
        village.later(minutes=1)
        new = [one for one in newest(visitor)[:8] if one not in answered]
        mail = next(one for one in new if "it is your turn," in visitor.get(one).text)
        answered.add(mail)
        example = re.search(r"for example:\s+(\S[^\n]+)", visitor.get(mail).text)
        assert example
        assert visitor.post(f"{mail}/answer", text=example.group(1).strip()).status_code == 302
    assert log.get(match.id).status == "finished"
    assert {mail.verdict for mail in Inbound.select()} == {"done"}
    assert sum("has ended" in visitor.get(mail).text for mail in newest(visitor)[:3]) == 2


def test_what_stands_in_columns_is_not_broken_on_a_small_screen_and_all_else_is(
    village: House, app: flask.Flask
) -> None:
    village.started("Ailsa", "Bran")
    deliver(village)
    visitor = Visitor(app)
    letter = next(text for one in newest(visitor) if "THE POSITION" in (text := visitor.get(one).text))
    columns = re.findall(r'<span class="columns">(.*)</span>', letter)
    assert sum(bool(re.match(r"  [A-L]1 [FMSG] ", line)) for line in columns) == 12
    assert not any("Make your move here" in line or "http" in line for line in columns)


def test_a_mail_that_takes_no_answers_has_no_form(village: House, app: flask.Flask) -> None:
    outbox.queue("known", key="known", now=village.now, user=village.people["Ailsa"])
    deliver(village)
    visitor = Visitor(app)
    mail = newest(visitor)[0]
    assert "Send the answer" not in visitor.get(mail).text
    assert visitor.post(f"{mail}/answer", text="help").status_code == 422
    assert visitor.post("/mailbox/1.M1P1Q1.x/answer", text="help").status_code == 404
    assert not Inbound.select().exists()
