"""Keepers of a house: what they may do, what is noted of it, and that nothing hidden is shown to them."""

from __future__ import annotations

from datetime import timedelta

import flask
import peewee
import pytest
from house import House
from postman import answer
from visitor import Visitor, application

from server import accounts, audit, db, deadlines, home, keeping, lobby, log, outages, votes
from server.errors import Refused
from server.inbound import door
from server.models import Deed, Inbound, Outbox, User


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


BOUNCE = b"""From: postmaster@example.org
Subject: Undelivered
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b

No such mailbox. Your secret clan: red
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; example.org

Final-Recipient: rfc822; bran@example.org
Action: failed
Status: 5.1.1

--b
Content-Type: message/rfc822

Subject: Your turn

Your secret clan: red
--b--
""".replace(b"\n", b"\r\n")


def keeper(house: House) -> User:
    """Make somebody who keeps the house and plays nowhere."""
    return house.person("Fearghas", admin=True)


def deeds() -> list[tuple[str, str, str]]:
    return [(deed.act, deed.thing, deed.note) for deed in Deed.select().order_by(Deed.id)]


def test_in_a_match_that_is_held_nothing_happens_and_no_time_runs(house: House) -> None:
    match, by = house.begun("Ailsa", "Bran"), keeper(house)
    left = log.get(match.id).deadline - house.now
    keeping.freeze(match.id, by, " A fault is  looked into ", house.now)
    with pytest.raises(Refused, match="A fault is looked into") as refused:
        house.move(match)
    assert refused.value.code == "frozen"
    house.later(days=20)
    outages.beat(house.now)
    assert deadlines.run(lambda: house.now) == 0
    assert deadlines.remind(house.now) == 0
    assert [home.waiting(house.people[name]) for name in ("Ailsa", "Bran")] == [0, 0]
    assert [home.awaiting(house.people[name]) for name in ("Ailsa", "Bran")] == [[], []]
    assert audit.verify(match.id) == []
    keeping.unfreeze(match.id, by, house.now)
    assert log.get(match.id).deadline - house.now == left
    assert audit.verify(match.id) == []
    house.move(match)
    assert [row.kind for row in house.played(match).rows[2:]] == ["pause", "resume", "move"]
    number = f"match {match.id}"
    assert deeds() == [("freeze", number, "A fault is looked into"), ("unfreeze", number, "")]


