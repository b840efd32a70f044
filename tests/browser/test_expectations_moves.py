"""What players expect of the table itself: points 3 to 6, 10, 11 and 13 of docs/expectations.md."""

from __future__ import annotations

import re

import pytest
from expecting import POSITIONS, STILL, Stage, flat, looked_at, texts, written
from people import PHONE, Person, read
from playwright.sync_api import Page, expect

from server.models import Match, User

pytestmark = pytest.mark.browser

SMALL = {**PHONE, "viewport": {"width": 360, "height": 740}, "reduced_motion": "reduce"}
# A move of each game with consequences: in Clans three villages arise, in Clans and Glory a shield is put on a place.
RICH = (("clans-06", 32, "L1-L4 / I5 L4 L2"), ("glory-01", 4, "R3 S18 shield"))
# The first moves of two records, and the same as somebody would write them.
FIRST = (("clans-06", "G5-G4", "g5 to g4"), ("glory-01", "B3 N13", "b3@n13"))


def rows(stage: Stage, match: Match) -> list[str]:
    """Return the texts of the log."""
    return [row.text for row in stage.house.played(match).rows]


def posts(page: Page) -> list[str]:
    """Return the list of what a page sends to the server from now on, which grows as it is sent."""
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url) if request.method == "POST" else None)
    return found


@pytest.mark.parametrize(("record", "moves"), POSITIONS)
def test_03_since_my_last_turn_in_words_and_on_the_board_and_in_the_mail(stage: Stage, record: str, moves: int) -> None:
    match = stage.recorded(record, moves)
    me = stage.awaited(match)
    mail = flat(stage.post(me)[-1])
    own = max(line.seq for line in stage.told(match, me) if line.seat == stage.house.played(match).position.to_act[0])
    news = stage.told(match, me, after=own)
    assert len(news) > 1
    person = stage.come(me)
    page = person.page
    person.open(match.id)
    expect(page.locator("#news-heading")).to_have_text("Since your last turn")
    sentences = [sentence for line in news for sentence in line.sentences]
    assert texts(page, "#news .told li > p:not(.told-foot)") == sentences
    assert all(" ".join(sentence.split()) in mail for sentence in sentences)
    named = dict(text.split(" on the board: ") for text in texts(page, "#news .place"))
    assert sorted(named.values()) == sorted({place for line in news for place in line.touched})
    drawn = [number for text in texts(page, "#board .mark-number text") for number in text.split("·")]
    assert sorted(drawn, key=int) == sorted(named, key=int) == [str(n + 1) for n in range(len(named))]
    assert page.locator("#board .mark").count() == page.locator("#board .mark-number").count()
    page.locator("#news .told-foot a").first.click()
    for line in news:
        expect(page).to_have_url(f"{stage.house.site}/matches/{match.id}/replay/{line.seq}")
        expect(page.locator("#news .did")).to_have_text(line.sentences[0])
        expect(page.locator('#match[data-ready="yes"]')).to_be_attached()
        page.keyboard.press("ArrowRight")


@pytest.mark.parametrize(("record", "moves", "text"), RICH)
def test_04_a_move_is_built_looked_at_and_only_then_confirmed(stage: Stage, record: str, moves: int, text: str) -> None:
    match = stage.recorded(record, moves)
    me = stage.awaited(match)
    before = stage.house.played(match)
    person = stage.come(me)
    page = person.page
    posted = posts(page)
    person.open(match.id)
    if " / " in text:
        source, target, order = read(text)
        person.drag(source, target, [])
        asked = "3 villages arise. Which is founded first? Choose on the map."
        expect(page.locator("#trial-text")).to_have_text(asked)
        person.open(match.id)
        expect(page.locator("#trial-text")).to_have_text(asked)
        for village in order[:2]:
            page.mouse.click(*person.centre(village))
    else:
        written(person, text)
    looked_at(person, text)
    promised = texts(page, "#trial-sentences li")
    person.open(match.id)
    looked_at(person, text)
    page.wait_for_timeout(600)  # nothing passes on by itself
    assert not posted
    assert rows(stage, match) == [row.text for row in before.rows]
    page.locator("#start-over").get_by_role("button").click()
    expect(page.locator("#trial")).to_be_hidden()
    person.open(match.id)
    expect(page.locator("#trial")).to_be_hidden()
    written(person, text)
    looked_at(person, text)
    assert texts(page, "#trial-sentences li") == promised
    person.confirm()
    assert rows(stage, match)[-1] == text
    consequences(before.view(before.position.to_act[0]).table, person.view()["table"], " ".join(promised))


