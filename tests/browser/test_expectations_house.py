"""What players expect of the house around the table: points 9, 14 and 18 to 22 of docs/expectations.md."""

from __future__ import annotations

import base64
import hmac
import io
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import barriers
import eyesight
import pytest
from expecting import STILL, Stage, flat, looked_at, texts, written
from house import DAY, RECORDS
from people import DESKTOP
from PIL import Image
from playwright.sync_api import Page, expect

from server import archive, clock, hooks, log, ratings, seating, timeouts
from server.channels.webhook import WebhookChannel

pytestmark = pytest.mark.browser

PALETTE = {"red": "#C8102E", "yellow": "#FFD400", "green": "#3FB68B", "blue": "#0B4FA8", "black": "#141414"}
FAR_ENOUGH = 22
HUTS = """clans => Object.fromEntries(clans.map(clan => [clan,
    [...document.querySelectorAll(`#clans-hut-${clan} > path`)].map(path =>
        ['d', 'fill', 'stroke', 'stroke-width'].map(it => path.getAttribute(it)))]))"""
DRAWN = "ids => ids.map(id => document.getElementById(id)?.innerHTML ?? '')"


def brightness(page: Page, place: str) -> float:
    """Return how bright a part of the page is on the whole, from 0 to 1."""
    picture = Image.open(io.BytesIO(page.locator(place).screenshot())).convert("RGB").resize((1, 1))
    return eyesight.brightness(picture.getpixel((0, 0)))  # type: ignore[arg-type]


def test_09_colour_with_glyph_and_two_tone_outline(stage: Stage) -> None:
    for sight in eyesight.SIGHTS:
        found, alike = eyesight.nearest(PALETTE, sight)
        assert found >= FAR_ENOUGH, (sight, alike)
    match = stage.recorded("clans-06", 9)
    person = stage.come(stage.awaited(match), **STILL, color_scheme="dark")
    page = person.page
    person.open(match.id)
    huts = page.evaluate(HUTS, list(PALETTE))
    assert len({json.dumps([path[0] for path in paths]) for paths in huts.values()}) == len(PALETTE)  # a form for each
    for clan, paths in huts.items():
        light, dark = (path for path in paths if path[2] and float(path[3]) > 6)
        assert dark[1].upper() == PALETTE[clan]
        assert float(light[3]) > float(dark[3])
        tones = [eyesight.brightness(tuple(bytes.fromhex(path[2][1:]))) for path in (light, dark)]  # type: ignore[arg-type]
        assert tones[0] - tones[1] > 0.7
    emblems = page.evaluate(DRAWN, [f"clans-emblem-{clan}" for clan in PALETTE])
    assert all(emblems)
    assert len(set(emblems)) == len(PALETTE)
    for hut in page.locator("#board .hut").all()[:12]:
        assert hut.locator("use").count() == 2 or (hut.locator("text").text_content() or "").isdigit()
    assert texts(page, ".clans-points .clan-word")[0].split()[0] in PALETTE
    assert all(re.search("|".join(PALETTE) + "|empty|village", name) for name in person.titles().values())
    glory = stage.recorded("glory-01", 8)
    player = stage.come(stage.awaited(glory), **STILL, color_scheme="dark")
    player.open(glory.id)
    shields = player.page.evaluate(DRAWN, [f"glory-shield-{seat}" for seat in range(1, 5)])
    forms = {re.sub(r"#[0-9a-fA-F]{3,6}", "", drawn) for drawn in shields}
    assert len(forms) == len(shields) == 4
    cards = player.page.locator("#board .card").evaluate_all("all => all.map(card => card.dataset.card)")
    inner = dict(zip(cards, player.page.evaluate(DRAWN, [f"glory-card-{card}" for card in cards]), strict=True))
    signs = {card: re.sub(r"#[0-9a-fA-F]{3,6}", "", drawn) for card, drawn in inner.items()}
    assert len(set(signs.values())) == len(cards)
    for shown in (person, player):
        assert brightness(shown.page, "header.top") < 0.3
        assert brightness(shown.page, "#board") > 0.5  # light paper in the dark


