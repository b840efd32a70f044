"""What two people decide together, and what clocks show, in a browser."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from house import DAY, House
from people import DESKTOP, PHONE, Person
from playwright.sync_api import Browser, expect

from server import log, timeouts, vacations
from server.models import Match

pytestmark = pytest.mark.browser

Enter = Callable[..., Person]
NARROW = {"viewport": {"width": 320, "height": 640}}


@pytest.fixture
def enter(village: House, browser: Browser, axe: str, people: dict[str, Person]) -> Enter:
    """Let somebody come in, signed in."""

    def come(name: str, **screen: object) -> Person:
        people[name] = Person(village, browser, axe, name, **(screen or DESKTOP))
        people[name].sign_in()
        return people[name]

    return come


def begun(house: House, *names: str, awaited: int = 0, **terms: object) -> Match:
    """Return a match in which all have moved and the seat is awaited."""
    match = house.begun(*names, **terms)
    while house.played(match).position.to_act != (awaited,):
        house.move(match)
    return log.get(match.id)


def test_two_people_agree_on_a_pause(village: House, enter: Enter) -> None:
    match = begun(village, "Ailsa", "Bran")
    ailsa, bran = enter("Ailsa"), enter("Bran", **PHONE)
    ailsa.open(match.id)
    ailsa.page.locator("#more > summary").click()
    last = (village.now + timedelta(days=5)).date().isoformat()
    ailsa.page.get_by_label("Last day of the pause").fill(last)
    ailsa.check()
    ailsa.page.get_by_role("button", name="Propose it").click()
    expect(ailsa.page.locator("main")).to_contain_text("The others are told.")
    bran.open(match.id)
    proposal = bran.page.get_by_role("region", name="Proposal")
    expect(proposal).to_contain_text("Ailsa proposes to pause the match until")
    bran.check()
    proposal.get_by_role("button", name="Agree").click()
    expect(bran.page.locator("#paused")).to_be_visible()
    ailsa.page.reload()
    expect(ailsa.page.locator("#paused")).to_be_visible()
    expect(ailsa.page.locator("#deadline")).to_contain_text("the clock stands still until")
    ailsa.check()
    assert village.played(match).rows[-1].kind == "pause"


def test_a_move_is_taken_back_and_another_is_made(village: House, enter: Enter) -> None:
    match = begun(village, "Ailsa", "Bran")
    done = village.move(match)
    ailsa = enter("Ailsa")
    ailsa.open(match.id)
    ailsa.page.get_by_role("button", name=f"Take back {done.text}").click()
    expect(ailsa.page.locator("h1")).to_have_text("It is your turn.")
    expect(ailsa.page.locator("main")).to_contain_text("Your move is taken back.")
    assert [row.kind for row in village.played(match).rows[-2:]] == ["move", "undo"]


def test_a_prepared_move_is_made_when_it_is_its_players_turn(village: House, enter: Enter) -> None:
    match = begun(village, "Ailsa", "Bran", awaited=1)
    ailsa = enter("Ailsa", **PHONE)
    ailsa.refused(422)
    ailsa.open(match.id)
    text = next(move for move in village.played(match).view(1).moves if "/" not in move)
    ailsa.page.locator("#prepare > summary").click()
    ailsa.page.locator("#prepare-move").fill("nonsense")
    ailsa.page.get_by_role("button", name="Have it ready").click()
    expect(ailsa.page.locator("#refused")).to_be_focused()
    expect(ailsa.page.locator("#prepare-move")).to_have_value("nonsense")
    ailsa.check()
    ailsa.page.locator("#prepare-move").fill(reply(village, match, text))
    ailsa.page.get_by_role("button", name="Have it ready").click()
    expect(ailsa.page.locator("#ready")).to_be_visible()
    ailsa.check()
    village.move(match, text)
    row = village.played(match).rows[-1]
    assert (row.seat, row.kind, row.via) == (0, "move", "auto")
    ailsa.open(match.id)
    expect(ailsa.page.locator("#ready")).to_have_count(0)
    expect(ailsa.page.locator("h1")).to_have_text("It is Bran's turn.")


def reply(house: House, match: Match, text: str) -> str:
    """Return a move of the first seat that will be legal after the other's move."""
    played = house.played(match)
    state = played.position.state
    after = state.apply(1, played.game.parse(state, 1, text))
    return played.game.format(after, 0, next(iter(after.legal_moves(0))))


