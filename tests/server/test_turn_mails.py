"""Mails about matches: told while they are true, once, and complete in themselves."""

from __future__ import annotations

import hashlib
import logging
import re
import struct
from collections.abc import Iterator
from contextlib import closing
from email.message import Message as Mail
from email.parser import BytesParser
from pathlib import Path

import pytest
from house import House
from smtp_sink import Sink
from together import everything_stored, quick_pictures

from engine import record
from server import accounts, db, deadlines, home, letters, lobby, log, outbox, play, preferences, raster, seating
from server.channels import email
from server.models import Match, Outbox, User

RECORDS = Path(__file__).parent.parent / "records"


@pytest.fixture
def _quick_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes most of a mail's time; the whole match below draws."""
    quick_pictures(monkeypatch)


quick = pytest.mark.usefixtures("_quick_pictures")


def again(mail: Outbox) -> Outbox:
    """Return the mail as it is stored now."""
    return Outbox.get_by_id(mail.id)


def awaited(house: House, match: Match) -> User:
    """Return the person whose turn it is."""
    return log.places(match)[house.played(match).position.to_act[0]].user


@quick
def test_a_turn_taken_meanwhile_is_not_announced(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    house.move(match)
    house.move(match)
    turns = list(Outbox.select().where(Outbox.kind == "turn").order_by(Outbox.id))
    assert [message.to_name for message in house.mail() if "it is your turn," in message.text] == [
        awaited(house, match).name
    ]
    assert [again(mail).state for mail in turns] == ["dropped", "dropped", "sent"]
    assert {again(mail).note for mail in turns[:2]} == {"the turn was taken meanwhile"}


@quick
def test_who_looks_at_the_match_gets_the_mail_minutes_later_unless_he_has_moved(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    house.mail()
    for moves in (False, True):
        one = awaited(house, match)
        other = next(seat.user for seat in log.places(match) if seat.user_id != one.id)
        home.visit(log.get(match.id), other, house.now)
        house.later(seconds=90)
        house.move(match)
        assert house.mail() == []
        if moves:
            house.later(minutes=1)
            house.move(match)
        house.later(minutes=2, seconds=59)
        sent = house.mail()
        house.later(seconds=1)
        assert [message.to_name for message in sent + house.mail()] == [one.name if moves else other.name]
    home.visit(log.get(match.id), other, house.now)
    house.later(minutes=2)
    if awaited(house, match) == other:
        house.move(match)
    house.move(match)
    assert len(house.mail()) == 1, "two minutes later nobody is there any more"


def flooded(house: House) -> list[Match]:
    """Queue four mails about matches to each of two people, and let them wait."""
    matches = [house.started("Ailsa", "Bran") for _ in range(4)]
    house.later(hours=6)
    return matches


@quick
def test_after_an_outage_each_person_gets_one_summary(house: House) -> None:
    matches = flooded(house)
    sent = house.mail()
    assert sorted(message.to_name for message in sent) == ["Ailsa", "Bran"]
    assert {message.subject for message in sent} == {"Your matches"}
    for message in sent:
        mine = {match.id for match in matches if awaited(house, match).name == message.to_name}
        assert {match.id for match in matches if f"/matches/{match.id}\n" in message.text} == mine
    assert {mail.note for mail in Outbox.select().where(Outbox.state == "dropped")} == {"folded into a summary"}
    house.later(days=1)
    assert house.mail() == []


@quick
def test_two_schedulers_after_an_outage_make_one_summary(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    flooded(house)
    inner, first = db.transaction, house.now
    monkeypatch.setattr(db, "transaction", lambda: (monkeypatch.undo(), outbox.fold(first), inner())[-1])
    outbox.fold(house.later(seconds=2))
    assert len(house.queued(kind="summary")) == 2


@quick
def test_three_mails_that_waited_are_no_flood(house: House) -> None:
    for _ in range(3):
        house.started("Ailsa", "Bran")
    house.later(hours=6)
    assert len(house.mail()) == 6


@quick
def test_the_mails_of_a_match_hang_together_for_each_person(house: House) -> None:
    match, other = house.started("Ailsa", "Bran"), house.started("Ailsa", "Bran")
    seen: dict[tuple[str, str], list[str]] = {}
    for _ in range(3):
        for message in house.mail():
            earlier = seen.setdefault((message.to_name, message.subject), [])
            assert list(message.thread) == earlier
            earlier.append(message.message_id)
        house.move(match)
        house.move(other)
    assert len(seen) == 4


@pytest.mark.parametrize("way", ["settings", "link"])
@quick
def test_switched_off_turn_mails_are_neither_sent_nor_queued(house: House, way: str) -> None:
    match = house.started("Ailsa", "Bran", "Catrin")
    message = next(message for message in house.mail() if "it is your turn," in message.text)
    who = house.people[message.to_name]
    with db.transaction():
        outbox.queue("turn", key="waits", now=house.now, user=who, match=match, seat=0, asked=0)
    queued = Outbox.get(Outbox.key == "waits")
    if way == "settings":
        preferences.settle(who, preferences.Wishes("UTC", turn_mail="off"), house.now)
    else:
        token = message.unsubscribe_url.rpartition("/")[2]
        accounts.unsubscribe(token, house.now)
        accounts.unsubscribe(token, house.later(days=30))
    house.mail()
    assert again(queued).state == "dropped"
    for _ in range(3):
        house.move(match)
    assert awaited(house, match) == who
    assert who.name not in {mail.user.name for mail in house.queued(kind="turn")}


@quick
def test_who_leaves_for_good_gets_nothing_more(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin")
    bran = house.people["Bran"]
    with db.transaction():
        outbox.queue("reset", key="waits", now=house.now, user=bran)
    lobby.leave_all(bran, house.now)
    accounts.forget(bran, house.now)
    assert "Bran" not in {message.to_name for message in house.mail()}
    notes = {mail.note for mail in Outbox.select().where(Outbox.user == bran)}
    assert notes == {"the account was deleted"}
    house.finish(match)
    assert not {message.to_address for message in house.mail()} & {"bran@example.org", ""}


@quick
def test_a_person_whose_seat_a_bot_took_gets_no_turn_of_that_seat(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin")
    late = awaited(house, match)
    for _ in range(2):
        house.later(days=1)
        deadlines.run(lambda: house.now)
        while awaited(house, match) != late and not awaited(house, match).bot:
            house.move(match)
    deadlines.remind(house.now)
    told = [message for message in house.mail() if message.to_name == late.name]
    assert not [message for message in told if "it is your turn," in message.text]
    assert all("Your secret clan" not in message.text for message in told[-1:])
    for _ in range(6):
        house.move(match)
    house.mail()
    mine = Outbox.select().where((Outbox.user == late) & (Outbox.kind == "turn") & (Outbox.state == "sent"))
    assert mine.count() == 0


@quick
def test_a_turn_of_a_seat_just_given_up_is_not_announced_to_its_former_owner(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin")
    gone = awaited(house, match)
    seating.resign(match.id, gone, "web", now=house.now)
    assert gone.name not in {message.to_name for message in house.mail()}
    assert Outbox.get((Outbox.kind == "turn") & (Outbox.user == gone)).note == "somebody else sits in the seat now"


@quick
def test_news_that_is_days_old_is_not_sent_any_more(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin")
    seating.resign(match.id, house.people["Bran"], "web", now=house.now)
    house.later(days=3, seconds=1)
    house.mail()
    dropped = {mail.kind: mail.note for mail in Outbox.select().where(Outbox.state == "dropped")}
    assert dropped["start"] == dropped["notice"] == "too old to be of use"


@quick
def test_a_host_who_cannot_be_reached_is_not_written_to(house: House) -> None:
    match = house.table("Ailsa", seats=2, autostart=False)
    with db.transaction():
        User.update(mail_stopped="550").where(User.name == "Ailsa").execute()
    lobby.join(match.id, house.people["Bran"], now=house.now)
    assert house.queued() == []


@quick
def test_the_host_is_told_each_time_the_table_is_full(house: House) -> None:
    match = house.table("Ailsa", "Bran", autostart=False)
    assert [message.subject for message in house.mail()] == [f"Clans {match.id}: every seat is taken"]
    lobby.leave(match.id, house.people["Bran"])
    lobby.join(match.id, house.people["Catrin"], now=house.later(minutes=5))
    lobby.leave(match.id, house.people["Catrin"])
    assert house.mail() == [], "a seat is free again"
    lobby.join(match.id, house.people["Bran"], now=house.later(minutes=5))
    assert house.mail() == [], "the same people on the same day are no news"
    lobby.leave(match.id, house.people["Bran"])
    lobby.join(match.id, house.people["Catrin"], now=house.later(days=1))
    assert len(house.mail()) == 1


def whole_match(house: House, sink: Sink) -> Iterator[tuple[Match, User, int]]:
    """Play a recorded match with mails after each row; yield it, who is asked, and how many mails there were before."""
    kept = record.load((RECORDS / "clans-06.json").read_bytes())
    sender = email.Sender("Clachan", "clachan@localhost", "localhost")
    write = letters.writer(house.settings)
    match = house.started("Ailsa", "Bran", "Catrin", setup=kept["setup"])
    with closing(email.SmtpChannel(email.SmtpSettings(sink.host, sink.port, email.Tls.NONE), sender)) as channel:
        for row in record.rows_of(kept):
            before = len(sink.mails)
            assert outbox.deliver_due(channel, write, lambda: house.now) == (3 if row.seq == 1 else 1)
            yield match, log.places(match)[row.seat].owner, before
            house.later(minutes=10)
            house.move(log.get(match.id), row.text)
        assert outbox.deliver_due(channel, write, lambda: house.now) == 3


def part(mail: Mail, kind: str) -> bytes:
    """Return the decoded part of a mail."""
    found = [one for one in mail.walk() if one.get_content_type() == kind]
    assert len(found) == 1
    return found[0].get_payload(decode=True)


def check_headers(mail: Mail, raw: bytes) -> None:
    """Check what every turn mail bears."""
    for name in ("Date", "Message-ID", "From", "To", "MIME-Version", "List-Unsubscribe", "Reply-To"):
        assert len(mail.get_all(name, [])) == 1, name
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["X-Auto-Response-Suppress"] == "All"
    assert mail["X-Clachan-Loop"]
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert "https://" in mail["List-Unsubscribe"] or "http://127.0.0.1" in mail["List-Unsubscribe"]
    assert "<mailto:move+" in mail["List-Unsubscribe"]
    assert len(mail["Message-ID"]) <= 62
    assert max(map(len, raw.split(b"\r\n"))) <= 998


def check_text(text: str, match: Match) -> None:
    """Check that the text part says all, and that nothing in it but the example passes for a quotation or a move."""
    played = log.read(match)
    seat = played.position.to_act[0]
    assert not [line for line in text.splitlines() if line.startswith((">", "From "))]
    moves = [line.strip() for line in text.splitlines() if play.reads_as_move(match, seat, line)]
    assert len(moves) == 1
    assert moves[0] in played.view(seat).moves
    for said in (letters.MARKER, "You have until", "UTC", "Your secret clan", played.last_hash):
        assert said in text.replace("\n", " ") or said in text
    for place in played.view(seat).moves[0].split("-"):
        assert f"{place} " in text


def test_a_whole_match_is_told_turn_by_turn(
    cottage: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("server", "peewee"):
        caplog.set_level(logging.DEBUG, name)
    draw, drawn = raster.board, []

    def now_and_then(*drawing: object) -> bytes:
        # A picture takes most of a mail's time: a fresh one for every sixth.
        if len(drawn) % 6 == 0:
            now_and_then.last = draw(*drawing)
        drawn.append(drawing)
        return now_and_then.last

    monkeypatch.setattr(raster, "board", now_and_then)
    subjects, tokens, ids, widths = set(), set(), {}, set()
    with Sink() as sink:
        for match, who, before in whole_match(cottage, sink):
            mine = [mail for mail in sink.mails[before:] if mail.recipients == (who.email,)]
            assert len(mine) == 1, "exactly one turn mail for each turn"
            mail = BytesParser().parsebytes(mine[0].raw)
            check_headers(mail, mine[0].raw)
            check_text(part(mail, "text/plain").decode(), log.get(match.id))
            assert len(part(mail, "text/html")) < 100_000
            png = part(mail, "image/png")
            assert png.startswith(b"\x89PNG")
            widths.add(struct.unpack(">II", png[16:24]))
            chain = ids.setdefault(who.email, [])
            assert mail["In-Reply-To"] == (chain[-1] if chain else None)
            assert (mail["References"] or "").split() == chain[:1] + chain[1:][-10:]
            for one in sink.mails[before:]:
                ids.setdefault(one.recipients[0], []).append(BytesParser().parsebytes(one.raw)["Message-ID"])
            subjects.add(mail["Subject"])
            tokens.add(re.search(r"move\+([a-z2-7]{24})@localhost", mail["Reply-To"])[1])
        told = [BytesParser().parsebytes(mail.raw) for mail in sink.mails]
    played = cottage.played(match)
    assert played.outcome.reason == "twelfth village"
    assert len(tokens) == len(played.rows) == 36
    assert {mail["Subject"] for mail in told} == subjects
    assert len(subjects) == 1
    assert len(told) == 36 + 2 + 3, "two are told of the start, three of the end"
    assert len({mail["Message-ID"] for mail in told}) == len(told)
    assert {width for width, _ in widths} == {letters.PICTURE_WIDTH}
    assert len(widths) == 1
    stored = everything_stored()
    logged = "\n".join(str(record.__dict__) for record in caplog.records).casefold()
    for token in tokens:
        assert repr(hashlib.sha256(token.encode()).digest()).casefold() in stored
        assert token not in stored
        assert token not in logged
    secret = bytes(log.get(match.id).secret).hex()
    assert secret not in "\n".join(str(record.msg) for record in caplog.records if record.name != "peewee")
