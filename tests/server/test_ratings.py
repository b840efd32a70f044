"""Ratings follow from the matches that have ended, however and whenever they are counted."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest
from click.testing import CliRunner
from contests import all_noted, count, delete_everything_noted, fought, ranks, say, season, standing, with_contests
from house import DAY, House
from hypothesis import given
from hypothesis import strategies as some
from test_cli import RECORDS, variables
from together import damage, in_parallel, refused

from server import (
    accounts,
    archive,
    cli,
    clock,
    db,
    deadlines,
    lobby,
    log,
    parts,
    play,
    ratings,
    scheduler,
    seating,
)
from server.models import Part, Rating
from server.ratings import NEWCOMER, Skill, rated

SKILLS = some.builds(Skill, some.integers(-20_000_000, 70_000_000), some.integers(500_000, 10_000_000))
RANKS = some.integers(1, 4)
TABLES = some.lists(some.tuples(SKILLS, RANKS), min_size=2, max_size=4)


@pytest.fixture(autouse=True)
def _contests(monkeypatch: pytest.MonkeyPatch) -> None:
    with_contests(monkeypatch)


@given(TABLES, some.randoms(use_true_random=False))
def test_the_order_of_seats_changes_no_digit(table: list[tuple[Skill, int]], chance: random.Random) -> None:
    mixed = list(range(len(table)))
    chance.shuffle(mixed)
    straight = rated([skill for skill, _ in table], [rank for _, rank in table])
    other = rated([table[seat][0] for seat in mixed], [table[seat][1] for seat in mixed])
    for place, seat in enumerate(mixed):
        equals = [number for number, each in enumerate(table) if each == table[seat]]
        assert other[place] in [straight[number] for number in equals]


@given(some.lists(SKILLS, min_size=1, max_size=2), SKILLS, some.integers(2, 3), RANKS, some.data())
def test_equals_that_share_a_rank_come_out_equal(
    others: list[Skill], equal: Skill, many: int, rank: int, data: some.DataObject
) -> None:
    ranks = [rank] * many + [data.draw(RANKS) for _ in others[: 4 - many]]
    after = rated([equal] * many + others[: 4 - many], ranks)
    for one in after[1:many]:
        assert abs(one.mu - after[0].mu) <= 1
        assert abs(one.sigma - after[0].sigma) <= 1


@given(SKILLS, SKILLS)
def test_who_wins_rises_and_who_loses_falls(one: Skill, other: Skill) -> None:
    winner, loser = rated([one, other], [1, 2])
    assert winner.mu >= one.mu
    assert loser.mu <= other.mu


def test_a_tie_draws_the_better_towards_the_worse() -> None:
    strong, weak = Skill(30_000_000, 3_000_000), Skill(20_000_000, 3_000_000)
    after = rated([strong, weak], [1, 1])
    assert after[0].mu < strong.mu
    assert after[1].mu > weak.mu


def test_a_newcomer_begins_at_a_thousand() -> None:
    assert NEWCOMER.shown == 1000
    assert rated([NEWCOMER] * 2, [1, 2])[0].shown > 1000 > rated([NEWCOMER] * 2, [1, 2])[1].shown


def test_the_rating_is_a_whole_number_rounded_the_same_everywhere() -> None:
    mu, sigma = NEWCOMER
    assert Skill(mu + 12_500, sigma).shown == Skill(mu, sigma - 12_500).shown == 1001
    assert Skill(mu + 12_499, sigma).shown == Skill(mu - 12_500, sigma).shown == 1000
    assert Skill(mu - 12_501, sigma).shown == 999


def test_the_library_gives_the_numbers_it_gave_when_ratings_began() -> None:
    """Another version of it that counts otherwise must not change what people have."""
    assert rated([NEWCOMER] * 4, [1, 2, 2, 4]) == [
        Skill(27_795_253, 8_263_571),
        Skill(24_689_416, 8_179_618),
        Skill(24_689_416, 8_179_618),
        Skill(22_825_915, 8_179_618),
    ]


def test_a_finished_match_is_rated_a_minute_later_and_once(house: House) -> None:
    match = fought(house, "AB", "go", "stay")
    assert ratings.count_up(house.now + timedelta(seconds=59)) == 0
    assert ratings.count_up(house.now + timedelta(seconds=60)) == 2
    assert ratings.count_up(house.now + timedelta(seconds=61)) == 0
    after = rated([NEWCOMER] * 2, [1, 2])
    assert standing(house) == {"Ailsa": after[0].shown, "Bran": after[1].shown}
    part = Part.get((Part.match == match) & (Part.user == house.people["Bran"]))
    assert (part.mu, part.sigma, part.shown, part.pending) == (*after[1], after[1].shown, False)
    rating = Rating.get(Rating.user == house.people["Bran"])
    assert (rating.mu, rating.sigma, rating.matches, rating.last_at) == (*after[1], 1, match.finished_at)


def test_each_game_has_ratings_of_its_own(house: House) -> None:
    fought(house, "AB", "go", "stay")
    fought(house, "AB", "stay", "go", game="quarrel")
    count(house)
    assert standing(house)["Ailsa"] == standing(house, "quarrel")["Bran"] > 1000


@pytest.mark.parametrize("seed", range(3))
def test_counting_in_steps_and_counting_anew_give_the_same_to_the_last_digit(house: House, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(4):
        season(house, 8, chance.random())
        count(house, limit=chance.randint(1, 9))
    stepwise = all_noted()
    assert len(stepwise["rating"]) == 8
    ratings.rebuild(house.now + timedelta(minutes=2))
    assert all_noted() == stepwise
    delete_everything_noted()
    count(house)
    assert all_noted() == stepwise


def test_both_databases_hold_the_same_numbers(house: House) -> None:
    """A little season, and what came of it when it was first counted."""
    fought(house, "ABC", "go", "look", "look")
    fought(house, "CABD", "look", "stay", "go", "go")
    fought(house, "DA", "stay", "stay")
    count(house)
    found = Rating.select().order_by(Rating.user)
    assert [(rating.mu, rating.sigma, rating.shown) for rating in found] == [
        (24_865_257, 7_794_057, 1016),
        (24_521_543, 7_997_802, 994),
        (24_728_472, 7_912_318, 1006),
        (25_829_221, 7_988_438, 1047),
    ]


def test_a_match_that_is_stored_late_takes_its_place_all_the_same(house: House) -> None:
    """As one that ended with a mail that had come in hours before it could be read."""
    late = house.started("Ailsa", "Bran", game="contest")
    before = house.now
    season(house, 10, 5)
    count(house)
    early, house.now = house.now, before
    say(house, late, "go", "stay")
    house.now = early
    fought(house, "CD", "go", "look")
    count(house, limit=3)
    stepwise = all_noted()
    assert Part.get(Part.match == late).mu is not None
    ratings.rebuild(house.now + timedelta(minutes=2))
    assert all_noted() == stepwise


def test_going_back_forgets_who_has_only_matches_behind(house: House) -> None:
    late = house.started("Ailsa", "Bran", game="contest")
    before = house.now
    house.later(hours=5)
    fought(house, "CD", "go", "stay")
    count(house)
    house.now, now = before, house.now
    say(house, late, "go", "stay")
    house.now = now
    assert ratings.count_up(now + timedelta(minutes=2), 1) == 2
    assert set(standing(house)) == {"Ailsa", "Bran"}
    count(house)
    assert set(standing(house)) == {"Ailsa", "Bran", "Catrin", "Dugald"}


def test_two_schedulers_count_each_match_once(house: House) -> None:
    season(house, 12, 3)
    now = house.now + timedelta(minutes=2)

    def work() -> None:
        for _ in range(30):
            ratings.count_up(now, 2)

    assert in_parallel(work, work, work) == [None] * 3
    count(house)
    found = all_noted()
    ratings.rebuild(now)
    assert all_noted() == found


@pytest.mark.parametrize("database", [pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True)
def test_who_finds_somebody_at_work_leaves_it_to_him(house: House) -> None:
    fought(house, "AB", "go", "stay")
    with db.transaction():
        assert parts.hold() is not None
        assert in_parallel(lambda: ratings.count_up(house.now + timedelta(minutes=2))) == [0]
    assert ratings.count_up(house.now + timedelta(minutes=2)) == 2


def test_an_unrated_table_is_noted_and_not_rated(house: House) -> None:
    match = fought(house, "AB", "go", "stay", rated=False)
    count(house)
    assert ranks(match, house) == {"Ailsa": 1, "Bran": 2}
    assert standing(house) == {}


def test_tables_are_rated_unless_they_say_otherwise(house: House) -> None:
    assert house.table("Ailsa", seats=2).rated
    assert not house.table("Ailsa", seats=2, rated=False).rated
    assert lobby.Terms("clans", 2, {}, {}).rated


def test_equal_scores_share_a_rank(house: House) -> None:
    match = fought(house, "ABCD", "look", "go", "look", "stay")
    count(house)
    assert ranks(match, house) == {"Bran": 1, "Ailsa": 2, "Catrin": 2, "Dugald": 4}


def test_winners_share_the_first_place(house: House) -> None:
    match = fought(house, "ABC", "go", "stay", "go")
    count(house)
    assert ranks(match, house) == {"Ailsa": 1, "Catrin": 1, "Bran": 3}
    found = {part.user_id: (part.won, part.shared) for part in Part.select()}
    assert found == {house.people[name].id: (name != "Bran", name != "Bran") for name in ("Ailsa", "Bran", "Catrin")}


def test_those_who_gave_up_share_the_last_place(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin", "Dugald")
    for name in ("Dugald", "Ailsa"):
        seating.resign(match.id, house.people[name], "web", now=house.now)
    seating.resign(match.id, house.people["Bran"], "web", now=house.now)
    count(house)
    assert ranks(match, house) == {"Catrin": 1, "Ailsa": 2, "Bran": 2, "Dugald": 2}


def test_who_lost_the_seat_by_the_clock_is_last_also_if_the_bot_wins(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin", game="contest", setup={"left": 2, "bound": []}, clock=LOSING)
    say(house, match, "look", "look", "look")
    say(house, match, "stay", "look")
    house.later(days=3)
    deadlines.run(lambda: house.now)
    house.bots()
    assert log.get(match.id).status == "finished"
    count(house)
    assert ranks(match, house) == {"Bran": 1, "Ailsa": 2, "Catrin": 3}


LOSING = {"move": DAY, "missing": "at-once"}


def test_who_came_back_to_his_seat_counts_as_if_he_had_never_left(house: House) -> None:
    match = house.started("Ailsa", "Bran", game="contest", setup={"left": 2, "bound": []}, clock=LOSING)
    say(house, match, "stay", "stay")
    house.later(days=2)
    deadlines.run(lambda: house.now)
    for name in ("Ailsa", "Bran"):
        seating.come_back(match.id, house.people[name], "web", now=house.now)
    say(house, match, "go", "stay")
    count(house)
    assert ranks(match, house) == {"Ailsa": 1, "Bran": 2}
    assert [part.lost for part in Part.select()] == [1, 1]


def test_who_never_moved_does_not_count_and_neither_does_a_match_with_one_who_did(house: House) -> None:
    three = house.started("Ailsa", "Bran", "Catrin")
    two = house.started("Ailsa", "Bran", setup=house.played(three).setup | {"clans": ["red", "blue"], "first": 0})
    house.move(two)
    seating.resign(two.id, house.people["Bran"], "web", now=house.now)
    count(house)
    assert ranks(two, house) == {"Ailsa": None, "Bran": None}
    assert standing(house, "clans") == {}


def test_a_match_without_a_single_move_of_somebody_leaves_the_others_rated(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin", game="contest")
    say(house, match, "go", "stay")
    house.later(days=5)
    deadlines.run(lambda: house.now)
    house.bots()
    assert log.get(match.id).status == "finished"
    count(house)
    assert ranks(match, house) == {"Ailsa": 1, "Bran": 2, "Catrin": None}
    assert set(standing(house)) == {"Ailsa", "Bran"}


def test_a_match_called_off_counts_for_nobody(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    seating.cancel(match.id, house.people["Bran"], "web", now=house.now)
    count(house)
    assert ranks(match, house) == {"Ailsa": None, "Bran": None}
    assert standing(house, "clans") == {}


def test_who_took_a_free_seat_is_ranked_but_not_rated(house: House) -> None:
    match = house.started("Ailsa", "Bran", game="contest", setup={"left": 2, "bound": []}, clock=LOSING)
    say(house, match, "look", "look")
    say(house, match, "look")
    house.later(days=2)
    deadlines.run(lambda: house.now)
    seating.offer(match.id, 1, house.people["Ailsa"], "web", now=house.now)
    seating.take(match.id, 1, house.people["Catrin"], "web", now=house.now)
    played = house.played(match)
    play.submit(match.id, 1, "go", played.position.asked[1] or 0, house.people["Catrin"], "web", now=house.now)
    assert log.get(match.id).status == "finished"
    count(house)
    assert ranks(match, house) == {"Catrin": 1, "Ailsa": 2, "Bran": 3}
    assert set(standing(house)) == {"Ailsa", "Bran"}


def test_a_damaged_match_holds_nobody_up(house: House, caplog: pytest.LogCaptureFixture) -> None:
    bad = fought(house, "AB", "go", "stay")
    fought(house, "CD", "go", "stay")
    damage(bad, 1, "nonsense")
    count(house)
    assert set(standing(house)) == {"Catrin", "Dugald"}
    assert f"match {bad.id} counts for nobody" in caplog.text


def test_a_match_that_came_as_a_record_counts_for_nobody(house: House) -> None:
    match = archive.add(next(iter(sorted(RECORDS.glob("clans-0*.json")))).read_bytes(), house.now)
    count(house)
    assert log.get(match.id).counted
    assert Part.select().count() == Rating.select().count() == 0


def test_leaving_for_good_changes_no_rating(house: House) -> None:
    season(house, 8, 1)
    count(house)
    before = all_noted()
    lobby.leave_all(house.people["Ailsa"], house.now)
    accounts.forget(house.people["Ailsa"], house.now)
    ratings.rebuild(house.now)
    assert all_noted() == before


def rank_up(house: House, *people: tuple[str, int, int], game: str = "contest", last: int = 0) -> None:
    """Put people with such ratings and so many matches on the ladder, the last of them some days ago."""
    for name, shown, matches in people:
        user = house.people[name] if name in house.people else house.person(name)
        house.people[name] = user
        fields = {"mu": 0, "sigma": 0, "shown": shown, "matches": matches, "game": game, "user": user}
        with db.transaction():
            Rating.insert(**fields, last_at=house.now - timedelta(days=last)).execute()


def rungs(house: House, after: str = "", game: str = "contest") -> list[tuple[int, str, int]]:
    found = ratings.ladder(game, house.now, after).rungs
    return [(rung.place, rung.user.name, rung.shown) for rung in found]


def test_the_ladder_names_the_best_first_and_equals_share_a_place(house: House) -> None:
    rank_up(house, ("Ailsa", 1200, 5), ("Bran", 1400, 9), ("Catrin", 1200, 7), ("Dugald", 1100, 30))
    assert rungs(house) == [(1, "Bran", 1400), (2, "Ailsa", 1200), (2, "Catrin", 1200), (4, "Dugald", 1100)]
    places = [ratings.place(house.people[name], "contest", house.now) for name in ("Bran", "Catrin", "Dugald")]
    assert places == [1, 2, 4]


def test_the_ladder_leaves_out_newcomers_sleepers_and_former_players(house: House) -> None:
    rank_up(house, ("Ailsa", 1200, 4), ("Bran", 1400, 5))
    rank_up(house, ("Catrin", 1500, 50), last=366)
    rank_up(house, ("Dugald", 1600, 50), last=365)
    rank_up(house, ("Eilidh", 1700, 50))
    accounts.forget(house.people["Eilidh"], house.now)
    assert rungs(house) == [(1, "Dugald", 1600), (2, "Bran", 1400)]
    assert ratings.ladder("contest", house.now).length == 2
    assert [ratings.place(house.people[name], "contest", house.now) for name in ("Ailsa", "Catrin", "Eilidh")] == [
        None
    ] * 3


def test_the_ladder_is_turned_page_by_page_and_nobody_is_seen_twice(house: House) -> None:
    rank_up(house, *[(f"P{number:03d}", 1000 + number // 7, 9) for number in range(120)])
    found, more = [], ""
    while True:
        page = ratings.ladder("contest", house.now, more)
        found += [(rung.place, rung.user.name, rung.shown) for rung in page.rungs]
        if not page.more:
            break
        more = page.more
    assert len({name for _, name, _ in found}) == len(found) == 120
    shown = [each for _, _, each in found]
    assert shown == sorted(shown, reverse=True)
    assert [place for place, _, _ in found] == [1 + sum(other > each for other in shown) for each in shown]


def test_a_page_does_not_shift_while_somebody_climbs(house: House) -> None:
    rank_up(house, *[(f"P{number:03d}", 2000 - number, 9) for number in range(60)])
    first = ratings.ladder("contest", house.now)
    with db.transaction():
        Rating.update(shown=3000).where(Rating.user == house.people["P055"]).execute()
    second = rungs(house, first.more)
    assert [name for _, name, _ in second] == [f"P{number:03d}" for number in range(50, 60) if number != 55]
    assert second[0][0] == 52


@pytest.mark.parametrize("mark", ["x", "1", "1.", ".1", "1.2.3", "9" * 20 + ".1", "1." + "9" * 20, "١.١", "\0"])
def test_a_mark_that_is_none_is_refused(house: House, mark: str) -> None:
    with refused("bad-input"):
        ratings.ladder("contest", house.now, mark)


def test_nobody_is_on_the_ladder_of_a_game_that_nobody_plays(house: House) -> None:
    found = ratings.ladder("chess", house.now)
    assert (found.rungs, found.length, found.more) == ((), 0, "")


def test_the_keeper_can_have_all_counted_again(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    season(cottage, 6, 2)
    count(cottage)
    before = all_noted()
    with db.transaction():
        Rating.update(shown=9999).execute()
        Part.update(rank=1).execute()
    monkeypatch.setattr(clock, "now", lambda: cottage.now + timedelta(minutes=2))
    told = CliRunner().invoke(cli.main, ["ratings", "rebuild"], env=variables(cottage))
    assert (told.exit_code, told.output) == (0, "ratings are rebuilt\n")
    assert all_noted() == before


def test_the_scheduler_counts(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    fought(house, "AB", "go", "stay")
    monkeypatch.setattr(clock, "now", lambda: house.now + timedelta(minutes=2))
    scheduler.Scheduler(house.settings).run("ratings")
    assert set(standing(house)) == {"Ailsa", "Bran"}