def consequences(before: dict, after: dict, said: str) -> None:
    """Compare what was promised with what has changed: villages and points of the clans, or a shield on its place."""
    if "villages" in after:
        new = [village for village in after["villages"] if village not in before["villages"]]
        assert len(new) == 3
        for village in new:
            founded = rf"founded a village at {village['territory']} .*?It gives {village['value']} .*?\."
            assert re.search(founded, said), village
        gained = {clan for clan in after["clan_points"] if after["clan_points"][clan] > before["clan_points"][clan]}
        assert gained
        assert all(clan in said for clan in gained)
    else:
        assert after["stacks"] != before["stacks"]
        assert "shield" in said


@pytest.mark.parametrize(("record", "moves"), POSITIONS)
def test_05_what_was_shown_is_stored_and_what_is_stored_is_told(stage: Stage, record: str, moves: int) -> None:
    match = stage.recorded(record, moves)
    me = stage.awaited(match)
    person = stage.come(me)
    page = person.page
    person.open(match.id)
    shown, stored = person.view()["moves"][0], person.view()["moves"][-1]
    written(person, shown.lower())
    looked_at(person, shown)
    promised = texts(page, "#trial-sentences li")
    person.confirm()
    line = stage.told(match, me)[-1]
    assert (line.text, list(line.sentences)) == (shown, promised)
    expect(page.locator("#notice")).to_have_text(f"Your move {shown} is made. {' '.join(promised)}")
    assert texts(page, f"#row-{line.seq} p:not(.faint)") == promised
    second = stage.recorded(record, moves)
    person = stage.come(stage.awaited(second))
    person.open(second.id)
    written(person, shown)
    looked_at(person, shown)
    # Should another move come into being than the page shows, the page must say which, for it reads it back.
    person.page.evaluate("text => { document.getElementById('confirm').elements.move.value = text; }", stored)
    person.confirm()
    assert rows(stage, second)[-1] == stored
    expect(person.page.locator("#notice")).to_contain_text(f"Your move {stored} is made.")


def by_drag(person: Person, text: str) -> None:
    """Drag the huts, or the card."""
    page = person.page
    if "-" in text:
        person.drag(*text.split("-"), [])  # type: ignore[call-arg]
        return
    card, spot = text.split()[:2]
    place = page.locator(f"#s-{spot}")
    place.scroll_into_view_if_needed()
    page.locator(f"#h-{card}").hover(position={"x": 10, "y": 20})
    page.mouse.down()
    page.mouse.move(*person.middle(place), steps=6)
    page.mouse.up()


def by_taps(person: Person, text: str) -> None:
    """Tap what moves, then where to."""
    if "-" in text:
        person.tap(*text.split("-"), [])  # type: ignore[call-arg]
        return
    card, spot = text.split()[:2]
    person.page.locator(f"#h-{card}").tap(position={"x": 10, "y": 20})
    person.page.touchscreen.tap(*person.middle(person.page.locator(f"#s-{spot}")))


def by_keys(person: Person, text: str) -> None:
    """Type the names of what moves and where to, after the Tab key has come to the board, or the hand."""
    if "-" in text:
        person.press(*text.split("-"), [])  # type: ignore[call-arg]
        return
    person.tab_to("document.activeElement.dataset.card")
    for name in text.split()[:2]:
        person.page.keyboard.type(name.lower())
        person.page.keyboard.press("Enter")


def by_links(person: Person, text: str) -> None:
    """Choose from the lists of a page without scripts."""
    page = person.page
    page.locator("#by-links summary").click()
    head, rest = re.split(r"[- ]", text, maxsplit=1)
    page.locator(f'#by-links a[href*="from={head}"], #by-links a[href*="card={head}"]').first.click()
    page.locator("#by-links").get_by_role("link", name=rest, exact=False).first.click()