def test_what_is_typed_stays_while_the_match_moves_on(village: House, enter: Enter) -> None:
    match = begun(village, "Ailsa", "Bran", "Catrin", awaited=1)
    ailsa = enter("Ailsa")
    ailsa.page.clock.install()
    ailsa.open(match.id)
    ailsa.page.locator("#prepare > summary").click()
    ailsa.page.locator("#prepare-move").fill("A1-")
    village.move(match)
    ailsa.page.clock.run_for(20_000)
    expect(ailsa.page.locator("h1")).to_have_text("It is Catrin's turn.")
    expect(ailsa.page.locator("#prepare-move")).to_have_value("A1-")
    expect(ailsa.page.locator("#prepare-move")).to_be_focused()


def test_a_half_made_move_is_not_disturbed_by_a_proposal(village: House, enter: Enter) -> None:
    match = begun(village, "Ailsa", "Bran")
    ailsa, bran = enter("Ailsa"), enter("Bran")
    ailsa.page.clock.install()
    ailsa.open(match.id)
    text = village.played(match).view(0).moves[0]
    ailsa.page.locator("#write-move").fill(text)
    ailsa.page.get_by_role("button", name="Look").click()
    expect(ailsa.page.locator("#trial-text")).to_have_text(text)
    bran.open(match.id)
    bran.page.locator("#more > summary").click()
    bran.page.get_by_label("Yes, I want to end it now.").check()
    bran.page.get_by_role("button", name="Propose the end").click()
    expect(bran.page.locator("main")).to_contain_text("The others are told.")
    ailsa.page.clock.run_for(20_000)
    expect(ailsa.page.locator("#moved")).to_be_visible()
    expect(ailsa.page.locator("#trial-text")).to_have_text(text)
    ailsa.confirm()
    assert village.played(match).rows[-1].text == text
    expect(ailsa.page.get_by_role("region", name="Proposal")).to_be_visible()


def test_a_clock_is_counted_down_while_it_runs(village: House, enter: Enter) -> None:
    match = begun(village, "Ailsa", "Bran", pace=2 * DAY)
    ailsa = enter("Ailsa")
    ailsa.page.clock.install()
    ailsa.open(match.id)
    expect(ailsa.page.locator("#deadline b")).to_have_text("1 day 23 hours left")
    ailsa.page.clock.fast_forward("05:00:00")
    expect(ailsa.page.locator("#deadline b")).to_have_text("1 day 18 hours left")


def test_a_clock_that_stands_still_is_not_counted_down(village: House, enter: Enter) -> None:
    match = begun(village, "Ailsa", "Bran", pace=2 * DAY)
    vacations.announce(village.people["Ailsa"], village.now, village.now + timedelta(days=5), "web", now=village.now)
    ailsa, bran = enter("Ailsa"), enter("Bran", **NARROW)
    ailsa.page.clock.install()
    ailsa.open(match.id)
    before = ailsa.page.locator("#deadline b").text_content()
    ailsa.page.clock.fast_forward("05:00:00")
    expect(ailsa.page.locator("#deadline b")).to_have_text(before or "")
    bran.open(match.id)
    expect(bran.page.locator("#time")).to_contain_text("Vacation: the clock stands still until")
    assert bran.page.evaluate("document.documentElement.scrollWidth") <= 320
    bran.check()
    ailsa.page.goto("/")
    expect(ailsa.page.locator("#away")).to_contain_text("You are on vacation until")
    ailsa.check()
    ailsa.page.get_by_role("button", name="End it now").click()
    expect(ailsa.page.locator("#away")).to_have_count(0)