def test_an_answer_by_mail_to_a_match_that_is_held_is_told_why(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    seat = house.played(match).position.to_act[0]
    name = log.places(match)[seat].user.name
    turn = [mail for mail in house.mail() if mail.reply_to and mail.to_name == name][-1]
    keeping.freeze(match.id, keeper(house), "A fault is looked into", house.now)
    answer(house, turn, house.played(match).view(seat).moves[0], Message_ID="<1@example.org>")
    assert Inbound.get().verdict == "refused-frozen"
    assert any("A fault is looked into" in mail.text for mail in house.mail())
    assert house.played(match).rows[-1].kind == "pause"


def test_a_pause_of_the_players_outlasts_the_keepers(house: House) -> None:
    match, by = house.begun("Ailsa", "Bran"), keeper(house)
    until = house.now + timedelta(days=10)
    for name in ("Ailsa", "Bran"):
        votes.vote(match.id, house.people[name], votes.pause_topic(until), "web", now=house.now)
    keeping.freeze(match.id, by, "Rest", house.now)
    house.later(days=2)
    keeping.unfreeze(match.id, by, house.now)
    assert house.played(match).clocks.paused(house.now) == until
    assert votes.pauses_left(house.played(match)) == votes.MOST_PAUSES - 1


def test_a_bot_waits_in_a_match_that_is_held(cottage: House) -> None:
    match = lobby.fill(cottage.table("Ailsa", seats=2).id, cottage.people["Ailsa"], "easy", cottage.now)
    keeping.freeze(match.id, keeper(cottage), "Rest", cottage.now)
    length = log.get(match.id).length
    cottage.bots()
    assert log.get(match.id).length == length


def test_only_a_running_match_is_held_and_only_once(house: House) -> None:
    table, match, by = house.table("Ailsa", seats=2), house.begun("Ailsa", "Bran"), keeper(house)
    for number, why, code in ((table.id, "x", "not-running"), (match.id, " ", "bad-input"), (999, "x", "not-found")):
        with pytest.raises(Refused) as refused:
            keeping.freeze(number, by, why, house.now)
        assert refused.value.code == code
    with pytest.raises(Refused, match="Nobody holds"):
        keeping.unfreeze(match.id, by, house.now)
    keeping.freeze(match.id, by, "x", house.now)
    with pytest.raises(Refused) as refused:
        keeping.freeze(match.id, by, "y", house.now)
    assert refused.value.code == "frozen"
    assert len(deeds()) == 1


def test_what_keepers_did_is_never_changed(house: House) -> None:
    keeping.appoint("Ailsa", house.now)
    first = Deed.get()
    for change in (
        Deed.update(note="nothing"),
        Deed.delete(),
        Deed.replace(id=first.id, at=house.now, act="x", thing="x", note="") if db.on_sqlite() else Deed.delete(),
    ):
        with pytest.raises(peewee.DatabaseError), db.transaction():
            change.execute()
    assert deeds() == [("appoint", f"person {house.people['Ailsa'].id}", "")]


def test_the_right_is_given_and_taken(cottage: House, app: flask.Flask) -> None:
    ailsa = cottage.people["Ailsa"]
    visitor = Visitor(app, ailsa)
    assert visitor.get("/admin").status_code == 404
    keeping.appoint("ailsa", cottage.now)
    assert visitor.get("/admin").status_code == 200
    assert "/admin" in visitor.get("/").text
    keeping.appoint("Ailsa", cottage.now, revoke=True)
    assert visitor.get("/admin").status_code == 404
    assert "/admin" not in visitor.get("/").text
    cottage.person("Gorm", confirmed_at=None)
    for name in ("Nobody", "Gorm"):
        with pytest.raises(Refused):
            keeping.appoint(name, cottage.now)


def test_people_are_told_that_a_match_is_held(cottage: House, app: flask.Flask) -> None:
    match, by = cottage.begun("Ailsa", "Bran"), keeper(cottage)
    Visitor(app, by).post(f"/admin/matches/{match.id}/freeze", why="A fault is looked into")
    for user in (None, *cottage.people.values(), by):
        page = Visitor(app, user).get(f"/matches/{match.id}").text
        assert "A fault is looked into" in page
    assert "A fault is looked into" in Visitor(app, cottage.people["Ailsa"]).get("/").text
    assert "holds the match" in Visitor(app, cottage.people["Ailsa"]).get(f"/matches/{match.id}/replay/3").text
    Visitor(app, by).post(f"/admin/matches/{match.id}/unfreeze")
    assert "A fault" not in Visitor(app).get(f"/matches/{match.id}").text


def test_a_match_that_cannot_be_replayed_is_held_too(cottage: House) -> None:
    match, by = cottage.begun("Ailsa", "Bran"), keeper(cottage)
    db.database.execute_sql("DROP TRIGGER log_never_changes")
    db.database.execute_sql("UPDATE log SET text = 'A1-A1' WHERE match_id = ? AND seq = 1", (match.id,))
    keeping.freeze(match.id, by, "Mending", cottage.now)
    keeping.unfreeze(match.id, by, cottage.now)
    assert [act for act, _, _ in deeds()] == ["freeze", "unfreeze"]


def test_mail_to_a_person_is_stopped_with_a_reason_he_reads(cottage: House, app: flask.Flask) -> None:
    bran, by = cottage.people["Bran"], keeper(cottage)
    Visitor(app, by).post(f"/admin/people/{bran.id}/stop-mail", why="Your mailbox is full")
    assert User.get_by_id(bran.id).mail_stopped == "Your mailbox is full"
    assert "Your mailbox is full" in Visitor(app, bran).get("/settings").text
    assert deeds() == [("stop-mail", f"person {bran.id}", "Your mailbox is full")]


def test_sessions_of_a_person_end(cottage: House, app: flask.Flask) -> None:
    bran, by = cottage.people["Bran"], keeper(cottage)
    his = Visitor(app, bran)
    assert his.get("/settings").status_code == 200
    Visitor(app, by).post(f"/admin/people/{bran.id}/end-sessions")
    assert his.get("/settings").status_code == 302


def test_an_account_is_deleted_as_by_its_owner_and_named_nowhere(cottage: House, app: flask.Flask) -> None:
    match, by = cottage.begun("Ailsa", "Bran", "Catrin"), keeper(cottage)
    bran = cottage.people["Bran"]
    wrong = Visitor(app, by).post(f"/admin/people/{bran.id}/delete", name="Brian")
    assert wrong.status_code == 422
    assert not deeds()
    Visitor(app, by).post(f"/admin/people/{bran.id}/delete", name="bran")
    assert User.get_by_id(bran.id).name == f"Former player {bran.id}"
    assert cottage.played(match).rows[-1].kind in {"resign", "takeover"}
    assert "Bran" not in Visitor(app, by).get("/admin/deeds").text
    keeping.freeze(match.id, by, "Mending", cottage.now)
    with pytest.raises(Refused, match="Mending"):
        keeping.remove(cottage.people["Ailsa"].id, by, "Ailsa", cottage.now)
    assert log.get(match.id).status == "running"
    with pytest.raises(Refused, match="keeper"):
        keeping.remove(by.id, by, by.name, cottage.now)
    bot = cottage.person("A bot", bot="easy")
    with pytest.raises(Refused):
        keeping.remove(bot.id, by, "A bot", cottage.now)


def test_a_mail_that_failed_is_tried_again(cottage: House, app: flask.Flask) -> None:
    cottage.started("Ailsa", "Bran")
    by, mail = keeper(cottage), Outbox.select().first()
    Outbox.update(state="failed", done_at=cottage.now, attempts=9, note="no such host").execute()
    assert "no such host" in Visitor(app, by).get("/admin/mail-out?state=failed").text
    Visitor(app, by).post(f"/admin/mail-out/{mail.id}/retry")
    assert Outbox.get_by_id(mail.id).state == "queued"
    assert len(cottage.mail()) == 1
    answer = Visitor(app, by).post(f"/admin/mail-out/{mail.id}/retry")
    assert (answer.status_code, Outbox.get_by_id(mail.id).state) == (422, "sent")


def test_what_people_wrote_is_not_shown(cottage: House, app: flask.Flask) -> None:
    raw = b"From: Ailsa <ailsa@example.org>\r\nSubject: Re: <b>Clans</b>\r\n\r\nmy secret plan move+abcdef\r\n"
    number = door.take(raw, door.Envelope("smtp", "ailsa@example.org"), cottage.now)
    visitor = Visitor(app, keeper(cottage))
    for state, verdict in (("done", "done"), ("aside", "aside"), ("done", "bounce-hard"), ("new", "")):
        Inbound.update(state=state, verdict=verdict).execute()
        listed, shown = visitor.get("/admin/mail-in").text, visitor.get(f"/admin/mail-in/{number}").text
        assert "Re: &lt;b&gt;Clans&lt;/b&gt;" in listed
        assert "ailsa@example.org" in listed
        assert "secret plan" not in listed + shown
    Inbound.update(verdict="for-keepers").execute()
    shown = visitor.get(f"/admin/mail-in/{number}").text
    assert "secret plan" in shown, "this one was written to the keepers"
    assert "abcdef" not in shown


def test_of_a_report_only_what_machines_read_is_shown(cottage: House, app: flask.Flask) -> None:
    number = door.take(BOUNCE, door.Envelope("smtp", ""), cottage.now)
    Inbound.update(state="done", verdict="bounce-hard").execute()
    shown = Visitor(app, keeper(cottage)).get(f"/admin/mail-in/{number}").text
    assert "Status: 5.1.1" in shown
    assert "secret clan" not in shown, "our own mail came back with it"


def test_lists_are_searched_and_go_on(cottage: House, app: flask.Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "PAGE", 2)
    by = keeper(cottage)
    numbers = [cottage.begun("Ailsa", "Bran").id for _ in range(3)]
    page = keeping.matches("", "running", 0)
    assert [match.id for match in page.rows] == [numbers[2], numbers[1]]
    assert [match.id for match in keeping.matches("", "running", page.more).rows] == [numbers[0]]
    assert [match.id for match in keeping.matches("ailsa", "", 0).rows] == numbers[:0:-1]
    assert not keeping.matches("Dugald", "", 0).rows
    assert [match.id for match in keeping.matches(str(numbers[0]), "", 0).rows] == [numbers[0]]
    keeping.freeze(numbers[0], by, "x", cottage.now)
    assert [match.id for match in keeping.matches("", "frozen", 0).rows] == [numbers[0]]
    for asked, found in (("cat", ["Catrin"]), ("BRAN@example.org", ["Bran"]), ("zzz", []), ("9" * 30, [])):
        assert [user.name for user in keeping.people(asked, 0).rows] == found
    visitor = Visitor(app, by)
    for path in ("matches?q=%00%27", "people?q=%25", "matches?status=nonsense", "mail-in?verdict=x", "deeds?before=1"):
        assert visitor.get(f"/admin/{path}").status_code == 200
    assert visitor.get("/admin/deeds?before=x").status_code == 422
    assert accounts.name_key("Fearghas") == by.name_key
