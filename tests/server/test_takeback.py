"""Taking moves back: only the own last one, not for ever, and with all clocks as they were."""

from __future__ import annotations

from datetime import timedelta

import pytest
from clockwork import DAY, HOUR, awaited, kinds, others, sitting, tick, tick_at, wish, with_rounds
from house import START, House
from together import in_parallel, quick_pictures, refused

from server import audit, home, log, play, seating, story, talk, vacations
from server.models import Match, Outbox, Talk, User


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)
    with_rounds(monkeypatch)


def back(house: House, match: Match, user: User, **more: object) -> None:
    """Let the person take his last move back."""
    play.take_back(match.id, user, "web", now=house.now, **more)


def test_a_move_is_taken_back_and_another_made(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    seat, user = awaited(house, match)
    before = house.played(match).position
    done = house.move(match)
    back(house, match, user)
    played = house.played(match)
    assert (played.position.state, played.position.to_act) == (before.state, before.to_act)
    assert played.position.asked[seat] == played.position.seq == log.get(match.id).asked
    assert log.get(match.id).awaited == (seat,)
    text = next(text for text in played.view(seat).moves if text != done.text)
    assert house.move(match, text).text == text
    assert audit.verify(match.id) == []


def test_all_lists_say_whose_turn_it_is_after_a_move_is_taken_back(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    seat, user = awaited(house, match)
    for _ in range(2):
        house.move(match)
        assert home.waiting(user) == 0
        back(house, match, user)
        played = house.played(match)
        assert story.standing(played, story.names(log.places(match)), seat) == "It is your turn."
        assert [item.my_turn for item in home.items(user, house.now)] == [True]
        assert home.waiting(user) == 1
        assert home.waiting(sitting(match, 1 - seat)) == 0


def test_the_same_request_twice_takes_one_move_back(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    _, user = awaited(house, match)
    seq = house.move(match).seq
    results = in_parallel(*[lambda: back(house, match, user, row=seq)] * 3)
    assert sorted(map(str, results)) == ["None", "not-your-turn", "not-your-turn"]
    assert kinds(house, match, 2) == ["move", "undo"]
    assert audit.verify(match.id) == []


def test_a_second_click_does_not_take_back_the_move_before(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran", game="rounds")
    user = cottage.people["Ailsa"]
    play.submit(match.id, 1, "go", 0, cottage.people["Bran"], "web", now=cottage.now)
    first = play.submit(match.id, 0, "go", 0, user, "web", now=cottage.now)
    second = play.submit(match.id, 0, "stay", first.seq, user, "web", now=cottage.now)
    back(cottage, match, user, row=second.seq)
    with refused("not-your-turn"):
        back(cottage, match, user, row=second.seq)
    assert cottage.played(match).position.state.said == ("1go", "0go")


def test_only_the_own_last_move_is_taken_back(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin")
    _, user = awaited(cottage, match)
    cottage.move(match)
    for other in others(match, user):
        with refused("not-your-turn"):
            back(cottage, match, other)
    with refused("not-yours"):
        back(cottage, match, cottage.people["Dugald"])
    cottage.move(match)
    with refused("not-your-turn"):
        back(cottage, match, user)


def test_where_moves_stand_none_is_taken_back(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", clock={"move": DAY, "takeback": False})
    _, user = awaited(cottage, match)
    cottage.move(match)
    with refused("not-your-turn"):
        back(cottage, match, user)
    assert "no move is taken back" in log.rule_sentence(match)


def test_a_move_that_uncovered_something_stands(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran", game="rounds")
    play.submit(match.id, 0, "look", 0, cottage.people["Ailsa"], "web", now=cottage.now)
    with refused("not-your-turn"):
        back(cottage, match, cottage.people["Ailsa"])
    play.submit(match.id, 1, "stay", 0, cottage.people["Bran"], "web", now=cottage.now)
    back(cottage, match, cottage.people["Bran"])
    assert cottage.played(match).position.state.said == ("0look",)


def test_what_the_clock_or_a_bot_did_is_not_taken_back(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin", pace=HOUR)
    _, user = awaited(cottage, match)
    tick(cottage)
    tick_at(cottage, log.get(match.id).deadline)
    with refused("not-your-turn"):
        back(cottage, match, user)
    _, user = awaited(cottage, match)
    seating.resign(match.id, user, "web", now=cottage.now)
    assert cottage.bots() == 1
    for other in others(match, user):
        with refused("not-your-turn"):
            back(cottage, match, other)


def test_a_finished_match_stands(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran", game="rounds", setup={"left": 1, "bound": []})
    for seat, name in enumerate(("Ailsa", "Bran")):
        play.submit(match.id, seat, "go", 0, cottage.people[name], "web", now=cottage.now)
    with refused("not-running"):
        back(cottage, match, cottage.people["Bran"])


def test_after_a_take_back_to_the_start_somebody_is_still_out_of_time(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    _, user = awaited(house, match)
    house.move(match)
    back(house, match, user)
    until = log.get(match.id).deadline
    assert until == START + timedelta(days=1)
    tick(house)
    assert tick_at(house, until - timedelta(milliseconds=1)) == 0
    assert tick_at(house, until) == 1


def test_who_takes_a_move_back_has_what_he_had_and_an_hour_at_least(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    _, user = awaited(cottage, match)
    cottage.later(hours=20)
    cottage.move(match)
    cottage.later(hours=10)
    back(cottage, match, user)
    assert log.get(match.id).deadline == cottage.now + timedelta(hours=4)
    cottage.later(hours=3, minutes=30)
    cottage.move(match)
    back(cottage, match, user)
    assert log.get(match.id).deadline == cottage.now + timedelta(hours=1)


def test_a_turn_is_not_taken_back_without_end(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin")
    _, user = awaited(cottage, match)
    for _ in range(play.MOST_UNDOS):
        cottage.move(match)
        cottage.later(hours=23)
        back(cottage, match, user)
    cottage.move(match)
    with refused("not-your-turn"):
        back(cottage, match, user)
    until = log.get(match.id).deadline
    tick(cottage)
    assert tick_at(cottage, until) == 1, "whoever comes after him is out of time in the end"
    assert kinds(cottage, match, 3).count("undo") == play.MOST_UNDOS


def test_the_next_turn_may_be_taken_back_again(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    _, user = awaited(cottage, match)
    for _ in range(play.MOST_UNDOS):
        cottage.move(match)
        back(cottage, match, user)
    cottage.move(match)
    cottage.move(match)
    cottage.move(match)
    back(cottage, match, user)
    assert kinds(cottage, match)[-1] == "undo"


def test_talk_and_notices_stay_when_a_move_is_taken_back(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    _, user = awaited(house, match)
    talk.say(match.id, user, "Hello!", expected=0, via="web", now=house.now)
    vacations.announce(user, house.now + timedelta(days=3), house.now + timedelta(days=5), "web", now=house.now)
    house.move(match)
    told = Talk.select().count(), Outbox.select().count()
    back(house, match, user)
    assert (Talk.select().count(), Outbox.select().count()) == told
    assert [row.kind for row in house.played(match).rows[2:]] == ["vacation", "move", "undo"]
    assert house.played(match).clocks.deadline(awaited(house, match)[0]) == START + timedelta(days=1)


def test_whoever_was_told_of_his_turn_is_told_that_it_is_none(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    _, user = awaited(house, match)
    house.mail()
    house.move(match)
    (other,) = others(match, user)
    house.mail()
    back(house, match, user)
    assert [(mail.kind, mail.user.name) for mail in house.queued()] == [("notice", other.name)]


def test_whoever_had_not_been_told_of_his_turn_hears_nothing(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    _, user = awaited(house, match)
    house.mail()
    house.move(match)
    back(house, match, user)
    assert house.mail() == []
    assert house.queued() == []


def test_an_old_page_does_not_move_after_a_move_was_taken_back(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    _, user = awaited(cottage, match)
    cottage.move(match)
    seat, other = awaited(cottage, match)
    played = cottage.played(match)
    text, asked = played.view(seat).moves[0], played.position.asked[seat]
    back(cottage, match, user)
    with refused("stale"):
        play.submit(match.id, seat, text, asked, other, "web", now=cottage.now)
    cottage.move(match)
    with refused("stale"):
        play.submit(match.id, seat, text, asked, other, "web", now=cottage.now)


def test_a_move_and_a_take_back_at_the_same_moment_have_one_winner(house: House) -> None:
    for number in range(6):
        match = house.begun("Ailsa", "Bran")
        _, user = awaited(house, match)
        house.move(match)
        seat, other = awaited(house, match)
        played = house.played(match)
        text, asked = played.view(seat).moves[0], played.position.asked[seat]

        def move(match=match, seat=seat, text=text, asked=asked, other=other) -> str:
            return play.submit(match.id, seat, text, asked, other, "web", now=house.now).text

        works = [move, lambda match=match, user=user: back(house, match, user)]
        results = in_parallel(*works) if number % 2 else in_parallel(*works[::-1])[::-1]
        assert (results, kinds(house, match, 3)) in [([text, "not-your-turn"], ["move"]), (["stale", None], ["undo"])]
        assert audit.verify(match.id) == []


def test_a_time_out_and_a_take_back_at_the_same_moment_have_one_winner(house: House) -> None:
    for number in range(6):
        match = house.begun("Ailsa", "Bran", "Catrin", pace=HOUR)
        _, user = awaited(house, match)
        house.move(match)
        tick(house)
        house.now = log.get(match.id).deadline
        works = [lambda: tick_at(house, house.now), lambda match=match, user=user: back(house, match, user)]
        in_parallel(*works) if number % 2 else in_parallel(*works[::-1])
        assert kinds(house, match, 4) in [["timeout", "move"], ["undo"]]
        assert audit.verify(match.id) == []


def test_who_takes_back_the_only_move_there_is_is_left_to_make_it_himself(cottage: House) -> None:
    cottage.people["Bran"] = wish(cottage.people["Bran"], forced=True)
    match = cottage.started("Ailsa", "Bran", game="rounds", setup={"left": 9, "bound": [1]})
    play.submit(match.id, 0, "stay", 0, cottage.people["Ailsa"], "web", now=cottage.now)
    said = cottage.played(match).position.state.said
    assert said == ("0stay", "1go", "1go")
    back(cottage, match, cottage.people["Bran"])
    assert kinds(cottage, match)[-2:] == ["move", "undo"]
    assert cottage.played(match).position.state.said == said[:-1]
    assert audit.verify(match.id) == []