@pytest.mark.parametrize(("game", "title"), [("clans", "Clans"), ("glory", "Clans and Glory")])
def test_14_a_bot_in_one_click_without_an_account_and_a_guided_first_game(stage: Stage, game: str, title: str) -> None:
    person = stage.come()
    page = person.page
    page.goto("/")
    page.get_by_role("button", name=f"Try {title} now").click()
    expect(page.locator('#match[data-ready="yes"]')).to_be_attached()
    expect(page.get_by_text("Playing as a visitor")).to_be_visible()
    number = int(page.url.rpartition("/")[2])
    stage.house.now = clock.now()
    stage.house.bots()
    person.open(number)
    expect(page.locator("h1")).to_have_text("It is your turn.")
    text = person.view()["moves"][0]
    written(person, text)
    looked_at(person, text)
    person.confirm()
    assert text in [row.text for row in stage.house.played(log.get(number)).rows]
    another = stage.come()
    page = another.page
    page.goto(f"/rules/{game}")
    page.get_by_role("button", name="Play a guided first match").click()
    expect(page.locator('#match[data-ready="yes"]')).to_be_attached()
    stage.house.bots()
    another.open(int(page.url.rpartition("/")[2]))
    expect(page.locator("h1")).to_have_text("It is your turn.")
    expect(page.locator("#lesson")).to_be_visible()
    told = texts(page, "#lesson-told .guide-text p")
    assert told
    assert all(told)


def points(table: dict[str, Any]) -> dict[str, int]:
    """Return all that is counted in a position."""
    if "clan_points" in table:
        return {**table["clan_points"], **{f"chips {seat}": chips for seat, chips in enumerate(table["chips"])}}
    return {f"player {seat}": won for seat, won in enumerate(table["points"])}


def reasons(told: str, seat: int, before: dict[str, Any], called: list[str]) -> dict[str, int]:
    """Return the changes of what is counted as a row of the log tells them."""
    found: dict[str, int] = {}
    for value, clans in re.findall(r"It gives (\d+)(?: each)? to ([^:]+): ", told):
        for clan in PALETTE:
            found[clan] = found.get(clan, 0) + int(value) * (clan in clans)
    if chips := told.count("took its chip (1 point)"):
        found[f"chips {seat}"] = chips
    if now := re.search(r"If the match ended now, place (\d+) would give (.+?)\.", told):
        for number, name in enumerate(called):
            here = re.findall(rf"{re.escape(name)} (\d+) \(", now[2])
            taken = sum(
                strength * cards for who, strength, cards in before["standings"].get(now[1], []) if who == number
            )
            found[f"player {number}"] = sum(map(int, here)) - taken
    return {name: change for name, change in found.items() if change}


@pytest.mark.parametrize("record", ["clans-02", "glory-02"])
def test_18_every_change_of_points_has_its_reason_in_the_log(stage: Stage, record: str) -> None:
    match = archive.add((RECORDS / f"{record}.json").read_bytes(), stage.house.now)
    page = stage.come().page
    page.goto(f"/matches/{match.id}")
    played, changes = stage.house.played(match), 0
    called = page.evaluate("JSON.parse(document.getElementById('facts').dataset.names)")
    told = dict(
        zip(
            page.locator("#log li").evaluate_all("all => all.map(row => +row.dataset.seq)"),
            texts(page, "#log li"),
            strict=True,
        )
    )
    for row, before, after in zip(played.rows, played.positions, played.positions[1:], strict=False):
        if after.outcome:
            break
        tables = [json.loads(json.dumps(played.view(row.seat, each).table)) for each in (before, after)]
        old, new = (points(table) for table in tables)
        expected = {name: new[name] - old[name] for name in new if new[name] != old[name]}
        assert reasons(told[row.seq], row.seat or 0, tables[0], called) == expected, told[row.seq]
        changes += bool(expected)
    assert changes > 5
    last = told[played.rows[-1].seq]
    if record.startswith("glory"):
        assert all(f"{name} {score}" in last for name, score in zip(called, played.outcome.scores, strict=True))
    else:
        assert "village ends the match" in last or "the match is over" in last


@pytest.mark.parametrize("record", ["clans-01", "glory-01"])
def test_19_a_replay_with_lasting_links_keys_exports_and_numbers_beside_every_chart(stage: Stage, record: str) -> None:
    raw = json.loads((RECORDS / f"{record}.json").read_text(encoding="utf-8"))
    match = archive.add((RECORDS / f"{record}.json").read_bytes(), stage.house.now)
    person = stage.come()
    page = person.page
    steps = f"{stage.house.site}/matches/{match.id}/replay"
    person.visit(f"/matches/{match.id}/replay/3")
    kept = page.get_by_role("link", name="A link to this step that stays").get_attribute("href") or ""
    assert kept.endswith(f"/matches/{match.id}/replay/3")
    board = page.locator("#board").inner_html()
    for key, number in (("ArrowRight", 4), ("ArrowLeft", 3), ("Home", 0), ("End", len(raw["log"]))):
        page.keyboard.press(key)
        expect(page).to_have_url(f"{steps}/{number}")
    person.visit(kept)
    assert page.locator("#board").inner_html() == board
    links = {name: page.get_by_role("link", name=name, exact=True).get_attribute("href") for name in ("Record", "Text")}
    exported = json.loads(page.request.get(links["Record"] or "").text())
    assert [row["text"] for row in exported["log"]] == [row["text"] for row in raw["log"]]
    assert exported["result"] == raw["result"]
    text = page.request.get(links["Text"] or "").text()
    assert all(row["text"] in text for row in raw["log"])
    page.goto(f"/matches/{match.id}")
    figures = page.locator("#tale figure").all()
    assert figures
    assert page.locator("#tale .chart-frame svg").count() == len(figures)
    for figure in figures:
        rows = figure.locator("tbody tr").all()
        named = figure.locator(".legend li").all_text_contents()
        heads = figure.locator("thead th").all_text_contents()
        assert [name.strip() for name in named] == [head.strip() for head in heads[1:]]
        assert rows
        assert all(cell.strip() for cell in figure.locator("tbody td").all_text_contents())


