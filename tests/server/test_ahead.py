"""Moves that are ready before the turn comes, and the only ones there are."""

from __future__ import annotations

from datetime import timedelta

import pytest
from clockwork import DAY, HOUR, awaited, kinds, others, sitting, tick, tick_at, wish, with_rounds
from house import House
from together import in_parallel, quick_pictures, refused

from server import ahead, audit, log, play, seating, story, votes
from server.models import Match, Outbox, Prepared, User


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)
    with_rounds(monkeypatch)


def coming(house: House, match: Match) -> tuple[int, User, str]:
    """Return who is awaited after the first legal move of now: seat, person, and a move that is legal for him then."""
    played = house.played(match)
    game, seat, state = played.game, played.position.to_act[0], played.position.state
    after = state.apply(seat, game.parse(state, seat, played.view(seat).moves[0]))
    following = after.to_act[0]
    moves = [game.format(after, following, move) for move in after.legal_moves(following)]
    return following, sitting(match, following), moves[-1]


def ready(house: House, match: Match, after: str = "") -> tuple[int, User, str]:
    """Let the one who comes next have a legal move ready."""
    seat, user, text = coming(house, match)
    ahead.prepare(match.id, user, text, after=after, now=house.now)
    return seat, user, text


def test_a_move_that_is_ready_is_made_as_soon_as_it_is_the_turn(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    seat, user, text = ready(house, match)
    house.later(hours=5)
    house.move(match)
    row = house.played(match).rows[-1]
    assert (row.seat, row.text, row.via) == (seat, text, "auto")
    assert house.played(match).clocks.used(seat, house.now) == timedelta(0)
    assert ahead.ready(match, user) is None
    assert audit.verify(match.id) == []


def test_whose_move_was_made_for_him_is_not_told_that_it_is_his_turn(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin")
    cottage.mail()
    _, user, _ = ready(cottage, match)
    cottage.move(match)
    assert user.name not in {mail.user.name for mail in cottage.queued(kind="turn")}
    assert len(cottage.queued(kind="turn")) == 1


def test_nobody_else_learns_that_a_move_is_ready(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin")
    before = kinds(cottage, match), log.get(match.id).length, Outbox.select().count()
    _, user, text = ready(cottage, match)
    assert (kinds(cottage, match), log.get(match.id).length, Outbox.select().count()) == before
    assert ahead.ready(match, user).text == text
    for other in others(match, user):
        assert ahead.ready(match, other) is None
    assert ahead.ready(match, None) is None


def test_a_condition_that_comes_true_is_acted_upon(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    condition = house.played(match).view(awaited(house, match)[0]).moves[0]
    _, _, text = ready(house, match, after=condition.lower())
    house.move(match, condition)
    assert house.played(match).rows[-1].text == text


def test_a_condition_that_does_not_come_true_drops_the_move_with_a_notice(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    house.mail()
    moves = house.played(match).view(awaited(house, match)[0]).moves
    seat, user, text = ready(house, match, after=moves[1])
    house.move(match, moves[0])
    played = house.played(match)
    assert played.position.to_act == (seat,)
    assert len(played.rows) == 3
    dropped = ahead.ready(match, user).dropped
    assert text in dropped
    assert moves[1] in dropped
    (mail,) = house.queued(kind="turn", user=user)
    assert mail.facts == {"dropped": dropped}
    (message,) = house.mail()
    assert dropped in " ".join(message.text.split())
    house.move(match)
    house.move(match)
    assert len(house.played(match).rows) == 5, "a move that was dropped is not made later"
    ahead.put_away(match.id, user)
    assert ahead.ready(match, user) is None


def test_a_move_that_is_not_legal_when_its_time_comes_is_dropped_with_a_notice(house: House) -> None:
    match = house.started("Ailsa", "Bran", game="rounds", setup={"left": 3, "bound": [1]})
    bran = house.people["Bran"]
    play.submit(match.id, 1, "go", 0, bran, "web", now=house.now)
    ahead.prepare(match.id, bran, "stay", now=house.now)
    play.submit(match.id, 0, "go", 0, house.people["Ailsa"], "web", now=house.now)
    assert house.played(match).position.to_act == (0, 1)
    dropped = "Your prepared move stay was not made: You cannot say stay now."
    assert ahead.ready(match, bran).dropped == dropped
    (mail,) = house.queued(kind="turn", user=bran, asked=2)
    assert mail.facts == {"dropped": dropped}
    assert audit.verify(match.id) == []


def test_a_move_that_is_ready_may_be_changed_and_put_away(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    _, user, text = ready(house, match)
    ahead.prepare(match.id, user, text.lower(), now=house.now)
    assert Prepared.select().count() == 1
    ahead.put_away(match.id, user)
    house.move(match)
    assert house.played(match).rows[-1].via == "web"


def test_gaps_in_a_prepared_move_are_single_spaces_as_in_moves(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    _, user, text = coming(house, match)
    spaced = text.replace("-", " \n - \t")
    assert ahead.prepare(match.id, user, f"\n{spaced} ", now=house.now).text == text.replace("-", " - ")
    house.move(match)
    assert house.played(match).rows[-1].text == text


def test_nothing_is_prepared_that_can_never_be_a_move(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    _, user, text = coming(house, match)
    for wrong, code in (("no move", "invalid-move"), ("", "invalid-move"), ("A5-B1 " * 50, "bad-input")):
        with refused(code):
            ahead.prepare(match.id, user, wrong, now=house.now)
    with refused("invalid-move"):
        ahead.prepare(match.id, user, text, after="nonsense", now=house.now)
    with refused("bad-input"):
        ahead.prepare(match.id, awaited(house, match)[1], text, now=house.now)
    with refused("not-yours"):
        ahead.prepare(match.id, house.people["Dugald"], text, now=house.now)
    seating.resign(match.id, user, "web", now=house.now)
    with refused("not-running"):
        ahead.prepare(match.id, user, text, now=house.now)
    assert not Prepared.select().exists()


def test_preparing_while_the_other_moves_is_never_lost(house: House) -> None:
    for number in range(8):
        match = house.begun("Ailsa", "Bran")
        _, user, text = coming(house, match)
        works = [
            lambda match=match, user=user, text=text: ahead.prepare(match.id, user, text, now=house.now).text,
            lambda match=match: house.move(match).seq,
        ]
        results = in_parallel(*works) if number % 2 else in_parallel(*works[::-1])[::-1]
        rows = [row.via for row in house.played(match).rows[2:]]
        # It was ready in time and is made, or came too late and he is told that it is his turn.
        assert (rows, results[0]) in [(["web", "auto"], text), (["web"], "bad-input")]
        assert not Prepared.select().exists()
        assert audit.verify(match.id) == []


def test_a_move_that_is_ready_answers_the_clocks_move_too(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin", pace=HOUR)
    played = house.played(match)
    game, seat, state = played.game, played.position.to_act[0], played.position.state
    after = state.apply(seat, game.timeout_move(state, seat))
    following = after.to_act[0]
    text = game.format(after, following, next(iter(after.legal_moves(following))))
    ahead.prepare(match.id, sitting(match, following), text, now=house.now)
    tick(house)
    tick_at(house, log.get(match.id).deadline)
    assert [(row.kind, row.via) for row in house.played(match).rows[3:]] == [
        ("timeout", "clock"),
        ("move", "clock"),
        ("move", "auto"),
    ]


def test_several_moves_that_are_ready_follow_each_other(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran", "Catrin", game="rounds", setup={"left": 3, "bound": []})
    play.submit(match.id, 1, "go", 0, cottage.people["Bran"], "web", now=cottage.now)
    play.submit(match.id, 2, "go", 0, cottage.people["Catrin"], "web", now=cottage.now)
    for name in ("Bran", "Catrin"):
        ahead.prepare(match.id, cottage.people[name], "stay", now=cottage.now)
    play.submit(match.id, 0, "go", 0, cottage.people["Ailsa"], "web", now=cottage.now)
    assert cottage.played(match).position.state.said == ("1go", "2go", "0go", "1stay", "2stay")
    assert cottage.played(match).position.to_act == (0,)


def test_who_loses_the_seat_loses_what_he_had_ready(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    _, user, _ = ready(house, match)
    seating.resign(match.id, user, "web", now=house.now)
    assert not Prepared.select().exists()
    house.move(match)
    assert house.played(match).rows[-1].via == "web"


def test_a_move_that_is_ready_is_made_in_a_pause_as_well(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    ready(cottage, match)
    topic = votes.pause_topic(cottage.now + timedelta(days=2))
    for name in ("Ailsa", "Bran"):
        votes.vote(match.id, cottage.people[name], topic, "web", now=cottage.now)
    cottage.move(match)
    assert cottage.played(match).rows[-1].via == "auto"


def test_whoever_has_no_choice_is_moved_for_if_he_wants(cottage: House) -> None:
    cottage.people["Bran"] = wish(cottage.people["Bran"], forced=True)
    setup = {"left": 3, "bound": [1, 2]}
    match = cottage.started("Ailsa", "Bran", "Catrin", game="rounds", setup=setup, pace=HOUR)
    play.submit(match.id, 0, "stay", 0, cottage.people["Ailsa"], "web", now=cottage.now)
    played = cottage.played(match)
    assert played.position.state.said == ("0stay", "1go")
    assert played.position.to_act == (2,), "Catrin wants to make even the only move herself"
    assert "Bran" not in {mail.user.name for mail in cottage.queued(kind="turn", asked=played.position.seq)}
    tick(cottage)
    tick_at(cottage, log.get(match.id).deadline)
    assert cottage.played(match).position.misses[1] == 0, "who has nothing to do is never out of time"


def test_what_was_made_without_him_is_news_to_its_player(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    seat, user, text = ready(cottage, match)
    cottage.mail()
    cottage.move(match)
    played = cottage.played(match)
    called = story.names(log.places(match))
    assert [line.text for line in story.lines(played, called, seat)][-1] == text
    cottage.move(match)
    messages = [message for message in cottage.mail() if message.to_name == user.name]
    assert len(messages) == 1


def test_the_rules_of_a_game_skip_whoever_has_no_move_at_all(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", clock={"move": DAY})
    while (played := cottage.played(match)).outcome is None:
        for seat in played.position.to_act:
            assert next(iter(played.position.state.legal_moves(seat)), None) is not None
        cottage.move(match)


def test_a_move_that_is_ready_waits_while_its_player_takes_another_back(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin")
    seat = house.played(match).position.to_act[0]
    user = log.places(match)[seat].user
    house.move(match)
    legal = house.played(match).view(house.played(match).position.to_act[0]).moves
    ahead.prepare(match.id, user, legal[-1], now=house.now)
    play.take_back(match.id, user, "web", now=house.now)
    assert [row.kind for row in house.played(match).rows] == ["move", "undo"]
    assert ahead.ready(match, user).dropped == ""
