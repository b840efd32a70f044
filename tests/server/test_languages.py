"""The site in other languages: the catalogues say what the sources say, and no page says a word past them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import cache
from gettext import NullTranslations
from html.parser import HTMLParser
from string import Formatter
from typing import Final

import flask
import pytest
from babel.messages.catalog import Catalog, Message
from house import House, house_settings
from visitor import Visitor, application
from werkzeug.test import TestResponse

from server import (
    ahead,
    analysis,
    db,
    links,
    lobby,
    log,
    notes,
    rematch,
    seating,
    talk,
    timeouts,
    tournaments,
    vacations,
    visitors,
    votes,
)
from server.errors import Refused
from server.models import Analysis, LogRow, Match, Pairing, Tournament, User
from server.web import homescreen
from tools import messages

OTHERS: Final = [code for code in messages.languages.LANGUAGES if code != "en"]


@cache
def template() -> Catalog:
    """Return what the sources say."""
    return messages.said()


@cache
def translated(code: str) -> Catalog:
    """Return a catalogue as it is kept."""
    return messages.languages.catalogue(code)


def pairs(code: str) -> Iterator[tuple[Message, str, str]]:
    """Yield each sentence with the English form and the translation of it, form by form, where there is one."""
    for message in translated(code):
        if not message.id:
            continue
        english = list(message.id) if message.pluralizable else [message.id]
        for number, form in enumerate(message.string if message.pluralizable else [message.string]):
            if form:
                yield message, english[min(number, len(english) - 1)], form


def of_templates(message: Message) -> bool:
    return any(place.endswith((".html", ".txt")) for place, _ in message.locations)


def fields(text: str, percent: bool) -> set[str]:
    """Return the names of the facts that a sentence leaves open."""
    if percent:
        return set(re.findall(r"%\((\w+)\)s", text))
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("code", OTHERS)
def test_every_sentence_is_translated_in_all_its_forms(code: str) -> None:
    kept, lacking = translated(code), []
    for message in template():
        found = kept.get(message.id, message.context) if message.id else None
        forms = (found.string if found.pluralizable else [found.string]) if found else [""]
        wanted = kept.num_plurals if message.pluralizable else 1
        if message.id and (len(forms) != wanted or not all(forms)):
            lacking.append(message.id)
    assert lacking == []


@pytest.mark.parametrize("code", OTHERS)
def test_no_translation_is_guessed_or_left_over(code: str) -> None:
    assert [message.id for message in translated(code) if message.id and message.fuzzy] == []
    assert list(translated(code).obsolete) == []


@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_holds_the_facts_of_its_sentence(code: str) -> None:
    wrong = [
        (english, form)
        for message, english, form in pairs(code)
        if fields(form, of_templates(message)) != fields(english, of_templates(message))
    ]
    assert wrong == []


@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_in_a_template_writes_percent_signs_twice(code: str) -> None:
    filled = re.compile(r"%%|%\(\w+\)s")
    assert [form for message, _, form in pairs(code) if of_templates(message) and "%" in filled.sub("", form)] == []


@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_holds_the_markup_of_its_sentence(code: str) -> None:
    tags = re.compile(r"</?[a-z][^>]*>")
    wrong = [
        (english, form)
        for _, english, form in pairs(code)
        if Counter(tags.findall(form)) != Counter(tags.findall(english))
        # A sentence may stand in an attribute.
        or ('"' in tags.sub("", form) and '"' not in tags.sub("", english))
    ]
    assert wrong == []


@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_begins_and_ends_as_its_sentence(code: str) -> None:
    edges = re.compile(r"^\s*|\s*$")
    assert [(english, form) for _, english, form in pairs(code) if edges.findall(form) != edges.findall(english)] == []


@pytest.mark.parametrize("code", OTHERS)
def test_the_catalogues_are_what_make_messages_writes(code: str) -> None:
    file = messages.languages.FOLDER / code / "LC_MESSAGES" / "messages.po"
    assert file.read_bytes() == messages.written(messages.fresh(code, template()))


class Marked(NullTranslations):
    """A language in which each sentence is the English one in brackets."""

    code = "cs"

    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"

    def pgettext(self, context: str, message: str) -> str:
        return f"⟦{message}⟧"


READ: Final = {"alt", "aria-label", "aria-roledescription", "data-empty", "placeholder", "title"}
"""The attributes that a person reads."""
# What is the same in every language: codes and hashes, names of people, instants as the language writes them (which are
# not sentences), what languages call themselves.
SILENT: Final = {"bdi", "code", "script", "style", "time"}
# The lists of time zones and of languages.
NAMED: Final = {"zone", "language"}
# The name of the house; notation of moves, places, cards and epochs; weights of the pictures' letters.
NAMES: Final = re.compile(
    r"Clachan|\b(Discord|Matrix|Slack|Telegram|ntfy)\b|https://|\b\d+x\d\b"
    r"|\b[ROYGBPW?]\d? [NS]\d+( down)?( shield)?\b|\b[A-Z]\d*\b|\b[IVX]+\b|\bUTC\b|[\w.]+@[\w.]+"
)
# A line of the board of Clans as text: territories with their terrain and huts.
BOARD_LINE: Final = re.compile(r"^( +[A-L][1-5]\*? [FMSG] +(\.|[\drbgyk]+))+ *$", re.MULTILINE)


class Page(HTMLParser):
    """What of a page a person reads, as pieces outside of any sentence: `loose`."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.names = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in sorted(names, key=len, reverse=True)))
        self.open: list[str] = []
        self.depth = 0
        self.loose: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        for name, value in attrs:
            if name in READ or (name == "content" and _is_said(given)):
                self._look(value or "", 0)
        if tag not in {"area", "br", "col", "hr", "img", "input", "link", "meta", "wbr"}:
            own = ("lang" in given and tag != "html") or (tag == "select" and given.get("name") in NAMED)
            self.open.append("code" if own else tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if self.open:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if SILENT & set(self.open):
            return
        if self.open[-1:] == ["title"] and "svg" not in self.open:
            self._look(data, 0)  # it may be cut short
        else:
            self.depth = self._look(BOARD_LINE.sub("", data), self.depth)

    def _look(self, text: str, depth: int) -> int:
        """Keep what stands outside of all brackets and has letters; return how many are open at the end."""
        outside = []
        for sign in text:
            depth += {"⟦": 1, "⟧": -1}.get(sign, 0)
            outside.append(sign if depth == 0 and sign != "⟧" else " ")
        rest = NAMES.sub(" ", self.names.sub(" ", "".join(outside)))
        if any(sign.isalpha() for sign in rest):
            self.loose.append(" ".join(text.split()))
        return depth


def _is_said(attributes: dict[str, str | None]) -> bool:
    """Whether a meta element holds a sentence."""
    name = attributes.get("name") or attributes.get("property") or ""
    return name.endswith(("description", ":title", ":alt"))


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> Iterator[flask.Flask]:
    monkeypatch.setattr("server.languages.translations", lambda _code: Marked())
    cottage.settings = house_settings(cottage.settings.database, cottage.settings.data, DEVELOPMENT="1")
    application_ = application(cottage, monkeypatch)
    User.update(language="cs").execute()
    homescreen.kept.cache_clear()
    yield application_
    homescreen.kept.cache_clear()


UNREAD: Final = {"static", "share", "live", "feeds"}
"""Rooms without pages."""
ANYWHERE: Final = {"kind": "clans", "key": "lake", "token": "x", "name": "Ailsa", "code": "cs", "seq": 0, "seat": 0}


def addresses(app: flask.Flask, method: str, **given: object) -> list[str]:
    """Return the addresses of the site that these values make; with a match only those of matches."""
    with app.test_request_context():
        site = app.url_map.bind("localhost")
        return [
            site.build(rule.endpoint, {name: given[name] for name in rule.arguments}, method)
            for rule in app.url_map.iter_rules()
            if method in (rule.methods or ())
            and rule.endpoint.partition(".")[0] not in UNREAD
            and rule.arguments <= set(given)
            and ("match_id" in rule.arguments) == ("match_id" in given)
        ]


class Walk:
    """Looks at pages as one person, and keeps what no sentence says: the words, with the first page that has them."""

    def __init__(self, app: flask.Flask, user: User | None) -> None:
        self.app = app
        self.visitor = Visitor(app, user)
        self.loose: dict[str, str] = {}

    def look(self, *paths: str) -> None:
        """Look at some addresses."""
        for path in paths:
            self.read(path, self.visitor.get(path, headers={"Accept-Language": "cs"}))

    def read(self, path: str, found: TestResponse) -> None:
        """Read an answer: a page, a drawing, or what a move would do."""
        assert found.status_code < 500 or path == "/readyz" or "damaged" in found.text, path
        page = Page([user.name for user in User.select()])
        if found.mimetype in {"text/html", "image/svg+xml"} and not 300 <= found.status_code < 400:
            page.feed(found.text)
        if found.mimetype == "application/json" and "sentences" in found.json:
            page.feed(found.json["board"] + " ".join(found.json["sentences"]))
        page.close()
        assert page.depth == 0, f"{path}: a sentence is cut short"
        for words in page.loose:
            self.loose.setdefault(words, path)


def of_match(walk: Walk, match: Match) -> None:
    """Look at all that there is of a match, and at moves tried."""
    here = f"/matches/{match.id}"
    walk.look(*addresses(walk.app, "GET", match_id=match.id, seq=match.length, seat=0))
    walk.look(f"{here}?result=1", f"{here}?move=9", f"{here}/replay/0?open=1", f"{here}/replay/2")
    walk.look(f"{here}/verify?check=1", f"{here}/verify?hash=x", f"{here}/verify?hash={'0' * 64}")
    with suppress(Refused):  # one that is frozen has no moves, nor has a table
        played = log.read(match)
        for seat in played.position.to_act:
            move, asked = played.view(seat).moves[0], played.position.asked[seat]
            walk.look(f"{here}?move={move}", f"{here}?from={re.split('[- ]', move)[0]}")
            walk.look(f"{here}/preview?move={move}&expected={asked}")


def lively(house: House, game: str) -> Match:
    """Return a running match in which all kinds of things have happened."""
    match = house.begun("Ailsa", "Bran", "Catrin", game=game)
    ailsa, bran = house.people["Ailsa"], house.people["Bran"]
    votes.vote(match.id, bran, votes.pause_topic(house.now + timedelta(days=3)), "web", now=house.now)
    votes.vote(match.id, ailsa, "end", "web", now=house.now)
    talk.speak(log.get(match.id), bran, "3 : 1!", house.now)
    notes.write(log.get(match.id), ailsa, "3 : 1?", house.now)
    seat = house.played(match).position.to_act[0]
    waits = next(place for place in log.places(match) if place.number != seat)
    move = house.played(match).view(seat).moves[0]
    ahead.prepare(match.id, waits.user, move, after=move, now=house.now)
    return log.get(match.id)


def contested(house: House) -> Match:
    """Return a match in which one seat is out of time and the others decide."""
    match = house.begun("Ailsa", "Bran", "Catrin", clock={"move": 86400, "missing": "vote"})
    timeouts.time_out(match.id, now=house.later(days=1, minutes=1))
    return log.get(match.id)


def lost(house: House) -> Match:
    """Return a match in which a bot has a seat, offered to anybody."""
    match = house.begun("Ailsa", "Bran", "Catrin", clock={"move": 86400, "missing": "at-once"})
    seat = house.played(match).position.to_act[0]
    timeouts.time_out(match.id, now=house.later(days=1, minutes=1))
    other = next(place.user for place in log.places(match) if place.number != seat)
    seating.offer(match.id, seat, other, "web", now=house.now)
    return log.get(match.id)


def broken(house: House) -> Match:
    """Return a match whose log does not fit together any more."""
    match = house.begun("Ailsa", "Bran")
    with db.transaction():
        db.database.execute_sql("DROP TRIGGER IF EXISTS log_never_changes")
        LogRow.update(text="A1-A1").where((LogRow.match == match) & (LogRow.seq == 1)).execute()
    return log.get(match.id)


def judged(match: Match) -> Match:
    """Store chances as if the bots had judged the match."""
    with db.transaction():
        rows = [[0, 500, 500], [3, 731, 269], [match.length, 1000, 0]]
        Analysis.insert(match=match, chances=rows, playouts=500, version=analysis.VERSION).execute()
        Match.update(judged=analysis.VERSION).where(Match.id == match.id).execute()
    return log.get(match.id)


def tournament(house: House, form: str, most: int = 8) -> int:
    """Announce a tournament of all in the house, whose name has no words; return its number."""
    begins = house.now + timedelta(days=1)
    plan = tournaments.Plan("3 : 1", "clans", 2, {"move": 86400}, {}, form, 2, 3, most, begins)
    made = tournaments.announce(house.people["Ailsa"], plan, house.now)
    for user in list(house.people.values())[:most]:
        tournaments.enter(made.id, user, house.now)
    return int(made.id)


def cups(house: House) -> list[str]:
    """Return the pages of tournaments: one that is full, one over, one running, one that was called off."""
    over, running, off = (tournament(house, "swiss", 3), tournament(house, "round-robin"), tournament(house, "swiss"))
    tournaments.call_off(off, house.people["Ailsa"], house.now)
    Tournament.update(starts_at=house.now).where(Tournament.id.in_([over, running])).execute()
    tournaments.run(house.now)
    tournaments.withdraw(running, house.people["Bran"], house.now)
    while Tournament.get_by_id(over).status == "running":
        for each in Pairing.select(Pairing, Match).join(Match).where(Pairing.tournament == over):
            if each.match.status == "running":
                seating.resign(each.match_id, log.places(each.match)[0].user, "web", now=house.now)
        tournaments.run(house.now)
    return [f"/tournaments/{number}" for number in (tournament(house, "swiss", 4), over, running, off)]


def scene(house: House) -> list[Match]:
    """Fill the house with matches of both games in every state that has words of its own."""
    over = judged(house.finish(house.started("Ailsa", "Bran")))
    rematch.ask(over.id, house.people["Bran"], now=house.now)
    glory = house.finish(house.started("Ailsa", "Bran", "Catrin", game="glory", options={"row": "separate"}))
    found = [over, glory, contested(house), lost(house), broken(house), lively(house, "clans"), lively(house, "glory")]
    table = house.table("Bran", "Catrin", seats=4, rated=False, clock={"move": 86400, "bank": 864000, "nights": True})
    lobby.fill(table.id, house.people["Bran"], "easy", house.now, 1)
    start = house.now + timedelta(days=2)
    vacations.announce(house.people["Bran"], start, start + timedelta(days=3), "web", now=house.now)
    User.update(mail_stopped="mailbox full").where(User.name == "Catrin").execute()
    User.update(keeps_results=True).where(User.name == "Catrin").execute()
    return [*found, log.get(table.id)]


def test_no_page_says_a_word_past_the_catalogues(cottage: House, app: flask.Flask) -> None:
    matches = scene(cottage)
    visitor, own = visitors.try_game("glory", by=None, key="x", source="x", now=cottage.now, guided=True)
    cottage.bots()
    letters = [
        f"/{page}/{links.mint(page, cottage.now, user=cottage.people['Dugald'])}"
        for page in ("confirm", "reset", "unsubscribe")
    ]
    letters += cups(cottage)
    letters.append(f"/invite/{lobby.invitation(matches[-1].id, cottage.people['Bran'], cottage.now)}")
    seen: dict[str, str] = {}
    for user, walked in (
        (None, matches[::3]),
        (cottage.people["Ailsa"], matches),
        (cottage.people["Bran"], matches[2:4] + matches[-1:]),
        (cottage.people["Catrin"], matches[:2]),
        (visitor, [own]),
    ):
        walk = Walk(app, user)
        for match in walked:
            of_match(walk, match)
        walk.look(*addresses(app, "GET", **ANYWHERE), "/rules/glory", *letters)
        seen |= walk.loose
    assert seen == {}


def test_no_answer_to_a_form_says_a_word_past_the_catalogues(cottage: House, app: flask.Flask) -> None:
    match = lively(cottage, "clans")
    forms = addresses(app, "POST", **ANYWHERE) + addresses(app, "POST", match_id=match.id, **ANYWHERE)
    for user in (None, cottage.people["Ailsa"]):
        for path in forms:
            walk = Walk(app, user)
            walk.read(path, walk.visitor.post(path, follow=True))
            assert walk.loose == {}, path
