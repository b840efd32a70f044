"""What nobody can do without end: have others mailed, fill a log, hold a clock up, deceive with a name."""

from __future__ import annotations

from datetime import timedelta

import pytest
from clockwork import DAY, awaited, kinds, others, say, sitting, tick_at, wish, with_rounds
from house import House
from together import quick_pictures, refused

from server import (
    accounts,
    ahead,
    audit,
    commands,
    desk,
    lobby,
    log,
    play,
    preferences,
    proposals,
    rematch,
    seating,
    throttle,
    vacations,
    votes,
)
from server.models import Match, Outbox, Prepared, User
from server.preferences import Wishes

AT_ONCE = {"move": DAY, "missing": "at-once"}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)
    with_rounds(monkeypatch)


def mails(match: Match, kind: str = "notice") -> int:
    """Return how many mails of a kind were ever queued for the match."""
    return Outbox.select().where((Outbox.match == match) & (Outbox.kind == kind)).count()


def unbounded(monkeypatch: pytest.MonkeyPatch, *kinds: str) -> None:
    """Let these be tried as often as one likes."""
    for kind in kinds:
        monkeypatch.setitem(throttle.BOUNDS, kind, throttle.Bound(10**6, throttle.BOUNDS[kind].seconds))


def lost(house: House, *names: str, **terms: object) -> tuple[Match, int, User, list[User]]:
    """Return a match with a seat lost to a bot: match, seat, its owner, the others."""
    match = house.begun(*names, **{"clock": AT_ONCE, **terms})
    seat, user = awaited(house, match)
    assert tick_at(house, log.get(match.id).deadline)
    assert sitting(match, seat).bot
    return match, seat, user, others(match, user)


