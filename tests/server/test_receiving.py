"""Mails that come in: judged by who sent them, carried out whole or not at all, answered once."""

from __future__ import annotations

import json
import re
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
from house import House
from postman import answer, example, flat, reply, send
from together import quick_pictures

from engine import replay
from engine.base import AmbiguousMove
from engine.games.clans import GAME
from engine.replay import Row
from server import accounts, db, inbound, lobby, log, outbox, play, seating, talk
from server.channels import Message
from server.desk import writing
from server.errors import Refused
from server.inbound import door, work
from server.inbound.lines import MARKER, own_lines
from server.models import Inbound, LogRow, Match, Outbox, ReplyToken, User

RECORDS = Path(__file__).parent.parent / "records"


@pytest.fixture(autouse=True)
def _quick_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)


def turn(house: House, game: str = "clans") -> tuple[Match, Message]:
    """Begin a match of two; return it and the turn mail that has just left."""
    match = house.started("Ailsa", "Bran", game=game)
    return match, next(mail for mail in house.mail() if "it is your turn," in mail.text)


def rows(match: Match) -> list[tuple[int, str, str | None]]:
    """Return the rows after the setup: seat, text, the way they came."""
    found = LogRow.select().where((LogRow.match == match) & (LogRow.seq > 0)).order_by(LogRow.seq)
    return [(row.seat, row.text, row.via) for row in found]


def only(mails: list[Message], to: str) -> Message:
    """Return the one answer among the mails to somebody."""
    found = [mail for mail in mails if mail.to_name == to and mail.answer]
    assert len(found) == 1, [mail.text for mail in found]
    return found[0]


@pytest.mark.parametrize("game", ["clans", "glory"])
def test_a_turn_mail_is_answered_with_a_move(house: House, game: str) -> None:
    match, mail = turn(house, game)
    text = example(mail)
    assert answer(house, mail, text.lower()) == "done"
    seat = log.own_number(match, User.get(User.email == mail.to_address))
    assert rows(match) == [(seat, text, "email")]
    told = only(house.mail(), mail.to_name)
    assert f"Your move is made: {text}" in told.text
    assert "Your mail reached us on Mon 2 Mar 2026, 09:00 UTC." in told.text
    assert told.subject == mail.subject


def test_the_answer_is_threaded_marked_as_automatic_and_can_be_answered(house: House) -> None:
    _, mail = turn(house)
    answer(house, mail, "status", Message_ID="<one@example.org>")
    told = only(house.mail(), mail.to_name)
    assert told.answer
    assert told.thread[-1] == "one@example.org"
    assert answer(house, told, example(told)) == "done"


def test_the_same_mail_twice_acts_once_and_is_answered_once(house: House) -> None:
    match, mail = turn(house)
    raw = reply(mail, example(mail))
    assert [send(house, raw), send(house, raw)] == ["done", "duplicate"]
    again = reply(mail, example(mail), Message_ID="<another@example.org>")
    assert send(house, again) == "duplicate", "the same words to the same address under another id"
    assert len(rows(match)) == 1
    only(house.mail(), mail.to_name)


def test_the_same_words_are_meant_again_a_day_later(house: House) -> None:
    match, mail = turn(house)
    assert answer(house, mail, "say Hello") == "done"
    house.later(hours=23)
    assert answer(house, mail, "say Hello") == "duplicate"
    house.later(hours=2)
    assert answer(house, mail, "say Hello") == "done"
    assert len(talk.lines(match)) == 2


def test_a_question_may_be_asked_as_often_as_one_likes(house: House) -> None:
    _, mail = turn(house)
    assert [answer(house, mail, "status") for _ in range(3)] == ["done"] * 3
    assert len([told for told in house.mail() if told.answer]) == 3


def test_a_mail_that_was_refused_may_come_again(house: House) -> None:
    match, mail = turn(house)
    raw = reply(mail, "say Hello again")
    for number in range(30):
        answer(house, mail, f"say {number}")
    assert send(house, raw) == "refused-throttled"
    house.later(hours=1)
    assert send(house, raw) == "done"
    assert send(house, raw) == "duplicate"
    assert talk.lines(match)[-1].text == "Hello again"


