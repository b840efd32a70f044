"""What players decide together: pauses, the end, and what becomes of who is out of time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from clockwork import DAY, HOUR, awaited, kinds, others, reminders, say, sitting, tick, tick_at, ticks, with_rounds
from house import START, House
from together import in_parallel, quick_pictures, refused

from server import audit, columns, events, log, play, proposals, seating, story, votes
from server.models import Match, Outbox, User

VOTE = {"move": DAY, "missing": "vote"}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)
    with_rounds(monkeypatch)


def paused(house: House, match: Match, until: datetime, *names: str) -> None:
    """Let all agree to a pause."""
    assert say(house, match, votes.pause_topic(until), *names)[-1]


def late(house: House, *names: str, **terms: object) -> tuple[Match, int, User, list[User]]:
    """Return a match whose awaited player is out of time: match, his seat, he himself, the others."""
    match = house.begun(*names, **{"clock": VOTE, **terms})
    seat, user = awaited(house, match)
    assert tick_at(house, log.get(match.id).deadline)
    assert kinds(house, match)[-1] == "timeout"
    return match, seat, user, others(match, user)


def test_a_pause_needs_all_and_stops_all_clocks_until_its_end(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    house.later(hours=6)
    topic = votes.pause_topic(house.now + timedelta(days=10))
    assert say(house, match, topic, "Ailsa", "Bran") == [False, False]
    assert log.get(match.id).deadline == START + timedelta(days=1)
    assert say(house, match, topic, "Catrin") == [True]
    seat, _ = awaited(house, match)
    played = house.played(match)
    assert played.clocks.left(seat, house.now) == timedelta(hours=18), "what he had left is kept"
    assert played.clocks.standing(seat, house.now) == "pause"
    until = START + timedelta(days=11)
    assert log.get(match.id).deadline == columns.deadline(played) == until
    tick(house)
    for before in (timedelta(days=9), timedelta(days=1), timedelta(minutes=1), timedelta(milliseconds=1)):
        assert tick_at(house, until - before) == 0
    assert kinds(house, match, 3) == ["vote"] * 3 + ["pause"]
    assert tick_at(house, until) == 1, "it ends by itself, without anybody's visit"


def test_a_pause_ends_on_a_day_that_is_not_too_far_away(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    for wrong in (
        "pause",
        "pause tomorrow",
        "pause 2026-13-01T00:00:00.000Z",
        "pause 2026-03-05",
        "pause 2026-03-05T09:00:00.000",
        "pause 2026-03-05T09:00:01.000Z",
        "pause 9999-12-31T23:59:00.000-12:00",
        "pause 0001-01-01T00:00:00.000+12:00",
        votes.pause_topic(cottage.now),
        votes.pause_topic(cottage.now - timedelta(days=1)),
        votes.pause_topic(cottage.now + votes.LONGEST_PAUSE + timedelta(minutes=1)),
    ):
        with refused("bad-input"):
            say(cottage, match, wrong, "Ailsa")
    assert kinds(cottage, match, 2) == []


def test_a_match_is_not_paused_for_ever(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    for _ in range(votes.MOST_PAUSES):
        paused(cottage, match, cottage.now + timedelta(days=2), "Ailsa", "Bran")
        cottage.later(days=1)
    with refused("bad-input"):
        say(cottage, match, votes.pause_topic(cottage.now + timedelta(days=2)), "Ailsa")
    played = cottage.played(match)
    seat = played.position.to_act[0]
    assert played.clocks.used(seat, cottage.now) == timedelta(0)
    # Five pauses that overlap are one: they began at the start, and the last of them ends in a day.
    assert log.get(match.id).deadline == cottage.now + timedelta(days=2)


def test_used_time_never_falls_whatever_pauses_come(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", clock={"move": 2 * DAY, "weekend": True})
    seat, _ = awaited(cottage, match)
    used, spent = timedelta(0), []
    for hours in (5, 30, 70, 12, 9):
        cottage.later(hours=hours)
        spent.append(cottage.played(match).clocks.used(seat, cottage.now))
        paused(cottage, match, cottage.now + timedelta(hours=20), "Ailsa", "Bran")
        now_used = cottage.played(match).clocks.used(seat, cottage.now)
        assert now_used == spent[-1] >= used
        used = now_used
    assert cottage.played(match).clocks.used(seat, log.get(match.id).deadline) == timedelta(days=2)


def test_a_move_made_in_a_pause_counts_and_costs_nothing(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", clock={"move": DAY, "bank": DAY})
    paused(cottage, match, cottage.now + timedelta(days=5), "Ailsa", "Bran")
    seat, _ = awaited(cottage, match)
    cottage.later(days=3)
    cottage.move(match)
    played = cottage.played(match)
    assert played.clocks.used(seat, cottage.now) == timedelta(0)
    assert played.clocks.bank(seat, cottage.now) == timedelta(days=1)
    assert log.get(match.id).deadline == START + timedelta(days=5 + 2)
    assert played.position.misses == (0, 0)


def test_what_is_left_of_a_pause_ends_when_all_want_to_go_on(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    with refused("bad-input"):
        say(house, match, "resume", "Ailsa")
    paused(house, match, house.now + timedelta(days=30), "Ailsa", "Bran")
    house.later(days=2)
    assert say(house, match, "resume", "Bran", "Ailsa") == [False, True]
    assert log.get(match.id).deadline == house.now + timedelta(days=1)
    assert not house.played(match).clocks.paused(house.now)


def test_nobody_is_reminded_while_the_match_is_paused(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", pace=10 * HOUR)
    cottage.later(hours=7)
    paused(cottage, match, cottage.now + timedelta(days=2), "Ailsa", "Bran")
    tick(cottage)
    ticks(cottage, until=START + timedelta(days=2, hours=7), every=timedelta(minutes=9))
    assert reminders(match) == []
    ticks(cottage, until=START + timedelta(days=2, hours=8), every=timedelta(minutes=9))
    assert len(reminders(match)) == 1


def test_all_agree_to_end_a_match_as_it_stands(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    assert say(house, match, "end", "Ailsa", "Bran", "Catrin") == [False, False, True]
    match = log.get(match.id)
    assert (match.status, match.reason, match.deadline, match.reminder_at) == ("finished", "agreement", None, None)
    assert {mail.user.name for mail in Outbox.select().where(Outbox.kind == "end")} == {"Ailsa", "Bran", "Catrin"}
    assert audit.verify(match.id) == []
    with refused("not-running"):
        say(house, match, "end", "Ailsa")


def test_one_person_wants_one_thing_at_a_time_and_may_think_again(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    with refused("bad-input"):
        say(cottage, match, "", "Ailsa")
    say(cottage, match, "end", "Ailsa")
    say(cottage, match, votes.pause_topic(cottage.now + timedelta(days=1)), "Ailsa")
    assert say(cottage, match, "end", "Bran") == [False]
    assert {each.seats for each in proposals.standing(cottage.played(match).rows, cottage.now)} == {(0,), (1,)}
    say(cottage, match, "", "Bran")
    assert [each.seats for each in proposals.standing(cottage.played(match).rows, cottage.now)] == [(0,)]
    assert say(cottage, match, "", "Ailsa") == [False]
    assert proposals.standing(cottage.played(match).rows, cottage.now) == []


def test_the_same_vote_twice_is_one(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    works = [lambda: say(house, match, "end", "Ailsa")[0]] * 3
    assert in_parallel(*works) == [False] * 3
    assert kinds(house, match, 3) == ["vote"]
    say(house, match, "end", "Bran")
    assert in_parallel(*[lambda: say(house, match, "end", "Catrin")[0]] * 2).count(True) == 1
    assert kinds(house, match, 3) == ["vote", "vote", "vote", "end"]


def test_a_proposal_is_forgotten_after_a_week(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", pace=30 * DAY)
    say(cottage, match, "end", "Ailsa")
    cottage.later(days=7)
    assert proposals.standing(cottage.played(match).rows, cottage.now) == []
    assert say(cottage, match, "end", "Bran") == [False]
    assert log.get(match.id).status == "running"


def test_a_vote_is_the_persons_and_not_the_seats(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin", clock={"move": DAY, "missing": "at-once"})
    seat, user = awaited(house, match)
    votes.vote(match.id, user, "end", "web", now=house.now)
    tick_at(house, log.get(match.id).deadline)
    remaining = others(match, user)
    seating.offer(match.id, seat, remaining[0], "web", now=house.now)
    seating.take(match.id, seat, house.people["Dugald"], "web", now=house.now)
    assert [votes.vote(match.id, each, "end", "web", now=house.now) for each in remaining] == [False, False]
    assert log.get(match.id).status == "running"
    assert votes.vote(match.id, house.people["Dugald"], "end", "web", now=house.now)


def test_a_vote_said_again_is_decided_when_whoever_was_missing_has_left(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    say(house, match, "end", "Ailsa", "Bran")
    seating.resign(match.id, house.people["Catrin"], "web", now=house.now)
    assert say(house, match, "end", "Ailsa") == [True]
    assert log.get(match.id).reason == "agreement"


def test_only_players_vote_and_only_on_what_there_is(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    with refused("not-yours"):
        say(cottage, match, "end", "Dugald")
    for wrong in (
        "win",
        "replace 0",
        "wait 1",
        "replace 7",
        "wait ١",
        "replace 00",
        f"wait {'9' * 5000}",
        "resume now",
    ):
        with refused("bad-input"):
            say(cottage, match, wrong, "Ailsa")
    assert kinds(cottage, match, 2) == []
    with refused("bad-input"):
        say(
            cottage,
            cottage.begun("Ailsa", "Bran", clock={}),
            votes.pause_topic(cottage.now + timedelta(days=1)),
            "Ailsa",
        )


def test_when_somebody_is_out_of_time_the_others_choose_to_wait(house: House) -> None:
    match, seat, user, remaining = late(house, "Ailsa", "Bran", "Catrin")
    assert "the others decide" in log.rule_sentence(match)
    assert votes.vote(match.id, remaining[0], f"wait {seat}", "web", now=house.later(hours=5)) is False
    assert votes.vote(match.id, remaining[1], f"wait {seat}", "web", now=house.now) is True
    assert log.get(match.id).deadline == house.now + timedelta(days=1)
    assert awaited(house, match) == (seat, user)
    count = len(reminders(match))
    ticks(house, until=house.now + timedelta(hours=20), every=timedelta(minutes=9))
    assert len(reminders(match)) == count + 1, "a turn that begins anew has a reminder of its own"


def test_when_somebody_is_out_of_time_the_others_choose_to_go_on_without_him(house: House) -> None:
    match, seat, user, remaining = late(house, "Ailsa", "Bran", "Catrin")
    for each in remaining:
        votes.vote(match.id, each, f"replace {seat}", "web", now=house.now)
    assert kinds(house, match)[-2:] == ["takeover", "offer"]
    assert sitting(match, seat).bot
    seating.take(match.id, seat, house.people["Dugald"], "web", now=house.now)
    with refused("not-yours"):
        seating.come_back(match.id, user, "web", now=house.now)
    assert audit.verify(match.id) == []


def test_of_two_the_other_decides_alone(cottage: House) -> None:
    match, seat, _, (other,) = late(cottage, "Ailsa", "Bran")
    assert votes.vote(match.id, other, f"wait {seat}", "web", now=cottage.now)


def test_a_seat_is_waited_for_a_few_times_only_whoever_sits_in_it(cottage: House) -> None:
    match, seat, _, (other,) = late(cottage, "Ailsa", "Bran")
    for _ in range(votes.MOST_WAITS):
        votes.vote(match.id, other, f"wait {seat}", "web", now=cottage.now)
        tick_at(cottage, log.get(match.id).deadline)
    with refused("bad-input"):
        votes.vote(match.id, other, f"wait {seat}", "web", now=cottage.now)
    votes.vote(match.id, other, f"replace {seat}", "web", now=cottage.now)
    seating.take(match.id, seat, cottage.people["Dugald"], "web", now=cottage.now)
    tick_at(cottage, log.get(match.id).deadline)
    # Who took it over and never moved is replaced at once, without a question.
    assert kinds(cottage, match)[-4:] == ["timeout", "takeover", "offer", "move"]


def test_who_is_out_of_time_may_still_move_before_the_others_have_decided(house: House) -> None:
    match, seat, _, remaining = late(house, "Ailsa", "Bran", "Catrin")
    votes.vote(match.id, remaining[0], f"replace {seat}", "web", now=house.now)
    house.move(match)
    assert not columns.undecided(house.played(match), seat)
    assert proposals.standing(house.played(match).rows, house.now) == []
    with refused("bad-input"):
        votes.vote(match.id, remaining[1], f"replace {seat}", "web", now=house.now)


def test_who_is_out_of_time_has_no_say_in_it(cottage: House) -> None:
    match, seat, user, _ = late(cottage, "Ailsa", "Bran", "Catrin")
    with refused("bad-input"):
        votes.vote(match.id, user, f"wait {seat}", "web", now=cottage.now)


def test_if_the_others_do_not_decide_a_bot_takes_the_seat_over(house: House) -> None:
    match, seat, _, _ = late(house, "Ailsa", "Bran", "Catrin")
    until = house.now + columns.DECIDING
    assert log.get(match.id).deadline == until
    for before in (timedelta(days=2), timedelta(minutes=1), timedelta(milliseconds=1)):
        assert tick_at(house, until - before) == 0
    assert kinds(house, match)[-1] == "timeout"
    tick_at(house, until)
    assert kinds(house, match)[-2:] == ["takeover", "move"]
    assert sitting(match, seat).bot


@pytest.mark.parametrize("stop", ["outage", "pause"])
def test_neither_outages_nor_pauses_take_away_the_time_to_decide(house: House, stop: str) -> None:
    match, _, _, _ = late(house, "Ailsa", "Bran", "Catrin")
    before = log.get(match.id).deadline
    if stop == "outage":
        house.later(days=4)
    else:
        paused(house, match, house.now + timedelta(days=4), "Ailsa", "Bran", "Catrin")
    tick(house)
    assert kinds(house, match)[-1] == stop
    assert log.get(match.id).deadline == before + timedelta(days=4)
    assert tick_at(house, before + timedelta(days=4, milliseconds=-1)) == 0
    tick_at(house, before + timedelta(days=4))
    assert kinds(house, match)[-2:] == ["takeover", "move"]


def test_a_late_move_and_the_last_vote_at_the_same_moment_have_one_winner(house: House) -> None:
    for number in range(6):
        match, seat, user, (first, second) = late(house, "Ailsa", "Bran", "Catrin")
        votes.vote(match.id, first, f"replace {seat}", "web", now=house.now)
        played = house.played(match)
        asked, text = played.position.asked[seat], played.view(seat).moves[0]

        def move(match=match, seat=seat, text=text, asked=asked, user=user) -> str:
            return play.submit(match.id, seat, text, asked, user, "web", now=house.now).text

        def replace(match=match, seat=seat, second=second) -> bool:
            return votes.vote(match.id, second, f"replace {seat}", "web", now=house.now)

        works = [move, replace]
        results = in_parallel(*works) if number % 2 else in_parallel(*works[::-1])[::-1]
        tail = kinds(house, match)[-3:]
        assert (results, tail) in [
            ([text, "bad-input"], ["timeout", "vote", "move"]),
            (["not-yours", True], ["vote", "takeover", "offer"]),
        ]
        assert audit.verify(match.id) == []


def test_the_rule_of_a_table_is_fixed_when_it_is_opened(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", clock={"move": DAY, "missing": "loss"})
    _, user = awaited(cottage, match)
    assert "who runs out of time loses" in log.rule_sentence(match)
    tick_at(cottage, log.get(match.id).deadline)
    match = log.get(match.id)
    assert (match.status, match.reason) == ("finished", "resignation")
    assert user.id not in {seat.user_id for seat in log.places(match) if seat.won}


def test_all_that_is_decided_is_told_in_the_log_for_all_to_read(cottage: House) -> None:
    match, seat, _, remaining = late(cottage, "Ailsa", "Bran", "Catrin")
    votes.vote(match.id, remaining[0], f"wait {seat}", "web", now=cottage.now)
    votes.vote(match.id, remaining[0], "", "web", now=cottage.now)
    for each in remaining:
        votes.vote(match.id, each, f"wait {seat}", "web", now=cottage.now)
    paused(cottage, match, datetime(2026, 4, 1, tzinfo=UTC), "Ailsa", "Bran", "Catrin")
    say(cottage, match, "resume", "Ailsa", "Bran", "Catrin")
    for each in cottage.people.values():
        if each.name != "Dugald":
            votes.vote(match.id, each, "end", "web", now=cottage.now)
    played = cottage.played(match)
    called = story.names(log.places(match))
    told = [events.sentence(played, row, called) for row in played.rows if row.kind != "move"]
    name, first = called[seat], remaining[0].name
    assert told[:6] == [
        f"{name} ran out of time.",
        f"{first} proposes to wait once more for {name}.",
        f"{first} proposes nothing any more.",
        f"{first} proposes to wait once more for {name}.",
        f"{remaining[1].name} agrees to wait once more for {name}.",
        f"The others wait once more for {name}.",
    ]
    assert told[9] == "All agreed to pause the match until Tue 31 Mar 2026, 24:00 UTC."
    assert told[13] == "All agreed to go on; the clocks run again."
    assert told[-1] == "All agreed to end the match as it stands."


def test_who_wants_what_another_has_proposed_agrees(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin")
    for name in ("Ailsa", "Bran"):
        votes.vote(match.id, cottage.people[name], "end", "web", now=cottage.now)
    cottage.later(days=8)
    votes.vote(match.id, cottage.people["Catrin"], "end", "web", now=cottage.now)
    played = cottage.played(match)
    called = story.names(log.places(match))
    assert [events.sentence(played, row, called) for row in played.rows if row.kind == "vote"] == [
        "Ailsa proposes to end the match as it stands.",
        "Bran agrees to end the match as it stands.",
        "Catrin proposes to end the match as it stands.",
    ]
