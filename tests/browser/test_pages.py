"""The rest of the house in a browser: newcomers, no scripts, a stale tab, a lost connection, a narrow screen."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from house import House
from people import DESKTOP, PHONE, Person, read
from playwright.sync_api import Browser, expect

from server import clock, db, letters, log, outbox
from server.models import LogRow, Match, Talk

pytestmark = pytest.mark.browser

Enter = Callable[..., Person]
RECORD = json.loads((Path(__file__).parent.parent / "records" / "clans-06.json").read_text())


@pytest.fixture
def enter(village: House, browser: Browser, axe: str, people: dict[str, Person]) -> Enter:
    """Let somebody come in, signed in unless he is a stranger."""

    def come(name: str, *, stranger: bool = False, **screen: object) -> Person:
        people[name] = Person(village, browser, axe, name, **(screen or DESKTOP))
        if not stranger:
            people[name].sign_in()
        return people[name]

    return come


def post(house: House) -> None:
    """Let the postman come: what is queued goes to the local mailbox."""
    channel = outbox.open_channel(house.settings)
    assert channel is not None
    outbox.deliver_due(channel, letters.writer(house.settings), clock.now)


def sign_up(house: House, person: Person) -> None:
    """Sign up by the form and confirm by the link in the letter."""
    page = person.page
    page.goto("/")
    page.get_by_role("link", name="Sign up").click()
    page.get_by_label("Name").fill(person.name)
    page.get_by_label("Mail address").fill(f"{person.name.lower()}@example.net")
    page.get_by_label("Password").fill("a long password")
    person.check()
    page.get_by_role("main").get_by_role("button", name="Sign up").click()
    expect(page).to_have_url(f"{house.site}/sent")
    post(house)
    page.goto("/mailbox")
    person.check()
    page.get_by_role("link", name="Please confirm your address").first.click()
    person.check()
    letter = page.locator('a[href*="/confirm/"]').first.get_attribute("href") or ""
    page.goto(letter.replace(house.settings.public_url, house.site))
    person.check()
    page.get_by_role("button", name="Yes, this is my address").click()
    page.get_by_label("Name").fill(person.name)
    page.get_by_label("Password").fill("a long password")
    person.check()
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_attached()
    person.check()


def test_two_newcomers_sign_up_meet_at_a_table_and_begin(village: House, enter: Enter) -> None:
    flora, gavin = enter("Flora", stranger=True), enter("Gavin", stranger=True, **PHONE)
    for person in (flora, gavin):
        sign_up(village, person)
    page = flora.page
    page.goto("/tables/new")
    expect(page.get_by_role("group", name="Rules of Clans", exact=True)).to_be_visible()
    page.get_by_label("Game").select_option("glory")
    expect(page.get_by_role("group", name="Rules of Clans", exact=True)).to_be_hidden()
    page.get_by_label("Game").select_option("clans")
    flora.check()
    page.get_by_label("Players").select_option("2")
    page.get_by_label("Who may join").select_option("invited")
    page.get_by_role("button", name="Open the table").click()
    page.get_by_role("button", name="Make an invitation link").click()
    flora.check()
    link = page.locator("#handed-1").input_value()
    page.get_by_label("Say something").fill("Who comes?")
    page.get_by_role("button", name="Say it").click()
    expect(page.locator("main")).to_contain_text("Who comes?")
    gavin.page.goto(link.replace(village.settings.public_url, village.site))
    gavin.check()
    gavin.page.get_by_role("button", name="Take a seat").click()
    expect(gavin.page.locator("#match")).to_be_attached()
    assert Match.get().status == "running"
    assert [said.text for said in Talk.select()] == ["Who comes?"]
    post(village)
    page.goto("/mailbox")
    expect(page.get_by_role("link", name="Clans 1: ")).to_have_count(2)
    page.get_by_role("link", name="Clans 1: ").first.click()
    expect(page.locator("main img")).to_be_visible()
    flora.check()


@pytest.mark.parametrize("path", ["/", "/tables", "/archive", "/settings", "/rules/clans", "/signin", "/forgot"])
def test_no_page_has_barriers_or_scrolls_sideways(village: House, enter: Enter, path: str) -> None:
    village.finish(village.started("Ailsa", "Bran"))
    village.started("Ailsa", "Bran")
    village.table("Bran", seats=3)
    for scheme in ("light", "dark"):
        ailsa = enter("Ailsa", viewport={"width": 320, "height": 640}, color_scheme=scheme)
        ailsa.page.goto(path)
        ailsa.check()
        assert ailsa.page.evaluate("document.documentElement.scrollWidth") <= 320
        ailsa.leave()


def test_a_move_without_scripts_by_links_and_by_text(village: House, enter: Enter) -> None:
    match = village.started(*RECORD["players"], setup=RECORD["setup"])
    first, second = RECORD["log"][:2]
    person = enter(RECORD["players"][first["seat"]], **DESKTOP, java_script_enabled=False)
    source, target, _ = read(first["text"])
    page = person.page
    page.goto(f"/matches/{match.id}")
    page.locator("#by-links summary").click()
    page.locator(f'#by-links a[href$="from={source}#by-links"], #by-links a[href$="from={source}"]').first.click()
    page.locator(f'#by-links a[href*="move={source}-{target}"]').first.click()
    assert village.played(match).rows == []
    expect(page.locator("#trial-sentences li").first).to_contain_text(f"from {source} to {target}")
    page.locator("#confirm-button").click()
    expect(page.locator("main")).to_contain_text(f"Your move {first['text']} is made.")
    assert [row.text for row in village.played(match).rows] == [first["text"]]
    person = enter(RECORD["players"][second["seat"]], **DESKTOP, java_script_enabled=False)
    person.page.goto(f"/matches/{match.id}")
    person.page.locator("#write-move").fill("nonsense")
    person.page.get_by_role("button", name="Look").click()
    expect(person.page.locator("#trial-fault")).to_be_visible()
    person.page.locator("#write-move").fill(second["text"].lower().replace("-", " to "))
    person.page.get_by_role("button", name="Look").click()
    person.page.locator("#confirm-button").click()
    expect(person.page.locator("main")).to_contain_text(f"Your move {second['text']} is made.")
    assert village.played(match).rows[-1].text == second["text"]


def test_a_half_made_move_survives_a_reload_and_is_sent_once(village: House, enter: Enter) -> None:
    match = village.started("Ailsa", "Bran")
    played = village.played(match)
    seat = played.position.to_act[0]
    text = played.view(seat).moves[0]
    source, target, _ = read(text)
    person = enter(log.places(match)[seat].user.name)
    person.open(match.id)
    person.drag(source, target, [])
    expect(person.page.locator("#trial-text")).to_have_text(text)
    person.open(match.id)
    expect(person.page.locator("#trial-text")).to_have_text(text)
    expect(person.page.locator("#confirm-button")).to_be_enabled()
    person.page.locator("#confirm-button").dblclick()
    expect(person.page.locator("#facts")).to_have_attribute("data-seq", "1")
    assert [row.text for row in village.played(match).rows] == [text]


def test_a_stale_tab_is_told_what_happened_and_keeps_the_move(village: House, enter: Enter) -> None:
    match = village.started("Ailsa", "Bran")
    seat = village.played(match).position.to_act[0]
    person = enter(log.places(match)[seat].user.name)
    person.refused(409)
    person.open(match.id)
    text = village.played(match).view(seat).moves[5]
    source, target, _ = read(text)
    person.drag(source, target, [])
    expect(person.page.locator("#confirm-button")).to_be_enabled()
    done = village.move(match)
    person.page.locator("#confirm-button").click()
    expect(person.page.locator("#trial-fault")).to_contain_text("The match has moved on")
    expect(person.page.locator("#trial-fault")).to_contain_text(done.sentences[0])
    expect(person.page.locator("#trial-text")).to_have_text(text)
    assert len(village.played(match).rows) == 1
    person.check()


def test_words_of_others_stay_words(village: House, enter: Enter) -> None:
    match = village.started("Ailsa", "Bran")
    wicked = '<script>alert(1)</script><img src=x onerror="alert(2)"> </script> {{ 7*7 }} \u202etxt'
    ailsa = enter("Ailsa")
    ailsa.open(match.id)
    ailsa.page.locator("#say-text").fill(wicked.replace("\u202e", ""))
    ailsa.page.get_by_role("button", name="Say it").click()
    expect(ailsa.page.locator("#talk-lines")).to_contain_text("{{ 7*7 }}")
    expect(ailsa.page.locator("#talk-lines script, #talk-lines img")).to_have_count(0)


def test_a_page_left_open_follows_the_match(village: House, enter: Enter) -> None:
    match = village.started("Ailsa", "Bran")
    seat = village.played(match).position.to_act[0]
    waiting = enter(log.places(match)[1 - seat].user.name)
    waiting.page.clock.install()
    waiting.open(match.id)
    expect(waiting.page.locator("h1")).not_to_have_text("It is your turn.")
    village.move(match)
    waiting.page.clock.run_for(20_000)
    expect(waiting.page.locator("h1")).to_have_text("It is your turn.")


def test_a_replay_takes_every_step_however_fast_they_are_asked_for(village: House, enter: Enter) -> None:
    match = village.finish(village.started("Ailsa", "Bran"))
    ailsa = enter("Ailsa")
    ailsa.page.goto(f"/matches/{match.id}/replay/0")
    expect(ailsa.page.locator('#match[data-ready="yes"]')).to_be_attached()
    for _ in range(5):
        ailsa.page.keyboard.press("ArrowRight")
    expect(ailsa.page).to_have_url(f"{village.site}/matches/{match.id}/replay/5")
    for _ in range(2):
        ailsa.page.locator("#next").click()
    expect(ailsa.page).to_have_url(f"{village.site}/matches/{match.id}/replay/7")
    ailsa.page.keyboard.press("End")
    expect(ailsa.page).to_have_url(f"{village.site}/matches/{match.id}/replay/{match.length}")


def test_a_frozen_match_says_so_and_leads_on(village: House, enter: Enter) -> None:
    frozen, sound = village.started("Ailsa", "Bran"), village.started("Ailsa", "Bran")
    village.move(frozen)
    while village.played(sound).position.to_act != (0,):
        village.move(sound)
    with db.transaction():
        db.database.execute_sql("DROP TRIGGER log_never_changes")
        LogRow.update(text="A1-L5").where((LogRow.match == frozen) & (LogRow.seq == 1)).execute()
    ailsa = enter("Ailsa")
    ailsa.page.goto(f"/matches/{frozen.id}")
    ailsa.check()
    expect(ailsa.page.locator("h1")).to_contain_text("frozen")
    ailsa.page.locator("#following").click()
    expect(ailsa.page).to_have_url(f"{village.site}/matches/{sound.id}")
    ailsa.page.goto("/")
    expect(ailsa.page.locator("main")).to_contain_text("frozen")
    ailsa.check()
