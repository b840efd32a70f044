"""What is told of people follows from the logs of finished matches, and is the same from every side."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from contests import count, fought, say, with_contests
from house import DAY, House
from together import damage, refused

from server import accounts, companions, db, deadlines, lobby, log, parts, people, play, seating
from server.models import Match, Part, Seat, User
from server.people import Meeting, Profile, Reliability

MINUTE = timedelta(minutes=1)
AT_ONCE = {"move": DAY, "missing": "at-once"}
LOSS = {"move": DAY, "missing": "loss"}


@pytest.fixture(autouse=True)
def _contests(monkeypatch: pytest.MonkeyPatch) -> None:
    with_contests(monkeypatch)


def told(house: House, name: str, viewer: str | None = None) -> Profile:
    """Count all there is and return what is told of somebody."""
    count(house)
    return people.profile(house.people[name], house.people[viewer] if viewer else None, house.now)


def sums(house: House, name: str) -> dict[str, tuple[int, int, int]]:
    """Return by game how many matches somebody played, won, and won with others."""
    return {record.game: (record.played, record.won, record.shared) for record in told(house, name).records}


def met(house: House, name: str, viewer: str | None = None) -> list[tuple[str, int, int, int, int]]:
    """Return how somebody came out against each other: met, won, lost, level."""
    return [
        (meeting.user.name, meeting.met, meeting.won, meeting.lost, meeting.shared)
        for meeting in told(house, name, viewer).meetings
    ]


def longer(house: House, *names: str, rounds: int = 2, **terms: object) -> Match:
    """Return a running match of so many rounds."""
    return house.started(*names, game="contest", setup={"left": rounds, "bound": []}, **terms)


def test_matches_are_summed_up_game_by_game(house: House) -> None:
    fought(house, "AB", "go", "stay")
    fought(house, "ABC", "go", "stay", "go")
    fought(house, "BA", "go", "stay")
    fought(house, "AB", "go", "look", game="quarrel")
    assert sums(house, "Ailsa") == {"contest": (3, 1, 1), "quarrel": (1, 1, 0)}
    assert sums(house, "Bran") == {"contest": (3, 1, 0), "quarrel": (1, 0, 0)}
    assert sums(house, "Catrin") == {"contest": (1, 0, 1)}
    assert sums(house, "Dugald") == {}


def test_running_and_finished_matches_are_counted(house: House) -> None:
    fought(house, "AB", "go", "stay")
    house.started("Ailsa", "Bran", "Catrin")
    house.table("Ailsa", seats=3)
    profile = told(house, "Ailsa")
    assert (profile.running, profile.finished) == (1, 1)
    assert (told(house, "Dugald").running, told(house, "Dugald").finished) == (0, 0)


def test_of_two_who_met_one_won_as_often_as_the_other_lost(house: House) -> None:
    fought(house, "ABC", "go", "look", "stay")
    fought(house, "AB", "look", "look")
    fought(house, "ACB", "stay", "go", "look")
    assert met(house, "Ailsa") == [("Bran", 3, 1, 1, 1), ("Catrin", 2, 1, 1, 0)]
    assert met(house, "Bran") == [("Ailsa", 3, 1, 1, 1), ("Catrin", 2, 1, 1, 0)]
    assert met(house, "Catrin") == [("Ailsa", 2, 1, 1, 0), ("Bran", 2, 1, 1, 0)]


def test_the_viewer_stands_on_top_then_who_was_met_most(house: House) -> None:
    for _ in range(2):
        fought(house, "ABC", "go", "look", "stay")
    fought(house, "AB", "go", "look")
    fought(house, "AD", "go", "look")
    assert [name for name, *_ in met(house, "Ailsa")] == ["Bran", "Catrin", "Dugald"]
    assert [name for name, *_ in met(house, "Ailsa", "Dugald")] == ["Dugald", "Bran", "Catrin"]
    assert [name for name, *_ in met(house, "Ailsa", "Ailsa")] == ["Bran", "Catrin", "Dugald"]


def test_who_took_over_a_seat_has_its_result_and_has_not_met_who_left_it(house: House) -> None:
    match = longer(house, "Ailsa", "Bran", clock=AT_ONCE)
    say(house, match, "look", "look")
    say(house, match, "look")
    house.later(days=2)
    deadlines.run(lambda: house.now)
    seating.offer(match.id, 1, house.people["Ailsa"], "web", now=house.now)
    seating.take(match.id, 1, house.people["Catrin"], "web", now=house.now)
    house.later(minutes=7)
    asked = house.played(match).position.asked[1] or 0
    play.submit(match.id, 1, "go", asked, house.people["Catrin"], "web", now=house.now)
    assert log.get(match.id).status == "finished"
    assert sums(house, "Catrin") == {"contest": (1, 1, 0)}
    assert sums(house, "Bran") == {"contest": (1, 0, 0)}
    assert met(house, "Ailsa") == [("Bran", 1, 1, 0, 0), ("Catrin", 1, 0, 1, 0)]
    assert met(house, "Catrin") == [("Ailsa", 1, 1, 0, 0)]
    # Counted from sitting down, not from when the seat was asked.
    assert told(house, "Catrin").ever == Reliability(7 * MINUTE, 1, 0, 0, 0)
    assert told(house, "Bran").ever == Reliability(20 * MINUTE, 1, 1, 0, 1)
    for name in ("Ailsa", "Bran", "Catrin"):
        assert [each.id for each in people.finished(house.people[name]).matches] == [match.id]


def test_a_match_called_off_is_listed_and_counts_for_nothing(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    seating.cancel(match.id, house.people["Bran"], "web", now=house.now)
    assert sums(house, "Ailsa") == {}
    assert met(house, "Ailsa") == []
    assert told(house, "Ailsa").finished == 1
    assert [each.id for each in people.finished(house.people["Ailsa"]).matches] == [match.id]


def test_who_does_not_come_gives_nobody_a_victory(house: House) -> None:
    match = longer(house, "Ailsa", "Bran", clock=AT_ONCE)
    say(house, match, "go")
    house.later(days=2)
    deadlines.run(lambda: house.now)
    seating.resign(match.id, house.people["Ailsa"], "web", now=house.now)
    assert sums(house, "Ailsa") == sums(house, "Bran") == {}
    assert told(house, "Bran").ever == Reliability(None, 0, 1, 0, 1)
    assert told(house, "Ailsa").ever == Reliability(10 * MINUTE, 1, 0, 1, 0)


def test_the_middle_one_of_the_own_moves_is_told(house: House) -> None:
    match = longer(house, "Ailsa", "Bran", rounds=3)
    for minutes in (1, 30, 3):
        say(house, match, "go", "stay", minutes=minutes)
    # Ailsa took 1, 30 and 3 minutes, Bran, who was asked with her, twice as long.
    assert told(house, "Ailsa").ever.median == 3 * MINUTE
    assert told(house, "Bran").ever.median == 6 * MINUTE
    say(house, house.started("Ailsa", "Catrin", game="contest"), "go", "stay", minutes=50)
    # Of the two in the middle the shorter.
    assert told(house, "Ailsa").ever == Reliability(3 * MINUTE, 4, 0, 0, 0)


@pytest.mark.parametrize(
    ("length", "noted"),
    [
        (timedelta(seconds=-5), 0),
        (timedelta(seconds=59), 0),
        (timedelta(minutes=119, seconds=59), 119),
        (timedelta(hours=2), 120),
        (timedelta(hours=2, minutes=9), 120),
        (timedelta(hours=47, minutes=59), 47 * 60 + 50),
        (timedelta(hours=48), 48 * 60),
        (timedelta(days=30, minutes=59), 30 * 24 * 60),
    ],
)
def test_long_times_are_noted_more_coarsely_and_never_too_long(length: timedelta, noted: int) -> None:
    assert parts.minutes(length) == noted


def test_moves_by_the_clock_or_a_bot_are_nobodys_own(house: House) -> None:
    match = longer(house, "Ailsa", "Bran", clock={"move": DAY, "missing": "bot", "misses": 2}, rounds=4)
    say(house, match, "go", "stay")
    while log.get(match.id).status == "running":
        say(house, match, "go")
        house.later(days=1, minutes=1)
        deadlines.run(lambda: house.now)
        house.bots()
    assert {row.via for row in house.played(match).rows if row.seat == 1} == {"web", "clock", "bot"}
    facts = told(house, "Bran").ever
    assert (facts.moves, facts.timeouts, facts.lost, facts.resigned) == (1, 2, 1, 0)


def test_the_clock_that_resigns_for_somebody_takes_his_seat(house: House) -> None:
    match = longer(house, "Ailsa", "Bran", clock=LOSS)
    say(house, match, "go", "stay")
    say(house, match, "go")
    house.later(days=3)
    deadlines.run(lambda: house.now)
    assert log.get(match.id).reason == "resignation"
    facts = told(house, "Bran").ever
    assert (facts.moves, facts.timeouts, facts.resigned, facts.lost) == (1, 1, 0, 1)
    assert sums(house, "Ailsa") == {"contest": (1, 1, 0)}


def test_who_resigns_has_not_lost_his_seat_to_the_bot_that_plays_it_on(house: House) -> None:
    match = longer(house, "Ailsa", "Bran", "Catrin")
    say(house, match, "go", "stay", "look")
    seating.resign(match.id, house.people["Bran"], "web", now=house.now)
    house.bots()
    for seat in (0, 2):
        asked, by = house.played(match).position.asked[seat] or 0, log.places(match)[seat].user
        play.submit(match.id, seat, "go", asked, by, "web", now=house.now)
    assert log.get(match.id).status == "finished"
    facts = told(house, "Bran").ever
    assert (facts.moves, facts.timeouts, facts.resigned, facts.lost) == (1, 0, 1, 0)


def test_the_last_twelve_months_are_whole_months(house: House) -> None:
    house.now = datetime(2026, 3, 31, 23, 0, tzinfo=UTC)
    say(house, house.started("Ailsa", "Bran", game="contest"), "go", "stay", minutes=7)
    house.now = datetime(2026, 4, 1, 0, 10, tzinfo=UTC)
    say(house, house.started("Ailsa", "Bran", game="contest"), "go", "stay", minutes=20)
    house.now = datetime(2027, 3, 31, 12, 0, tzinfo=UTC)
    profile = told(house, "Ailsa")
    assert profile.since == datetime(2026, 4, 1, tzinfo=UTC)
    assert profile.year == Reliability(20 * MINUTE, 1, 0, 0, 0)
    assert profile.ever == Reliability(7 * MINUTE, 2, 0, 0, 0)
    house.now = datetime(2027, 4, 1, tzinfo=UTC)
    assert told(house, "Ailsa").year == Reliability(None, 0, 0, 0, 0)


@pytest.mark.parametrize(("now", "since"), [((2026, 1), (2025, 2)), ((2026, 12), (2026, 1)), ((2028, 2), (2027, 3))])
def test_a_year_of_months_begins_right(house: House, now: tuple[int, int], since: tuple[int, int]) -> None:
    house.now = datetime(*now, 28, tzinfo=UTC)
    assert told(house, "Ailsa").since == datetime(*since, 1, tzinfo=UTC)


def test_the_history_of_a_rating_adds_up(house: House) -> None:
    matches = [fought(house, "AB", *words) for words in (("go", "stay"), ("stay", "go"), ("go", "go"))]
    record = told(house, "Ailsa").records[0]
    assert [step.match_id for step in record.history] == [match.id for match in matches]
    assert [(step.rank, step.people) for step in record.history] == [(1, 2), (2, 2), (1, 2)]
    shown = 1000
    for step in record.history:
        shown += step.change
        assert step.shown == shown
    assert record.rating is not None
    assert (record.rating.shown, record.rating.matches, record.place) == (shown, 3, None)


def test_a_long_history_shows_its_end(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "HISTORY", 2)
    for words in (("go", "stay"), ("stay", "go"), ("go", "stay")):
        fought(house, "AB", *words)
    steps = told(house, "Ailsa").records[0].history
    assert [step.rank for step in steps] == [2, 1]
    assert steps[0].shown + steps[1].change == steps[1].shown
    first = Part.select().where(Part.user == house.people["Ailsa"]).order_by(Part.match).first()
    assert steps[0].change == steps[0].shown - first.shown


def test_who_wants_to_watch_first_is_not_told_of_how_a_match_of_his_ended(house: House) -> None:
    seen = fought(house, "AB", "go", "stay")
    new = fought(house, "AB", "stay", "go")
    with db.transaction():
        User.update(keeps_results=True).where(User.name == "Ailsa").execute()
        Seat.update(seen=seen.length).where(Seat.match == seen).execute()
    house.people["Ailsa"] = accounts.by_name("Ailsa")

    def steps(viewer: str | None) -> list[int]:
        return [step.match_id for step in told(house, "Bran", viewer).records[0].history]

    assert steps("Ailsa") == [seen.id]
    assert steps("Bran") == steps(None) == [seen.id, new.id]


def test_the_same_matches_are_listed_from_every_side_page_by_page(house: House) -> None:
    matches = [
        fought(house, "ABC" if number % 2 else "AB", *["go", "stay", "look"][: 2 + number % 2]) for number in range(8)
    ]
    for name in ("Ailsa", "Bran"):
        user = house.people[name]
        assert [match.id for match in people.finished(user).matches] == [match.id for match in matches[::-1]]
    assert [match.id for match in people.finished(house.people["Catrin"]).matches] == [
        match.id for match in matches[::-1] if match.seats == 3
    ]


def test_pages_of_matches_do_not_shift_while_others_end(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "PAGE", 3)
    matches = [fought(house, "AB", "go", "stay").id for _ in range(7)]
    with db.transaction():
        # Two of them ended in the same instant.
        Match.update(finished_at=log.get(matches[4]).finished_at).where(Match.id == matches[3]).execute()
    user = house.people["Ailsa"]
    first = people.finished(user)
    matches.append(fought(house, "AB", "go", "stay").id)
    second = people.finished(user, first.more or 0)
    third = people.finished(user, second.more or 0)
    found = [match.id for page in (first, second, third) for match in page.matches]
    assert found == matches[:7][::-1]
    assert third.more is None
    assert people.finished(user, 2**31 - 1).matches[0].id == matches[-1]


def test_a_damaged_match_is_listed_all_the_same(house: House) -> None:
    match = fought(house, "AB", "go", "stay")
    damage(match, 1, "nonsense")
    profile = told(house, "Ailsa")
    assert (profile.finished, profile.records) == (1, ())
    assert people.finished(house.people["Bran"]).matches[0].id == match.id


@pytest.mark.parametrize("name", ["Ailsa", "ailsa", " AILSA ", "ａｉｌｓａ"])
def test_somebody_is_found_by_his_name_in_any_case(house: House, name: str) -> None:
    assert people.find(name) == house.people["Ailsa"]


def test_names_of_all_scripts_are_found(house: House) -> None:
    for name in ("Ξένια", "Úrsula Ó Murchú", "明美", "Straße", "عائشة", "O’Brien"):
        house.person(name, name_key=accounts.name_key(name))
        assert people.find(name).name == name
    assert people.find("STRASSE").name == "Straße"


@pytest.mark.parametrize("name", ["", "Nobody", "%", "_", "\0", "\ud800", "x" * 5000, "former player 1"])
def test_nobody_is_found_by_what_is_no_name(house: House, name: str) -> None:
    with db.transaction():
        companions.stand_in(house.now)
    with refused("not-found"):
        people.find(name)


def test_who_has_not_confirmed_his_address_is_nobody_yet(house: House) -> None:
    house.person("Fergus", confirmed_at=None)
    with refused("not-found"):
        people.find("Fergus")


def test_the_bot_is_found_by_its_name(house: House) -> None:
    with db.transaction():
        bot = companions.stand_in(house.now)
    assert people.find("Bot") == people.find("bot") == bot


def test_a_former_player_is_found_by_the_name_that_is_left(house: House) -> None:
    match = fought(house, "AB", "go", "stay")
    ailsa = house.people["Ailsa"]
    lobby.leave_all(ailsa, house.now)
    accounts.forget(ailsa, house.now)
    with refused("not-found"):
        people.find("Ailsa")
    former = people.find(f"Former player {ailsa.id}")
    assert former == ailsa
    assert people.finished(former).matches[0].id == match.id
    assert met(house, "Bran") == [(former.name, 1, 0, 1, 0)]


def test_facts_are_the_same_whoever_looks(house: House) -> None:
    fought(house, "AB", "go", "stay")
    profiles = [told(house, "Bran", viewer) for viewer in (None, "Ailsa", "Bran", "Catrin")]
    assert profiles[0].meetings == (Meeting(house.people["Ailsa"], 1, 0, 1, 0),)
    assert profiles == [profiles[0]] * 4