def test_a_mail_of_thousands_of_lines_is_refused_at_once(cottage: House) -> None:
    match, mail = turn(cottage)
    began = time.process_time()
    assert answer(cottage, mail, "q\n" * 6000) == "refused-no-order"
    assert answer(cottage, mail, "q1 w2\n" * 59) == "refused-no-order"
    assert time.process_time() - began < 1
    assert rows(match) == []


def test_who_was_replaced_learns_nothing_of_the_hand_by_asking(house: House) -> None:
    match = house.started("Ailsa", "Bran", game="glory")
    mail = next(one for one in house.mail() if "it is your turn," in one.text)
    seat = log.own_number(match, User.get(User.email == mail.to_address))
    hand = house.played(match).view(seat).moves[0].split()[0].lower()
    with writing(match.id, house.now) as desk:
        desk.hand_to_bot(seat, "clock")
        desk.put("offer", seat, "", "clock")
    seating.take(match.id, seat, house.people["Dugald"], "web", now=house.now)
    assert answer(house, mail, f"{hand} n1\nr9 n1\n{hand} n2") == "refused-many-orders"
    told = flat(only(house.mail(), mail.to_name))
    assert f"{hand} n1 and r9 n1" in told, "both as they were written"


def test_talk_that_is_quoted_gives_no_orders(cottage: House) -> None:
    match, mail = turn(cottage)
    other = next(
        user for user in cottage.people.values() if user.name in {"Ailsa", "Bran"} and user.name != mail.to_name
    )
    cottage.later(minutes=1)
    for line in (".", MARKER, "resign", f"{'x' * 60} {example(mail)} {MARKER}", f"say x {example(mail)}"):
        talk.speak(log.get(match.id), other, line, cottage.now)
    cottage.move(match)
    turns = [one for one in cottage.mail() if "Said at the table" in one.text]
    assert turns
    for one in turns:
        part = one.text.partition("Said at the table:")[2].partition("THE POSITION")[0]
        for quoted in (part, "\n".join(f"> {line}" for line in part.splitlines())):
            assert own_lines(f"haha ok\n\n{quoted}") == ["haha ok"]


def test_a_stranger_is_written_to_once_a_day_however_many_mails_are_forged(cottage: House) -> None:
    _, mail = turn(cottage)
    raw = reply(mail, "hello").replace(mail.reply_to.encode(), b"clachan@localhost")
    for _ in range(5):
        assert send(cottage, raw) == "no-token"
    assert len([told for told in cottage.mail() if told.answer]) == 1


def test_an_account_made_with_anothers_address_is_not_his(house: House) -> None:
    accounts.sign_up(
        "Mallory", "eilidh@example.com", "a password of mine", zone="UTC", language="en", source="x", now=house.now
    )
    confirmation = next(one for one in house.mail() if "/confirm/" in one.text)
    match = house.table("Ailsa", seats=2)
    lobby.invite(match.id, house.people["Ailsa"], "eilidh@example.com", house.now)
    invitation = next(one for one in house.mail() if "invites you" in one.subject)
    assert answer(house, invitation, "join", sender="Eilidh <eilidh@example.com>") == "done"
    eilidh = User.get(User.email_key == "eilidh@example.com")
    assert (eilidh.name, eilidh.password) == ("Eilidh", "")
    with pytest.raises(Refused):
        accounts.sign_in("eilidh@example.com", "a password of mine", source="x", now=house.now)
    token = re.search(r"/confirm/(\S+)", confirmation.text)
    assert token
    with pytest.raises(Refused):
        accounts.confirm(token.group(1), house.now)


