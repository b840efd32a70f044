"""People: each name once, nothing told to strangers, links that work once, and a way to leave for good."""

from __future__ import annotations

from datetime import timedelta

import argon2
import pytest
from house import House
from together import everything_stored, in_parallel, quick_pictures, refused

from server import accounts, archive, companions, db, letters, links, lobby, log, outbox, preferences, throttle
from server.channels import Message
from server.errors import Refused
from server.models import Link, ReplyToken, User
from server.preferences import Wishes

HERE = "192.0.2.7"
ELSEWHERE = "198.51.100.9"
PASSWORD = "correct horse"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes that cost nothing, and no pictures: neither is what these tests ask."""
    cheap = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(accounts, "_hasher", cheap)
    monkeypatch.setattr(accounts, "_DECOY", cheap.hash("nobody's"))
    quick_pictures(monkeypatch)


def sign_up(house: House, name: str = "Eve", email: str = "eve@example.org", **given: str) -> None:
    """Sign up, with everything else as it should be."""
    fields = {"password": PASSWORD, "zone": "Europe/Prague", "language": "en", "source": HERE, **given}
    accounts.sign_up(name, email, now=house.now, **fields)


def join(house: House, name: str = "Eve", email: str = "eve@example.org") -> User:
    """Sign up and confirm."""
    sign_up(house, name, email)
    return accounts.confirm(token(house.mail()[-1]), house.now)


def sign_in(house: House, who: str = "Eve", password: str = PASSWORD, source: str = HERE) -> User:
    """Sign in."""
    return accounts.sign_in(who, password, source=source, now=house.now)


def token(message: Message) -> str:
    """Return the token of the link in a mail."""
    return next(word for word in message.text.split() if "/confirm/" in word or "/reset/" in word).rpartition("/")[2]


def test_signing_up_leads_to_a_mail_whose_link_confirms_once(house: House) -> None:
    sign_up(house)
    eve = accounts.by_name("eve")
    assert (eve.confirmed_at, eve.zone, eve.reachable) == (None, "Europe/Prague", False)
    assert PASSWORD not in everything_stored()
    (message,) = house.mail()
    assert (message.to_address, message.subject) == ("eve@example.org", "Please confirm your address")
    secret = token(message)
    assert links.find("confirm", secret, house.now).user_id == eve.id, "looking at the link does not use it up"
    assert accounts.confirm(secret, house.later(hours=1)).confirmed_at == house.now
    with refused("link-spent"):
        accounts.confirm(secret, house.now)
    assert sign_in(house).id == eve.id


def test_nobody_signs_in_before_the_address_is_confirmed(house: House) -> None:
    sign_up(house)
    with refused("bad-credentials"):
        sign_in(house)
    accounts.confirm(token(house.mail()[0]), house.now)
    assert sign_in(house).name == "Eve"


def test_a_name_that_is_never_confirmed_is_free_again(house: House) -> None:
    sign_up(house)
    with refused("bad-input"):
        sign_up(house, email="other@example.org")
    accounts.sweep(house.later(days=4))
    sign_up(house, email="other@example.org")
    assert accounts.by_name("Ailsa").email == "ailsa@example.org"


def test_an_address_that_has_an_account_is_told_by_mail_and_nobody_else_learns_it(house: House) -> None:
    known, unknown = "Ailsa@Example.org", "new@example.org"
    assert sign_up(house, "Eve", known) is sign_up(house, "Eva", unknown) is None
    by_address = {message.to_address: message.subject for message in house.mail()}
    assert by_address == {
        "ailsa@example.org": "You already have an account",
        "new@example.org": "Please confirm your address",
    }
    for name in ("Eve", "Eva"):
        with refused("bad-input"):
            sign_up(house, name, "third@example.org")
        with refused("bad-credentials"):
            sign_in(house, name)
    assert accounts.forgot(known, source=HERE, now=house.now) is None
    assert accounts.forgot("nobody@example.org", source=HERE, now=house.now) is None
    assert [message.to_address for message in house.mail()] == ["ailsa@example.org"]


def test_a_taken_name_does_not_show_whether_an_address_has_an_account(house: House) -> None:
    told = set()
    for address in ("ailsa@example.org", "new@example.org"):
        with refused("bad-input") as caught:
            sign_up(house, "Bran", address)
        told.add(caught.value.sentence)
    assert len(told) == 1
    assert house.mail() == []


def test_a_wrong_password_and_an_unknown_person_are_told_alike(house: House) -> None:
    join(house)
    told = set()
    for who, password in (
        ("Eve", "wrong"),
        ("Nobody", PASSWORD),
        ("", ""),
        ("*bot", ""),
        ("a\0b", "x"),
        ("\ud800", "x"),
    ):
        with refused("bad-credentials") as caught:
            sign_in(house, who, password)
        told.add(caught.value.sentence)
    assert len(told) == 1


@pytest.mark.parametrize("who", ["Eve", "EVE", " eve ", "eve@example.org", "Eve@EXAMPLE.org"])
def test_people_sign_in_by_name_or_by_address(cottage: House, who: str) -> None:
    join(cottage)
    assert sign_in(cottage, who).name == "Eve"


def test_guessing_is_throttled_but_its_victim_signs_in_from_elsewhere(house: House) -> None:
    join(house)
    for _ in range(12):
        with refused("bad-credentials"):
            sign_in(house, password="guess")
    with refused("throttled"):
        sign_in(house)
    assert sign_in(house, source=ELSEWHERE).name == "Eve"
    house.later(minutes=10)
    assert sign_in(house).name == "Eve"


def test_guessing_at_many_names_is_throttled_by_where_it_comes_from(cottage: House) -> None:
    for number in range(41):
        with refused("bad-credentials" if number < 40 else "throttled"):
            sign_in(cottage, f"Person {number}", "guess")
    join(cottage)
    assert sign_in(cottage, source=ELSEWHERE).name == "Eve"


def test_sign_ups_and_reset_mails_are_throttled_and_the_counts_are_forgotten(cottage: House) -> None:
    with refused("throttled"):
        for number in range(60):
            sign_up(cottage, f"Person {number}", f"person{number}@example.org")
    with refused("throttled"):
        for _ in range(9):
            accounts.forgot("ailsa@example.org", source=ELSEWHERE, now=cottage.now)
    accounts.forgot("bran@example.org", source=ELSEWHERE, now=cottage.now)
    assert throttle.sweep(cottage.now) == 0
    assert throttle.sweep(cottage.later(hours=1)) == 4
    sign_up(cottage)


def test_a_reset_link_works_once_and_ends_every_session(house: House) -> None:
    sign_up(house)
    before = accounts.by_name("Eve")
    for _ in range(2):
        accounts.forgot("eve@example.org", source=HERE, now=house.now)
    one, two = [token(message) for message in house.mail() if "new password" in message.subject]
    with refused("bad-input"):
        accounts.reset(one, "short", house.now)
    after = accounts.reset(one, "another secret", house.now)
    assert after.session_key != before.session_key
    assert after.confirmed_at == house.now, "who reads the mail owns the address"
    for spent in (one, two):
        with refused("link-spent"):
            accounts.reset(spent, "yet another", house.now)
    with refused("bad-credentials"):
        sign_in(house)
    assert sign_in(house, password="another secret").id == before.id


@pytest.mark.parametrize(("purpose", "life"), links.LIFETIMES.items())
def test_a_link_is_kept_hashed_expires_and_is_for_one_purpose(house: House, purpose: str, life: timedelta) -> None:
    bran = house.people["Bran"]
    with db.transaction():
        secret = links.mint(purpose, house.now, user=bran)
    assert secret.casefold() not in everything_stored()
    assert bytes(Link.get().hash) == links.digest(secret)
    for other in set(links.LIFETIMES) - {purpose}:
        with refused("link-spent"):
            links.find(other, secret, house.now)
    for wrong in ("", secret[:-1], secret + "x", "\ud800", "\0"):
        with refused("link-spent"):
            links.find(purpose, wrong, house.now)
    house.now += life - timedelta(milliseconds=1)
    assert links.find(purpose, secret, house.now).user_id == bran.id
    assert links.sweep(house.now) == 0
    house.later(milliseconds=1)
    with refused("link-spent"):
        links.find(purpose, secret, house.now)
    assert links.sweep(house.now) == 1


def test_of_two_who_use_a_link_at_once_one_wins(house: House) -> None:
    with db.transaction():
        secret = links.mint("reset", house.now, user=house.people["Bran"])
    results = in_parallel(*[lambda n=n: accounts.reset(secret, f"password {n}", house.now).name for n in range(5)])
    assert sorted(results) == ["Bran"] + ["link-spent"] * 4


def test_a_link_spent_between_look_and_use_is_spent(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    with db.transaction():
        secret = links.mint("confirm", cottage.now, user=cottage.people["Bran"])
    stale = links.find("confirm", secret, cottage.now)
    accounts.confirm(secret, cottage.now)
    monkeypatch.setattr(links, "find", lambda *_: stale)
    with refused("link-spent"):
        accounts.confirm(secret, cottage.now)


def test_a_double_click_on_sign_up_makes_one_account(house: House) -> None:
    results = in_parallel(*[lambda: sign_up(house)] * 4)
    assert set(results) <= {None, "bad-input"}
    assert None in results
    assert User.select().where(User.name == "Eve").count() == 1


def test_of_two_who_want_a_name_at_once_one_gets_it(house: House) -> None:
    results = in_parallel(*[lambda n=n: sign_up(house, "Eve", f"eve{n}@example.org") for n in range(4)])
    assert sorted(map(str, results)) == ["None"] + ["bad-input"] * 3


def test_there_is_one_bot_however_many_ask_first(house: House) -> None:
    def ask() -> None:
        with db.transaction():
            companions.stand_in(house.now)

    assert in_parallel(*[ask] * 5) == [None] * 5
    assert User.select().where(User.bot != "").count() == 1


def test_a_changed_password_ends_the_other_sessions(house: House) -> None:
    join(house)
    eve = accounts.by_name("Eve")
    with pytest.raises(Refused, match="present password is wrong", check=lambda fault: fault.code == "bad-credentials"):
        accounts.change_password(eve, "wrong", "another secret", source=HERE, now=house.now)
    with refused("bad-input"):
        accounts.change_password(eve, PASSWORD, "short", source=HERE, now=house.now)
    changed = accounts.change_password(eve, PASSWORD, "another secret", source=HERE, now=house.now)
    assert changed.session_key != eve.session_key
    accounts.sign_out_everywhere(changed)
    assert accounts.by_name("Eve").session_key not in {eve.session_key, changed.session_key}
    sign_in(house, password="another secret")


def test_settings_are_checked_and_kept(cottage: House) -> None:
    ailsa = cottage.people["Ailsa"]
    preferences.settle(ailsa, Wishes("Asia/Kathmandu", "en", turn_mail="off"), cottage.now)
    kept = accounts.by_name("Ailsa")
    assert (kept.zone, kept.language, kept.turn_mail) == ("Asia/Kathmandu", "en", "off")
    for wrong in ({"zone": "Mars/Olympus"}, {"zone": "../etc/passwd"}, {"zone": ""}, {"language": "xx"}):
        with refused("bad-input"):
            preferences.settle(ailsa, Wishes(**{"zone": "UTC", **wrong}), cottage.now)


def test_who_leaves_becomes_nameless_and_the_matches_stay(house: House) -> None:
    done = house.finish(house.started("Ailsa", "Bran"))
    running = house.started("Ailsa", "Bran", "Catrin")
    lobby.invite(house.table("Ailsa", seats=2).id, house.people["Ailsa"], "Bran@example.org", house.now)
    house.mail()
    bran = house.people["Bran"]
    with db.transaction():
        secrets = [links.mint(purpose, house.now, user=bran) for purpose in ("reset", "unsubscribe")]
    length = house.played(done).position.seq
    lobby.leave_all(bran, house.now)
    accounts.forget(bran, house.now)
    gone = User.get_by_id(bran.id)
    assert (gone.name, gone.email, gone.reachable) == (f"Former player {bran.id}", None, False)
    assert gone.session_key != bran.session_key
    assert house.played(done).position.seq == length
    assert archive.export(log.get(done.id))["players"] == ["Ailsa", gone.name]
    assert log.places(running)[1].user.bot
    for secret, purpose in zip(secrets, ("reset", "unsubscribe"), strict=True):
        with refused("link-spent"):
            links.find(purpose, secret, house.now)
    assert not ReplyToken.select().where(ReplyToken.user == bran).exists()
    throttle.sweep(house.later(hours=2))
    assert "bran" not in everything_stored()
    for who in ("Bran", "bran@example.org", gone.name):
        with refused("bad-credentials"):
            sign_in(house, who, "")
    sign_up(house, "Bran", "bran@example.org")
    assert accounts.by_name("Bran").id != bran.id
    outbox.deliver_due(house.post, letters.writer(house.settings), lambda: house.now)


@pytest.mark.parametrize(
    "given",
    [{"password": "short"}, {"password": "x" * 201}, {"zone": "Nowhere"}, {"language": "tlh"}, {"email": "eve"}],
    ids=str,
)
def test_a_sign_up_with_something_wrong_makes_nothing(cottage: House, given: dict[str, str]) -> None:
    before = User.select().count()
    with refused("bad-input"):
        sign_up(cottage, **given)
    assert User.select().count() == before
