"""Pages left open: what others do appears in them by itself, and what their reader has begun stays."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from house import House
from people import DESKTOP, Person, happened, until
from playwright.sync_api import Browser, Page, Route, expect

from server import log, talk
from server.models import Match, User
from server.web import streams

pytestmark = pytest.mark.browser

Enter = Callable[..., Person]
# Counts, in the page, how often a stream has said that it lives.
STILLS = """{
  window.stills = 0;
  window.EventSource = class extends EventSource {
    constructor(...given) { super(...given); this.addEventListener("still", () => (window.stills += 1)); }
  };
}"""


@pytest.fixture
def enter(village: House, browser: Browser, axe: str, people: dict[str, Person]) -> Enter:
    """Let somebody come in, signed in; `page` is where he goes."""

    def come(user: User, **screen: Any) -> Person:
        people[user.name] = Person(village, browser, axe, user.name, **{**DESKTOP, **screen})
        people[user.name].sign_in()
        return people[user.name]

    return come


def in_turn(house: House, match: Match) -> list[User]:
    """Return the two players, whoever is awaited first."""
    seat = house.played(match).position.to_act[0]
    users = [place.user for place in log.places(match)]
    return [users[seat], users[1 - seat]]


def drag(person: Person, text: str) -> None:
    """Make a move of Clans by the mouse, without confirming it."""
    source, target = text.split("-")
    person.drag(source, target, [])


def icon(page: Page) -> str:
    """Return the address of the tab's icon."""
    return page.locator('link[rel="icon"]').get_attribute("href") or ""


def told_alone(page: Page) -> None:
    """Let nothing answer a page that asks by itself: what it hears of a stream has told, however late it may be."""
    page.route(re.compile(r"/pulse(\?|$)"), lambda _route: None)


def test_the_move_of_one_appears_in_the_page_of_the_other(village: House, enter: Enter) -> None:
    match = village.started("Ailsa", "Bran")
    awaited, waiting = in_turn(village, match)
    mover, reader = enter(awaited), enter(waiting)
    for person in (mover, reader):
        told_alone(person.page)
    mover.open(match.id)
    with reader.page.expect_response("**/stream") as told:
        reader.open(match.id)
    assert told.value.status == 200
    text = next(move for move in mover.view()["moves"] if "/" not in move)
    drag(mover, text)
    mover.confirm()
    expect(reader.page.locator("h1")).to_have_text("It is your turn.")
    expect(reader.page.locator("#log")).to_contain_text(text.split("-")[0])
    expect(reader.page).to_have_title("(1) It is your turn. Clans 1 · Clachan")
    assert icon(reader.page).startswith("data:")
    reader.page.locator("#say-text").fill("Well played")
    reader.page.get_by_role("button", name="Say it").click()
    expect(mover.page.locator("#talk-lines")).to_contain_text("Well played")


def test_without_room_for_a_stream_a_page_asks_by_itself(
    village: House, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams.Streams, "room", False)
    match = village.started("Ailsa", "Bran")
    reader = enter(in_turn(village, match)[1])
    reader.page.clock.install()
    with reader.page.expect_response("**/stream") as told:
        reader.open(match.id)
    assert told.value.status == 204
    village.move(match)
    # It begins to wait anew when it finds that there is no stream, which may be only now.
    reader.page.clock.run_for(31_000)
    expect(reader.page.locator("h1")).to_have_text("It is your turn.")
    expect(reader.page).to_have_title("(1) It is your turn. Clans 1 · Clachan")


def test_a_page_whose_stream_says_nothing_any_more_asks_for_itself_and_for_another(
    village: House, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "QUIET", 1)
    match = village.started("Ailsa", "Bran")
    reader = enter(in_turn(village, match)[1])
    reader.page.add_init_script(STILLS)
    reader.page.clock.install()
    reader.open(match.id)
    until(reader.page, "stills", bool)
    asked: list[str] = []
    reader.page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    for _ in range(4):
        reader.page.clock.run_for(25_000)
        heard = reader.page.evaluate("stills")
        until(reader.page, "stills", lambda stills, heard=heard: stills > heard)
    assert asked == [], "it is heard now and then"
    monkeypatch.setattr(streams, "QUIET", 1000)
    village.move(match)
    # What the stream said before that is heard by now.
    expect(reader.page.locator("h1")).to_have_text("It is your turn.")
    asked.clear()
    reader.page.clock.run_for(61_000)
    happened(reader.page, lambda: len(asked) > 1)
    assert sorted(asked) == ["pulse?seen=yes", "stream"]