def facts(page: Page, name: str) -> dict[str, str]:
    """Return what the page of somebody tells of his reliability, in all."""
    page.goto(f"/people/{name}")
    rows = page.locator('[aria-labelledby="reliability"] tbody tr').all()
    return {(row.locator("th").text_content() or ""): (row.locator("td").last.text_content() or "") for row in rows}


def test_20_reliability_as_facts_and_no_shows_leave_early(stage: Stage) -> None:
    me, other, third = stage.cast(3)
    house = stage.house
    house.now = clock.now() - timedelta(days=9)
    match = house.started(me.name, other.name, third.name, pace=DAY)
    turns = {user.name: iter((5, 20, 50)) for user in (me, other, third)}
    for _turn in range(9):
        house.later(minutes=next(turns[stage.awaited(match).name]))
        house.move(match)
    while stage.awaited(match) != me:
        house.move(match)
    house.later(days=1, minutes=1)
    assert timeouts.time_out(match.id, now=house.now)
    for user in (other, third):
        seating.resign(match.id, user, "web", now=house.now)
    shy = house.started(me.name, other.name, third.name, pace=DAY)
    absent = stage.awaited(shy)
    house.later(days=1, minutes=1)
    assert timeouts.time_out(shy.id, now=house.now)
    while ratings.count_up(clock.now(), 100):
        pass
    page = stage.come().page
    assert facts(page, me.name)["Half of the moves came within"] == "20 minutes"
    assert facts(page, me.name)["Ran out of time"] == "1"
    assert facts(page, other.name)["Ran out of time"] == "0"
    assert facts(page, other.name)["Gave up"] == "1"
    page.goto(f"/matches/{shy.id}")
    expect(page.locator("#decisions")).to_contain_text(f"The seat of {absent.name} (bot) is free.")
    assert "takeover" in [row.kind for row in house.played(shy).rows]
    assert next(seat for seat in log.places(shy) if seat.owner == absent).user.bot


SAID = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [document.title];
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (!parent.closest('script, style, code, bdi, select[name=zone], .tongues, #say-text')) {
      found.push(walker.currentNode.textContent);
    }
  }
  for (const one of document.querySelectorAll('[aria-label], [title], [alt], [placeholder]')) {
    for (const name of ['aria-label', 'title', 'alt', 'placeholder']) { found.push(one.getAttribute(name) ?? ''); }
  }
  return found;
}"""


NAMES = re.compile(r"Clans and Glory( \d+)?")


def sentences(page: Page) -> set[str]:
    """Return all that a page says, piece by piece, where it is more than one word."""
    pieces = {" ".join(text.split()) for text in page.evaluate(SAID)}
    return {piece for piece in pieces if re.search(r"[^\W\d]{3,} [^\W\d]{2,}", piece)}


def test_21_dark_still_large_and_in_three_whole_languages(stage: Stage) -> None:
    me, other = stage.cast()
    glory, clans = stage.turn_of(me, other, game="glory"), stage.turn_of(me, other)
    ended = stage.turn_of(me, other)
    seating.resign(ended.id, other, "web", now=stage.house.now)
    pages = (
        "/", f"/matches/{clans.id}", f"/matches/{glory.id}", f"/matches/{ended.id}", f"/matches/{glory.id}/whatif",
        "/settings", "/tables/new", "/rules/clans", "/rules/glory",
    )  # fmt: skip
    person = stage.come(me, **STILL, color_scheme="dark")
    page = person.page
    english = {}
    for path in pages:
        page.goto(path)
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert eyesight.brightness(tuple(map(int, re.findall(r"\d+", ground)[:3]))) < 0.3, path  # type: ignore[arg-type]
        assert page.evaluate(barriers.MOVING) == [], path
        english[path] = sentences(page)
        if path in pages[:3]:  # of the others the test of barriers asks it
            assert barriers.of_width(page) == [], path
    for code, own in (("cs", "Čeština"), ("de", "Deutsch")):
        page.goto("/")
        page.get_by_role("button", name=own).click()
        expect(page.locator("html")).to_have_attribute("lang", code)
        for path in pages:
            page.goto(path)
            assert page.locator("html").get_attribute("lang") == code
            same = {piece for piece in sentences(page) & english[path] if not NAMES.fullmatch(piece)}
            assert same == set(), (code, path)
        stage.house.move(clans)
        stage.house.move(clans)
        post = [flat(one) for one in stage.post(me, clock.now() + timedelta(minutes=4))]
        mail = next(text for text in post if re.search(rf"/matches/{clans.id}\b", text))
        assert "your turn" not in mail
        assert {"cs": "na tahu", "de": "am Zug"}[code] in mail
    assert brightness(page, "body") < 0.45
    moving = stage.come(me, **DESKTOP)
    moving.page.goto("/")
    assert moving.page.evaluate(barriers.MOVING)  # so that the question above can be answered otherwise


@contextmanager
def program() -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    """Run a person's own program; yield its address and what it is sent."""
    heard: list[tuple[dict[str, str], bytes]] = []

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            heard.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_given: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook", heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def handed(page: Page) -> str:
    """Return the secret that the page shows once."""
    return page.locator("[id^=handed-]").input_value()