@pytest.mark.parametrize(("record", "text", "loose"), FIRST)
def test_06_every_move_by_drag_taps_keys_and_in_writing_with_one_grammar(
    stage: Stage, record: str, text: str, loose: str
) -> None:
    people = stage.cast(3 if record.startswith("clans") else 4)
    mailed = stage.recorded(record, 0, people)
    me = stage.awaited(mailed)
    (mail,) = stage.post(me)
    matches = [*(stage.recorded(record, 0, people) for _way in range(6)), mailed]
    desktop, phone, plain = (
        stage.come(me, **screen) for screen in (STILL, SMALL, {**STILL, "java_script_enabled": False})
    )
    ways = ((desktop, by_drag), (phone, by_taps), (desktop, by_keys), (desktop, lambda one, _text: written(one, loose)))
    for match, (person, way) in zip(matches, ways, strict=False):
        person.open(match.id)
        way(person, text)
        looked_at(person, text)
        person.confirm()
    for match, way in ((matches[4], by_links), (matches[5], lambda one, _text: written(one, loose))):
        plain.page.goto(f"/matches/{match.id}")
        way(plain, text)
        expect(plain.page.locator("#trial-text")).to_have_text(text)
        assert rows(stage, match) == []
        plain.page.locator("#confirm-button").click()
        expect(plain.page.locator("main")).to_contain_text(f"Your move {text} is made.")
    desktop.page.goto(f"/mailbox/{stage.key(mail)}")
    desktop.page.locator("#answer textarea").fill(loose)
    desktop.page.get_by_role("button", name="Send the answer").click()
    expect(desktop.page.locator("main")).to_contain_text("Your answer is sent.")
    assert [rows(stage, match) for match in matches] == [[text]] * 7
    (answer,) = stage.post(me)
    assert stage.told(mailed, me)[-1].sentences[0] in flat(answer)


NAMES = "all => all.map(one => one.getAttribute('aria-label') || '')"
LIVE = """() => [...document.querySelectorAll('[aria-live], [role=status], [role=alert], [role=log]')]
    .filter(one => one.checkVisibility()).map(one => [one.id, one.getAttribute('aria-live') || one.role])"""


@pytest.mark.parametrize(("record", "moves"), POSITIONS)
def test_10_the_same_page_for_screen_readers_and_keyboards(stage: Stage, record: str, moves: int) -> None:
    match = stage.recorded(record, moves)
    me = stage.awaited(match)
    person = stage.come(me)
    page = person.page
    person.open(match.id)
    places = page.locator("#board .territory, #board .spot, #board .place")
    named = places.evaluate_all(NAMES)
    # The territories; or the places with three spots at either side.
    assert len(named) == (60 if record.startswith("clans") else 7 * person.view()["table"]["places"])
    assert all(named)
    if record.startswith("glory"):
        hand = person.view()["table"]["hand"]
        assert len(page.locator("#hand [data-card]").evaluate_all(NAMES)) == len(hand) > 0
        assert all(page.locator("#hand [data-card]").evaluate_all(NAMES))
        expect(page.locator("#own-shields")).to_contain_text("shields left")
        assert any("takes" in name for name in named)
    stops = "all => all.filter(one => one.tabIndex === 0).map(one => one.id)"
    assert len(page.locator("#board [tabindex]").evaluate_all(stops)) == 1
    person.tab_to("document.activeElement.closest('#board')")
    first = page.evaluate("document.activeElement.id")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.closest('#board') && document.activeElement.id") not in {"", first}
    assert len(page.locator("#board [tabindex]").evaluate_all(stops)) == 1
    assert texts(page, "#log li .did") == [line.sentences[0] for line in reversed(stage.told(match, me))]
    assert page.evaluate(LIVE) == [["live", "status"]]
    said = page.locator("h1").text_content()
    for _turn in range(2):
        expect(page).to_have_title(re.compile(rf"^(\(\d+\) )?{re.escape(said or '')}"))
        expect(page.locator("h1")).to_have_text(said or "")
        expect(page.locator("#log p").first).to_have_text(said or "")
        stage.house.move(match)
        expect(page.locator("h1")).not_to_have_text(said or "")
        said = page.locator("h1").text_content()
        expect(page.locator("#live")).to_have_text(said or "")
    assert page.evaluate(LIVE) == [["live", "status"]]


