"""What players decide, as the page of a match offers it, and what becomes of it."""

from __future__ import annotations

import html
import re

import flask
import pytest
from house import DAY, House
from visitor import Visitor, application

from server import ahead, log, proposals, seating, timeouts, vacations
from server.models import Match, Prepared, User


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


@pytest.fixture
def ailsa(cottage: House, app: flask.Flask) -> Visitor:
    return Visitor(app, cottage.people["Ailsa"])


@pytest.fixture
def bran(cottage: House, app: flask.Flask) -> Visitor:
    return Visitor(app, cottage.people["Bran"])


def page(visitor: Visitor, match: Match) -> str:
    """Return what the visitor reads on the page of the match, white space evened."""
    answer = visitor.get(f"/matches/{match.id}")
    assert answer.status_code == 200
    return words(answer.text)


def words(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())


def awaiting(house: House, match: Match, seat: int) -> None:
    """Play on until the seat is awaited."""
    while house.played(match).position.to_act != (seat,):
        house.later(minutes=1)
        house.move(match)


def kinds(house: House, match: Match) -> list[str]:
    return [row.kind for row in house.played(match).rows]


def out_of_time(house: House, match: Match) -> None:
    house.now = log.get(match.id).deadline
    timeouts.time_out(match.id, now=house.now)