def test_a_vacation_is_announced_in_the_settings(village: House, enter: Enter) -> None:
    match = begun(village, "Ailsa", "Bran")
    ailsa = enter("Ailsa", **PHONE)
    ailsa.page.goto("/settings")
    today = village.now.date()
    ailsa.page.get_by_label("First day").fill(today.isoformat())
    ailsa.page.get_by_label("Last day").fill((today + timedelta(days=6)).isoformat())
    ailsa.page.get_by_role("button", name="Announce it").click()
    expect(ailsa.page.locator("#away")).to_be_visible()
    ailsa.check()
    assert village.played(match).rows[-1].kind == "vacation"


def test_a_table_form_shows_what_matters_and_comes_back_as_it_was(village: House, enter: Enter) -> None:
    ailsa = enter("Ailsa", **NARROW)
    ailsa.refused(422)
    page = ailsa.page
    page.goto("/tables/new")
    expect(page.get_by_label("Each move", exact=True)).to_be_visible()
    expect(page.get_by_label("Time bank at the start")).to_be_hidden()
    page.get_by_label("No limit").check()
    expect(page.get_by_label("Each move", exact=True)).to_be_hidden()
    page.get_by_label("Both").check()
    page.get_by_label("Time bank at the start").select_option(label="5 days")
    expect(page.get_by_label("The bank never exceeds")).to_be_hidden()
    page.get_by_label("Each own move adds").select_option(label="4 hours")
    page.get_by_label("The bank never exceeds").select_option(label="3 days")
    page.get_by_text("More about time").click()
    page.get_by_label("Weekends do not count").check()
    page.get_by_label("Deadlines at a fixed time of day").fill("18:00")
    expect(page.get_by_label("Nights do not count")).to_be_hidden()
    page.get_by_label("in the time zone").select_option("Europe/Prague")
    page.get_by_label("Who runs out of time").select_option("vote")
    expect(page.get_by_label("A bot takes the seat over after")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    ailsa.check()
    page.get_by_role("button", name="Open the table").click()
    expect(page.locator("#refused")).to_contain_text("The most in the time bank is less than what is in it")
    expect(page.get_by_label("Both")).to_be_checked()
    expect(page.get_by_label("Deadlines at a fixed time of day")).to_have_value("18:00")
    ailsa.check()
    page.get_by_label("The bank never exceeds").select_option(label="10 days")
    page.get_by_role("button", name="Open the table").click()
    expect(page.locator("dl")).to_contain_text("a deadline is always at 18:00 in the time zone Europe/Prague")
    ailsa.check()


def test_a_table_is_opened_without_scripts(village: House, enter: Enter) -> None:
    ailsa = enter("Ailsa", **DESKTOP, java_script_enabled=False)
    page = ailsa.page
    page.goto("/tables/new")
    page.get_by_label("One time bank for all moves").check()
    page.get_by_label("Time bank at the start").select_option(label="7 days")
    page.get_by_role("button", name="Open the table").click()
    expect(page.locator("dl")).to_contain_text("A time bank of 7 days for all moves together;")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_about_time_has_barriers_or_scrolls_sideways(village: House, enter: Enter, scheme: str) -> None:
    names = ("Ailsa", "Bran", "Catrin")
    late = begun(village, *names, clock={"move": DAY, "missing": "vote"})
    free = begun(village, *names, clock={"move": DAY, "bank": 2 * DAY, "missing": "at-once"})
    for match in (late, free):
        village.now = log.get(match.id).deadline
        timeouts.time_out(match.id, now=village.now)
    bran, dugald = (enter(name, **NARROW, color_scheme=scheme) for name in ("Bran", "Dugald"))
    for person, path in (
        (bran, f"/matches/{late.id}"),
        (bran, f"/matches/{free.id}"),
        (bran, "/settings"),
        (bran, "/tables/new"),
        (dugald, f"/matches/{free.id}"),
        (dugald, "/tables"),
    ):
        person.visit(path)
        for summary in person.page.locator("details > summary").all():
            summary.evaluate("summary => (summary.parentElement.open = true)")
        person.check()
        assert person.page.evaluate("document.documentElement.scrollWidth") <= 320, path