def test_a_half_made_move_stays_when_the_match_moves_on(village: House, enter: Enter) -> None:
    match = village.started("Ailsa", "Bran")
    reader = enter(in_turn(village, match)[0])
    told_alone(reader.page)
    reader.open(match.id)
    text = next(move for move in reversed(reader.view()["moves"]) if "/" not in move)
    drag(reader, text)
    expect(reader.page.locator("#trial-text")).to_have_text(text)
    village.move(match)
    expect(reader.page.locator("#moved")).to_be_visible()
    expect(reader.page.locator("#trial-text")).to_have_text(text)
    reader.page.locator("#start-over").get_by_role("button").click()
    expect(reader.page.locator("#facts")).to_have_attribute("data-seq", "1")


def test_what_is_typed_stays_when_others_talk_and_move(village: House, enter: Enter) -> None:
    match = village.started("Ailsa", "Bran")
    reader = enter(in_turn(village, match)[1])
    told_alone(reader.page)
    reader.open(match.id)
    reader.page.locator("#say-text").fill("I was about to")
    reader.page.locator("#note summary").click()
    reader.page.locator("#note-text").fill("Mind the lakes")
    talk.speak(match, in_turn(village, match)[0], "Your turn soon", village.now)
    expect(reader.page.locator("#talk-lines")).to_contain_text("Your turn soon")
    village.move(match)
    expect(reader.page.locator("h1")).to_have_text("It is your turn.")
    expect(reader.page.locator("#say-text")).to_have_value("I was about to")
    expect(reader.page.locator("#note-text")).to_have_value("Mind the lakes")


def test_the_home_page_counts_without_being_loaded_again(village: House, enter: Enter) -> None:
    match = village.started("Ailsa", "Bran")
    reader = enter(in_turn(village, match)[1])
    told_alone(reader.page)
    with reader.page.expect_response("**/stream"):
        reader.page.goto("/")
    expect(reader.page).to_have_title("Your matches · Clachan")
    plain = icon(reader.page)
    village.move(match)
    expect(reader.page).to_have_title("(1) Your turn · Clachan")
    expect(reader.page.get_by_role("navigation", name="Site").locator(".count")).to_contain_text("1 waiting for you")
    expect(reader.page.locator("h1")).to_have_text("It is your turn in 1 match")
    assert icon(reader.page).startswith("data:")
    village.move(match)
    expect(reader.page).to_have_title("Your matches · Clachan")
    assert icon(reader.page) == plain
    reader.page.goto(f"/matches/{match.id}/replay/1")
    expect(reader.page).to_have_title("Step 1 of Clans 1 · Clachan")
    village.move(match)
    expect(reader.page).to_have_title("(1) Step 1 of Clans 1 · Clachan")
    village.move(match)
    reader.page.goto("/rules/clans")
    expect(reader.page).to_have_title("Rules of Clans · Clachan")
    village.move(match)
    expect(reader.page).to_have_title("(1) Rules of Clans · Clachan")
    reader.check()


def test_the_home_page_shows_what_happened_before_it_began_to_listen(village: House, enter: Enter) -> None:
    match = village.started("Ailsa", "Bran")
    reader = enter(in_turn(village, match)[1])
    told_alone(reader.page)
    held: list[Route] = []
    reader.page.route("**/stream", lambda route: held.append(route))
    reader.page.goto("/")
    happened(reader.page, lambda: held)
    village.move(match)
    held[0].continue_()
    expect(reader.page.locator("h1")).to_have_text("It is your turn in 1 match")


def test_the_newest_pages_of_a_person_hear_at_once_and_an_old_one_when_it_is_looked_at(
    village: House, enter: Enter
) -> None:
    match = village.started("Ailsa", "Bran")
    # Nothing walks in a page that is not in front.
    reader = enter(in_turn(village, match)[1], reduced_motion="reduce")
    pages = [reader.page, *(reader.context.new_page() for _ in range(streams.MOST_EACH))]
    ended: list[str] = []
    for over in ("requestfinished", "requestfailed"):
        pages[0].on(over, lambda request: ended.append(request.url))
    for page in pages:
        told_alone(page)
        with page.expect_response("**/stream"):
            page.goto(f"/matches/{match.id}")
        expect(page.locator('#match[data-ready="yes"]')).to_be_attached()
    # The oldest has been told that it has no stream any more.
    happened(pages[0], lambda: f"{village.site}/matches/{match.id}/stream" in ended)
    village.move(match)
    for page in pages[1:]:
        expect(page.locator("h1")).to_have_text("It is your turn.")
    expect(pages[0].locator("h1")).not_to_have_text("It is your turn.")
    pages[0].evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # somebody looks at it again
    expect(pages[0].locator("h1")).to_have_text("It is your turn.")


