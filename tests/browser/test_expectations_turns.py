"""What players expect of turns and time: points 1, 2, 7, 8, 12 and 15 to 17 of docs/expectations.md."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from expecting import POSITIONS, Stage, flat, looked_at, texts, written
from house import DAY
from people import Person
from playwright.sync_api import expect

from server import clock, db, deadlines, digests, lobby, log, seating, wording
from server.models import LogRow, Match, Prepared, User
from server.web import streams

pytestmark = pytest.mark.browser

ZONE = "Europe/Prague"


def addresses(person: Person, places: str) -> list[str]:
    """Return where the links go."""
    return person.page.locator(places).evaluate_all("all => all.map(one => one.getAttribute('href'))")


def page_of(match: Match) -> str:
    """Return the address of a match."""
    return f"/matches/{match.id}"


def test_01_home_is_the_list_of_my_turns_least_time_left_first(stage: Stage) -> None:
    me, other = stage.cast(zone=ZONE)
    slow, quick, glory = (
        stage.turn_of(me, other, pace=days * DAY, game=game)
        for days, game in ((5, "clans"), (1, "clans"), (3, "glory"))
    )
    theirs = stage.turn_of(other, me)
    ended = stage.turn_of(me, other)
    seating.resign(ended.id, other, "web", now=stage.house.now)
    table, unwanted = (stage.house.table(other.name, seats=2, invited_only=True) for _table in range(2))
    for one in (table, unwanted):
        lobby.invite(one.id, other, me.email, stage.house.now)
    person = stage.come(me)
    page = person.page
    page.goto("/")
    assert addresses(person, '[aria-labelledby="invitations"] h3 a') == [page_of(table), page_of(unwanted)]
    page.get_by_role("button", name=f"Decline the invitation to Clans {unwanted.id}").click()
    expect(page.locator(f'a[href="{page_of(unwanted)}"]')).to_have_count(0)
    page.goto("/")
    assert addresses(person, '[aria-labelledby="turns"] h3 a') == [page_of(one) for one in (quick, glory, slow)]
    assert addresses(person, '[aria-labelledby="others"] h3 a') == [page_of(theirs)]
    assert addresses(person, '[aria-labelledby="ended"] h3 a') == [page_of(ended)]
    assert addresses(person, '[aria-labelledby="invitations"] h3 a') == [page_of(table)]
    expect(page).to_have_title(re.compile(r"^\(5\) "))  # three turns, an end and an invitation
    card = page.locator(".card", has=page.locator(f'a[href="{page_of(quick)}"]'))
    theirs_since = [line for line in stage.told(quick, me) if line.seat != log.own_number(quick, me)]
    expect(card.locator(".said").first).to_have_text(stage.told(quick, me)[-1].sentences[0])
    expect(card.locator(".pill.new")).to_have_text(re.compile(rf"^{len(theirs_since)} new steps?$"))
    expect(card.locator(".deadline b")).to_have_text(re.compile(r"^2\d hours .*left$|^1 day left$"))
    expect(card.locator("time")).to_have_text(wording.when(quick.deadline, ZONE))
    assert " CET" in wording.when(quick.deadline, ZONE)
    person.open(quick.id)
    page.locator("#note summary").click()
    page.locator("#note-text").fill("Beware of the lakes\nand of Bran")
    page.get_by_role("button", name="Keep the note").click()
    expect(page.locator(".messages")).to_be_visible()
    page.goto(page_of(ended))
    page.goto("/")
    expect(card).to_contain_text("Beware of the lakes")
    expect(card).not_to_contain_text("and of Bran")
    expect(card.locator(".pill.new")).to_have_count(0)
    expect(page).to_have_title(re.compile(r"^\(4\) "))
    page.goto(page_of(table))
    page.get_by_role("button", name="Take a seat").click()
    expect(page.locator("#match")).to_be_attached()
    page.goto("/")
    expect(page.locator('[aria-labelledby="invitations"]')).to_have_count(0)


def turns(stage: Stage, user: User, later: timedelta = timedelta(0)) -> list[str]:
    """Return the new mails of the user that tell him of a turn, those of a day included."""
    found = [flat(mail) for mail in stage.post(user, clock.now() + later)]
    return [text for text in found if "it is your turn," in text or "Your turns" in text]


def wish(person: Person, match: Match | None, way: str) -> None:
    """Choose on the page how to be told of turns, in one match or in all."""
    if match:
        person.open(match.id)
        person.page.locator("#more > summary").click()
        person.page.locator("#turn-mail").select_option(way)
        person.page.locator("#more form", has=person.page.locator("#turn-mail")).get_by_role("button").click()
    else:
        person.page.goto("/settings")
        person.page.get_by_label("Letters about my turns").select_option(way)
        person.page.locator('[aria-labelledby="general"]').get_by_role("button", name="Store").click()
    expect(person.page.locator(".messages")).to_be_visible()


def test_02_one_whole_mail_for_each_turn_as_i_wish(stage: Stage) -> None:
    me, other = stage.cast(zone=ZONE)
    house = stage.house
    one, more = stage.turn_of(me, other), stage.turn_of(me, other, game="glory")
    stage.post(me)
    assert turns(stage, me) == []
    house.move(one)
    house.move(one)
    mails = stage.post(me)
    assert len(mails) == 1
    text = flat(mails[0])
    for needed in (
        *stage.told(one, me)[-1].sentences,
        f"{house.settings.public_url}{page_of(one)}",
        wording.when(log.get(one.id).deadline, ZONE),
        " ".join(house.played(one).game.text(house.played(one).view(0), [me.name, other.name]).split()),
    ):
        assert needed in text
    assert mails[0].picture
    assert mails[0].header("Reply-To")
    assert turns(stage, me) == []
    for _move in range(3):  # the turn is made before the post comes
        house.move(one)
    assert turns(stage, me) == []
    house.move(one)
    assert len(turns(stage, me)) == 1
    person = stage.come(me)
    wish(person, None, "daily")
    wish(person, one, "off")
    for match in (one, more):
        house.move(match)
        house.move(match)
    assert turns(stage, me, timedelta(hours=1)) == []
    digests.run(clock.now() + timedelta(days=1))
    daily = turns(stage, me, timedelta(days=1))
    digests.run(clock.now() + timedelta(days=1))
    assert len(daily) == 1
    assert f"{page_of(more)} " in f"{daily[0]} "
    assert f"{page_of(one)} " not in f"{daily[0]} "
    assert turns(stage, me, timedelta(days=1)) == []
    wish(person, more, "away")
    house.move(more)
    house.move(more)
    assert turns(stage, me) == []
    assert len(turns(stage, me, timedelta(minutes=12))) == 1
    seating.resign(one.id, other, "web", now=house.now)
    last = house.started(me.name, other.name)
    wish(person, None, "off")
    found = [flat(mail) for mail in stage.post(me)]
    assert any(f"Clans {one.id} has ended" in text for text in found)
    assert any(f"Clans {last.id} has begun" in text or f"Clans {last.id}: it is your turn" in text for text in found)


def spoil(match: Match) -> None:
    """Change a row of the log, which the database itself refuses, so that the match cannot be read any more."""
    guard = "log_never_changes"
    (made,) = db.database.execute_sql("SELECT sql FROM sqlite_master WHERE name = ?", (guard,)).fetchone()
    with db.transaction():
        db.database.execute_sql(f"DROP TRIGGER {guard}")
        LogRow.update(text="A1-L5").where((LogRow.match == match) & (LogRow.seq == 1)).execute()
        db.database.execute_sql(made)


def test_07_on_to_the_next_match_in_my_order_and_never_into_a_stuck_one(stage: Stage) -> None:
    me, other = stage.cast()
    first, second, stuck, fourth = (stage.turn_of(me, other, pace=days * DAY) for days in (1, 2, 3, 4))
    spoil(stuck)
    person = stage.come(me)
    person.refused(500)
    page = person.page
    page.goto("/")
    assert addresses(person, '[aria-labelledby="turns"] h3 a')[:2] == [page_of(first), page_of(second)]
    person.open(first.id)
    for target in (second, fourth, first):  # what is skipped comes round last
        expect(page.locator("#following")).to_have_text(f"Skip to Clans {target.id}")
        page.locator("#following").click()
        expect(page).to_have_url(f"{stage.house.site}{page_of(target)}")
    expect(page.locator('#match[data-ready="yes"]')).to_be_attached()
    text = person.view()["moves"][0]
    written(person, text)
    looked_at(person, text)
    person.confirm()
    expect(page.locator("#following")).to_have_text(f"Next: Clans {second.id}")
    page.goto(page_of(stuck))
    expect(page.locator("h1")).to_contain_text("frozen")
    page.locator("#following").click()
    expect(page).to_have_url(f"{stage.house.site}{page_of(fourth)}")


def test_08_a_deadline_says_when_how_long_and_what_then(stage: Stage) -> None:
    host, guest = stage.cast(zone=ZONE)
    house = stage.house
    table = house.table(host.name, seats=2, pace=5 * DAY)
    rule, fate = log.rule_sentence(table), "a simple move is made"
    assert "5 days for each move" in rule
    assert "who runs out of time has a simple move played for him" in rule
    lobby.invite(table.id, host, guest.email, house.now)
    mail = flat(stage.post(guest)[0])
    assert rule in mail
    person = stage.come(guest)
    page = person.page
    page.goto(re.search(r"/invite/\S+", mail)[0])  # type: ignore[index]
    expect(page.locator(".terms")).to_contain_text(rule)
    page.goto(page_of(table))
    expect(page.locator(".terms")).to_contain_text(rule)
    lobby.join(table.id, guest, now=house.now)
    # Who has not made a move yet would be replaced at once.
    while stage.awaited(table) != guest or len(house.played(table).rows) < 2:
        house.move(table)
    match = log.get(table.id)
    until = wording.when(match.deadline, ZONE)
    assert re.search(r"\d{4}, \d\d:\d\d CES?T", until)
    person.open(match.id)
    expect(page.locator("#match-head")).to_contain_text(f"until {until}")
    expect(page.locator("#deadline b")).to_have_text(re.compile(r"^(5 days|4 days 23 hours) left$"))
    expect(page.locator("#match-head")).to_contain_text(f"If the time runs out, {fate}.")
    mail = turns(stage, guest, timedelta(minutes=4))[0]
    assert until in mail
    assert re.search(r"that is (5 days|4 days 23 hours)", mail)
    assert rule in mail
    reminded = []
    for share in (0.79, 0.81, 0.9):
        moment = house.now + share * (match.deadline - house.now)
        deadlines.remind(moment)
        reminded.append([flat(one) for one in stage.post(guest, moment)])
    assert [len(some) for some in reminded] == [0, 1, 0]
    assert until in reminded[1][0]
    assert "It is still your turn." in reminded[1][0]


@pytest.mark.parametrize(("record", "moves"), POSITIONS)
def test_12_a_stale_tab_tells_what_happened_and_keeps_the_draft(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, record: str, moves: int
) -> None:
    monkeypatch.setattr(streams.Streams, "room", False)  # the tab hears of nothing
    match = stage.recorded(record, moves)
    me = stage.awaited(match)
    person = stage.come(me)
    person.refused(409)
    person.open(match.id)
    mine, other = person.view()["moves"][0], person.view()["moves"][-1]
    written(person, mine)
    looked_at(person, mine)
    done = stage.house.move(match, other)  # from another device
    person.page.locator("#confirm-button").click()
    fault = person.page.locator("#trial-fault")
    expect(fault).to_contain_text("The match has moved on")
    expect(fault).to_contain_text(done.sentences[0])
    expect(person.page.locator("#trial-text")).to_have_text(mine)
    assert stage.house.played(match).rows[-1].text == other
    assert len(stage.house.played(match).rows) == moves + 1


def test_15_a_move_is_queued_seen_changed_and_dropped_when_it_does_not_fit(stage: Stage) -> None:
    other, me = stage.cast()
    house = stage.house
    match = stage.turn_of(other, me)
    person = stage.come(me)
    page = person.page

    def ready(text: str, after: str = "") -> None:
        page.locator("#prepare > summary").click()
        page.locator("#prepare-move").fill(text)
        page.locator("#prepare-after").fill(after)
        page.get_by_role("button", name="Have it ready").click()
        expect(page.locator("#ready h3")).to_have_text(text)

    person.open(match.id)
    page.locator("#prepare > summary").click()
    expect(page.locator("#prepare .hint").first).to_contain_text("If it does not fit then, it is dropped")
    page.locator("#prepare > summary").click()
    view = house.played(match).view(0)
    quiet = [text for text in view.moves if "/" not in text]
    ready("A1-A2")
    ready(quiet[-1], quiet[1])  # what is queued can be changed
    expect(page.locator("#ready")).to_contain_text(f"the move right before it is {quiet[1]}")
    assert Prepared.select().where(Prepared.match == match).count() == 1
    stranger = stage.come(other)
    stranger.open(match.id)
    expect(stranger.page.locator("#ready")).to_have_count(0)
    house.move(match, quiet[0])  # not the move it was to answer
    person.open(match.id)
    expect(page.locator("#dropped")).to_contain_text(
        f"{quiet[-1]} was not made: the move before it was not {quiet[1]}."
    )
    assert stage.awaited(match) == me
    page.locator("#dropped").get_by_role("button").click()
    expect(page.locator("#dropped")).to_have_count(0)
    house.move(match)
    fits = [text for text in house.played(match).view(0).moves if "/" not in text]
    person.open(match.id)
    page.get_by_role("link", name="What if?").click()
    expect(page).to_have_url(re.compile("/whatif"))
    for text in (fits[0], ""):
        expect(page.locator('#match[data-ready="yes"]')).to_be_attached()
        chosen = text or next(move for move in person.view()["moves"] if "/" not in move)
        person.drag(*chosen.split("-"), [])  # type: ignore[call-arg]
        expect(page.locator("#line li")).to_have_count(1 if text else 2)
    page.get_by_role("button", name=f"Have {chosen} ready in answer to {fits[0]}").click()
    expect(page.locator("#ready")).to_contain_text(chosen)
    house.move(match, fits[0])
    assert [(row.text, row.via) for row in house.played(match).rows[-1:]] == [(chosen, "auto")]


def test_16_pause_and_vacation_are_agreed_shown_and_end(stage: Stage) -> None:
    me, other = stage.cast()
    house = stage.house
    match = stage.turn_of(me, other)
    mine, theirs = stage.come(me), stage.come(other)
    mine.refused(422)
    today = house.now.date()
    mine.open(match.id)
    mine.page.locator("#more > summary").click()
    day = mine.page.get_by_label("Last day of the pause")
    last = (today + timedelta(days=59)).isoformat(), (today + timedelta(days=60)).isoformat()
    assert day.get_attribute("max") in last  # never endless
    day.fill((today + timedelta(days=5)).isoformat())
    mine.page.get_by_role("button", name="Propose it").click()
    expect(mine.page.locator("main")).to_contain_text("The others are told.")
    assert house.played(match).rows[-1].kind == "vote"  # one alone pauses nothing
    theirs.open(match.id)
    expect(theirs.page.locator("#paused")).to_have_count(0)
    theirs.page.get_by_role("region", name="Proposal").get_by_role("button", name="Agree").click()
    expect(theirs.page.locator("#paused")).to_be_visible()
    ending = re.compile("The match is paused until .* All clocks stand still")
    for person in (mine, theirs):
        person.open(match.id)
        expect(person.page.locator("#paused")).to_have_text(ending)
        expect(person.page.locator("#log li").first).to_contain_text("pause")
    free = stage.turn_of(me, other)
    mine.page.goto("/settings")
    mine.page.get_by_label("First day").fill(today.isoformat())
    mine.page.get_by_label("Last day").fill((today + timedelta(days=40)).isoformat())
    mine.page.get_by_role("button", name="Announce it").click()
    expect(mine.page.locator("#refused")).to_contain_text("28")  # never endless
    mine.page.get_by_label("Last day").fill((today + timedelta(days=6)).isoformat())
    mine.page.get_by_role("button", name="Announce it").click()
    expect(mine.page.locator("#away")).to_be_visible()
    theirs.open(free.id)
    expect(theirs.page.locator("#deadline")).to_contain_text("Vacation: the clock stands still until")
    expect(theirs.page.locator("#log li").first).to_contain_text(f"{me.name}")
    expect(theirs.page.locator("#log li").first).to_contain_text("vacation")
    assert log.get(free.id).deadline > house.now + timedelta(days=7)


def test_17_title_and_icon_count_on_every_page(stage: Stage) -> None:
    me, other = stage.cast()
    first, second = stage.turn_of(me, other), stage.turn_of(me, other, game="glory")
    person = stage.come(me)
    page = person.page
    pages = (
        "/", "/tables", "/tables/new", "/archive", "/ladder", "/rules", "/rules/clans", "/settings", "/mailbox",
        f"/people/{other.name}", page_of(first), page_of(second), f"{page_of(first)}/replay/1",
        f"{page_of(first)}/whatif",
    )  # fmt: skip
    for path in pages:
        page.goto(path)
        expect(page).to_have_title(re.compile(r"^\(2\) .+ · Clachan$"))
        icon = page.locator('link[rel="icon"]').get_attribute("href") or ""
        assert icon.startswith("data:image/svg+xml"), path
        assert "%3E2%3C" in icon, path
    with page.expect_response("**/stream"):
        page.goto("/rules")
    stage.house.move(first)
    stage.house.move(second)
    expect(page).to_have_title(re.compile(r"^(?!\()"))
    expect(page.locator('link[rel="icon"]')).to_have_attribute("href", re.compile(r"favicon\.svg$"))
    assert texts(page, "nav .count") == []