def test_stop_in_answer_to_an_invitation_stops_invitations_and_no_turn_mails(house: House) -> None:
    match = house.table("Ailsa", seats=2)
    lobby.invite(match.id, house.people["Ailsa"], "bran@example.org", house.now)
    assert answer(house, house.mail()[-1], "stop", sender="bran@example.org") == "done"
    assert User.get(User.name == "Bran").turn_mail == "at-once"
    house.later(days=2)
    lobby.invite(match.id, house.people["Ailsa"], "bran@example.org", house.now)
    assert [mail.subject for mail in house.mail() if "invites" in mail.subject] == []


@pytest.mark.parametrize(
    "order", ["vacation until 9999-12-31", "pause until 9999-12-31", "vacation from 0001-01-01 to 0002-01-01"]
)
def test_days_that_no_calendar_of_ours_has_are_refused(cottage: House, order: str) -> None:
    _, mail = turn(cottage)
    assert answer(cottage, mail, order) == "refused-bad-input"


def test_an_address_that_only_folds_to_the_same_is_anothers(cottage: House) -> None:
    strasse = cottage.people["Strasse"] = cottage.person("Strasse")
    match = cottage.started("Strasse", "Bran")
    mail = next(one for one in cottage.mail() if one.to_name == strasse.name)
    assert answer(cottage, mail, "status", sender="straße@example.org") == "wrong-sender"
    assert rows(match) == []


def test_a_mail_to_two_of_us_is_for_the_address_of_its_sender(cottage: House) -> None:
    match, mail = turn(cottage)
    cottage.move(match)
    other = next(one for one in cottage.mail() if "it is your turn," in one.text)
    raw = reply(other, example(other)).replace(
        b"To: Clachan <", f"To: bounce+1-x@localhost, {mail.reply_to}, Clachan <".encode(), 1
    )
    assert send(cottage, raw) == "done"


def test_what_was_received_keeps_no_way_in(house: House) -> None:
    _, mail = turn(house)
    send(house, reply(mail, "status"), recipient=mail.reply_to)
    kept = Inbound.get()
    token = mail.reply_to.partition("+")[2].partition("@")[0]
    assert kept.recipient == ""
    assert token.encode() not in bytes(kept.content)


def test_a_reply_three_days_old_changes_nothing_and_tells_what_happened(house: House) -> None:
    match, mail = turn(house)
    text = example(mail)
    house.move(match)
    house.later(hours=1)
    other = next(one for one in house.mail() if "it is your turn," in one.text)
    assert answer(house, other, example(other)) == "done"
    house.mail()
    before = rows(match)
    house.later(days=0.9)
    assert answer(house, mail, text) == "refused-stale"
    assert rows(match) == before
    told = only(house.mail(), mail.to_name)
    assert "changed nothing" in told.text
    assert "The match has moved on" in told.text
    assert other.to_name in told.text.partition("What happened meanwhile:")[2]


def test_an_illegal_move_is_answered_with_legal_ones_like_it(house: House) -> None:
    match, mail = turn(house)
    text = example(mail)
    wrong = f"{text.partition('-')[0]}-L5"
    assert answer(house, mail, wrong) == "refused-illegal-move"
    assert rows(match) == []
    told = only(house.mail(), mail.to_name)
    near = told.text.partition("Legal moves that look like yours:")[2].split("\n\n")[1].split()
    legal = house.played(match).view(house.played(match).position.to_act[0]).moves
    assert near
    assert set(near) <= set(legal)
    assert answer(house, told, near[0]) == "done"


def test_the_same_mistake_is_answered_once_a_day_and_another_one_by_itself(house: House) -> None:
    _, mail = turn(house)
    source = example(mail).partition("-")[0]
    for text in (f"{source}-L5", f"{source}-L5", f"{source}-L4"):
        assert answer(house, mail, text) == "refused-illegal-move"
    assert len([told for told in house.mail() if told.answer]) == 2
    for text in ("Hello, nice game", "I move my huts from A9 to B9", "Hello, nice game"):
        assert answer(house, mail, text) == "refused-no-order"
    assert len([told for told in house.mail() if told.answer]) == 2, "not understood, and said so each time"