def test_proposing_and_withdrawing_in_turn_is_one_mail_a_day(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    for _ in range(8):
        say(house, match, "end", "Ailsa")
        say(house, match, "", "Ailsa")
    assert mails(match) == 2, "one for each of the others"
    house.later(days=1)
    say(house, match, "end", "Ailsa")
    assert mails(match) == 4


def test_a_pause_of_ever_another_length_is_one_mail_a_day(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    for hours in range(1, 9):
        say(cottage, match, votes.pause_topic(cottage.now + timedelta(hours=hours)), "Ailsa")
    assert mails(match) == 1
    say(cottage, match, "end", "Ailsa")
    say(cottage, match, "end", "Bran")
    assert mails(match) == 2, "what is something else is told"


def test_what_one_person_proposes_in_one_match_is_bounded(house: House) -> None:
    match, other = house.begun("Ailsa", "Bran"), house.begun("Ailsa", "Bran")
    for _ in range(10):
        say(house, match, "end", "Ailsa")
        say(house, match, "", "Ailsa")
    with refused("throttled"):
        say(house, match, "end", "Ailsa")
    assert kinds(house, match, 2) == ["vote"] * 20
    with refused("throttled"):
        play.nudge(match.id, house.people["Ailsa"], "web", now=house.now)
    say(house, other, "end", "Ailsa")
    say(house, match, "end", "Bran")
    house.later(hours=1)
    assert say(house, match, "end", "Ailsa") == [True]


def test_a_full_log_takes_moves_resignations_and_the_clock_only(
    cottage: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    unbounded(monkeypatch, "affair by")
    monkeypatch.setattr(desk, "MOST_AFFAIRS", 6)
    match = cottage.begun("Ailsa", "Bran", "Catrin", clock=AT_ONCE)
    for _ in range(3):
        say(cottage, match, "end", "Ailsa")
        say(cottage, match, "", "Ailsa")
    with refused("throttled"):
        say(cottage, match, "end", "Ailsa")
    say(cottage, match, "end", "Bran")
    cottage.move(match)
    assert tick_at(cottage, log.get(match.id).deadline)
    here = next(name for name in ("Ailsa", "Bran", "Catrin") if log.own_number(match, cottage.people[name]) is not None)
    seating.resign(match.id, cottage.people[here], "web", now=cottage.now)
    assert audit.verify(match.id) == []


def test_what_was_proposed_last_can_be_withdrawn_in_a_full_log(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "MOST_AFFAIRS", 1)
    match = cottage.begun("Ailsa", "Bran")
    say(cottage, match, "end", "Ailsa")
    say(cottage, match, "", "Ailsa")
    assert proposals.standing(cottage.played(match).rows, cottage.now) == []


def test_vacations_announced_and_called_off_come_to_an_end(house: House) -> None:
    match, user = house.begun("Ailsa", "Bran"), house.people["Ailsa"]
    bound = throttle.BOUNDS["vacation by"].tries
    for _ in range(bound):
        vacations.announce(user, house.now, house.now + timedelta(days=2), "web", now=house.now)
        vacations.end(user, "web", now=house.now)
    with refused("throttled"):
        vacations.announce(user, house.now, house.now + timedelta(days=2), "web", now=house.now)
    assert vacations.current(user, house.now) is None
    assert kinds(house, match, 2) == ["vacation"] * 2 * bound
    house.later(days=7)
    vacations.announce(user, house.now, house.now + timedelta(days=2), "web", now=house.now)


def test_a_vacation_that_is_none_does_not_count(cottage: House) -> None:
    user = cottage.people["Ailsa"]
    for _ in range(9):
        with refused("bad-input"):
            vacations.announce(user, cottage.now, cottage.now, "web", now=cottage.now)
    vacations.announce(user, cottage.now, cottage.now + timedelta(days=2), "web", now=cottage.now)


def test_changing_zones_to_and_fro_comes_to_an_end(cottage: House) -> None:
    match, user = cottage.begun("Ailsa", "Bran", clock={"move": DAY, "weekend": True}), cottage.people["Ailsa"]
    before, bound = len(cottage.played(match).rows), throttle.BOUNDS["hours by"].tries
    zones = ["Europe/Prague", "Pacific/Apia"] * bound
    for zone in zones[:bound]:
        preferences.settle(User.get_by_id(user.id), Wishes(zone), cottage.now)
    with refused("throttled"):
        preferences.settle(User.get_by_id(user.id), Wishes(zones[bound]), cottage.now)
    assert kinds(cottage, match, before) == ["hours"] * bound
    preferences.settle(User.get_by_id(user.id), Wishes(zones[bound - 1], turn_mail="off"), cottage.now)


def test_a_rematch_asked_for_and_left_is_one_mail(house: House) -> None:
    match = house.finish(house.started("Ailsa", "Bran", "Catrin"))
    for _ in range(6):
        table = rematch.ask(match.id, house.people["Ailsa"], now=house.now)
        lobby.leave(table.id, house.people["Ailsa"])
    assert Outbox.select().where(Outbox.kind == "rematch").count() == 2, "one for each of the others"
    with refused("throttled"):
        rematch.ask(match.id, house.people["Ailsa"], now=house.now)
    table = rematch.ask(match.id, house.people["Bran"], now=house.now)
    assert mails(table, "rematch") == 2, "that another wants one is news"


def test_a_host_is_told_once_a_day_that_the_same_people_sit_there(house: House) -> None:
    table = house.table("Ailsa", "Bran", autostart=False)
    for _ in range(4):
        lobby.leave(table.id, house.people["Bran"])
        house.later(minutes=1)
        lobby.join(table.id, house.people["Bran"], now=house.now)
    assert mails(table, "full") == 1
    lobby.leave(table.id, house.people["Bran"])
    lobby.join(table.id, house.people["Catrin"], now=house.now)
    assert mails(table, "full") == 2


@pytest.mark.parametrize("wait", [0, 20])
def test_whoever_is_about_to_be_away_takes_no_free_seat(house: House, wait: int) -> None:
    match, seat, _, (other, *_) = lost(house, "Ailsa", "Bran", "Catrin")
    seating.offer(match.id, seat, other, "web", now=house.now)
    guest = house.people["Dugald"]
    start = house.now + timedelta(hours=wait)
    vacations.announce(guest, start, start + timedelta(days=27), "web", now=house.now)
    with refused("bad-input"):
        seating.take(match.id, seat, guest, "web", now=house.now)
    vacations.end(guest, "web", now=house.now)
    seating.take(match.id, seat, guest, "web", now=house.now)
    assert "vacation" not in kinds(house, match)


@pytest.mark.parametrize("clock", [{**AT_ONCE, "vacations": False}, AT_ONCE])
def test_whoever_is_away_later_or_without_effect_takes_a_free_seat(cottage: House, clock: dict[str, object]) -> None:
    match, seat, _, (other, *_) = lost(cottage, "Ailsa", "Bran", "Catrin", clock=clock)
    seating.offer(match.id, seat, other, "web", now=cottage.now)
    guest = cottage.people["Dugald"]
    start = cottage.now + timedelta(days=1 if "vacations" not in clock else 0)
    vacations.announce(guest, start, start + timedelta(days=3), "web", now=cottage.now)
    seating.take(match.id, seat, guest, "web", now=cottage.now)
    assert sitting(match, seat) == guest


def test_the_last_person_beside_bots_does_not_end_the_match_at_once(house: House) -> None:
    match, seat, user, (other,) = lost(house, "Ailsa", "Bran")
    house.later(minutes=1)
    with refused("bad-input"):
        votes.vote(match.id, other, "end", "web", now=house.now)
    seating.come_back(match.id, user, "web", now=house.now)
    assert votes.vote(match.id, other, "end", "web", now=house.now) is False
    assert votes.vote(match.id, user, "end", "web", now=house.now)
    assert seat in (0, 1)


def test_whoever_has_been_gone_for_days_holds_up_no_end(cottage: House) -> None:
    match, _, _, (other,) = lost(cottage, "Ailsa", "Bran", clock={"move": 9 * DAY, "missing": "at-once"})
    cottage.later(days=votes.GONE.days, minutes=-1)
    with refused("bad-input"):
        votes.vote(match.id, other, "end", "web", now=cottage.now)
    cottage.later(minutes=1)
    assert votes.vote(match.id, other, "end", "web", now=cottage.now)


def test_whoever_resigned_holds_up_no_end(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin")
    seating.resign(match.id, cottage.people["Catrin"], "web", now=cottage.now)
    assert say(cottage, match, "end", "Ailsa", "Bran") == [False, True]


def test_a_vote_to_replace_somebody_does_not_end_the_match_over_his_head(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", clock={"move": DAY, "missing": "vote"})
    seat, user = awaited(cottage, match)
    (other,) = others(match, user)
    assert tick_at(cottage, log.get(match.id).deadline)
    assert votes.vote(match.id, other, f"replace {seat}", "web", now=cottage.now)
    with refused("bad-input"):
        votes.vote(match.id, other, "end", "web", now=cottage.now)


def conditional(house: House, match: Match) -> tuple[User, list[str]]:
    """Let the one who comes next have a move ready after the second of the moves there are; return him and these."""
    played = house.played(match)
    game, seat, state = played.game, played.position.to_act[0], played.position.state
    moves = list(played.view(seat).moves)
    after = state.apply(seat, game.parse(state, seat, moves[1]))
    following = after.to_act[0]
    user = sitting(match, following)
    text = game.format(after, following, next(iter(after.legal_moves(following))))
    ahead.prepare(match.id, user, text, after=moves[1], now=house.now)
    return user, moves


def test_a_move_taken_back_leaves_what_the_other_has_ready(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    _, mover = awaited(house, match)
    house.later(minutes=1)
    user, moves = conditional(house, match)
    for _ in range(2):
        house.later(minutes=1)
        house.move(match, moves[0])
        assert ahead.ready(match, user).dropped
        play.take_back(match.id, mover, "web", now=house.now)
        assert ahead.ready(match, user).dropped == ""
    house.move(match, moves[1])
    assert house.played(match).rows[-1].via == "auto"
    assert not Prepared.select().exists()


def test_what_was_dropped_in_an_earlier_turn_stays_dropped(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    _, mover = awaited(cottage, match)
    cottage.later(minutes=1)
    user, moves = conditional(cottage, match)
    for _ in range(2):
        cottage.later(minutes=1)
        cottage.move(match, moves[0] if mover == awaited(cottage, match)[1] else None)
    cottage.later(minutes=1)
    cottage.move(match)
    play.take_back(match.id, mover, "web", now=cottage.now)
    assert ahead.ready(match, user).dropped


def test_who_was_awaited_anyway_gets_nothing_back(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran", "Catrin", game="rounds", setup={"left": 3, "bound": []})
    bran, catrin = cottage.people["Bran"], cottage.people["Catrin"]
    play.submit(match.id, 1, "go", 0, bran, "web", now=cottage.now)
    ahead.prepare(match.id, bran, "fly", now=cottage.now)
    play.submit(match.id, 2, "go", 0, catrin, "web", now=cottage.now)
    play.submit(match.id, 0, "go", 0, cottage.people["Ailsa"], "web", now=cottage.now)
    assert ahead.ready(match, bran).dropped, "no word of the game that is legal"
    cottage.later(minutes=1)
    seq = cottage.played(match).position.asked[2]
    play.submit(match.id, 2, "go", seq, catrin, "web", now=cottage.now)
    play.take_back(match.id, catrin, "web", now=cottage.now)
    assert ahead.ready(match, bran).dropped


@pytest.mark.parametrize(
    "name", ["\u0410ilsa", "B\u043et", "Bran \u039f", "\u674e Bran", "Ann \u07c1", "Бран A", "Zoé \u0391", "\u30fcAnn"]
)
def test_a_name_of_several_scripts_is_refused(name: str) -> None:
    with refused("bad-input"):
        accounts.clean_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "Айлса 2",
        "Ольга О'Нил",
        "Ἀθηνᾶ",
        "Ελένη",
        "李小龍 3",
        "山田たろう",
        "マリー",
        "김철수",
        "金 철수",
        "Şebnem Ćirić",
        "Keʻala",
        "שרה",
        "علي ٣",
        "Ａilsa",
        "Movement",
        "Stop Motion",
        "Joiner",
        "Clachanna",
    ],
)
def test_a_name_of_one_script_is_taken(name: str) -> None:
    assert accounts.clean_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        *("Clachan", "clachan team", "Admin", "ADMIN 2", "Administrator", "moderator", "Postmaster", "abuse"),
        *("\u0412\u043e\u0442", "\u0392\u039f\u03a4", "Stop."),
        *commands.WORDS,
        *(word.title() for word in commands.WORDS),
    ],
)
def test_the_house_keeps_its_own_names_and_words(name: str) -> None:
    with refused("bad-input"):
        accounts.clean_name(name)


def test_nobody_is_called_as_our_mails_are() -> None:
    for name in ("Hüttendorf", "HÜTTENDORF", " hüttendorf"):
        with refused("bad-input"):
            accounts.clean_name(name, "Hüttendorf")
    assert accounts.clean_name("Hüttendorfer", "Hüttendorf") == "Hüttendorfer"


def test_who_has_such_a_name_already_keeps_it(cottage: House) -> None:
    user = wish(cottage.people["Ailsa"], name="Stop", name_key="stop")
    assert accounts.by_name("stop") == user
