"""What has ended and what waits: the archive for everybody, the list for each."""

from __future__ import annotations

import json
from datetime import date, timedelta

import pytest
from house import DAY, START, House
from together import damage, refused

from engine import record
from server import accounts, archive, audit, db, home, lobby, log, ratings, seating, talk, timeouts
from server.models import Match, Seat, User


def ended(house: House, *names: str) -> Match:
    """Return a match that the last of these people has given up."""
    match = house.started(*(names or ("Ailsa", "Bran")))
    for name in names[1:] or ["Bran"]:
        seating.resign(match.id, house.people[name], "web", now=house.now)
    return log.get(match.id)


def many(house: House, count: int, *, each: float = 60) -> list[int]:
    """Put so many finished matches into the archive, the given number of seconds apart; return their numbers."""
    model = ended(house).__data__
    with db.transaction():
        numbers = []
        for number in range(count):
            end = START + timedelta(days=1, seconds=each * number)
            fields = {name: value for name, value in model.items() if name != "id"} | {"finished_at": end}
            numbers.append(Match.insert(**fields).execute())
        Match.update(status="cancelled").where(Match.id == model["id"]).execute()
    return numbers


def pages(**terms: object) -> list[list[int]]:
    """Return the numbers of the matches on each page."""
    found, more = [], ""
    while True:
        page = archive.find(**terms, after=more)
        found.append([match.id for match in page.matches])
        if not page.more:
            return found
        more = page.more