# How much of the width and of the height of a territory is its own when it is touched there.
REACH = """id => {
    const box = document.querySelector(`#${id} .shape`).getBoundingClientRect(), steps = [...Array(21).keys()];
    const hit = (i, j) => document.elementFromPoint(box.x + box.width * i / 20, box.y + box.height * j / 20)
        ?.closest('.territory')?.id === id;
    return [steps.filter(i => steps.some(j => hit(i, j))).length / 21,
        steps.filter(j => steps.some(i => hit(i, j))).length / 21]; }"""
SMALLEST = """all => Math.min(...all.flatMap(one => {
    const box = one.getBoundingClientRect(); return [box.width, box.height]; }))"""


@pytest.mark.parametrize(("record", "text"), [("clans-06", "G5-G4"), ("glory-01", "B3 N13")])
def test_11_on_a_phone_whole_places_are_targets_and_nothing_is_confirmed_by_accident(
    stage: Stage, record: str, text: str
) -> None:
    match = stage.recorded(record, 0)
    me = stage.awaited(match)
    person = stage.come(me, **SMALL)
    page = person.page
    page.clock.install()
    posted = posts(page)
    person.open(match.id)
    targets = page.locator("#board .territory .shape, #board .spot .shape, .hand-card")
    assert targets.count() >= 36
    assert targets.evaluate_all(SMALLEST) >= 24
    if record.startswith("glory"):
        box = page.locator("#hand").bounding_box()
        assert box
        assert round(box["y"] + box["height"]) == 740
        assert page.locator(".hand-card").count() == len(person.view()["table"]["hand"])
    else:
        page.locator("#t-G5").scroll_into_view_if_needed()
        assert min(page.evaluate(REACH, "t-G5")) > 0.8  # from edge to edge
    # Far enough from now that the moment has not come yet.
    page.clock.pause_at(page.evaluate("Date.now()") + 60_000)
    by_taps(person, text)
    expect(page.locator("#trial-text")).to_have_text(text)
    button = page.locator("#confirm-button")
    expect(button).to_be_visible()
    expect(button).to_be_disabled()
    button.tap(force=True)  # the second tap of a pair
    assert rows(stage, match) == []
    page.clock.run_for(400)
    expect(button).to_be_enabled()
    page.clock.resume()
    button.tap()
    expect(page.locator("#facts")).to_have_attribute("data-seq", "1")
    assert rows(stage, match) == [text]
    assert len(posted) == 1


def note(stage: Stage, user: User, match: Match) -> str:
    """Return what the page shows to somebody as his note."""
    person = stage.come(user)
    person.open(match.id)
    return person.page.locator("#note-text").input_value()


def test_13_private_notes_and_a_board_to_try_moves_out_on_what_i_know(stage: Stage) -> None:
    me, other = stage.cast()
    match = stage.turn_of(me, other, game="glory")
    person = stage.come(me)
    page = person.page
    person.open(match.id)
    page.locator("#note summary").click()
    page.locator("#note-text").fill("He keeps his sevens")
    page.get_by_role("button", name="Keep the note").click()
    expect(page.locator(".messages")).to_be_visible()
    assert note(stage, me, match) == "He keeps his sevens"
    assert note(stage, other, match) == ""
    stranger = stage.come()
    stranger.page.goto(f"/matches/{match.id}")
    assert "He keeps his sevens" not in stranger.page.content()
    before = rows(stage, match)
    played = stage.house.played(match)
    hers = set(played.view(1).table["hand"])
    person.open(match.id)
    page.get_by_role("link", name="What if?").click()
    expect(page).to_have_url(re.compile("/whatif"))
    expect(page.locator('#match[data-ready="yes"]')).to_be_attached()
    by_drag(person, person.view()["moves"][0])
    expect(page.locator("#line li")).to_have_count(1)
    expect(page.locator('#match[data-ready="yes"]')).to_be_attached()
    expect(page.locator("h1")).to_have_text(f"Then it would be {other.name}'s turn.")
    # Any card that I have not seen may be supposed in her hand, so the list does not tell what she holds.
    supposed = set(texts(page, "#by-links .links a"))
    assert supposed - hers
    seen = set(played.view(0).table["hand"]) | set(played.view(0).table["cards"].values())
    assert not supposed & seen
    written(person, page.locator("#write-move").get_attribute("placeholder") or "")
    expect(page.locator("#line li")).to_have_count(2)
    page.locator("#start-over").click()
    expect(page.locator("#line")).to_have_count(0)
    assert rows(stage, match) == before