def test_nobody_is_answered_without_end(cottage: House) -> None:
    _, mail = turn(cottage)
    for number in range(30):
        answer(cottage, mail, f"what about number {number}?")
    assert len([told for told in cottage.mail() if told.answer]) == 20


@pytest.mark.parametrize(
    "sender",
    [
        "Ailsa <mallory@example.net>",
        "ailsa@example.org.evil.example",
        "Ailsa <ailsa@example.org>, Mallory <mallory@example.net>",
        "ailsa@example.org <mallory@example.net>",
        "ailsa @example.org",
        "",
        "Bran <bran@example.org>",
    ],
)
def test_a_forged_sender_changes_nothing_and_the_owner_is_told(cottage: House, sender: str) -> None:
    match, mail = turn(cottage)
    if mail.to_name == "Bran":
        cottage.move(match)
        mail = next(one for one in cottage.mail() if "it is your turn," in one.text)
    before = rows(match)
    raw = reply(mail, example(mail), sender="X <x@example.net>").replace(b"X <x@example.net>", sender.encode())
    assert send(cottage, raw) == "wrong-sender"
    assert rows(match) == before
    told = only(cottage.mail(), "Ailsa")
    assert "from an address that is not yours" in flat(told)
    assert "mallory" not in told.text + told.html, "what came in is not repeated"


def test_two_from_headers_are_nobodys(cottage: House) -> None:
    match, mail = turn(cottage)
    raw = b"From: x@example.net\n" + reply(mail, example(mail))
    assert send(cottage, raw) == "wrong-sender"
    assert rows(match) == []


def test_an_answer_forwarded_by_another_changes_nothing(cottage: House) -> None:
    match, mail = turn(cottage)
    assert answer(cottage, mail, example(mail), sender="Dugald <dugald@example.org>") == "wrong-sender"
    assert rows(match) == []


@pytest.mark.parametrize(
    ("headers", "verdict"),
    [
        ({"Auto-Submitted": "auto-replied"}, "silent-automatic"),
        ({"Auto-Submitted": "auto-generated; owner-email=x"}, "silent-automatic"),
        ({"X-Autoreply": "yes"}, "silent-automatic"),
        ({"Return-Path": "<>"}, "silent-null-path"),
        ({"List-Id": "<clans.example.org>"}, "silent-list"),
        ({"Precedence": "bulk"}, "silent-list"),
        ({"X-Clachan-Loop": "localhost"}, "silent-own"),
        ({"Auto-Submitted": "no"}, "done"),
        ({"X-Auto-Response-Suppress": "All"}, "done"),
    ],
)
def test_what_no_person_wrote_is_met_with_silence(cottage: House, headers: dict[str, str], verdict: str) -> None:
    match, mail = turn(cottage)
    assert answer(cottage, mail, example(mail), **headers) == verdict
    assert len(rows(match)) == (verdict == "done")
    assert bool([told for told in cottage.mail() if told.answer]) == (verdict == "done")


def test_an_out_of_office_does_not_count_as_seen(cottage: House) -> None:
    match, mail = turn(cottage)
    before = [(seat.seen, seat.visited_at) for seat in log.places(match)]
    assert answer(cottage, mail, "I am away.", Auto_Submitted="auto-replied") == "silent-automatic"
    assert [(seat.seen, seat.visited_at) for seat in log.places(match)] == before


def test_a_null_path_is_silent_whatever_the_headers_say(cottage: House) -> None:
    _, mail = turn(cottage)
    assert send(cottage, reply(mail, example(mail)), sender="") == "silent-null-path"
    assert not [told for told in cottage.mail() if told.answer]


def test_our_own_mail_coming_back_is_silent(cottage: House) -> None:
    _, mail = turn(cottage)
    raw = reply(mail, "A1-A2", sender=f"Clachan <{mail.reply_to}>")
    assert send(cottage, raw) == "silent-own"


def test_an_unknown_address_is_met_with_silence(cottage: House) -> None:
    _, mail = turn(cottage)
    raw = reply(mail, example(mail)).replace(mail.reply_to.encode(), b"move+aaaabbbbccccddddeeeeffff@localhost")
    assert send(cottage, raw, sender="stranger@example.net").startswith(("unknown", "no-token"))


