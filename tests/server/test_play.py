"""The write path: one door, all or nothing."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from house import House

from engine import games
from server import audit, db, log, play, seating, timeouts
from server.errors import Refused
from server.models import ClientKey, LogRow, Match, Outbox, Seat, User


def refused(code: str):
    """Expect a refusal with that code."""
    return pytest.raises(Refused, check=lambda fault: fault.code == code)


def test_a_move_is_a_row_and_the_next_seat_is_told(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    house.mail()
    first = house.played(match).position.to_act[0]
    done = house.move(match)
    played = house.played(match)
    assert played.rows[-1].text == done.text
    assert played.position.to_act == (1 - first,)
    assert [mail.kind for mail in house.queued()] == ["turn"]
    assert log.get(match.id).awaited == (1 - first,)


def test_the_same_page_sent_twice_is_stale_and_tells_what_happened(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    played = house.played(match)
    seat = played.position.to_act[0]
    by = log.places(match)[seat].user
    text = played.view(seat).moves[0]
    play.submit(match.id, seat, text, 0, by, "web", now=house.now)
    with refused("stale") as caught:
        play.submit(match.id, seat, text, 0, by, "web", now=house.now)
    assert by.name in caught.value.since[0]
    assert len(house.played(match).rows) == 1


def test_a_repeated_request_with_its_key_gets_the_same_answer(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    seat = house.played(match).position.to_act[0]
    done = house.move(match, key="once")
    by = log.places(match)[seat].user
    again = play.submit(match.id, seat, done.text, 0, by, "web", now=house.now, key="once")
    assert again == done
    assert len(house.played(match).rows) == 1
    other = house.started("Ailsa", "Bran")
    with refused("bad-input"):
        play.submit(other.id, seat, done.text, 0, by, "web", now=house.now, key="once")


def test_nobody_moves_for_another(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    seat = house.played(match).position.to_act[0]
    stranger, opponent = house.people["Catrin"], log.places(match)[1 - seat].user
    for by in (stranger, opponent):
        with refused("not-yours"):
            play.submit(match.id, seat, "A1-A2", 0, by, "web", now=house.now)
    with refused("not-yours"):
        play.submit(match.id, 7, "A1-A2", 0, opponent, "web", now=house.now)
    with refused("not-your-turn"):
        play.submit(match.id, 1 - seat, "A1-A2", 0, opponent, "web", now=house.now)


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "invalid-move"), ("A1", "invalid-move"), ("A1-C3", "illegal-move"), ("x" * 5000, "invalid-move")],
)
def test_a_wrong_move_changes_nothing(house: House, text: str, code: str) -> None:
    match = house.started("Ailsa", "Bran")
    mails = Outbox.select().count()
    with refused(code):
        house.move(match, text or " ")
    assert house.played(match).rows == []
    assert Outbox.select().count() == mails


def test_a_table_that_has_not_begun_takes_no_move(house: House) -> None:
    match = house.table("Ailsa", seats=2)
    with refused("not-running"):
        play.submit(match.id, 0, "A1-A2", 0, house.people["Ailsa"], "web", now=house.now)
    with refused("not-running"):
        play.preview(match, 0, "A1-A2", 0, house.people["Ailsa"])
    for number in (99999, 0, -1, 2**40):
        with refused("not-found"):
            log.get(number)


def test_a_match_ends_with_result_and_mail_to_all(house: House) -> None:
    match = house.finish(house.started("Ailsa", "Bran", "Catrin"))
    assert match.status == "finished"
    assert match.deadline is None
    assert match.to_act == ""
    outcome = house.played(match).outcome
    seats = log.places(match)
    assert tuple(seat.score for seat in seats) == outcome.scores
    assert tuple(seat.number for seat in seats if seat.won) == outcome.winners
    assert {mail.kind for mail in house.queued()} >= {"end"}
    assert len(house.queued(kind="end")) == 3
    with refused("not-running") as caught:
        play.submit(match.id, 0, "A1-A2", match.length, house.people["Ailsa"], "web", now=house.now)
    assert caught.value.since == ()
    with refused("not-running"):
        seating.resign(match.id, house.people["Ailsa"], "web", now=house.now)
    assert timeouts.time_out(match.id, now=house.later(days=100)) is False


def test_one_of_two_resigns_and_the_other_wins(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    house.move(match)
    seating.resign(match.id, house.people["Bran"], "web", now=house.now)
    match = log.get(match.id)
    assert (match.status, match.reason) == ("finished", "resignation")
    assert [seat.owner.name for seat in log.places(match) if seat.won] == ["Ailsa"]


def test_one_of_three_resigns_and_a_bot_plays_on(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin")
    house.mail()
    seating.resign(match.id, house.people["Bran"], "web", now=house.now)
    match = log.get(match.id)
    assert match.status == "running"
    assert log.places(match)[1].user.bot == "steady"
    assert [row.kind for row in house.played(match).rows] == ["resign", "takeover"]
    assert {mail.user.name for mail in house.queued(kind="notice")} == {"Ailsa", "Catrin"}
    with refused("not-yours"):
        seating.resign(match.id, house.people["Bran"], "web", now=house.now)


def test_who_runs_out_of_time_has_a_move_played_for_him(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    house.mail()
    seat = house.played(match).position.to_act[0]
    assert timeouts.time_out(match.id, now=house.later(hours=23)) is False
    assert timeouts.time_out(match.id, now=house.later(hours=1)) is True
    assert timeouts.time_out(match.id, now=house.now) is False
    rows = house.played(match).rows[2:]
    assert [(row.kind, row.seat, row.via) for row in rows] == [("timeout", seat, "clock"), ("move", seat, "clock")]
    late = log.places(match)[seat].user
    assert [mail.user.name for mail in house.queued(kind="notice")] == [late.name]
    assert len(house.queued(kind="turn")) == 1


def test_after_two_misses_in_a_row_a_bot_takes_over_and_all_are_told(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    late = house.played(match).position.to_act[0]
    house.mail()
    for _ in range(2):
        timeouts.time_out(match.id, now=house.later(days=1))
        house.mail()
        while house.played(match).position.to_act[0] != late:
            house.later(minutes=1)
            house.move(match)
    rows = [row.kind for row in house.played(match).rows if row.seat == late]
    assert rows == ["move", "timeout", "move", "timeout", "move", "takeover"]
    seats = log.places(match)
    assert seats[late].user.bot
    told = {m.to_name for m in house.post.messages if any("bot took over" in line for line in m.text.splitlines())}
    assert told == {"Ailsa", "Bran", "Catrin"}


def test_a_move_of_ones_own_forgives_the_miss_before(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    for _ in range(3):
        timeouts.time_out(match.id, now=house.later(days=1))
        for _ in range(3):
            house.move(match)
    assert "takeover" not in {row.kind for row in house.played(match).rows}


def test_a_bot_out_of_time_is_moved_for_without_blame(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin")
    seat = house.played(match).position.to_act[0]
    seating.resign(match.id, log.places(match)[seat].user, "web", now=house.now)
    timeouts.time_out(match.id, now=house.later(days=1))
    assert [row.kind for row in house.played(match).rows] == ["resign", "takeover", "move"]


def test_a_preview_tells_the_consequences_and_stores_nothing(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    played = house.played(match)
    seat = played.position.to_act[0]
    by = log.places(match)[seat].user
    text = played.view(seat).moves[0]
    trial = play.preview(log.get(match.id), seat, text.lower().replace("-", " "), 0, by)
    assert trial.text == text
    assert by.name in trial.sentences[0]
    assert trial.touched[:2] == tuple(text.split("-"))
    assert house.played(match).rows == []


def test_cached_columns_are_compared_with_the_log_and_rebuilt(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    house.move(match)
    assert audit.verify(match.id) == []
    with db.transaction():
        Match.update(to_act="0,1", deadline=house.now + timedelta(days=9)).where(Match.id == match.id).execute()
    faults = " ".join(audit.verify(match.id))
    assert "to_act" in faults
    assert "deadline" in faults
    audit.rebuild(match.id, house.now)
    assert audit.verify(match.id) == []
    assert audit.running_or_over() == [match.id]


def test_what_the_setup_row_says_of_rules_and_people_is_compared_too(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    with db.transaction():
        Match.update(options={"five_singles": "all_stay"}).where(Match.id == match.id).execute()
    assert "options" in audit.verify(match.id)[0]
    with db.transaction():
        Match.update(options={}).where(Match.id == match.id).execute()
        one, two = log.places(match)
        for seat, number in ((one, None), (two, 0), (one, 1)):
            Seat.update(number=number).where(Seat.id == seat.id).execute()
    assert "people" in audit.verify(match.id)[0]


def test_a_match_of_other_rules_is_frozen(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    match = house.started("Ailsa", "Bran")
    monkeypatch.setattr(type(games.game("clans")), "rules", 2)
    assert "rules 1" in audit.verify(match.id)[0]
    with refused("damaged"):
        house.move(match)


def test_a_key_that_two_matches_use_is_refused_to_one(house: House) -> None:
    one, two = house.started("Ailsa", "Bran"), house.started("Ailsa", "Bran")
    while house.played(one).position.to_act != house.played(two).position.to_act:
        house.move(two)
    house.move(one, key="same")
    with refused("bad-input"):
        house.move(two, key="same")
    with refused("bad-input"):
        house.move(two, key="k" * 65)


def test_a_key_whose_move_was_taken_back_confirms_it_no_more(house: House) -> None:
    match = house.started("Ailsa", "Bran", clock={"move": 86400, "takeback": True})
    seat, by, (first, other) = awaited(house, match)
    house.move(match, first, key="page")
    play.take_back(match.id, by, "web", now=house.now)
    for text in (first, other):
        with refused("stale"):
            play.submit(match.id, seat, text, 0, by, "web", now=house.now, key="page")


def test_a_key_is_the_answer_to_the_same_move_alone(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    seat, by, (first, other) = awaited(house, match)
    done = house.move(match, first, key="page")
    written = first.lower().replace("-", " to ")
    assert play.submit(match.id, seat, written, 0, by, "web", now=house.now, key="page") == done
    with refused("stale"):
        play.submit(match.id, seat, other, 0, by, "web", now=house.now, key="page")


def awaited(house: House, match: Match) -> tuple[int, User, tuple[str, ...]]:
    """Return who is to move, his seat, and two moves of his."""
    played = house.played(match)
    seat = played.position.to_act[0]
    return seat, log.places(match)[seat].user, played.view(seat).moves[:2]


def test_old_request_keys_are_forgotten(house: House) -> None:
    house.move(house.started("Ailsa", "Bran"), key="old")
    play.sweep(house.later(days=29))
    assert ClientKey.select().count() == 1
    play.sweep(house.later(days=2))
    assert ClientKey.select().count() == 0


def test_the_database_itself_keeps_the_log(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    house.move(match)
    kept = list(LogRow.select().where(LogRow.match == match).order_by(LogRow.seq).dicts())
    row = dict(kept[-1])
    mine = (LogRow.match == match) & (LogRow.seq == 1)
    attacks = [
        lambda: LogRow.update(text="A1-A2").where(mine).execute(),
        lambda: LogRow.delete().where(mine).execute(),
        lambda: LogRow.insert(**{**row, "seq": 3}).execute(),
        lambda: LogRow.insert(**{**row, "seq": 1}).execute(),
        lambda: (
            LogRow.insert(**{**row, "text": "A1-A2"}).on_conflict("REPLACE").execute()
            if db.on_sqlite()
            else db.database.execute_sql("TRUNCATE log CASCADE")
        ),
    ]
    for attack in attacks:
        with pytest.raises(Exception, match=r"(never|gaps)"), db.transaction():
            attack()
    assert list(LogRow.select().where(LogRow.match == match).order_by(LogRow.seq).dicts()) == kept


def test_a_row_changed_behind_dropped_triggers_freezes_the_match_and_is_named(house: House) -> None:
    match, other = house.started("Ailsa", "Bran"), house.started("Ailsa", "Bran")
    house.move(match)
    house.move(other)
    on = "" if db.on_sqlite() else " ON log"
    with db.transaction():
        db.database.execute_sql(f"DROP TRIGGER log_never_changes{on}")
        LogRow.update(via="email").where((LogRow.match == match) & (LogRow.seq == 1)).execute()
    assert "row 1" in audit.verify(match.id)[0]
    with refused("damaged"):
        house.move(match)
    house.move(other)
    assert audit.verify(other.id) == []
    assert len(log.raw(match)) == 1


def test_of_many_who_send_the_same_move_one_is_taken(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    played = house.played(match)
    seat = played.position.to_act[0]
    by, text = log.places(match)[seat].user, played.view(seat).moves[0]
    answers: list[str] = []

    def send() -> None:
        with db.connected():
            try:
                play.submit(match.id, seat, text, 0, by, "web", now=house.now)
                answers.append("done")
            except Refused as fault:
                answers.append(fault.code)

    threads = [threading.Thread(target=send) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == ["done"] + ["stale"] * 19
    assert len(house.played(match).rows) == 1
