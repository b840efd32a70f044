"""Every page of the site before everybody: no barriers, no sideways scrolling, no forced motion, all by keyboard.

`docs/accessibility.md` tells what is promised; a page without an entry here fails.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import barriers
import flask
import pytest
from house import DAY, PEOPLE, RECORDS, House, house_settings
from playwright.sync_api import Browser, Page, expect

from server import (
    archive,
    clock,
    create_app,
    db,
    keeping,
    letters,
    links,
    lobby,
    outbox,
    scheduler,
    tournaments,
    visitors,
)
from server.inbound import door
from server.models import Inbound, Tournament, User
from tools import hosting

pytestmark = pytest.mark.browser

# Of each address that sends a page, who looks at which page: a stranger (""), a person, or somebody without an account.
PAGES: dict[str, tuple[tuple[str, str], ...]] = {
    "front.index": (("", "/"), ("Ailsa", "/"), ("Dugald", "/")),
    "front.all_rules": (("", "/rules"),),
    "front.rules": (("", "/rules/clans"), ("", "/rules/glory"), ("", "/rules/nonsense")),
    "manual.show": (("", "/api/v1/"),),
    "people.show": (("Ailsa", "/people/Bran"),),
    "people.ladder": (("", "/ladder"),),
    "archive.index": (("", "/archive"), ("Ailsa", "/archive?player=Nobody")),
    "archive.verify": (("", "/matches/{ended}/verify"),),
    "account.sign_up": (("", "/signup"),),
    "account.sent": (("", "/sent"),),
    "account.confirm": (("", "/confirm/{confirm}"), ("", "/confirm/spent")),
    "account.sign_in": (("", "/signin"),),
    "account.forgot": (("", "/forgot"),),
    "account.reset": (("", "/reset/{reset}"),),
    "account.unsubscribe_page": (("", "/unsubscribe/{unsubscribe}"),),
    "account.settings": (("Ailsa", "/settings"),),
    "tables.index": (("Ailsa", "/tables"),),
    "tables.new": (("Ailsa", "/tables/new"),),
    "tournaments.index": (("", "/tournaments"), ("Ailsa", "/tournaments")),
    "tournaments.new": (("Ailsa", "/tournaments/new"),),
    "tournaments.show": (
        ("Ailsa", "/tournaments/{announced}"),
        ("", "/tournaments/{announced}"),
        ("Ailsa", "/tournaments/{contest}"),
    ),
    "tables.invited": (("Bran", "/invite/{invite}"),),
    "match.show": (
        ("Ailsa", "/matches/{clans}"),
        ("Ailsa", "/matches/{clans}?move={clans move}"),
        ("Bran", "/matches/{clans}"),
        ("Ailsa", "/matches/{glory}"),
        ("", "/matches/{ended}"),
        ("Ailsa", "/matches/{open}"),
        ("Visitor", "/matches/{tried}"),
    ),
    "match.step": (("", "/matches/{ended}/replay/3"), ("Ailsa", "/matches/{glory}/replay/2")),
    "whatif.show": (("Ailsa", "/matches/{clans}/whatif"), ("Bran", "/matches/{glory}/whatif?moves={glory move}")),
    "visit.keep": (("Visitor", "/keep"),),
    "mailbox.index": (("", "/mailbox"),),
    "mailbox.show": (("", "/mailbox/{mail}"),),
    "homescreen.offline": (("", "/offline/en"),),
    "admin.index": (("Keeper", "/admin"),),
    "admin.matches": (("Keeper", "/admin/matches"), ("Keeper", "/admin/matches?q=Nobody")),
    "admin.match": (("Keeper", "/admin/matches/{clans}"), ("Keeper", "/admin/matches/{held}")),
    "admin.people": (("Keeper", "/admin/people"),),
    "admin.person": (("Keeper", "/admin/people/2"),),
    "admin.mail_out": (("Keeper", "/admin/mail-out"),),
    "admin.mail_in": (("Keeper", "/admin/mail-in"),),
    "admin.mail_read": (("Keeper", "/admin/mail-in/{came}"),),
    "admin.deeds": (("Keeper", "/admin/deeds"),),
}
# What sends something else, or sends on to one of these pages.
OTHERS = {
    "archive.download", "archive.mine", "archive.text", "examples.show", "health.alive", "health.ready",
    "health.metrics",
    "feeds.matches",
    "feeds.calendar",
    "feeds.match",
    "homescreen.manifest", "homescreen.worker", "language.words", "live.match_pulse", "live.match_stream",
    "live.pulse", "live.stream", "mailbox.picture", "mailbox.raw", "match.preview", "match.replay", "share.game",
    "share.house", "share.match", "static",
}  # fmt: skip
CASES = [(who, path) for cases in PAGES.values() for who, path in cases]


@pytest.fixture(scope="module")
def village(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One house for all these tests, which change nothing in it; its clock is the real one."""
    folder = tmp_path_factory.mktemp("accessible")
    shutil.copy(sqlite_template, folder / "clachan.db")
    url = f"sqlite:///{folder / 'clachan.db'}"
    db.use(url)
    with db.connected():
        house = House(house_settings(url, folder, DEVELOPMENT="1"))
        house.now = clock.now()
        yield house
    db.database.close()


