"""Who sits where: no-shows, bots that take over, people who come back, free seats."""

from __future__ import annotations

from datetime import timedelta

import pytest
from clockwork import DAY, HOUR, awaited, kinds, others, sitting, tick, tick_at, ticks, with_rounds
from house import START, House
from together import in_parallel, quick_pictures, refused

from server import ahead, audit, commands, deadlines, home, log, play, seating, story, timeouts
from server.desk import writing
from server.models import LogRow, Match, Outbox, User


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)
    with_rounds(monkeypatch)


def lost(house: House, *names: str, **terms: object) -> tuple[Match, int, User]:
    """Return a match in which a bot has taken over the seat of a player who was out of time: match, seat, player."""
    match = house.begun(*names, **{"clock": {"move": DAY, "missing": "at-once"}, **terms})
    seat, user = awaited(house, match)
    tick(house)
    tick_at(house, log.get(match.id).deadline)
    assert sitting(match, seat).bot
    return match, seat, user


def test_who_never_came_is_replaced_without_loss_to_anybody(house: House) -> None:
    for missing in ("bot", "at-once", "loss", "vote"):
        match = house.started("Ailsa", "Bran", "Catrin", clock={"move": HOUR, "missing": missing})
        seat, _ = awaited(house, match)
        tick(house)
        tick_at(house, log.get(match.id).deadline)
        assert kinds(house, match)[:4] == ["timeout", "takeover", "offer", "move"]
        assert log.get(match.id).status == "running"
        assert seat not in house.played(match).position.resigned
        assert match.id in {each.id for each in seating.offered()}
        seating.take(match.id, seat, house.people["Dugald"], "web", now=house.now)
        assert sitting(match, seat).name == "Dugald"
        assert audit.verify(match.id) == []