def test_a_pause_is_proposed_agreed_to_and_shown(cottage: House, ailsa: Visitor, bran: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran")
    ailsa.post(f"/matches/{match.id}/vote", topic="pause", until="2026-03-09")
    told = page(bran, match)
    assert "Ailsa proposes to pause the match until Mon 9 Mar 2026, 24:00 UTC. Still to agree: Bran." in told
    assert "With you all agree" in told
    assert "Withdraw" in page(ailsa, match)
    topic = proposals.standing(cottage.played(match).rows, cottage.now)[0].topic
    done = bran.post(f"/matches/{match.id}/vote", follow=True, topic=topic)
    assert "That is decided." in words(done.text)
    for visitor in (ailsa, bran):
        told = page(visitor, match)
        assert "The match is paused until Mon 9 Mar 2026, 24:00 UTC." in told
        assert "The match is paused: the clock stands still until Mon 9 Mar 2026, 24:00 UTC." in told
        assert "Propose to go on" in told


def test_a_proposal_is_shown_in_the_readers_zone(cottage: House, app: flask.Flask, ailsa: Visitor) -> None:
    User.update(zone="Asia/Tokyo").where(User.name == "Ailsa").execute()
    match = cottage.begun("Ailsa", "Bran")
    Visitor(app, cottage.people["Ailsa"]).post(f"/matches/{match.id}/vote", topic="pause", until="2026-03-09")
    assert page(ailsa, match).count("to pause the match until Mon 9 Mar 2026, 24:00 JST (UTC+9).") == 2
    assert page(Visitor(app), match).count("to pause the match until Mon 9 Mar 2026, 15:00 UTC.") == 2
    replay = words(ailsa.get(f"/matches/{match.id}/replay/{match.length + 1}").text)
    assert "until Mon 9 Mar 2026, 24:00 JST (UTC+9)." in replay
    assert "until Mon 9 Mar 2026, 24:00 JST (UTC+9)." in words(ailsa.get("/").text)


def test_a_proposal_is_withdrawn(cottage: House, ailsa: Visitor, bran: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran")
    ailsa.post(f"/matches/{match.id}/vote", topic="end")
    assert "Ailsa proposes to end the match as it stands." in page(bran, match)
    assert "Withdrawn." in words(ailsa.post(f"/matches/{match.id}/vote", follow=True, topic="").text)
    assert 'aria-label="Proposal"' not in bran.get(f"/matches/{match.id}").text


def test_what_can_no_longer_be_done_is_no_longer_proposed(cottage: House, ailsa: Visitor, bran: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran", pace=9 * DAY)
    ailsa.post(f"/matches/{match.id}/vote", topic="pause", until="2026-03-03")
    cottage.later(days=3)
    assert 'aria-label="Proposal"' not in bran.get(f"/matches/{match.id}").text


def test_a_day_that_is_none_is_refused_on_the_same_page(cottage: House, ailsa: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran")
    for until in ("", "soon", "2026-01-01", "2027-01-01"):
        answer = ailsa.post(f"/matches/{match.id}/vote", topic="pause", until=until)
        assert answer.status_code == 422
        assert 'id="refused"' in answer.text
        assert 'id="board"' in answer.text
    assert kinds(cottage, match) == ["move", "move"]


def test_the_end_by_agreement(cottage: House, ailsa: Visitor, bran: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran")
    ailsa.post(f"/matches/{match.id}/vote", topic="end")
    bran.post(f"/matches/{match.id}/vote", topic="end")
    assert log.get(match.id).status == "finished"
    assert "Propose the end" not in page(ailsa, match)


def test_what_all_that_are_left_want_is_done_at_a_word(cottage: House, ailsa: Visitor, bran: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin")
    for visitor in (ailsa, bran):
        visitor.post(f"/matches/{match.id}/vote", topic="end")
        assert "Agree" not in page(visitor, match)
    seating.resign(match.id, cottage.people["Catrin"], "web", now=cottage.now)
    assert "Agree" in page(ailsa, match)
    ailsa.post(f"/matches/{match.id}/vote", topic="end")
    assert log.get(match.id).status == "finished"


def test_before_the_first_move_a_match_is_called_off_and_never_after(cottage: House, ailsa: Visitor) -> None:
    match, other = cottage.started("Ailsa", "Bran"), cottage.begun("Ailsa", "Bran")
    assert "Call it off" in page(ailsa, match)
    assert "Call it off" not in page(ailsa, other)
    told = words(ailsa.post(f"/matches/{match.id}/cancel", follow=True).text)
    assert "The match was called off." in told
    refused = ailsa.post(f"/matches/{other.id}/cancel")
    assert refused.status_code == 409
    assert "only before the first move" in words(refused.text)


def test_a_move_is_taken_back_once(cottage: House, ailsa: Visitor, bran: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran")
    awaiting(cottage, match, 0)
    done = cottage.move(match)
    form = {"row": done.seq}
    assert f"Take back {done.text}" in page(ailsa, match)
    assert "Take back" not in page(bran, match)
    assert bran.post(f"/matches/{match.id}/undo", **form).status_code == 409
    first = ailsa.post(f"/matches/{match.id}/undo", follow=True, **form)
    assert "Your move is taken back. Make another." in words(first.text)
    assert ailsa.post(f"/matches/{match.id}/undo", **form).status_code == 409
    assert kinds(cottage, match).count("undo") == 1
    assert "It is your turn." in page(ailsa, match)


def test_a_table_without_taking_back_offers_none(cottage: House, ailsa: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran", clock={"move": DAY, "takeback": False})
    awaiting(cottage, match, 0)
    cottage.move(match)
    assert "Take back" not in page(ailsa, match)


def test_those_awaited_are_reminded_once_a_day(cottage: House, ailsa: Visitor, bran: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran", pace=9 * DAY)
    awaiting(cottage, match, 1)
    assert "Remind" not in page(ailsa, match)
    cottage.later(days=1)
    assert "Remind Bran" in page(ailsa, match)
    assert "Remind" not in page(bran, match)
    assert "Who is awaited gets one more mail." in words(ailsa.post(f"/matches/{match.id}/nudge", follow=True).text)
    assert "Remind" not in page(ailsa, match)
    assert ailsa.post(f"/matches/{match.id}/nudge").status_code == 429


def test_who_lost_the_seat_to_a_bot_takes_it_back(cottage: House, ailsa: Visitor, bran: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran", clock={"move": DAY, "missing": "at-once"})
    awaiting(cottage, match, 0)
    assert "a bot takes the seat over" in page(ailsa, match)
    out_of_time(cottage, match)
    assert "A bot plays your seat." in page(ailsa, match)
    assert "A bot plays your seat." not in page(bran, match)
    told = words(ailsa.post(f"/matches/{match.id}/back", follow=True).text)
    assert "You have your seat back." in told
    assert "A bot plays your seat." not in told


def test_a_bots_seat_is_offered_and_taken_by_somebody_new(
    cottage: House, app: flask.Flask, ailsa: Visitor, bran: Visitor
) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin", clock={"move": DAY, "missing": "at-once"})
    awaiting(cottage, match, 0)
    out_of_time(cottage, match)
    dugald, stranger = Visitor(app, cottage.people["Dugald"]), Visitor(app)
    assert dugald.post(f"/matches/{match.id}/seats/0/take").status_code == 409
    assert "Offer the seat" in page(bran, match)
    assert "anybody who wants it" in words(bran.post(f"/matches/{match.id}/seats/0/offer", follow=True).text)
    assert "Take the seat" in page(dugald, match)
    assert "Sign in to take it" in page(stranger, match)
    for visitor in (bran, ailsa):
        assert "Take the seat" not in page(visitor, match)
        assert visitor.post(f"/matches/{match.id}/seats/0/take").status_code == 409
    told = words(dugald.post(f"/matches/{match.id}/seats/0/take", follow=True).text)
    assert "The seat is yours. Good luck!" in told
    assert "It is your turn." in told
    assert "A bot plays your seat" not in page(ailsa, match)


def test_a_free_seat_stands_in_the_list_of_tables(cottage: House, app: flask.Flask, bran: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin", clock={"move": DAY, "missing": "at-once"})
    awaiting(cottage, match, 0)
    out_of_time(cottage, match)
    seating.offer(match.id, 0, cottage.people["Bran"], "web", now=cottage.now)
    dugald = Visitor(app, cottage.people["Dugald"])
    told = words(dugald.get("/tables").text)
    assert "Seats that became free" in told
    assert f"{log.title(match)} Ailsa (bot) Bran Catrin 1 day for each move;" in told
    assert "seats/0/take" in dugald.get("/tables").text
    assert "You have played in this match" in words(bran.get("/tables").text)
    assert "Sign in to take it over" in words(Visitor(app).get("/tables").text)
    dugald.post(f"/matches/{match.id}/seats/0/take")
    assert "Seats that became free" not in words(dugald.get("/tables").text)


def test_who_had_another_seat_never_takes_a_free_one(cottage: House, app: flask.Flask) -> None:
    """He knows the secrets of the seat he had, also when it was not his from the beginning."""
    match = cottage.begun("Ailsa", "Bran", "Catrin", clock={"move": DAY, "missing": "at-once"})
    dugald = Visitor(app, cottage.people["Dugald"])
    for seat in (0, 1):
        awaiting(cottage, match, seat)
        out_of_time(cottage, match)
        seating.offer(match.id, seat, cottage.people["Catrin"], "web", now=cottage.now)
        if seat == 0:
            assert dugald.post(f"/matches/{match.id}/seats/0/take").status_code == 302
    assert "Take the seat" not in page(dugald, match)
    assert dugald.post(f"/matches/{match.id}/seats/1/take").status_code == 409


def test_the_others_decide_about_who_is_out_of_time(cottage: House, app: flask.Flask, ailsa: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin", clock={"move": DAY, "missing": "vote"})
    awaiting(cottage, match, 0)
    assert "the others decide what becomes of the seat" in page(ailsa, match)
    out_of_time(cottage, match)
    bran, catrin = (Visitor(app, cottage.people[name]) for name in ("Bran", "Catrin"))
    told = page(bran, match)
    assert "Ailsa is out of time." in told
    assert "Wait once more: Nobody wants it so far." in told
    assert 'value="wait 0"' not in ailsa.get(f"/matches/{match.id}").text
    bran.post(f"/matches/{match.id}/vote", topic="wait 0")
    assert "Wait once more: Bran wants it." in page(catrin, match)
    done = words(catrin.post(f"/matches/{match.id}/vote", follow=True, topic="wait 0").text)
    assert "That is decided." in done
    assert "Ailsa is out of time." not in done
    assert "1 day left" in page(ailsa, match)


def test_the_others_replace_who_is_out_of_time(cottage: House, app: flask.Flask) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin", clock={"move": DAY, "missing": "vote"})
    awaiting(cottage, match, 0)
    out_of_time(cottage, match)
    for name in ("Bran", "Catrin"):
        Visitor(app, cottage.people[name]).post(f"/matches/{match.id}/vote", topic="replace 0")
    assert "The seat of Ailsa (bot) is free." in page(Visitor(app), match)


def test_resigning_is_asked_for_among_the_rare_things(cottage: House, app: flask.Flask, ailsa: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran")
    assert "give up this match" in page(ailsa, match)
    assert "give up this match" not in page(Visitor(app), match)
    assert "You have resigned." in words(ailsa.post(f"/matches/{match.id}/resign", follow=True).text)


def test_a_move_is_ready_shown_to_its_player_and_put_away(cottage: House, ailsa: Visitor, bran: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran")
    awaiting(cottage, match, 1)
    assert "Have a move ready" in page(ailsa, match)
    assert "Have a move ready" not in page(bran, match)
    ailsa.post(f"/matches/{match.id}/prepare", move="A1-A2", after="B1-B2")
    told = page(ailsa, match)
    assert "A1-A2 is ready. It is made as soon as it is your turn, if it is legal then and the move right" in told
    assert "before it is B1-B2." in told
    assert "A1-A2 is ready" not in page(bran, match)
    assert "Put away." in words(ailsa.post(f"/matches/{match.id}/prepare", follow=True, away="yes").text)
    assert Prepared.select().count() == 0


def test_a_prepared_move_that_can_be_none_stays_in_its_field(cottage: House, ailsa: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran")
    awaiting(cottage, match, 1)
    answer = ailsa.post(f"/matches/{match.id}/prepare", move="some nonsense", after="A1-A2")
    assert answer.status_code == 422
    assert 'value="some nonsense"' in answer.text
    assert 'value="A1-A2"' in answer.text
    assert '<details id="prepare" open>' in answer.text


def test_a_prepared_move_that_did_not_fit_is_told_until_it_is_put_away(cottage: House, ailsa: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran")
    awaiting(cottage, match, 1)
    ahead.prepare(match.id, cottage.people["Ailsa"], "A1-A2", after="C1-C2", now=cottage.now)
    cottage.move(match)
    told = page(ailsa, match)
    assert "It is your turn." in told
    assert "Your prepared move A1-A2 was not made: the move before it was not C1-C2." in told
    ailsa.post(f"/matches/{match.id}/prepare", away="yes")
    assert "was not made" not in page(ailsa, match)


def test_a_vacation_is_shown_to_all_and_stops_the_clock_on_every_page(
    cottage: House, ailsa: Visitor, bran: Visitor
) -> None:
    match = cottage.begun("Ailsa", "Bran")
    awaiting(cottage, match, 0)
    ailsa.post("/settings/vacation", **{"from": "2026-03-02", "until": "2026-03-08"})
    for visitor in (ailsa, bran):
        assert "Vacation: the clock stands still until Sun 8 Mar 2026, 24:00 UTC." in page(visitor, match)
    home = words(ailsa.get("/").text)
    assert "You are on vacation until Sun 8 Mar 2026, 24:00 UTC." in home
    assert "Vacation: the clock stands still until Sun 8 Mar 2026, 24:00 UTC." in home
    cottage.later(days=1)
    back = ailsa.post("/settings/vacation", end="yes", next="/")
    assert back.headers["Location"] == "/"
    assert "Vacation:" not in page(bran, match)


def test_an_announced_vacation_is_shown_before_it_begins(cottage: House, bran: Visitor, ailsa: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran")
    ailsa.post("/settings/vacation", **{"from": "2026-03-12", "until": "2026-03-15"})
    assert "On vacation from Thu 12 Mar 2026, 00:00 UTC until Sun 15 Mar 2026, 24:00 UTC" in page(bran, match)
    assert "Your vacation begins Thu 12 Mar 2026, 00:00 UTC" in words(ailsa.get("/").text)
    assert "I am not going" in words(ailsa.get("/settings").text)
    vacations.end(cottage.people["Ailsa"], "web", now=cottage.now)
    assert "On vacation" not in page(bran, match)


def test_the_rule_and_the_time_bank_are_on_the_page(cottage: House, ailsa: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran", clock={"move": DAY, "bank": 2 * DAY})
    told = page(ailsa, match)
    assert "1 day for each move and beside it a time bank of 2 days;" in told
    assert "2 days in the time bank" in told


def test_a_match_without_a_limit_has_no_deadline_and_no_pause(cottage: House, ailsa: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran", clock={})
    told = page(ailsa, match)
    assert "No time limit." in told
    assert "left until" not in told
    assert "Pause the match" not in told
    assert ailsa.get("/").status_code == 200


def test_a_page_says_whether_a_clock_runs_and_for_how_long(cottage: House, ailsa: Visitor) -> None:
    cottage.now = cottage.now.replace(day=6, hour=21)  # a Friday
    match = cottage.begun("Ailsa", "Bran", clock={"move": DAY, "weekend": True})
    assert 'class="deadline" data-left="86400" data-steady="10800"' in ailsa.get(f"/matches/{match.id}").text
    cottage.later(hours=4)
    standing = ailsa.get(f"/matches/{match.id}").text
    assert 'class="deadline stands" data-left="75600" data-steady="169200"' in standing
    assert "Weekend: the clock stands still until Sun 8 Mar 2026, 24:00 UTC." in words(standing)