def tournament(house: House, name: str) -> int:
    """Announce a tournament of Ailsa, which all have entered."""
    begins = house.now + timedelta(days=2)
    plan = tournaments.Plan(name, "clans", 2, {"move": DAY}, {}, "swiss", 3, 3, 8, begins)
    made = tournaments.announce(house.people["Ailsa"], plan, house.now)
    for person in PEOPLE:
        tournaments.enter(made.id, house.people[person], house.now)
    return int(made.id)


@pytest.fixture(scope="module")
def places(village: House) -> dict[str, object]:
    """What stands for the names in the addresses: matches at different points, tokens, a mail."""
    house, now = village, village.now
    found: dict[str, object] = {"ended": archive.add((RECORDS / "clans-01.json").read_bytes(), now).id}
    for game in ("clans", "glory"):
        match = house.begun("Ailsa", "Bran", game=game)
        if house.played(match).position.to_act != (0,):
            house.move(match)
        found[game] = match.id
        found[f"{game} move"] = house.played(match).view(0).moves[0]
    table = house.table("Ailsa", seats=3)
    found["open"] = table.id
    found["invite"] = lobby.invitation(table.id, house.people["Ailsa"], now)
    found["announced"] = tournament(house, "An open cup")
    found["contest"] = tournament(house, "A running cup")
    Tournament.update(starts_at=now).where(Tournament.id == found["contest"]).execute()
    tournaments.run(now)
    house.people["Visitor"], tried = visitors.try_game("clans", by=None, key="x", source="192.0.2.7", now=now)
    found["tried"] = tried.id
    for purpose in ("confirm", "reset", "unsubscribe"):
        found[purpose] = links.mint(purpose, now, user=house.people["Catrin"], match=match)
    house.people["Keeper"] = house.person("Eimhir", admin=True)
    found["held"] = house.begun("Bran", "Catrin").id
    keeping.freeze(int(str(found["held"])), house.people["Keeper"], "A fault is looked into", now)
    report = b"From: a@example.org\r\nSubject: Back\r\n\r\nNo such box\r\n"
    found["came"] = door.take(report, door.Envelope("smtp"), now)
    Inbound.update(verdict="bounce-hard", state="done", done_at=now).execute()
    scheduler.note("deadlines", now, now)
    scheduler.note("bots", now, None, "ZeroDivisionError in server/bots.py:56 run")
    channel = outbox.open_channel(house.settings)
    assert channel
    outbox.deliver_due(channel, letters.writer(house.settings), clock.now)
    found["mail"] = channel.messages()[0].key
    return found


@pytest.fixture(scope="module")
def windows(village: House, places: dict[str, object], browser: Browser) -> Iterator[dict[str, Page]]:
    """A page for each of those who look."""
    app, found = create_app(village.settings), {}
    with hosting.served(app) as site:
        for who in {who for who, _ in CASES}:
            context = browser.new_context(base_url=site, viewport=barriers.WIDE, reduced_motion="reduce")
            if who:
                context.add_cookies([hosting.badge(app, site, User.get(User.name == village.people[who].name))])
            found[who] = context.new_page()
        yield found
        for page in found.values():
            page.context.close()


@pytest.mark.parametrize(("who", "path"), CASES)
def test_a_page_has_no_barriers(
    windows: dict[str, Page], places: dict[str, object], axe: str, who: str, path: str
) -> None:
    page = windows[who]
    answer = page.goto(path.format_map(places))
    assert answer
    assert answer.status < 500
    if page.locator("#match").count():
        expect(page.locator('#match[data-ready="yes"]')).to_be_attached()
    if "?move=" in path:  # what the move would do is fetched, and has the focus then
        expect(page.locator("#confirm-button")).to_be_enabled()
    faults = barriers.of_keys(page)
    faults += barriers.of_rules(page, axe)
    faults += barriers.of_width(page)
    faults += barriers.of_wishes(page)
    assert not faults, "\n".join(faults)


def test_every_page_of_the_site_has_an_entry(village: House) -> None:
    app: flask.Flask = create_app(village.settings)
    known = {rule.endpoint for rule in app.url_map.iter_rules() if "GET" in (rule.methods or ())}
    assert known == set(PAGES) | OTHERS