def test_a_match_to_which_nobody_came_is_played_to_its_end_by_bots(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran", game="glory", pace=HOUR)
    for _ in range(60):
        cottage.later(hours=1)
        tick_at(cottage, cottage.now)
    match = log.get(match.id)
    assert match.status == "finished"
    assert LogRow.select().where((LogRow.match == match) & (LogRow.kind == "timeout")).count() == 2
    assert audit.verify(match.id) == []


def test_after_some_misses_in_a_row_a_bot_takes_over(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", clock={"move": HOUR, "misses": 3})
    seat, _ = awaited(cottage, match)
    tick(cottage)
    for miss in (1, 2, 3):
        tick_at(cottage, log.get(match.id).deadline)
        assert bool(sitting(match, seat).bot) == (miss == 3)
        while miss < 3 and awaited(cottage, match)[0] != seat:
            cottage.move(match)
    assert "after three in a row" in log.rule_sentence(match)


def test_who_comes_back_has_a_clean_record_and_a_new_clock(house: House) -> None:
    match, seat, user = lost(house, "Ailsa", "Bran")
    (other,) = others(match, user)
    house.later(hours=2)
    seating.come_back(match.id, user, "web", now=house.now)
    assert sitting(match, seat) == user
    assert house.played(match).position.misses[seat] == 0
    assert kinds(house, match)[-1] == "takeover"
    house.move(match)
    assert awaited(house, match)[1] == user
    assert log.get(match.id).deadline == house.now + timedelta(days=1)
    with refused("not-yours"):
        seating.come_back(match.id, user, "web", now=house.now)
    with refused("not-yours"):
        seating.come_back(match.id, other, "web", now=house.now)


def test_who_resigned_does_not_come_back_and_his_seat_is_for_nobody(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    seat, user = awaited(house, match)
    seating.resign(match.id, user, "web", now=house.now)
    with refused("not-yours"):
        seating.come_back(match.id, user, "web", now=house.now)
    with refused("bad-input"):
        seating.offer(match.id, seat, others(match, user)[0], "web", now=house.now)
    with refused("not-open"):
        seating.take(match.id, seat, house.people["Dugald"], "web", now=house.now)


def test_nobody_comes_back_without_end(cottage: House) -> None:
    match, _, user = lost(cottage, "Ailsa", "Bran", "Catrin")
    for _ in range(seating.MOST_RETURNS):
        # A script that is quicker than the bot: each time the clock begins anew.
        seating.come_back(match.id, user, "web", now=cottage.now)
        while awaited(cottage, match)[1] != user:
            cottage.move(match)
        tick_at(cottage, log.get(match.id).deadline)
    with refused("not-yours"):
        seating.come_back(match.id, user, "web", now=cottage.now)
    guest = cottage.people["Dugald"]
    seat = next(place.number for place in log.places(match) if place.owner == user)
    for _ in range(seating.MOST_RETURNS):
        seating.take(match.id, seat, guest, "web", now=cottage.now)
        while awaited(cottage, match)[1] != guest:
            cottage.move(match)
        tick_at(cottage, log.get(match.id).deadline)
    with refused("not-open"):
        seating.take(match.id, seat, guest, "web", now=cottage.now)
    assert audit.verify(match.id) == []


def test_any_player_offers_a_seat_that_a_bot_plays(house: House) -> None:
    match, seat, user = lost(house, "Ailsa", "Bran", "Catrin")
    first, second = others(match, user)
    assert sorted(house.played(match).position.offered) == []
    with refused("not-yours"):
        seating.offer(match.id, seat, house.people["Dugald"], "web", now=house.now)
    for wrong in (-1, 7, next(place.number for place in log.places(match) if place.user == first)):
        with refused("bad-input"):
            seating.offer(match.id, wrong, second, "web", now=house.now)
    seating.offer(match.id, seat, second, "web", now=house.now)
    assert sorted(house.played(match).position.offered) == [seat]
    with refused("bad-input"):
        seating.offer(match.id, seat, first, "web", now=house.now)
    seating.come_back(match.id, user, "web", now=house.now)
    assert sorted(house.played(match).position.offered) == []
    assert seating.offered() == []


def test_a_free_seat_is_for_one_who_knows_no_secret_of_another(house: House) -> None:
    match, seat, user = lost(house, "Ailsa", "Bran", "Catrin")
    other = others(match, user)[0]
    seating.offer(match.id, seat, other, "web", now=house.now)
    for known in (other, user):
        with refused("already-seated"):
            seating.take(match.id, seat, known, "web", now=house.now)
    with refused("unconfirmed"):
        seating.take(match.id, seat, house.person("Eilidh", confirmed_at=None), "web", now=house.now)
    guest = house.people["Dugald"]
    seating.take(match.id, seat, guest, "web", now=house.now)
    # He never moves, and then wants another seat that has become free.
    while awaited(house, match)[1] != guest:
        house.move(match)
    tick_at(house, log.get(match.id).deadline)
    while awaited(house, match)[1] != other:
        if sitting(match, awaited(house, match)[0]).bot:
            tick(house)
        else:
            house.move(match)
    second = awaited(house, match)[0]
    tick_at(house, log.get(match.id).deadline)
    seating.offer(match.id, second, next(iter(others(match, other))), "web", now=house.now)
    with refused("already-seated"):
        seating.take(match.id, second, guest, "web", now=house.now)


def test_of_many_who_want_a_free_seat_one_gets_it(house: House) -> None:
    match, seat, user = lost(house, "Ailsa", "Bran")
    seating.offer(match.id, seat, others(match, user)[0], "web", now=house.now)
    guests = [house.person(name) for name in ("Eilidh", "Fergus", "Gillie")]
    works = [lambda guest=guest: seating.take(match.id, seat, guest, "web", now=house.now) for guest in guests]
    works.append(lambda: seating.come_back(match.id, user, "web", now=house.now))
    results = in_parallel(*works)
    assert results.count(None) == 1
    assert set(results) <= {None, "not-open", "already-seated", "not-yours"}
    assert kinds(house, match).count("takeover") == 2
    assert audit.verify(match.id) == []


def test_the_new_player_sees_the_secrets_of_his_seat_and_the_old_one_none(house: House) -> None:
    match, seat, user = lost(house, "Ailsa", "Bran", game="glory")
    (other,) = others(match, user)
    seating.offer(match.id, seat, other, "web", now=house.now)
    guest = house.people["Dugald"]
    seating.take(match.id, seat, guest, "web", now=house.now)
    assert log.own_number(match, guest) == seat
    assert log.own_number(match, user) is None
    played = house.played(match)
    text = next(iter(played.view(seat).moves), "x")
    with refused("not-yours"):
        play.submit(match.id, seat, text, played.position.asked[seat] or 0, user, "web", now=house.now)
    with refused("not-yours"):
        ahead.prepare(match.id, user, text, now=house.now)
    with refused("not-yours"):
        play.take_back(match.id, user, "web", now=house.now)
    assert next(row for row in played.rows if row.text == f"person:{guest.id}").kind == "takeover"


def test_the_end_is_told_to_who_lost_his_seat_and_to_who_took_it(house: House) -> None:
    match, seat, user = lost(house, "Ailsa", "Bran", game="glory")
    (other,) = others(match, user)
    seating.offer(match.id, seat, other, "web", now=house.now)
    seating.take(match.id, seat, house.people["Dugald"], "web", now=house.now)
    seating.resign(match.id, other, "web", now=house.now)
    assert log.get(match.id).status == "finished"
    told = {mail.user.name for mail in Outbox.select().where(Outbox.kind == "end")}
    assert told == {"Ailsa", "Bran", "Dugald"}


def test_taking_over_in_turn_wins_no_time(cottage: House) -> None:
    match, seat, user = lost(cottage, "Ailsa", "Bran", clock={"bank": 2 * DAY, "missing": "at-once"})
    seating.come_back(match.id, user, "web", now=cottage.now)
    bank = cottage.played(match).clocks.bank(seat, cottage.now)
    assert bank == timedelta(days=2), "the first to come back has all the time there was at the start"
    while awaited(cottage, match)[1] != user:
        cottage.move(match)
    tick_at(cottage, log.get(match.id).deadline)
    seating.come_back(match.id, user, "web", now=cottage.now)
    assert cottage.played(match).clocks.bank(seat, cottage.now) == timedelta(0)


def test_a_match_is_called_off_before_the_first_move_only(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran")
    with refused("not-yours"):
        seating.cancel(match.id, cottage.people["Dugald"], "web", now=cottage.now)
    seating.cancel(match.id, cottage.people["Bran"], "web", now=cottage.now)
    match = log.get(match.id)
    assert (match.status, match.reason, match.deadline) == ("finished", "cancelled", None)
    assert not any(seat.won for seat in log.places(match))
    assert deadlines.run(lambda: cottage.later(days=9)) == 0
    other = cottage.started("Ailsa", "Bran")
    cottage.move(other)
    with refused("not-running"):
        seating.cancel(other.id, cottage.people["Ailsa"], "web", now=cottage.now)


def test_where_time_out_loses_the_others_play_on(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin", clock={"move": DAY, "missing": "loss"})
    seat, user = awaited(cottage, match)
    tick(cottage)
    tick_at(cottage, log.get(match.id).deadline)
    assert kinds(cottage, match, 3) == ["timeout", "resign", "takeover", "move"]
    assert cottage.played(match).position.resigned == {seat}
    match = cottage.finish(match) if not log.get(match.id).bot_acts else log.get(match.id)
    assert user.id not in {place.user_id for place in log.places(match) if place.won}


def test_a_takeover_and_a_move_at_the_same_moment_have_one_winner(house: House) -> None:
    for number in range(6):
        match = house.begun("Ailsa", "Bran", "Catrin", clock={"move": DAY, "missing": "at-once"})
        seat, user = awaited(house, match)
        played = house.played(match)
        asked, text = played.position.asked[seat], played.view(seat).moves[0]
        house.now = log.get(match.id).deadline

        def move(match=match, seat=seat, text=text, asked=asked, user=user) -> str:
            return play.submit(match.id, seat, text, asked, user, "web", now=house.now).text

        works = [move, lambda: deadlines.run(lambda: house.now)]
        results = in_parallel(*works) if number % 2 else in_parallel(*works[::-1])[::-1]
        assert (results[0], kinds(house, match, 3)) in [(text, ["move"]), ("not-yours", ["timeout", "takeover"])]
        assert audit.verify(match.id) == []


def test_all_is_quiet_while_people_keep_their_time(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", pace=2 * HOUR)
    tick(cottage)
    for _ in range(20):
        ticks(cottage, until=cottage.now + timedelta(minutes=119), every=timedelta(minutes=9))
        cottage.move(match)
    assert set(kinds(cottage, match)) == {"move"}
    assert cottage.now - START > timedelta(hours=39)


def test_what_happened_is_told_of_those_who_did_it(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    with writing(match.id, house.now) as desk:
        desk.hand_to_bot(1, "clock")
        desk.put("offer", 1, "", "clock")
    seating.take(match.id, 1, house.people["Dugald"], "web", now=house.now)
    called = story.names(log.places(match))
    assert called == ["Ailsa", "Dugald", "Catrin"]
    told = {line.seq: line.sentences[0] for line in story.lines(house.played(match), called, None)}
    moved = next(row.seq for row in house.played(match).rows if row.seat == 1 and row.kind == "move")
    assert told[moved].startswith("Bran moved")
    assert [told[seq] for seq in (4, 5, 6)] == [
        "A bot took over the seat of Bran.",
        "The seat of Bran (bot) is free: whoever wants may take it over.",
        "Dugald took over a free seat.",
    ]


def test_who_lost_the_seat_finds_it_on_his_list_and_comes_back_by_mail(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin")
    bran = cottage.people["Bran"]
    with writing(match.id, cottage.now) as desk:
        desk.hand_to_bot(1, "clock")
    assert [one.id for one in home.lost(bran)] == [match.id]
    told = commands.run("back", "", commands.Asked(match.id, bran, 0, "email", cottage.now))
    assert "back" in told.sentences[0]
    assert home.lost(bran) == []


def test_who_loses_on_time_is_told_so_himself(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin", clock={"move": 86400, "missing": "loss"})
    house.mail()
    late = log.places(match)[house.played(match).position.to_act[0]].user
    timeouts.time_out(match.id, now=house.later(days=1))
    notices = [mail.user.name for mail in house.queued(kind="notice")]
    assert late.name in notices
    told = story.lines(house.played(match), story.names(log.places(match)), None)
    assert any(line.sentences[0] == f"{late.name} loses on time." for line in told)
