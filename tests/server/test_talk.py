"""Table talk, and what may be typed into it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from house import House
from together import refused

from engine.base import AmbiguousMove
from engine.games.clans import Clans
from server import beats, commands, home, log, seating, talk
from server.desk import writing
from server.models import Match, Talk


def say(house: House, match: Match, name: str, text: str, expected: int = 0, key: str | None = None) -> talk.Said:
    """Say a line at the table."""
    return talk.say(match.id, house.people[name], text, expected=expected, via="web", now=house.now, key=key)


def turn(house: House, match: Match) -> tuple[str, str, str, int]:
    """Return who is to move, who is not, a legal move, and the number the mover was asked at."""
    played = house.played(match)
    seat = played.position.to_act[0]
    names = [place.user.name for place in log.places(match)]
    return names[seat], names[1 - seat], played.view(seat).moves[0], played.position.asked[seat]


def test_a_line_is_heard_by_all_in_order(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    assert say(house, match, "Ailsa", " Good luck! ").kind == "talk"
    house.later(minutes=1)
    say(house, match, "Bran", "And to you.\nMind the lakes.")
    lines = talk.lines(match)
    assert [(line.user.name, line.text) for line in lines] == [
        ("Ailsa", "Good luck!"),
        ("Bran", "And to you.\nMind the lakes."),
    ]
    assert [line.text for line in talk.lines(match, 1)] == [lines[1].text]
    assert beats.beat(match, None)["talk"] == lines[1].id
    assert talk.lines(house.started("Ailsa", "Bran")) == []


def test_talk_never_makes_a_move_stale(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    mover, other, move, asked = turn(house, match)
    before = log.get(match.id)
    say(house, match, other, "Take your time.")
    say(house, match, mover, "I will.")
    after = log.get(match.id)
    assert (after.length, after.asked, after.deadline) == (before.length, before.asked, before.deadline)
    assert say(house, match, mover, move, asked).done.text == move


def test_a_move_typed_as_talk_is_a_move_for_who_is_awaited(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    mover, other, move, asked = turn(house, match)
    with refused("not-your-turn"):
        say(house, match, other, move, 0)
    said = say(house, match, mover, move.lower().replace("-", " "), asked)
    assert (said.kind, said.done.text) == ("move", move)
    with refused("illegal-move"):
        say(house, match, other, "A1-A1", 1)
    with refused("stale"):
        say(house, match, other, turn(house, match)[2], 0)
    assert talk.lines(match) == [], "a move that comes too late is refused, not read by all"


def test_a_line_that_comes_twice_is_said_once(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    for _ in range(3):
        talk.say(match.id, house.people["Ailsa"], "Well met", expected=0, via="web", now=house.now, key="one")
    assert [line.text for line in talk.lines(match)] == ["Well met"]


def test_words_that_only_look_a_little_like_a_move_are_talk(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    mover, *_ = turn(house, match)
    for line in ("Shall I move?", "A1", "I was at A1 and then at B2, you know", "!"):
        assert say(house, match, mover, line).kind == "talk"
    assert house.played(match).rows == []


def test_a_move_that_fits_several_is_asked_about_and_not_said(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(*_: object) -> None:
        raise AmbiguousMove("Which first?", ["A1-A2 / B1", "A1-A2 / B2"])

    match = house.started("Ailsa", "Bran")
    mover, *_ = turn(house, match)
    monkeypatch.setattr(Clans, "parse", parse)
    with refused("ambiguous-move") as caught:
        say(house, match, mover, "A1-A2")
    assert len(caught.value.choices) == 2
    assert talk.lines(match) == []


def test_a_table_is_joined_started_and_left_by_talk(house: House) -> None:
    match = house.table("Ailsa", seats=3, autostart=False)
    with refused("not-yours"):
        say(house, match, "Bran", "Hello, may I join?")
    assert say(house, match, "Bran", "/join").kind == "/join"
    assert say(house, match, "Bran", "Here I am.").kind == "talk"
    assert say(house, match, "Bran", "/LEAVE").kind == "/leave"
    say(house, match, "Catrin", "/join")
    with refused("not-yours"):
        say(house, match, "Catrin", "/start")
    assert say(house, match, "Ailsa", "/start").kind == "/start"
    assert log.get(match.id).status == "running"


def test_a_match_is_moved_in_and_given_up_by_talk(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    mover, other, move, asked = turn(house, match)
    with refused("not-yours"):
        say(house, match, "Catrin", f"/move {move}")
    with refused("not-your-turn"):
        say(house, match, other, f"/move {move}", asked)
    with refused("invalid-move"):
        say(house, match, mover, "/move", asked)
    said = say(house, match, mover, f"/move {move}", asked, key="once")
    assert (said.kind, said.done.text) == ("move", move)
    assert say(house, match, mover, f"/move {move}", asked, key="once") == said
    assert say(house, match, mover, "/resign").kind == "/resign"
    assert log.get(match.id).reason == "resignation"
    with refused("not-running"):
        say(house, match, other, "/resign")
    assert say(house, match, other, "Well played.").kind == "talk"


@pytest.mark.parametrize(
    "line", ["", "   ", "x" * 1001, "a\0b", "a\u202eb", "\x1b[31m", "a\ud800", "/", "/dance", "/joins"]
)
def test_a_line_that_cannot_be_said_is_refused(cottage: House, line: str) -> None:
    match = cottage.started("Ailsa", "Bran")
    with refused("bad-input"):
        say(cottage, match, "Ailsa", line)
    assert not Talk.select().exists()


def test_talk_is_bounded_in_a_minute_and_free_again_in_the_next(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran")
    with refused("throttled"):
        for _ in range(99):
            say(cottage, match, "Ailsa", "Hello!")
    assert len(talk.lines(match)) == 30
    say(cottage, match, "Bran", "Ssh.")
    cottage.now += timedelta(minutes=1)
    say(cottage, match, "Ailsa", "Sorry.")


def test_who_takes_a_free_seat_has_a_voice_and_is_told_the_end(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    newcomer = house.people["Dugald"]
    with writing(match.id, house.now) as desk:
        desk.hand_to_bot(1, "clock")
        desk.put("offer", 1, "", "clock")
    seating.take(match.id, 1, newcomer, "web", now=house.now)
    assert talk.say(match.id, newcomer, "Hello!", expected=0, via="web", now=house.now).kind == "talk"
    house.finish(match)
    assert [one.id for one in home.unseen(newcomer)] == [match.id]


def test_who_lost_the_seat_still_talks_and_a_stranger_never_does(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin")
    say(house, match, "Bran", "/resign")
    assert say(house, match, "Bran", "I had to go.").kind == "talk"
    with refused("not-yours"):
        say(house, match, "Dugald", "Can I have the seat?")
    with refused("not-found"):
        talk.say(99, house.people["Bran"], "Hello?", expected=0, via="web", now=house.now)


def test_help_lists_with_slashes_what_can_be_done_just_now(house: House) -> None:
    table = house.table("Ailsa", seats=2)
    (waiting,) = say(house, table, "Ailsa", "/help").sentences
    assert "/start; /bots easy; /leave; " in waiting
    assert not any(word in waiting for word in ("/resign", "/pause", "/move", "/rematch"))
    match = house.started("Ailsa", "Bran")
    (running,) = say(house, match, "Ailsa", "/help").sentences
    assert running.startswith("You may write: /move A5-B1; /say TEXT; /resign; /pause until ")
    assert not any(word in running for word in ("/join", "/start", "/bots", "/leave"))
    (over,) = say(house, house.finish(match), "Ailsa", "/help").sentences
    assert "/rematch" in over
    assert "/resign" not in over


def test_every_word_can_be_used_at_some_time() -> None:
    assert {word for words in commands.AT.values() for word in words} == set(commands.WORDS)
