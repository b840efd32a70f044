"""Tournaments: announced, entered, started at their date, played round by round to the end."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest
from clockwork import tick_at
from contests import say, with_contests
from house import DAY, House
from postman import flat

from engine import deal
from server import accounts, archive, db, lobby, log, seating, tournaments, votes
from server import play as moves
from server.errors import Refused
from server.models import Entry, Match, Outbox, Pairing, Seat, Tournament, User
from server.tournaments import chance, pairing, rounds

NAMES = ("Ailsa", "Bran", "Catrin", "Dugald", "Eilidh", "Fearghas", "Greum", "Hamish")


@pytest.fixture(autouse=True)
def contests(monkeypatch: pytest.MonkeyPatch) -> None:
    with_contests(monkeypatch)


def people(house: House, count: int) -> list[User]:
    for name in NAMES[4:count]:
        house.people.setdefault(name, house.person(name) if name not in house.people else house.people[name])
    return [house.people[name] for name in NAMES[:count]]


def plan(house: House, **fields: Any) -> tournaments.Plan:
    given = {
        "name": "The cup",
        "game": "contest",
        "seats": 2,
        "clock": {"move": DAY, "missing": "at-once"},
        "options": {},
        "form": "round-robin",
        "rounds": 3,
        "least": 3,
        "most": 16,
        "starts_at": house.now + timedelta(days=2),
    }
    return tournaments.Plan(**{**given, **fields})


def announced(house: House, count: int = 4, **fields: Any) -> Tournament:
    """Return a tournament that so many people have entered, the first of them its host."""
    entering = people(house, count)
    made = tournaments.announce(entering[0], plan(house, **fields), house.now)
    for user in entering:
        house.later(minutes=1)
        tournaments.enter(made.id, user, house.now, f"{user.name} says so")
    return made


def started(house: House, count: int = 4, **fields: Any) -> Tournament:
    made = announced(house, count, **fields)
    tick_at(house, made.starts_at)
    assert tournaments.run(house.now) == 1
    return again(made)


def again(tournament: Tournament) -> Tournament:
    return Tournament.get_by_id(tournament.id)


def matches(tournament: Tournament, number: int) -> list[Match]:
    here = (Pairing.tournament == tournament) & (Pairing.round == number) & Pairing.match.is_null(False)
    return [each.match for each in Pairing.select(Pairing, Match).join(Match).where(here).order_by(Pairing.place)]


def play(house: House, match: Match, best: str = "") -> Match:
    """Play a match: whose name comes first in the alphabet has most points, the others in turn less."""
    seats = log.places(match)
    order = sorted(seats, key=lambda seat: (seat.owner.name != best, seat.owner.name))
    words = {seat.number: ("go", "look", "stay", "stay")[place] for place, seat in enumerate(order)}
    return say(house, match, *(words[number] for number in range(len(seats))))


def play_round(house: House, tournament: Tournament) -> None:
    for match in matches(tournament, again(tournament).round):
        if log.get(match.id).status == "running":
            play(house, match)


def standing(tournament: Tournament, reader: User | None = None) -> list[tuple[int, str, int]]:
    page = tournaments.page(tournament.id, reader)
    return [(line.rank, page.people[line.player].name, line.points) for line in page.lines]


def refused(code: str) -> Any:
    return pytest.raises(Refused, check=lambda fault: fault.code == code)


def test_a_whole_round_robin_is_played_to_its_end_by_itself(house: House) -> None:
    cup = started(house, 4)
    assert (cup.status, cup.round, cup.rounds) == ("running", 1, 3)
    met: Counter[frozenset[str]] = Counter()
    for number in (1, 2, 3):
        assert again(cup).round == number
        assert tournaments.run(house.now) == 0
        for match in matches(cup, number):
            met[frozenset(seat.owner.name for seat in log.places(match))] += 1
        play_round(house, cup)
        assert tournaments.run(house.now) == 1
    ended = again(cup)
    assert (ended.status, ended.finished_at) == ("finished", house.now)
    assert len(met) == 6
    assert set(met.values()) == {1}
    assert standing(cup) == [(1, "Ailsa", 36), (2, "Bran", 24), (3, "Catrin", 12), (4, "Dugald", 0)]
    assert tournaments.run(house.now) == 0


def test_a_swiss_tournament_of_three_seats_pairs_by_the_standing(house: House) -> None:
    cup = started(house, 7, seats=3, form="swiss", rounds=3)
    assert [match.seats for match in matches(cup, 1)] == [3, 2, 2]
    play_round(house, cup)
    tournaments.run(house.now)
    # The three who won meet in the second round.
    first = {seat.owner.name for seat in log.places(matches(cup, 2)[0])}
    assert first == {name for _, name, points in standing(cup) if points == 12}
    play_round(house, cup)
    tournaments.run(house.now)
    play_round(house, cup)
    tournaments.run(house.now)
    assert again(cup).status == "finished"
    ranked = standing(cup)
    assert ranked[0][1] == "Ailsa"
    assert [rank for rank, _, _ in ranked] == sorted(rank for rank, _, _ in ranked)


def test_a_match_on_the_terms_of_the_tournament_begins_at_once(house: House) -> None:
    cup = started(house, 4, rated=False)
    match = matches(cup, 1)[0]
    assert (match.status, match.clock, match.rated) == ("running", {"move": DAY, "missing": "at-once"}, False)
    assert match.host_id == cup.host_id
    assert match.started_at == cup.started_at == house.now
    assert tournaments.origin(match).round == 1
    assert tournaments.origins([match])[match.id].tournament.name == "The cup"
    assert tournaments.origin(house.table("Ailsa", "Bran")) is None
    assert match not in lobby.open_tables()


def test_nobody_enters_after_the_date_even_if_no_scheduler_has_come(house: House) -> None:
    cup = announced(house, 3)
    late = house.people["Dugald"]
    house.now = cup.starts_at
    with refused("not-open"):
        tournaments.enter(cup.id, late, house.now)
    tournaments.run(house.now)
    with refused("not-open"):
        tournaments.enter(cup.id, late, house.now)


def test_who_may_enter(house: House) -> None:
    cup = announced(house, 3, most=4)
    with refused("already-seated"):
        tournaments.enter(cup.id, house.people["Ailsa"], house.now)
    with refused("unconfirmed"):
        tournaments.enter(cup.id, house.person("Nobody", confirmed_at=None), house.now)
    with refused("not-found"):
        tournaments.enter(cup.id + 1, house.people["Dugald"], house.now)
    tournaments.enter(cup.id, house.people["Dugald"], house.now)
    with refused("table-full"):
        tournaments.enter(cup.id, house.person("Eilidh"), house.now)
    tournaments.withdraw(cup.id, house.people["Bran"], house.now)
    with refused("not-yours"):
        tournaments.withdraw(cup.id, house.people["Bran"], house.now)
    tournaments.enter(cup.id, house.person("Fearghas"), house.now)
    with refused("table-full"):
        tournaments.enter(cup.id, house.people["Bran"], house.now)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "x"},
        {"name": "y" * 61},
        {"game": "chess"},
        {"seats": 5},
        {"clock": {}},
        {"clock": {"move": 1}},
        {"form": "knockout"},
        {"form": "swiss", "rounds": 1},
        {"form": "swiss", "rounds": 13},
        {"least": 2},
        {"least": 9, "most": 8},
        {"most": 17},
        {"form": "swiss", "most": 65},
        {"starts_at": timedelta(minutes=59)},
        {"starts_at": timedelta(days=61)},
        {"options": {"colour": "red"}},
    ],
)
def test_what_no_tournament_can_be(cottage: House, fields: dict[str, Any]) -> None:
    if isinstance(fields.get("starts_at"), timedelta):
        fields = {"starts_at": cottage.now + fields["starts_at"]}
    with refused("bad-input"):
        tournaments.announce(cottage.people["Ailsa"], plan(cottage, **fields), cottage.now)
    assert not Tournament.select().exists()


def test_announcing_is_bounded(cottage: House) -> None:
    ailsa = cottage.people["Ailsa"]
    for _ in range(5):
        tournaments.announce(ailsa, plan(cottage), cottage.now)
    with refused("bad-input"):
        tournaments.announce(ailsa, plan(cottage), cottage.now)
    with refused("throttled"):
        tournaments.announce(ailsa, plan(cottage), cottage.now)
    with refused("unconfirmed"):
        tournaments.announce(cottage.person("Nobody", confirmed_at=None), plan(cottage), cottage.now)


def test_too_few_by_the_date_and_it_does_not_take_place(house: House) -> None:
    cup = announced(house, 3, least=4)
    house.now = cup.starts_at
    tournaments.run(house.now)
    assert again(cup).status == "cancelled"
    assert not Match.select().exists()
    mails = house.mail()
    assert sorted(mail.to_name for mail in mails) == ["Ailsa", "Bran", "Catrin"]
    assert {mail.subject for mail in mails} == {"The cup does not take place"}
    assert "too few have entered" in flat(mails[0])


def test_its_host_and_nobody_else_calls_it_off_before_it_begins(house: House) -> None:
    cup = announced(house, 3)
    with refused("not-yours"):
        tournaments.call_off(cup.id, house.people["Bran"], house.now)
    tournaments.call_off(cup.id, house.people["Ailsa"], house.now)
    assert again(cup).status == "cancelled"
    assert len(house.mail()) == 3
    with refused("not-open"):
        tournaments.call_off(cup.id, house.people["Ailsa"], house.now)
    with refused("not-open"):
        tournaments.withdraw(cup.id, house.people["Bran"], house.now)
    house.now = cup.starts_at
    assert tournaments.run(house.now) == 0


def test_everybody_is_told_once_of_the_start_each_round_and_the_end(house: House) -> None:
    cup = started(house, 3)
    mine = [mail for mail in house.mail() if "The cup" in mail.subject]
    assert sorted(mail.to_name for mail in mine) == ["Ailsa", "Bran", "Catrin"]
    assert {mail.subject for mail in mine} == {"The cup has begun"}
    resting = [mail.to_name for mail in mine if "a round off counts as a win" in flat(mail)]
    playing = [mail for mail in mine if mail.to_name not in resting]
    assert len(resting) == 1
    assert all(f"/matches/{matches(cup, 1)[0].id}" in mail.text for mail in playing)
    assert all(mail.to_name not in flat(mail).partition("with ")[2].partition(".")[0] for mail in playing)
    play_round(house, cup)
    tournaments.run(house.now)
    mine = [mail for mail in house.mail() if "The cup" in mail.subject]
    assert {mail.subject for mail in mine} == {"The cup: round 2 of 3"}
    assert len(mine) == 3
    assert all("12 points" in mail.text and "<b>" in mail.html for mail in mine)
    for _ in range(2):
        play_round(house, cup)
        tournaments.run(house.now)
    mine = [mail for mail in house.mail() if "has ended" in mail.subject]
    assert sorted(mail.to_name for mail in mine) == ["Ailsa", "Bran", "Catrin"]
    assert "1. Ailsa: 36 points" in mine[0].text
    assert not house.queued(kind="tournament")


def test_who_wants_to_watch_first_is_told_a_standing_without_his_match(house: House) -> None:
    User.update(keeps_results=True).where(User.name == "Bran").execute()
    cup = started(house, 4)
    play_round(house, cup)
    tournaments.run(house.now)
    bran = User.get(User.name == "Bran")
    assert tournaments.page(cup.id, bran).untold == 1
    own = next(match for match in matches(cup, 1) if any(seat.owner == bran for seat in log.places(match)))
    rivals = {seat.owner.name for seat in log.places(own)}
    assert all(points == 0 for _, name, points in standing(cup, bran) if name in rivals)
    assert sum(points for _, _, points in standing(cup, bran)) == 12
    assert sum(points for _, _, points in standing(cup)) == 24
    drawn = tournaments.page(cup.id, bran).rounds[-1]
    assert {paired.match.id: paired.told for paired in drawn.matches}[own.id] is False
    letters = [mail for mail in house.mail() if mail.subject == "The cup: round 2 of 3"]
    his = next(mail for mail in letters if mail.to_name == "Bran")
    hers = next(mail for mail in letters if mail.to_name == "Ailsa")
    assert "1 match that you want to watch first is not counted here" in flat(his)
    assert his.text.count("12 points") == 1
    assert hers.text.count("12 points") == 2
    Seat.update(seen=own.length + 100).where((Seat.match == own) & (Seat.owner == bran)).execute()
    assert tournaments.page(cup.id, bran).untold == 0


def test_who_resigns_or_lets_a_bot_play_on_is_last(house: House) -> None:
    cup = started(house, 4)
    one, other = matches(cup, 1)
    seats = log.places(one)
    seating.resign(one.id, seats[0].owner, "web", now=house.now)
    tick_at(house, other.deadline)
    house.bots()
    tournaments.run(house.now)
    told = {name: points for _, name, points in standing(cup)}
    assert log.get(one.id).reason == "resignation"
    assert told[seats[0].owner.name] == 0
    assert told[seats[1].owner.name] == 12
    # In the other both were too late, and bots have played it to the end.
    assert log.get(other.id).status == "finished"
    assert [told[seat.owner.name] for seat in log.places(other)] == [6, 6]


def test_nobody_gains_by_a_bot_in_the_seat_that_another_has_left(house: House) -> None:
    cup = started(house, 3, seats=3)
    (match,) = matches(cup, 1)
    seats = log.places(match)
    seating.resign(match.id, seats[1].owner, "web", now=house.now)
    for number in (0, 2):
        moves.submit(match.id, number, "stay", 0, seats[number].owner, "web", now=house.now)
    house.bots()
    tournaments.run(house.now)
    assert again(cup).status == "finished"
    told = {name: points for _, name, points in standing(cup)}
    assert [told[seat.owner.name] for seat in seats] == [9, 0, 9]


def test_a_match_of_a_tournament_is_not_called_off_but_all_may_end_it(house: House) -> None:
    cup = started(house, 4)
    match = matches(cup, 1)[0]
    seats = log.places(match)
    with refused("not-running"):
        seating.cancel(match.id, seats[0].owner, "web", now=house.now)
    say(house, match, "go")
    for seat in seats:
        votes.vote(match.id, seat.owner, "end", "web", now=house.now)
    assert log.get(match.id).reason == "agreement"
    told = {name: points for _, name, points in standing(cup)}
    assert [told[seat.owner.name] for seat in seats] == [12, 0]


def test_a_running_match_is_not_counted(house: House) -> None:
    cup = started(house, 4)
    say(house, matches(cup, 1)[0], "go")
    assert {points for _, _, points in standing(cup)} == {0}
    play(house, matches(cup, 1)[1])
    assert tournaments.run(house.now) == 0
    assert sorted(points for _, _, points in standing(cup)) == [0, 0, 0, 12]


def test_who_withdraws_plays_no_further_round_and_his_matches_go_on(house: House) -> None:
    cup = started(house, 4)
    bran = house.people["Bran"]
    own = next(match for match in matches(cup, 1) if any(seat.owner == bran for seat in log.places(match)))
    tournaments.withdraw(cup.id, bran, house.now)
    assert log.get(own.id).status == "running"
    play_round(house, cup)
    house.mail()
    tournaments.run(house.now)
    page = tournaments.page(cup.id, bran)
    assert page.gone == {bran.id}
    assert page.entry is None
    assert all(seat.owner != bran for match in matches(cup, 2) for seat in log.places(match))
    assert [person.name for person in page.rounds[0].resting] != []
    assert "Bran" not in {mail.to_name for mail in house.mail() if "The cup" in mail.subject}
    with refused("not-open"):
        tournaments.enter(cup.id, bran, house.now)
    while again(cup).status == "running":
        play_round(house, cup)
        tournaments.run(house.now)
    assert len(standing(cup)) == 4


def test_when_all_but_one_have_withdrawn_it_ends(house: House) -> None:
    cup = started(house, 3, form="swiss", rounds=2)
    for name in ("Bran", "Catrin"):
        tournaments.withdraw(cup.id, house.people[name], house.now)
    play_round(house, cup)
    tournaments.run(house.now)
    assert again(cup).status == "finished"


def test_who_leaves_the_house_leaves_its_tournaments(house: House) -> None:
    cup = announced(house, 4)
    bran = house.people["Bran"]
    tournaments.leave_all(bran, house.now)
    accounts.forget(bran, house.now)
    tick_at(house, cup.starts_at)
    tournaments.run(house.now)
    assert {name for _, name, _ in standing(cup)} == {"Ailsa", "Catrin", "Dugald"}
    catrin = house.people["Catrin"]
    lobby.leave_all(catrin, house.now)
    tournaments.leave_all(catrin, house.now)
    accounts.forget(catrin, house.now)
    while again(cup).status == "running":
        play_round(house, cup)
        tournaments.run(house.now)
    assert f"Former player {catrin.id}" in {name for _, name, _ in standing(cup)}


def test_what_somebody_played_to_the_end_he_did_not_withdraw_from(house: House) -> None:
    cup = started(house, 3)
    while again(cup).status == "running":
        play_round(house, cup)
        tournaments.run(house.now)
    tournaments.leave_all(house.people["Bran"], house.now)
    assert Entry.select().where(Entry.withdrew_at.is_null(False)).count() == 0


def test_a_host_who_goes_calls_off_what_has_not_begun_and_a_keeper_may_too(house: House) -> None:
    first, second = announced(house, 3), announced(house, 3)
    bran = house.people["Bran"]
    with pytest.raises(Refused):
        tournaments.call_off(second.id, bran, house.now)
    User.update(admin=True).where(User.id == bran.id).execute()
    tournaments.call_off(second.id, User.get_by_id(bran.id), house.now)
    assert again(second).status == "cancelled"
    assert again(first).status == "open"
    tournaments.leave_all(first.host, house.now)
    assert again(first).status == "cancelled"


def test_all_chance_follows_from_bytes_that_were_committed_to(house: House) -> None:
    cup = announced(house, 5, form="swiss", rounds=2)
    page = tournaments.page(cup.id, None)
    assert page.seed == ""
    tick_at(house, cup.starts_at)
    tournaments.run(house.now)
    words = [f"{name} says so" for name in NAMES[:5]]
    lots = [Entry.get((Entry.tournament == cup) & (Entry.user == house.people[name])).lot for name in NAMES[:5]]
    while again(cup).status == "running":
        assert tournaments.page(cup.id, None).seed == ""
        play_round(house, cup)
        tournaments.run(house.now)
    seed = bytes.fromhex(tournaments.page(cup.id, None).seed)
    assert deal.commitment(seed) == page.commitment
    assert chance.lots(seed, words) == lots
    assert sorted(lots) == list(range(5))
    for number in (1, 2):
        for place, match in enumerate(matches(cup, number)):
            assert bytes(match.secret) == chance.match_secret(seed, number, place)
            assert [seat.contribution for seat in log.places(match)] == [
                f"{seat.owner.name} says so" for seat in log.places(match)
            ]
            assert archive.fairness(log.get(match.id), log.places(match)).commitment == deal.commitment(match.secret)


def at_once(url: str, now: datetime) -> list[int]:
    """Let two schedulers do what is due at the same moment; return how many steps each took."""
    gate, taken = threading.Barrier(2), []

    def tick() -> None:
        with db.connected():
            gate.wait()
            taken.append(tournaments.run(now))

    threads = [threading.Thread(target=tick) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(taken)


def test_two_schedulers_take_each_step_once(house: House, database: str) -> None:
    cup = announced(house, 4)
    tick_at(house, cup.starts_at)
    assert at_once(database, house.now) == [0, 1]
    assert Match.select().count() == 2
    play_round(house, cup)
    assert at_once(database, house.now) == [0, 1]
    assert (again(cup).round, Match.select().count()) == (2, 4)
    play_round(house, cup)
    assert at_once(database, house.now) == [0, 1]
    play_round(house, cup)
    assert at_once(database, house.now) == [0, 1]
    assert again(cup).status == "finished"
    assert Outbox.select().where(Outbox.kind == "tournament").count() == 16


def test_who_waited_for_a_round_does_not_take_the_next_for_it(house: House) -> None:
    cup = started(house, 4)
    play_round(house, cup)
    assert rounds._step(rounds._go_on, cup.id, house.now)
    assert not rounds._step(rounds._go_on, cup.id, house.now)
    assert again(cup).round == 2


@pytest.mark.parametrize("after", [1, 2])
def test_a_round_begins_whole_or_not_at_all(house: House, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    cup = announced(house, 6)
    tick_at(house, cup.starts_at)
    begin, made = lobby.begin, []

    def dying(*given: Any) -> Match:
        if len(made) == after:
            raise RuntimeError("killed")
        made.append(begin(*given))
        return made[-1]

    monkeypatch.setattr(lobby, "begin", dying)
    assert tournaments.run(house.now) == 0
    assert again(cup).status == "open"
    assert not Match.select().exists()
    assert not Pairing.select().exists()
    assert not Outbox.select().exists()
    monkeypatch.setattr(lobby, "begin", begin)
    assert tournaments.run(house.now) == 1
    assert Match.select().count() == 3


@pytest.mark.parametrize("number", [1, 2])
def test_a_scheduler_that_is_killed_in_the_middle_of_a_round_leaves_nothing(
    house: House, database: str, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    cup = announced(house, 4)
    tick_at(house, cup.starts_at)
    if number == 2:
        tournaments.run(house.now)
        play_round(house, cup)
    before = (again(cup).status, again(cup).round, Match.select().count(), Outbox.select().count())
    begin, made = lobby.begin, []

    def dying(*given: Any) -> Match:
        if made:
            os.kill(os.getpid(), signal.SIGKILL)
        made.append(begin(*given))
        return made[-1]

    db.part()
    db.database.close()
    child = os.fork()
    if not child:
        try:
            monkeypatch.setattr(lobby, "begin", dying)
            db.use(database)
            with db.connected():
                tournaments.run(house.now)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    db.database.connect()
    assert (again(cup).status, again(cup).round, Match.select().count(), Outbox.select().count()) == before
    assert tournaments.run(house.now) == 1
    assert again(cup).round == number
    assert Match.select().count() == 2 * number


def test_one_tournament_that_cannot_go_on_keeps_no_other(
    house: House, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = announced(house, 3), announced(house, 3)
    real = rounds._start

    def failing(tournament: Tournament, entries: Any) -> Any:
        if tournament.id == first.id:
            raise RuntimeError("a fault of our own")
        return real(tournament, entries)

    monkeypatch.setattr(rounds, "_start", failing)
    tick_at(house, second.starts_at)
    assert tournaments.run(house.now) == 1
    assert [again(each).status for each in (first, second)] == ["open", "running"]
    assert f"tournament {first.id} cannot go on" in caplog.text


def test_a_tournament_of_a_game_that_is_gone_does_not_take_place(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = announced(house, 3), announced(house, 3)
    Tournament.update(game="gone", name="The old cup").where(Tournament.id == first.id).execute()
    tick_at(house, second.starts_at)
    assert tournaments.run(house.now, limit=1) == 1
    assert f"tournament {first.id} cannot begin" in caplog.text
    assert (again(first).status, again(first).finished_at) == ("cancelled", house.now)
    mails = [mail for mail in house.mail() if mail.subject == "The old cup does not take place"]
    assert sorted(mail.to_name for mail in mails) == ["Ailsa", "Bran", "Catrin"]
    assert tournaments.run(house.now, limit=1) == 1
    assert again(second).status == "running"


@pytest.mark.parametrize("form", ["round-robin", "swiss"])
def test_nobody_waits_while_a_round_is_paired(house: House, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    cup = announced(house, 7, seats=3, form=form, least=3)
    pairing.round_robin.cache_clear()
    searched = []
    real = pairing._arranged

    def watched(*given: Any, **more: Any) -> Any:
        searched.append(db.database.in_transaction())
        return real(*given, **more)

    monkeypatch.setattr(pairing, "_arranged", watched)
    tick_at(house, cup.starts_at)
    tournaments.run(house.now)
    play_round(house, cup)
    tournaments.run(house.now)
    assert again(cup).round == 2
    assert set(searched) == {False}


@pytest.mark.parametrize("number", [1, 2])
def test_a_round_that_somebody_leaves_while_it_is_paired_is_paired_anew(
    house: House, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    cup = announced(house, 5, form="swiss", rounds=2)
    tick_at(house, cup.starts_at)
    if number == 2:
        tournaments.run(house.now)
        play_round(house, cup)
    before, real, bran = again(cup), pairing.swiss, house.people["Bran"]

    def leaving(*given: Any) -> Any:
        tournaments.withdraw(cup.id, bran, house.now)
        return real(*given)

    monkeypatch.setattr(pairing, "swiss", leaving)
    assert tournaments.run(house.now) == 0
    assert (again(cup).status, again(cup).round) == (before.status, before.round)
    monkeypatch.setattr(pairing, "swiss", real)
    assert tournaments.run(house.now) == 1
    assert again(cup).round == number
    assert all(seat.owner != bran for match in matches(cup, number) for seat in log.places(match))


def test_a_step_changes_its_tournament_by_one_statement(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    cup = announced(house, 4)
    changed: list[str] = []
    real = db.database.obj.execute_sql

    def watched(sql: str, *more: Any) -> Any:
        if sql.startswith('UPDATE "tournament"'):
            changed.append(sql)
        return real(sql, *more)

    monkeypatch.setattr(db.database.obj, "execute_sql", watched)
    tick_at(house, cup.starts_at)
    for steps in range(1, 5):
        assert tournaments.run(house.now) == 1
        assert len(changed) == steps
        play_round(house, cup)
    assert again(cup).status == "finished"


def test_the_lists_tell_what_is_open_runs_and_is_over(house: House) -> None:
    running, off = started(house, 3), announced(house, 3, name="Called off")
    tournaments.call_off(off.id, house.people["Ailsa"], house.now)
    opened = announced(house, 3, name="Next")
    lists = tournaments.lists(house.people["Bran"])
    found = [[(each.tournament.id, each.entered, each.mine) for each in group] for group in (lists.open, lists.running)]
    assert found == [[(opened.id, 3, True)], [(running.id, 3, True)]]
    assert [each.tournament.id for each in lists.over] == [off.id]
    assert not any(each.mine for each in tournaments.lists(None).open)