@pytest.mark.parametrize("count", [0, 1, 25, 26, 60])
def test_the_archive_is_turned_page_by_page_newest_first(house: House, count: int) -> None:
    numbers = many(house, count)
    found = pages()
    assert [number for page in found for number in page] == numbers[::-1]
    assert [len(page) for page in found[:-1]] == [archive.PAGE] * (len(found) - 1)
    assert len(found) == max(1, -(-count // archive.PAGE))


def test_matches_that_end_in_the_same_instant_keep_their_order(house: House) -> None:
    numbers = many(house, 60, each=0)
    assert [number for page in pages() for number in page] == numbers[::-1]


def test_pages_do_not_shift_while_matches_end(house: House) -> None:
    numbers = many(house, 60)
    first = archive.find()
    house.later(days=9)
    new = ended(house)
    second = archive.find(after=first.more)
    assert [match.id for match in second.matches] == numbers[::-1][25:50]
    assert archive.find().matches[0].id == new.id


@pytest.mark.parametrize(
    "mark", ["x", "1", "1-", "-1", "1-x", "-", "9" * 40 + "-1", "9" * 25 + "-1", "1-" + "9" * 25, "١-١", "\0", "1-1\0"]
)
def test_a_mark_that_is_none_is_refused(house: House, mark: str) -> None:
    with refused("bad-input"):
        archive.find(after=mark)


def test_matches_are_found_by_game_player_and_day(house: House) -> None:
    first = ended(house, "Ailsa", "Bran")
    house.now = START.replace(hour=23, minute=59, second=59, microsecond=999_000)
    second = ended(house, "Catrin", "Bran")
    house.later(milliseconds=1)
    third = ended(house, "Ailsa", "Catrin")
    open_one, running = house.table("Ailsa", seats=2), house.started("Ailsa", "Bran")

    def found(**terms: object) -> set[int]:
        return {match.id for match in archive.find(**terms).matches}

    assert found() == {first.id, second.id, third.id}
    assert not found() & {open_one.id, running.id}
    assert found(game="clans") == found()
    assert found(game="chess") == found(player="Nobody") == set()
    for name in ("Ailsa", " AILSA ", "ａilsa"):
        assert found(player=name) == {first.id, third.id}
    day, next_day = START.date(), START.date() + timedelta(days=1)
    assert found(until=day) == {first.id, second.id}
    assert found(since=next_day) == {third.id}
    assert found(since=day, until=next_day) == found()
    assert found(since=date.min, until=date.max) == found()
    assert found(since=date.max) == found(until=date.min) == set()
    assert found(player="Bran", since=day, until=day, game="clans") == {first.id, second.id}


@pytest.mark.parametrize("text", ["\0", "a\0b", "\ud800", "%", "_", "' OR 1=1 --", "x" * 5000])
def test_strange_words_find_nothing(house: House, text: str) -> None:
    ended(house)
    assert archive.find(player=text).matches == archive.find(game=text).matches == ()
    with refused("not-found"):
        accounts.by_name(text)


def test_the_same_matches_are_found_from_each_players_side(house: House) -> None:
    """Also for who lost the seat to a bot, and for who has left for good."""
    for _ in range(3):
        ended(house, "Ailsa", "Bran")
    three = house.started("Ailsa", "Bran", "Catrin")
    seating.resign(three.id, house.people["Bran"], "web", now=house.now)
    seating.resign(three.id, house.people["Catrin"], "web", now=house.now)
    both = [{match.id for match in archive.find(player=name).matches} for name in ("Ailsa", "Bran")]
    assert both[0] == both[1]
    assert len(both[0]) == 4
    assert both[0] >= {match.id for match in archive.find(player="Catrin").matches} == {three.id}
    accounts.forget(house.people["Bran"], house.now)
    gone = User.get_by_id(house.people["Bran"].id).name
    assert {match.id for match in archive.find(player=gone).matches} == both[0]
    for number in both[0]:
        assert audit.verify(number) == []


def test_the_record_is_given_after_the_end_and_holds(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin", options={"five_singles": "all_stay"}, seating="random")
    with refused("not-found"):
        archive.export(log.get(match.id))
    with refused("not-found"):
        archive.export(house.table("Ailsa", seats=2))
    house.move(match)
    timeouts.time_out(match.id, now=house.later(days=1))
    match = house.finish(match)
    kept = archive.export(match)
    text = record.dump(kept)
    again = record.load(text)
    assert record.dump(again) == text
    position = record.check(again)
    assert position.outcome == house.played(match).outcome
    assert kept["fairness"]["commitment"] == lobby.commitment(match)
    assert {"setup_hash", "started_at", "match", "options", "result"} <= set(kept)
    assert all({"at", "via", "hash"} <= set(row) for row in kept["log"])
    assert "timeout" in {row["kind"] for row in kept["log"]}
    assert kept["log"][-1]["hash"] == bytes(match.last_hash).hex()
    assert kept["players"] == [seat.owner.name for seat in log.places(match)]


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: kept["log"][3].update(via="email"),
        lambda kept: kept["log"][3].update(at="2026-03-02T09:00:00.001Z"),
        lambda kept: kept["log"].pop(),
        lambda kept: kept["setup"].update(first=1 - kept["setup"]["first"]),
        lambda kept: kept["fairness"].update(seed="00" * 32),
        lambda kept: kept["fairness"].update(contributions=["mine", "mine"]),
        lambda kept: kept["result"].update(scores=[99, 99]),
        lambda kept: kept.update(match=99),
    ],
)
def test_a_record_that_was_tampered_with_does_not_hold(cottage: House, change) -> None:
    kept = json.loads(record.dump(archive.export(cottage.finish(cottage.started("Ailsa", "Bran")))))
    record.check(kept)
    change(kept)
    with pytest.raises(record.RecordError):
        record.check(kept)


def test_the_result_names_the_winner_first(house: House) -> None:
    match = house.finish(house.started("Ailsa", "Bran", "Catrin"))
    seats = log.places(match)
    told = archive.result(seats).split(", ")
    winners = {seat.owner.name for seat in seats if seat.won}
    assert {line.rpartition(" ")[0] for line in told[: len(winners)]} == winners
    assert sorted(told) == sorted(f"{seat.owner.name} {seat.score}" for seat in seats)


def names(house: House) -> tuple[User, User]:
    """Return Ailsa and Bran."""
    return house.people["Ailsa"], house.people["Bran"]


def test_the_list_is_in_order_of_the_time_left_ones_own_turn_first(house: House) -> None:
    ailsa, bran = names(house)
    matches = [house.started("Ailsa", "Bran", pace=pace * DAY) for pace in (3, 1, 7, 2, 5)]
    mine = [match for match in matches if log.places(match)[house.played(match).position.to_act[0]].user == ailsa]
    for match in set(matches) - set(mine) if len(mine) < 2 else mine[2:]:
        house.move(match)
    for user in (ailsa, bran):
        listed = home.items(user, house.now)
        assert {item.match.id for item in listed} == {match.id for match in matches}
        turns = [item.my_turn for item in listed]
        assert turns == sorted(turns, reverse=True)
        for group in (True, False):
            left = [item.match.deadline for item in listed if item.my_turn is group]
            assert left == sorted(left)
        assert sum(turns) == home.waiting(user)
        for item in listed:
            position = house.played(item.match).position
            assert item.my_turn == (item.mine.number in position.to_act)
            assert item.mine.user == user
    assert home.waiting(ailsa) + home.waiting(bran) == 5


def test_a_match_without_a_limit_comes_last_in_its_group(house: House) -> None:
    limitless = [house.begun("Ailsa", "Bran", clock={}), house.begun("Bran", "Ailsa", clock={})]
    hurried = [house.begun("Ailsa", "Bran", clock={"move": DAY}), house.begun("Bran", "Ailsa", clock={"move": DAY})]
    for some in (limitless, hurried):
        for name, match in zip(("Ailsa", "Bran"), some, strict=True):
            while log.places(match)[house.played(match).position.to_act[0]].user.name != name:
                house.move(match)
    for user, own in zip(names(house), (0, 1), strict=True):
        ordered = [item.match.id for item in home.items(user, house.now)]
        other = 1 - own
        assert ordered == [match.id for match in (hurried[own], limitless[own], hurried[other], limitless[other])]
        assert home.awaiting(user) == [hurried[own], limitless[own]]


def test_what_happened_since_the_last_visit_is_counted(house: House) -> None:
    ailsa, bran = names(house)
    match = house.started("Ailsa", "Bran")
    for _ in range(3):
        house.move(match)
    by_others = [row.seat for row in house.played(match).rows].count(1)
    assert home.items(ailsa, house.now)[0].unread == by_others, "what she has done herself is no news to her"
    home.visit(log.get(match.id), ailsa, house.now)
    assert home.items(ailsa, house.now)[0].unread == 0
    talk.say(match.id, bran, "Hm!", expected=0, via="web", now=house.now)
    house.move(match)
    item = home.items(ailsa, house.now)[0]
    assert item.unread == (house.played(match).rows[-1].seat == 1)
    assert "moved" in item.last
    assert home.items(bran, house.now)[0].unread == 2


def test_an_older_page_does_not_take_back_what_was_seen(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    old = log.get(match.id)
    house.move(match)
    home.visit(log.get(match.id), house.people["Ailsa"], house.now)
    home.visit(old, house.people["Ailsa"], house.now)
    assert home.items(house.people["Ailsa"], house.now)[0].unread == 0


def test_the_next_match_that_waits_is_found_around_the_end_of_the_list(house: House) -> None:
    ailsa, _ = names(house)
    matches = {}
    while len(matches) < 3:
        match = house.started("Ailsa", "Bran", pace=(len(matches) + 1) * DAY)
        if house.played(match).position.to_act[0] == 0:
            matches[len(matches)] = match
        else:
            seating.resign(match.id, ailsa, "web", now=house.now)
    one, two, three = (log.get(match.id) for match in matches.values())
    assert home.next_waiting(ailsa, one).id == two.id
    assert home.next_waiting(ailsa, two).id == three.id
    assert home.next_waiting(ailsa, three).id == one.id
    house.move(two)
    assert home.next_waiting(ailsa, one).id == three.id
    assert home.next_waiting(ailsa, log.get(two.id)).id == three.id
    house.move(one)
    assert home.next_waiting(ailsa, three) is None
    assert home.next_waiting(ailsa, log.get(one.id)).id == three.id
    over = next(iter(Match.select().where(Match.status == "finished")), None) or ended(house)
    assert home.next_waiting(ailsa, over).id == three.id


def test_an_end_stays_on_the_list_until_it_was_looked_at(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin")
    home.visit(log.get(match.id), house.people["Ailsa"], house.now)
    seating.resign(match.id, house.people["Bran"], "web", now=house.now)
    seating.resign(match.id, house.people["Catrin"], "web", now=house.later(hours=1))
    for name in ("Ailsa", "Bran", "Catrin"):
        user = house.people[name]
        assert [found.id for found in home.unseen(user)] == [match.id]
        assert home.items(user, house.now) == []
        home.visit(log.get(match.id), user, house.now)
        assert home.unseen(user) == []
    assert home.unseen(house.people["Dugald"]) == []


def test_ends_that_nobody_looks_at_are_shown_and_counted_no_further_than_a_bound(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    seating.resign(match.id, house.people["Bran"], "web", now=house.now)
    ended, places = Match.select().where(Match.id == match.id).dicts().get(), log.places(match)
    for minutes in range(1, 121):
        again = {**ended, "id": match.id + minutes, "finished_at": house.now + timedelta(minutes=minutes)}
        Match.insert(again).execute()
        for seat in places:
            # In every third she has been followed by somebody else.
            user = house.people["Catrin"] if seat.owner.name == "Ailsa" and minutes % 3 == 0 else seat.owner
            Seat.insert(
                match=match.id + minutes,
                number=seat.number,
                user=user,
                owner=seat.owner,
                contribution="",
                joined_at=house.now,
            ).execute()
    ailsa, catrin = house.people["Ailsa"], house.people["Catrin"]
    assert home.MOST_ENDS < 120
    assert home.waiting(ailsa) == home.MOST_ENDS
    assert home.waiting(catrin) == 40
    assert home.waiting_for([ailsa.id, catrin.id]) == {ailsa.id: home.MOST_ENDS, catrin.id: 40}
    newest = [match.id + minutes for minutes in range(120, 120 - home.SHOWN_ENDS, -1)]
    assert [found.id for found in home.unseen(ailsa)] == newest
    assert [found.id for found in home.latest(ailsa, 5)] == newest[:5]
    assert [found.id for found in home.latest(ailsa, 5, before=log.get(newest[4]))] == newest[5:10]


def test_open_tables_are_on_the_list_of_those_who_sit_there(house: House) -> None:
    match = house.table("Ailsa", "Bran", seats=3)
    assert [[found.id for found in home.tables(user)] for user in names(house)] == [[match.id]] * 2
    assert home.tables(house.people["Catrin"]) == []
    lobby.leave(match.id, house.people["Ailsa"])
    assert home.tables(house.people["Bran"]) == []


def test_a_damaged_match_is_shown_as_frozen_among_the_others(house: House) -> None:
    bad, gone, good = (house.started("Ailsa", "Bran") for _ in range(3))
    damage(bad)
    with db.transaction():
        Match.update(game="chess").where(Match.id == gone.id).execute()
    damage(gone, text='{"game":"chess"}')
    listed = {item.match.id: item for item in home.items(house.people["Ailsa"], house.now)}
    assert set(listed) == {bad.id, gone.id, good.id}
    assert "frozen" in listed[bad.id].fault
    assert log.title(listed[gone.id].match) == f"chess {gone.id}"
    assert listed[good.id].fault == ""
    assert home.waiting(house.people["Ailsa"]) == sum(item.my_turn for item in listed.values())


@pytest.mark.parametrize(
    "text", ["[]", "null", "7", '"x"', "{}", '{"game":[]}', '{"game":"clans","setup":[],"seats":2}']
)
def test_whatever_became_of_the_setup_the_match_is_frozen_and_no_more(cottage: House, text: str) -> None:
    match = cottage.started("Ailsa", "Bran")
    damage(match, text=text)
    with refused("damaged"):
        log.read(match)
    assert home.items(cottage.people["Ailsa"], cottage.now)[0].fault
    assert audit.verify(match.id)
    assert Seat.select().count() == 2


def test_a_seat_waits_for_its_person_until_he_has_looked_at_the_end_and_for_a_bot_never(house: House) -> None:
    match = house.table("Ailsa", seats=2)
    lobby.fill(match.id, house.people["Ailsa"], "easy", house.now)
    seating.resign(match.id, house.people["Ailsa"], "web", now=house.now)
    ratings.count_up(house.later(minutes=2))
    match, ailsa = log.get(match.id), house.people["Ailsa"]
    filed = {seat.user.bot: seat.ended_at for seat in log.places(match)}
    assert filed == {"": None, "easy": match.finished_at}
    assert (home.waiting(ailsa), home.unseen(ailsa), home.finished(ailsa, 5)) == (1, [match], [])
    assert home.latest(ailsa, 5) == [match]
    home.visit(match, ailsa, house.now)
    assert (home.waiting(ailsa), home.unseen(ailsa), home.finished(ailsa, 5)) == (0, [], [match])
    assert home.latest(ailsa, 5) == [match]