def test_22_calendar_feed_and_call_each_revocable_and_none_with_hidden_data(stage: Stage) -> None:
    me, other = stage.cast()
    match = stage.turn_of(me, other, game="glory")
    hidden = {card for seat in (0, 1) for card in stage.house.played(match).view(seat).table["hand"]}
    person, stranger = stage.come(me), stage.come()
    page, bodies = person.page, []

    def read(address: str) -> tuple[int, str]:
        answer = stranger.page.request.get(address.replace(stage.house.settings.public_url, stage.house.site))
        return answer.status, answer.text()

    for label, needed in (("Calendar of my deadlines", "BEGIN:VEVENT"), ("Web feed of my matches", "<entry>")):
        page.goto("/settings")
        form = page.locator("form", has=page.get_by_role("heading", name=label))
        form.get_by_role("button", name="Make an address").click()
        first = handed(page)
        status, body = read(first)
        assert (status, needed in body) == (200, True)
        bodies.append(body)
        form.get_by_role("button", name="Make another in its place").click()
        expect(page.locator("[id^=handed-]")).not_to_have_value(first)
        second = handed(page)
        assert [read(first)[0], read(second)[0]] == [404, 200]
        form.get_by_role("button", name="Take it away").click()
        expect(page.locator(".messages")).to_contain_text("taken away")
        assert read(second)[0] == 404
    calendar = bodies[0].replace("\r\n ", "")
    assert f"{log.get(match.id).deadline:%Y%m%dT%H%M%SZ}" in calendar
    status, body = read(f"{stage.house.site}/matches/{match.id}/feed.atom")
    assert status == 200
    bodies.append(body)
    with program() as (address, heard):
        page.goto("/settings")
        page.get_by_label("Address", exact=True).fill(address)
        page.get_by_role("button", name="Store it and make a secret").click()
        secret = handed(page)
        stage.house.move(match)
        stage.house.move(match)
        channel = WebhookChannel(loopback=True)
        hooks.run(stage.house.settings, clock.now, channel)
        assert len(heard) == 1
        headers, raw = heard[0]
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + raw
        key = base64.b64decode(secret.removeprefix("whsec_"))
        proof = base64.b64encode(hmac.new(key, signed, "sha256").digest()).decode()
        assert headers["webhook-signature"] == f"v1,{proof}"
        sent = json.loads(raw)
        assert (sent["type"], sent["data"]["match"]["id"]) == ("turn", match.id)
        assert sent["data"]["since"] == list(stage.told(match, other)[-1].sentences)
        bodies.append(raw.decode())
        page.goto("/settings")
        page.get_by_role("button", name="Call it no more").click()
        expect(page.locator(".messages")).to_be_visible()
        stage.house.move(match)
        stage.house.move(match)
        hooks.run(stage.house.settings, clock.now, channel)
        assert len(heard) == 1
    still = {card for seat in (0, 1) for card in stage.house.played(match).view(seat).table["hand"]} & hidden
    assert len(still) > 4
    assert not [card for body in bodies for card in still if re.search(rf"\b{card}\b", body)]
