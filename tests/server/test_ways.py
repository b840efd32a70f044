"""Ways to be told besides by mail: what is queued for whom, and what becomes of the ways."""

from __future__ import annotations

from datetime import timedelta

import pytest
from clockwork import awaited
from house import House
from pagers import Pager, asked_until, paged, said, tell
from together import everything_stored, in_parallel, quick_pictures, refused

from server import accounts, briefs, deadlines, digests, lobby, outbox, play, seating, tidings, ways
from server.channels import Brief, DeliveryError
from server.models import Outbox, User, Way


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)


def test_a_new_way_is_sent_a_trial_message(house: House, pager: Pager) -> None:
    ways.add(house.people["Ailsa"], "pager", {"number": "12345"}, {"pager": pager}, house.now)
    (brief,) = tell(house, pager)
    assert (brief.title, brief.text) == ("A trial message", "So Clachan tells you of your matches here.")
    assert dict(brief.address) == {"number": "12345"}
    assert "12345" not in repr(brief)


def test_a_turn_is_told_once_with_what_happened_and_until_when(house: House, pager: Pager) -> None:
    paged(house, pager)
    match = house.begun("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    tell(house, pager)
    brief = pager.briefs[-1]
    assert brief.title == f"Clans {match.id}: it is your turn"
    assert brief.text.startswith("Bran moved")
    assert "You have until Tue 3 Mar 2026" in brief.text
    assert brief.url == f"{house.settings.public_url}/matches/{match.id}"
    assert said(house, pager) == [], "once"


def test_a_turn_taken_meanwhile_is_not_told(house: House, pager: Pager) -> None:
    paged(house, pager)
    match = house.begun("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    tell(house, pager)
    house.move(match)
    house.move(match)
    house.move(match)
    assert awaited(house, match)[1].name == "Bran"
    assert said(house, pager) == []


def test_each_way_takes_the_news_it_was_chosen_for(house: House, pager: Pager) -> None:
    first = paged(house, pager, number="1", news=["start", "end"])
    second = paged(house, pager, number="2", news=["turn"])
    assert (first.takes, second.takes) == ({"start", "end"}, {"turn"})
    match = house.started("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    tell(house, pager)
    house.finish(match)
    tell(house, pager)
    told = {(brief.address["number"], brief.title.partition(f"Clans {match.id}")[2]) for brief in pager.briefs}
    assert told == {("1", " has begun"), ("2", ": it is your turn"), ("1", " has ended")}


def test_whoever_is_to_move_first_is_told_that_and_not_also_of_the_beginning(house: House, pager: Pager) -> None:
    for name in ("Ailsa", "Bran"):
        paged(house, pager, name, number=name)
    match = house.started("Ailsa", "Bran")
    first = awaited(house, match)[1].name
    told = {brief.address["number"]: brief.title for brief in tell(house, pager)}
    other = next(name for name in ("Ailsa", "Bran") if name != first)
    assert told == {first: f"Clans {match.id}: it is your turn", other: f"Clans {match.id} has begun"}
    assert len(pager.briefs) == 2


def test_the_end_is_told_with_its_result_unless_one_wants_to_watch_it(house: House, pager: Pager) -> None:
    paged(house, pager)
    User.update(keeps_results=True).where(User.name == "Bran").execute()
    paged(house, pager, "Bran", number="9")
    match = house.begun("Ailsa", "Bran")
    _, user = awaited(house, match)
    seating.resign(match.id, user, "web", now=house.now)
    ends = {brief.address["number"]: brief.text for brief in tell(house, pager) if "has ended" in brief.title}
    assert ends["12345"].endswith(".")
    assert " won" in ends["12345"]
    assert ends["9"] == ""


def test_a_reminder_and_a_nudge_are_told(house: House, pager: Pager) -> None:
    paged(house, pager, news=["reminder"])
    match = house.begun("Ailsa", "Bran", pace=5 * 86400)
    asked_until(house, match, "Ailsa")
    house.later(days=4, hours=1)
    deadlines.remind(house.now)
    (brief,) = tell(house, pager)
    assert brief.title == f"Clans {match.id}: a reminder"
    assert brief.text.startswith("80 % of your time are gone. You have until")
    play.nudge(match.id, house.people["Bran"], "web", now=house.now)
    assert tell(house, pager)[-1].text.startswith("Bran asks for your move.")


def test_the_list_of_a_day_comes_by_a_way_that_takes_it_least_time_left_first(house: House, pager: Pager) -> None:
    long = house.started("Ailsa", "Bran", pace=5 * 86400)
    short = house.started("Ailsa", "Catrin", pace=2 * 86400)
    for match in (long, short):
        asked_until(house, match, "Ailsa")
    paged(house, pager, news=["digest"])
    assert User.get_by_id(house.people["Ailsa"].id).digest_at is not None
    house.later(hours=22)
    digests.run(house.now)
    (brief,) = tell(house, pager)
    assert brief.title == "2 matches wait for you"
    assert [line.partition(":")[0] for line in brief.text.splitlines()] == [f"Clans {short.id}", f"Clans {long.id}"]
    assert not [mail for mail in house.mail() if mail.subject == "Your turns"], "by mail it was not wanted"
    ways.silence(short, house.people["Ailsa"], True)
    house.later(days=1)
    digests.run(house.now)
    assert tell(house, pager)[-1].title == "1 match waits for you"
    ways.remove(house.people["Ailsa"], ways.of(house.people["Ailsa"])[0].id, house.now)
    assert User.get_by_id(house.people["Ailsa"].id).digest_at is None


def test_two_schedulers_hand_each_brief_over_once(house: House, pager: Pager) -> None:
    for name in house.people:
        paged(house, pager, name, number=name)
    house.started("Ailsa", "Bran")
    house.started("Catrin", "Dugald")
    others = [Pager(), Pager()]
    write = briefs.writer(house.settings)
    for _ in range(3):
        in_parallel(*(lambda one=one: tidings.run({"pager": one}, write, lambda: house.now) for one in others))
    ids = [brief.message_id for one in others for brief in one.briefs]
    assert len(ids) == len(set(ids)) == 4


def test_what_is_no_way_is_refused(house: House, pager: Pager) -> None:
    ailsa, bran, channels = house.people["Ailsa"], house.people["Bran"], {"pager": pager}
    for kind, filled in (("pager", {}), ("carrier", {"number": "1"})):
        with refused("bad-input"):
            ways.add(ailsa, kind, filled, channels, house.now)
    with refused("bad-input"):
        ways.add(ailsa, "pager", {"number": "1"}, channels, house.now, label="x" * 41)
    way = paged(house, pager)
    for act in (
        lambda: ways.remove(bran, way.id, house.now),
        lambda: ways.change(bran, way.id, "Mine", ["turn"], house.now),
        lambda: ways.try_out(bran, way.id, house.now),
    ):
        with refused("not-found"):
            act()
    assert ways.of(ailsa) == [way]
    assert ways.of(bran) == []


def test_nobody_has_more_ways_than_ten_and_trials_are_bounded(house: House, pager: Pager) -> None:
    ailsa = house.people["Ailsa"]
    for number in range(ways.MOST):
        ways.add(ailsa, "pager", {"number": str(number)}, {"pager": pager}, house.now)
    with refused("bad-input"):
        ways.add(ailsa, "pager", {"number": "one more"}, {"pager": pager}, house.now)
    with refused("throttled"):
        for _ in range(20):
            house.later(seconds=1)
            ways.try_out(ailsa, ways.of(ailsa)[0].id, house.now)


def test_a_way_taken_away_is_told_nothing_and_with_an_account_it_goes(house: House, pager: Pager) -> None:
    way = paged(house, pager, number="secret-number")
    house.started("Ailsa", "Bran")
    ways.remove(house.people["Ailsa"], way.id, house.now)
    assert said(house, pager) == []
    assert "secret-number" not in everything_stored()
    paged(house, pager, "Dugald", number="another-number")
    lobby.leave_all(house.people["Dugald"], house.now)
    accounts.forget(house.people["Dugald"], house.now)
    assert "another-number" not in everything_stored()


def test_who_has_no_other_way_costs_a_move_no_question(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tidings, "_LIVE", None)
    match = house.begun("Ailsa", "Bran")
    house.move(match)


def test_mails_know_nothing_of_other_ways(house: House, pager: Pager) -> None:
    paged(house, pager)
    match = house.started("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    tell(house, pager)
    mails = house.mail()
    assert {mail.to_name for mail in mails} <= {"Ailsa", "Bran"}
    assert outbox.oldest_due(house.now) == timedelta(0)
    ids = {brief.message_id for brief in pager.briefs}
    assert not ids & {part.partition("@")[0] for mail in mails for part in mail.thread}
    assert Outbox.select().where(Outbox.way.is_null(False) & (Outbox.address != "")).count() == 0


def test_a_brief_is_in_the_language_of_its_reader(house: House, pager: Pager) -> None:
    User.update(language="de").where(User.name == "Ailsa").execute()
    paged(house, pager)
    match = house.started("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    told = tell(house, pager)[-1]
    assert told.language == "de"
    assert told.title == f"Clans {match.id}: Du bist am Zug"


def test_a_number_that_is_given_again_leads_nothing_of_its_last_owner_to_the_next(house: House, pager: Pager) -> None:
    old = paged(house, pager)
    match = house.started("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    Outbox.update(state="failed", done_at=house.now).where((Outbox.way == old.id) & Outbox.done_at.is_null()).execute()
    ways.remove(house.people["Ailsa"], old.id, house.now)
    house.later(seconds=1)
    new = paged(house, pager, "Catrin", number="9")
    Way.update(id=old.id).where(Way.id == new.id).execute()
    # A keeper has tried again what failed.
    Outbox.update(state="queued", done_at=None).where((Outbox.kind == "pager") & (Outbox.state == "failed")).execute()
    assert said(house, pager) == []


@pytest.mark.parametrize("fault", [DeliveryError("the answer was 410", gone=True), DeliveryError("no"), None])
def test_what_becomes_of_a_message_in_hand_is_nothing_to_the_next_owner_of_its_number(
    house: House, fault: DeliveryError | None
) -> None:
    class Slow(Pager):
        """A service that answers when the way has been taken away, and its number given to somebody else."""

        def deliver(self, message: Brief) -> None:
            if message.address["number"] == "1" and len(self.briefs) == 1:
                ways.remove(house.people["Ailsa"], old.id, house.now)
                new = ways.add(house.people["Catrin"], "pager", {"number": "9"}, {"pager": self}, house.now)
                Outbox.delete().where(Outbox.way == new.id).where(Outbox.user == new.user_id).execute()
                Way.update(id=old.id).where(Way.id == new.id).execute()
                if fault:
                    raise fault
            super().deliver(message)

    slow = Slow()
    old = ways.add(house.people["Ailsa"], "pager", {"number": "1"}, {"pager": slow}, house.now)
    tell(house, slow)
    house.later(seconds=1)
    ways.try_out(house.people["Ailsa"], old.id, house.now)
    tidings.run({"pager": slow}, briefs.writer(house.settings), lambda: house.now)
    (kept,) = Way.select()
    assert (kept.user.name, kept.failures, kept.fault, kept.told_at) == ("Catrin", 0, "", None)


def test_a_number_is_not_given_again_so_the_list_of_a_day_comes_that_its_owner_had(house: House, pager: Pager) -> None:
    match = house.started("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    old = paged(house, pager, "Catrin", number="9", news=["digest"])
    tidings.digest(User.get_by_id(house.people["Catrin"].id), "2026-03-03", house.now)
    ways.remove(house.people["Catrin"], old.id, house.now)
    house.later(seconds=1)
    assert paged(house, pager, news=["digest"]).id > old.id
    tidings.digest(User.get_by_id(house.people["Ailsa"].id), "2026-03-03", house.now)
    assert said(house, pager) == ["1 match waits for you"]


@pytest.mark.parametrize("label", ["a\x1b[2Jb", "a\x7fb", "a\u202eb", "\u200b", "a\ud800b", "a\u2028b\u2066"])
def test_a_way_is_called_what_can_be_read(house: House, pager: Pager, label: str) -> None:
    ailsa = house.people["Ailsa"]
    way = ways.add(ailsa, "pager", {"number": "1"}, {"pager": pager}, house.now, label=label)
    assert Way.get_by_id(way.id).label.isprintable()
    assert Way.get_by_id(way.id).label
    ways.change(ailsa, way.id, label, ["turn"], house.now)
    assert Way.get_by_id(way.id).label.isprintable()