def test_who_writes_to_the_house_itself_is_told_where_to_write(cottage: House) -> None:
    _, mail = turn(cottage)
    raw = reply(mail, example(mail)).replace(mail.reply_to.encode(), b"clachan@localhost")
    assert send(cottage, raw) == "no-token"
    assert "This address takes no answers" in only(cottage.mail(), mail.to_name).text
    forged = raw.replace(mail.to_address.encode(), b"nobody@example.net")
    assert send(cottage, forged) == "unknown-address"
    assert cottage.mail() == []


def test_the_subject_alone_never_moves(cottage: House) -> None:
    match, mail = turn(cottage)
    raw = reply(mail, "").replace(b"Subject: Re: ", b"Subject: A1-A2 Re: ")
    assert send(cottage, raw).startswith("refused-no-order")
    assert rows(match) == []


def test_the_unsubscribe_address_stops_turn_mails(cottage: House) -> None:
    _, mail = turn(cottage)
    raw = re.sub(b"Subject: .*", b"Subject: unsubscribe", reply(mail, ""))
    assert send(cottage, raw) == "done"
    assert User.get(User.email == mail.to_address).turn_mail == "off"


def test_all_of_a_mail_is_done_or_nothing(house: House) -> None:
    match, mail = turn(house)
    assert answer(house, mail, "say Take that!\nmove Z9-Z8") == "refused-invalid-move"
    assert talk.lines(match) == []
    assert rows(match) == []
    assert answer(house, mail, f"say Take that!\n{example(mail)}") == "done"
    assert [line.text for line in talk.lines(match)] == ["Take that!"]


def ambiguous() -> tuple[dict, int, str]:
    """Return a recorded match of Clans, and the first row whose move without its order fits several moves."""
    for path in sorted(RECORDS.glob("clans*.json")):
        found = json.loads(path.read_text())
        states = replay.positions(
            GAME, found["setup"], len(found["players"]), found["options"], [Row(**shape(row)) for row in found["log"]]
        )
        for row, position in zip(found["log"], states, strict=False):
            text = row["text"].partition(" / ")[0]
            if text != row["text"]:
                try:
                    GAME.parse(position.state, row["seat"], text)
                except AmbiguousMove:
                    return found, row["seq"], text
    raise AssertionError("no record has such a move")


def shape(row: dict) -> dict:
    return {name: row.get(name) for name in ("seq", "seat", "kind", "text")}


def test_villages_whose_order_matters_come_back_as_moves_to_copy(cottage: House) -> None:
    found, seq, text = ambiguous()
    for name in set(found["players"]) - set(cottage.people):
        cottage.people[name] = cottage.person(name)
    match = cottage.started(*found["players"], setup=found["setup"], options=found["options"])
    for row in found["log"][: seq - 1]:
        cottage.move(match, row["text"])
    mail = [one for one in cottage.mail() if "it is your turn," in one.text][-1]
    assert answer(cottage, mail, text) == "refused-ambiguous-move"
    told = only(cottage.mail(), mail.to_name)
    offered = told.text.partition("Answer with one of these lines:")[2].split("\n\n")[1].splitlines()
    assert [line.split()[0] for line in offered] == [f"{number}." for number in range(1, len(offered) + 1)]
    assert answer(cottage, told, offered[-1]) == "done"
    assert rows(match)[-1][1] == offered[-1].strip().partition(". ")[2]


