"""Mails that are claimed together: each has the promises of one that is claimed alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import pytest
from house import House, Pigeonhole
from test_outbox import LATER, OURS, again, letter
from together import quick_pictures

from server import db, handing, letters, links, outbox
from server.channels import DeliveryError, Message
from server.handing import Written
from server.models import Outbox, ReplyToken

NAMES = ("Ailsa", "Bran", "Catrin", "Dugald")
MOST_QUERIES = 13
"""So many statements a turn mail may take, all in all."""


@pytest.fixture(autouse=True)
def _quick_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)


class Doing(Pigeonhole):
    """A channel that does something as a mail of that number is handed over, the first being 1."""

    def __init__(self, number: int, what: Callable[[], None]) -> None:
        super().__init__()
        self.number = number
        self.what = what

    def deliver(self, message: Message) -> None:
        super().deliver(message)
        if len(self.messages) == self.number:
            self.what()


def many(house: House, count: int) -> list[Outbox]:
    return [letter(house, NAMES[n % 4]) for n in range(count)]


def deliver(house: House, channel: Pigeonhole) -> int:
    return outbox.deliver_due(channel, letters.writer(house.settings), lambda: house.now)


def die() -> None:
    raise SystemExit(9)


def states(mails: list[Outbox]) -> list[str]:
    return [again(mail).state for mail in mails]


@contextmanager
def statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield the statements that the database is given in the block."""
    seen: list[str] = []
    execute = type(db.database.obj).execute_sql

    def counted(self: Any, sql: str, *more: Any) -> Any:
        seen.append(sql)
        return execute(self, sql, *more)

    with monkeypatch.context() as patch:
        patch.setattr(type(db.database.obj), "execute_sql", counted)
        yield seen


