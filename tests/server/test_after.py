"""What comes beside and after a match: notes, rematches, results kept back."""

from __future__ import annotations

import threading

import pytest
from house import House
from postman import answer
from together import quick_pictures, refused

from server import db, lobby, log, notes, rematch
from server.channels import Message
from server.models import Invited, Match, Note, Rematch, User


@pytest.fixture(autouse=True)
def _quick_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)


def over(house: House, *names: str, **terms: object) -> Match:
    """Return a match that has ended, its mails read."""
    match = house.finish(house.started(*(names or ("Ailsa", "Bran")), **terms))
    house.mail()
    return match


def seated(table: Match) -> set[str]:
    return {seat.owner.name for seat in log.places(log.get(table.id))}


def to(mails: list[Message], name: str) -> Message:
    return next(mail for mail in mails if mail.to_name == name)


def test_a_note_is_for_its_writer_alone(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    ailsa, bran = house.people["Ailsa"], house.people["Bran"]
    notes.write(match, ailsa, "Mind the lakes.\r\nHe likes forests. ", house.now)
    assert notes.read(match, ailsa) == "Mind the lakes.\nHe likes forests."
    assert notes.read(match, bran) == notes.read(match, None) == ""
    assert notes.first_lines(ailsa) == {match.id: "Mind the lakes."}
    notes.write(match, ailsa, "  ", house.now)
    assert not Note.select().exists()


def test_a_note_has_a_longest_length(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran")
    with refused("bad-input"):
        notes.write(match, cottage.people["Ailsa"], "x" * (notes.LONGEST + 1), cottage.now)


def test_a_rematch_is_on_the_same_terms_and_the_others_are_told(house: House) -> None:
    clock = {"move": 2 * 86400, "weekend": True}
    match = over(house, "Ailsa", "Bran", "Catrin", clock=clock, options={"five_singles": "all_stay"})
    table = rematch.ask(match.id, house.people["Bran"], now=house.now)
    assert (table.game, table.seats, table.clock, table.options) == ("clans", 3, clock, {"five_singles": "all_stay"})
    assert (table.status, table.invited_only, seated(table)) == ("open", True, {"Bran"})
    mails = house.mail()
    assert {mail.to_name for mail in mails} == {"Ailsa", "Catrin"}
    assert {mail.subject for mail in mails} == {f"Bran would like a rematch: {log.title(table)}"}


def test_two_clicks_make_one_match(house: House) -> None:
    match = over(house)
    found: list[int] = []
    gate = threading.Barrier(2)

    def click(user: User) -> None:
        with db.connected():
            gate.wait()
            found.append(rematch.ask(match.id, user, now=house.now).id)

    threads = [threading.Thread(target=click, args=(house.people[name],)) for name in ("Ailsa", "Bran")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert Match.select().count() == 2
    assert log.get(found[0]).status == "running"
    assert rematch.ask(match.id, house.people["Ailsa"], now=house.now).id == found[0], "a third click leads there"


def test_a_rematch_is_asked_for_and_joined_by_mail(house: House) -> None:
    match = house.finish(house.started("Ailsa", "Bran"))
    ends = [mail for mail in house.mail() if "has ended" in mail.text]
    assert answer(house, to(ends, "Ailsa"), "Rematch!") == "done"
    offer = next(mail for mail in house.mail() if "would like a rematch" in mail.subject)
    assert answer(house, offer, "join") == "done"
    table = Rematch.get(Rematch.match == match).table
    assert log.get(table.id).status == "running"


def test_only_those_who_played_and_only_after_the_end(house: House) -> None:
    match = over(house)
    with refused("not-yours"):
        rematch.ask(match.id, house.people["Catrin"], now=house.now)
    running = house.started("Ailsa", "Bran")
    with refused("not-running"):
        rematch.ask(running.id, house.people["Ailsa"], now=house.now)
    with refused("not-found"):
        rematch.ask(99, house.people["Ailsa"], now=house.now)


def test_nobody_else_sees_the_table_or_sits_down(house: House) -> None:
    table = rematch.ask(over(house).id, house.people["Ailsa"], now=house.now)
    assert lobby.may_see(table, house.people["Bran"])
    assert not lobby.may_see(table, house.people["Catrin"])
    with refused("not-found"):
        lobby.join(table.id, house.people["Catrin"], now=house.now)


def test_an_offer_expires_with_its_table_and_can_be_made_anew(house: House) -> None:
    match = over(house)
    first = rematch.ask(match.id, house.people["Ailsa"], now=house.now)
    rematch.sweep(house.later(days=6))
    assert rematch.offered(match, house.now) == first
    rematch.sweep(house.later(days=2))
    assert log.get(first.id).status == "cancelled"
    assert rematch.offered(match, house.now) is None
    second = rematch.ask(match.id, house.people["Bran"], now=house.now)
    assert second.id != first.id
    assert seated(second) == {"Bran"}


def test_a_rematch_that_has_begun_never_expires(house: House) -> None:
    match = over(house)
    for name in ("Ailsa", "Bran"):
        table = rematch.ask(match.id, house.people[name], now=house.now)
    rematch.sweep(house.later(days=30))
    assert log.get(table.id).status == "running"
    assert rematch.offered(match, house.now) == table


def test_bots_and_those_who_left_for_good_are_not_asked(house: House) -> None:
    from server import accounts, seating

    match = house.started("Ailsa", "Bran", "Catrin")
    seating.resign(match.id, house.people["Catrin"], "web", now=house.now)
    while log.get(match.id).status == "running":
        house.later(minutes=1)
        house.move(match)
    with db.transaction():
        pass
    accounts.forget(house.people["Catrin"], house.now)
    table = rematch.ask(match.id, house.people["Ailsa"], now=house.now)
    assert table.seats == 2
    assert {row.user.name for row in Invited.select()} == {"Bran"}


def test_who_wants_to_watch_first_is_not_told_the_end(house: House) -> None:
    with db.transaction():
        User.update(keeps_results=True).where(User.name == "Ailsa").execute()
    match = house.finish(house.started("Ailsa", "Bran"))
    ends = {mail.to_name: mail for mail in house.mail() if "has ended" in mail.text}
    last = house.played(match)
    kept, told = ends["Ailsa"], ends["Bran"]
    assert kept.picture is None
    assert told.picture is not None
    for word in (last.outcome.reason, "won", str(max(last.outcome.scores)), last.last_hash):
        assert word not in kept.text.partition("--")[0] or word.isdigit()
        assert word not in kept.html or word.isdigit()
    assert "won" in told.text
    assert f"/matches/{match.id}/replay/" in kept.text