def look(page: Page, *, away: bool) -> None:
    """Let a page be hidden, as if another tab were in front, or be in sight again."""
    page.evaluate(
        """away => {
            Object.defineProperty(document, "hidden", { value: away, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        away,
    )


def test_a_page_out_of_sight_counts_what_waits_and_is_nobody_s_visit(village: House, enter: Enter) -> None:
    match = village.started("Ailsa", "Bran")
    reader = enter(in_turn(village, match)[1])
    page, asked = reader.page, []
    with page.expect_response("**/stream"):
        page.goto("/")
    look(page, away=True)
    page.on("request", lambda request: asked.append(request.url))
    village.move(match)
    expect(page).to_have_title(re.compile(r"^\(1\) "))
    assert not [url for url in asked if "seen" in url]
    with page.expect_request("**/pulse?seen=yes"):
        look(page, away=False)


@pytest.mark.parametrize("game", ["clans", "glory"])
def test_a_draft_survives_a_reload_in_every_game(village: House, enter: Enter, game: str) -> None:
    match = village.started("Ailsa", "Bran", game=game)
    reader = enter(in_turn(village, match)[0])
    reader.open(match.id)
    text = reader.view()["moves"][-1]
    reader.page.locator("#write-move").fill(text)
    reader.page.locator("#write").get_by_role("button").click()
    expect(reader.page.locator("#trial-text")).to_have_text(text)
    reader.open(match.id)
    expect(reader.page.locator("#trial-text")).to_have_text(text)
    reader.page.locator("#start-over").get_by_role("button").click()
    reader.page.locator("#write-move").fill("half a mo")
    reader.open(match.id)
    expect(reader.page.locator("#write-move")).to_have_value("half a mo")
    assert village.played(match).rows == []


@pytest.mark.parametrize("game", ["clans", "glory"])
def test_a_draft_that_the_match_has_overtaken_is_judged_anew(village: House, enter: Enter, game: str) -> None:
    match = village.started("Ailsa", "Bran", game=game)
    awaited, _ = in_turn(village, match)
    reader = enter(awaited)
    reader.refused(422)
    reader.open(match.id)
    text = reader.view()["moves"][0]
    reader.page.locator("#write-move").fill(text)
    reader.page.locator("#write").get_by_role("button").click()
    expect(reader.page.locator("#trial-text")).to_have_text(text)
    village.move(match, text)  # from another device
    village.move(match)
    reader.page.locator("#show-moved").click()
    expect(reader.page.locator("#notice")).to_contain_text("The match has moved on since you began your move.")
    expect(reader.page.locator("#trial-fault")).to_be_visible()
    expect(reader.page.locator("#trial-text")).to_have_text(text)
    assert len(village.played(match).rows) == 2


def test_an_answer_is_tried_out_on_the_board_and_made_when_its_turn_comes(village: House, enter: Enter) -> None:
    match = village.started("Ailsa", "Bran")
    reader = enter(in_turn(village, match)[1])
    reader.open(match.id)
    reader.page.get_by_role("link", name="What if?").click()
    expect(reader.page).to_have_url(re.compile("/whatif"))
    texts = []
    for turn in range(2):
        expect(reader.page.locator('#match[data-ready="yes"]')).to_be_attached()
        texts.append([move for move in reader.view()["moves"] if "/" not in move][turn * 5])
        drag(reader, texts[-1])
        expect(reader.page.locator("#line li")).to_have_count(turn + 1)
    reader.check()
    assert village.played(match).rows == []
    reader.page.get_by_role("button", name=f"Have {texts[1]} ready in answer to {texts[0]}").click()
    expect(reader.page.locator("#ready")).to_contain_text(texts[1])
    village.move(match, texts[0])
    expect(reader.page.locator("#facts")).to_have_attribute("data-seq", "2")
    assert [row.text for row in village.played(match).rows] == texts


def test_moves_are_tried_out_without_scripts_in_a_game_with_hidden_hands(village: House, enter: Enter) -> None:
    match = village.started("Ailsa", "Bran", game="glory")
    reader = enter(in_turn(village, match)[1], java_script_enabled=False)
    page = reader.page
    page.goto(f"/matches/{match.id}/whatif")
    page.locator("#by-links summary").click()
    page.locator("#by-links li a").first.click()
    page.locator("#picked li a").first.click()
    expect(page.locator("h1")).to_have_text("Then it would be your turn.")
    page.locator("#write-move").fill("nonsense")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#trial-fault")).to_be_visible()
    expect(page.locator("#line li")).to_have_count(1)
    page.locator("#back").click()
    expect(page.locator("#line")).to_have_count(0)
    assert village.played(match).rows == []


def test_the_answer_to_help_stands_beside_the_field_of_the_talk(village: House, enter: Enter) -> None:
    match = village.started("Ailsa", "Bran")
    reader = enter(village.people["Ailsa"])
    reader.open(match.id)
    reader.page.locator("#say-text").fill("/help")
    reader.page.get_by_role("button", name="Say it").click()
    expect(reader.page.locator("#say-told")).to_contain_text("You may write: ")
    expect(reader.page.locator("#say-told")).to_be_in_viewport()
    reader.check()