def test_receipt_counts_against_the_deadline(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    match, mail = turn(house)
    house.later(hours=23, minutes=59)
    monkeypatch.setattr(work, "work", lambda *_: False)  # the process dies after taking the mail
    number = inbound.receive(reply(mail, example(mail)), inbound.Envelope("smtp"), house.settings, lambda: house.now)
    monkeypatch.undo()
    house.later(minutes=2)
    assert work.run(house.settings, lambda: house.now) == 1
    assert Inbound.get_by_id(number).verdict == "done"
    assert LogRow.get((LogRow.match == match) & (LogRow.seq == 1)).at == house.now - timedelta(minutes=2)


def test_a_mail_that_breaks_the_reader_is_set_aside_and_the_others_go_on(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, mail = turn(house)
    judge = work._judge

    def broken(kept: Inbound, *rest: object) -> object:
        if b"breaks" in bytes(kept.content):
            raise ZeroDivisionError
        return judge(kept, *rest)

    monkeypatch.setattr(work, "_judge", broken)
    bad = reply(mail, "this breaks")
    send(house, bad)
    assert answer(house, mail, "status") == "done"
    for _ in range(3):
        work.run(house.settings, lambda: house.now)
    kept = Inbound.get(Inbound.state == "aside")
    assert (bytes(kept.content), kept.note) == (bad, "ZeroDivisionError")
    assert work.run(house.settings, lambda: house.now) == 0


def test_what_mails_said_is_forgotten_after_a_month(house: House) -> None:
    _, mail = turn(house)
    answer(house, mail, "status")
    house.later(days=29)
    inbound.sweep(house.now)
    assert Inbound.get().content
    house.later(days=2)
    inbound.sweep(house.now)
    kept = Inbound.get()
    assert (kept.verdict, kept.state) == ("done", "old")
    left = bytes(kept.content)
    assert b"Subject: Re: " in left
    assert b"status" not in left
    assert mail.reply_to.partition("@")[0].encode() not in left


def test_a_mail_too_large_is_not_kept(cottage: House) -> None:
    with pytest.raises(Refused):
        inbound.receive(b"x" * (door.LARGEST + 1), inbound.Envelope("smtp"), cottage.settings, lambda: cottage.now)
    assert not Inbound.select().exists()


def test_who_writes_too_much_is_asked_to_wait(cottage: House) -> None:
    _, mail = turn(cottage)
    words = [answer(cottage, mail, f"say line {number}") for number in range(35)]
    assert words[0] == "done"
    assert words[-1] == "refused-throttled"


def test_the_ex_player_of_a_seat_can_no_longer_move(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin")
    mail = next(one for one in house.mail() if "it is your turn," in one.text)
    seating.resign(match.id, User.get(User.email == mail.to_address), "web", now=house.now)
    before = rows(match)
    assert answer(house, mail, example(mail)) in {"refused-not-yours", "refused-stale", "refused-no-order"}
    assert rows(match) == before
    told = only(house.mail(), mail.to_name)
    assert "Legal moves that look like yours" not in told.text


def test_an_invited_stranger_joins_and_plays_by_mail(house: House) -> None:
    match = house.table("Ailsa", seats=2, invited_only=True)
    lobby.invite(match.id, house.people["Ailsa"], "Eilidh@Example.com", house.now)
    invitation = next(mail for mail in house.mail() if mail.to_address == "Eilidh@Example.com")
    assert "join" in invitation.text
    assert answer(house, invitation, "join", sender="Eilidh MacLeod <eilidh@example.com>") == "done"
    eilidh = User.get(User.email_key == "eilidh@example.com")
    assert (eilidh.name, eilidh.confirmed_at) == ("Eilidh MacLeod", house.now)
    assert log.get(match.id).status == "running"
    mails = [mail for mail in house.mail() if mail.to_address == "eilidh@example.com"]
    (told,) = [" ".join(mail.text.split()) for mail in mails if "You have a seat at" in mail.text]
    assert "Your account is called Eilidh MacLeod." in told
    assert f"ask for a password here: {house.settings.public_url}/forgot" in told


def test_an_invitation_forwarded_to_another_seats_nobody(house: House) -> None:
    match = house.table("Ailsa", seats=2, invited_only=True)
    lobby.invite(match.id, house.people["Ailsa"], "eilidh@example.com", house.now)
    invitation = house.mail()[-1]
    assert answer(house, invitation, "join", sender="bran@example.org") == "wrong-sender"
    assert len(log.places(match)) == 1
    assert house.mail() == []


def test_an_invited_person_with_an_account_joins_as_himself(house: House) -> None:
    match = house.table("Ailsa", seats=2)
    lobby.invite(match.id, house.people["Ailsa"], "bran@example.org", house.now)
    assert answer(house, house.mail()[-1], "Join!", sender="Bran <bran@example.org>") == "done"
    assert {seat.user.name for seat in log.places(match)} == {"Ailsa", "Bran"}


def test_who_wants_no_invitations_says_stop_once(house: House) -> None:
    match = house.table("Ailsa", seats=2)
    lobby.invite(match.id, house.people["Ailsa"], "eilidh@example.com", house.now)
    assert answer(house, house.mail()[-1], "stop", sender="eilidh@example.com") == "done"
    assert "no more invitations" in house.mail()[-1].text
    house.later(days=2)
    lobby.invite(match.id, house.people["Ailsa"], "eilidh@example.com", house.now)
    assert house.mail() == []
    assert not User.select().where(User.email_key == "eilidh@example.com").exists()


def test_names_made_from_mails_are_names(cottage: House) -> None:
    with db.transaction():
        made = [
            accounts.sign_up_by_mail(f"{local}@example.net", name, cottage.now).name
            for local, name in [("x1", "Ailsa"), ("x2", "<script>"), ("bot", "Bot 7"), ("x4", ""), ("ailsa", "\u202e")]
        ]
    assert len(set(made)) == len(made)
    assert all(accounts.clean_name(name) == name for name in made)


def test_a_host_starts_the_match_by_mail(house: House) -> None:
    match = house.table("Ailsa", seats=2, autostart=False)
    lobby.join(match.id, house.people["Bran"], now=house.now)
    full = next(mail for mail in house.mail() if "every seat is taken" in mail.text)
    assert answer(house, full, "start") == "done"
    assert log.get(match.id).status == "running"


def bounce(mail: Message, address: str, status: str, action: str = "failed") -> bytes:
    """Return the report of a mail server that could not deliver."""
    return (
        f"From: MAILER-DAEMON@example.org\nTo: {address}\nSubject: Undelivered\nMIME-Version: 1.0\n"
        f'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\n\n--b\n'
        f"Content-Type: text/plain\n\nSorry.\n--b\nContent-Type: message/delivery-status\n\n"
        f"Reporting-MTA: dns; mx.example.org\n\nFinal-Recipient: rfc822; {mail.to_address}\n"
        f"Action: {action}\nStatus: {status}\n\n--b--\n"
    ).encode()


def bounce_address(house: House, mail: Message) -> str:
    return f"bounce+{mail.bounce_token}@{house.settings.mail_domain}"


@pytest.mark.parametrize(
    ("status", "action", "verdict", "stopped"),
    [
        ("5.1.1", "failed", "bounce-hard", True),
        ("4.4.1", "delayed", "bounce-soft", False),
        ("4.2.2", "failed", "bounce-soft", False),
        ("5.2.2", "failed", "bounce-soft", False),
        ("2.0.0", "delivered", "bounce-unclear", False),
    ],
)
def test_only_a_hard_bounce_stops_the_mails(
    house: House, status: str, action: str, verdict: str, stopped: bool
) -> None:
    _, mail = turn(house)
    assert send(house, bounce(mail, bounce_address(house, mail), status, action), sender="") == verdict
    assert bool(User.get(User.email == mail.to_address).mail_stopped) == stopped
    assert not [told for told in house.mail() if told.answer]


def test_a_forged_bounce_switches_nobody_off(house: House) -> None:
    _, mail = turn(house)
    number, _, seal = mail.bounce_token.partition("-")
    for token in (f"{number}-{'0' * len(seal)}", f"{number}", f"{int(number) + 1}-{seal}", "x", ""):
        raw = bounce(mail, f"bounce+{token}@{house.settings.mail_domain}", "5.1.1")
        assert send(house, raw, sender="") in {"unknown-address", "silent-null-path"}
    assert not User.select().where(User.mail_stopped != "").exists()


def test_with_a_judge_only_what_passed_there_counts(cottage: House) -> None:
    from house import house_settings

    match, mail = turn(cottage)
    cottage.settings = house_settings(
        cottage.settings.database, cottage.settings.data, MAIL_IN="pipe", MAIL_JUDGE="mx.play.example"
    )
    text = example(mail)
    refused = [
        {},
        {"Authentication-Results": "mx.play.example; dkim=pass header.d=evil.test"},
        {"Authentication-Results": "mx.play.example; spf=pass smtp.mailfrom=x@evil.test"},
        {"Authentication-Results": 'mx.play.example; spf=pass smtp.mailfrom="a; dmarc=pass b"@evil.test'},
        {"Authentication-Results": "mx.play.example; dmarc=fail (p=none; dmarc=pass x)"},
        {"Authentication-Results": "mx.play.example; dmarc=pass header.from=evil.test"},
        {"Authentication-Results": "mx.play.example; dkim=pass header.d=org"},
        {"Authentication-Results": "mx.evil.example; dmarc=pass"},
        {"Authentication-Results": "mx.play.example; dmarc=fail; dkim=pass"},
        {"Authentication-Results": "mx.play.example; dkim=fail; spf=softfail"},
        {"Authentication-Results": "mx.play.example; none"},
    ]
    for number, headers in enumerate(refused):
        assert answer(cottage, mail, f"{text}\nno {number}", **headers) == "unproven"
    below = reply(mail, text, **{"Authentication-Results": "mx.play.example; dmarc=pass"})
    assert send(cottage, b"Authentication-Results: mx.evil.example; dmarc=fail\n" + below) == "unproven"
    assert rows(match) == []
    passed = b"Authentication-Results: mx.play.example (v1); dkim=pass header.d=example.org\n"
    assert send(cottage, passed + below) == "done"


def test_an_expired_or_revoked_address_takes_nothing(cottage: House) -> None:
    match, mail = turn(cottage)
    ReplyToken.update(revoked_at=cottage.now).execute()
    assert not door.knows(mail.reply_to, cottage.settings)
    assert answer(cottage, mail, example(mail)) == "no-token"
    assert rows(match) == []


def test_a_plus_or_a_dot_in_any_case_is_the_same_address(cottage: House) -> None:
    match, mail = turn(cottage)
    raw = reply(mail, example(mail))
    turned = mail.reply_to.upper().replace("MOVE+", "MOVE.")
    assert send(cottage, raw.replace(mail.reply_to.encode(), turned.encode())) == "done"
    assert len(rows(match)) == 1


def test_web_and_mail_at_once_make_one_row(house: House) -> None:
    match, mail = turn(house)
    text = example(mail)
    user = User.get(User.email == mail.to_address)
    raws = [reply(mail, text) for _ in range(8)]
    gate = threading.Barrier(16)

    def by_mail(raw: bytes) -> None:
        with db.connected():
            gate.wait()
            send(house, raw)

    def by_page() -> None:
        from contextlib import suppress

        from server.errors import Refused

        with db.connected(), suppress(Refused):
            gate.wait()
            play.submit(match.id, log.own_number(match, user), text, 0, user, "web", now=house.now)

    threads = [threading.Thread(target=by_mail, args=(raw,)) for raw in raws]
    threads += [threading.Thread(target=by_page) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rows(match)) == 1
    assert Outbox.select().where((Outbox.kind == "answer") & Outbox.key.startswith("answer")).count() <= 2
    assert outbox.oldest_due(house.now) == timedelta(0)


def test_logs_hold_no_token_and_no_words(cottage: House, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    _, mail = turn(cottage)
    answer(cottage, mail, "say something nobody should log")
    answer(cottage, mail, "say again", sender="mallory@example.net")
    token = mail.reply_to.partition("+")[2].partition("@")[0]
    assert token not in caplog.text
    assert "nobody should log" not in caplog.text