def test_one_is_claimed_first_and_then_ever_more(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, claim = [], handing._claim
    monkeypatch.setattr(handing, "_claim", lambda *given: sizes.append(len(found := claim(*given))) or found)
    many(house, 50)
    assert deliver(house, house.post) == 50
    assert sizes == [1, 2, 4, 8, 16, 19, 0]
    assert len({message.message_id for message in house.post.messages}) == 50


def test_after_a_crash_each_of_those_in_hand_is_tried_once_more(house: House) -> None:
    mails = many(house, 12)
    with pytest.raises(SystemExit):
        deliver(house, channel := Doing(6, die))
    # 1, 2 and 4 were claimed; the process died over the third of the four.
    assert states(mails) == ["sent"] * 3 + ["handed"] * 4 + ["queued"] * 5
    assert len(house.mail()) == 5
    house.later(minutes=5)
    late = house.mail()
    assert [message.message_id for message in late] == [f"{mail.message_id}@localhost" for mail in mails[3:7]]
    assert {message.message_id for message in channel.messages[3:]} < {message.message_id for message in late}
    assert set(states(mails)) == {"sent"}
    house.later(days=1)
    assert house.mail() == []


def test_a_second_crash_gives_up_the_mail_in_hand_and_no_other(house: House) -> None:
    mails = many(house, 7)
    for number in (6, 2):
        with pytest.raises(SystemExit):
            deliver(house, Doing(number, die))
        house.later(minutes=5)
    assert len(house.mail()) == 2
    assert states(mails) == ["sent"] * 4 + ["failed"] + ["sent"] * 2


def test_a_fault_of_our_own_gives_back_what_nobody_was_handed(house: House) -> None:
    mails = many(house, 10)
    house.post.faults = [None] * 4 + [OURS]
    assert len(house.mail()) == 4
    assert states(mails) == ["sent"] * 4 + ["queued"] * 6
    assert {(again(mail).attempts, again(mail).unsure) for mail in mails[4:]} == {(0, False)}
    house.later(minutes=15)
    assert len(house.mail()) == 6


def test_what_cannot_be_handed_over_in_time_is_given_back(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    mails = many(house, 7)
    channel = Doing(4, lambda: monkeypatch.setattr(handing, "PATIENCE", -1.0))
    assert deliver(house, channel) == 4
    assert states(mails) == ["sent"] * 4 + ["queued"] * 3
    assert {again(mail).due_at for mail in mails[4:]} == {mails[0].due_at}
    monkeypatch.undo()
    quick_pictures(monkeypatch)
    assert len(house.mail()) == 3


def test_what_has_left_is_noted_soon_though_others_are_slow(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handing, "NOTED", 0.0)
    mails = many(house, 7)
    with pytest.raises(SystemExit):
        deliver(house, Doing(6, die))
    assert states(mails) == ["sent"] * 5 + ["handed"] * 2


def test_one_that_fails_in_the_middle_holds_up_no_other(house: House) -> None:
    mails = many(house, 7)
    house.post.faults = [None] * 4 + [LATER, DeliveryError("cut", unknown=True), None]
    assert len(house.mail()) == 5
    assert states(mails) == ["sent"] * 4 + ["queued"] * 2 + ["sent"]
    assert [again(mail).unsure for mail in mails[4:6]] == [False, True]


def test_one_whose_tokens_cannot_be_stored_holds_up_no_other(house: House) -> None:
    mails, write = many(house, 7), letters.writer(house.settings)

    def spoilt(mail: Outbox, now: datetime) -> Written[Message] | str | datetime:
        told = write(mail, now)
        assert isinstance(told, Written)
        return Written(told.thing, [lambda: links.mint("reset", now), die_softly]) if mail.id == mails[4].id else told

    def die_softly() -> None:
        raise ValueError("no such person any more")

    assert outbox.deliver_due(house.post, spoilt, lambda: house.now) == 6
    assert again(mails[4]).note == "cannot be written: ValueError"
    assert not links.Link.select().exists(), "what belongs to it is not stored by half"


def test_a_mail_withdrawn_while_others_are_written_is_not_handed_over(house: House) -> None:
    mails, write = many(house, 3), letters.writer(house.settings)

    def withdrawing(mail: Outbox, now: datetime) -> Written[Message] | str | datetime:
        if mail.id == mails[2].id:
            Outbox.update(state="dropped", done_at=now).where(Outbox.id == mails[1].id).execute()
        return write(mail, now)

    assert outbox.deliver_due(house.post, withdrawing, lambda: house.now) == 2
    assert [message.to_name for message in house.post.messages] == ["Ailsa", "Catrin"]


def test_the_tokens_of_a_mail_are_there_before_it_is_handed_over(house: House) -> None:
    house.started("Ailsa", "Bran")
    seen = []

    class Looking(Pigeonhole):
        def deliver(self, message: Message) -> None:
            token = message.reply_to.removeprefix("move+").partition("@")[0]
            seen.append(ReplyToken.get_or_none(ReplyToken.hash == links.digest(token)))

    deliver(house, Looking())
    assert len(seen) == 2
    assert None not in seen


def test_a_turn_mail_takes_few_statements(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 20
    for number in range(count):
        house.begun("Ailsa", "Bran", game="clans" if number % 2 else "glory")
    house.mail()
    begun = {mail.match_id: mail for mail in Outbox.select().where(Outbox.kind == "turn").order_by(Outbox.id)}
    again_due = {"state": "queued", "done_at": None, "due_at": house.now}
    Outbox.update(**again_due).where(Outbox.id.in_([mail.id for mail in begun.values()])).execute()
    with statements(monkeypatch) as seen:
        assert len(house.mail()) == count
    assert len(seen) <= MOST_QUERIES * count


def test_a_claim_that_took_long_is_followed_by_a_small_one(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, claim = [], handing._claim
    monkeypatch.setattr(handing, "_claim", lambda *given: sizes.append(len(found := claim(*given))) or found)
    monkeypatch.setattr(handing, "QUICK", 0.05)
    many(house, 9)
    assert deliver(house, Doing(4, lambda: time.sleep(0.06))) == 9
    assert sizes[:4] == [1, 2, 4, 1]
