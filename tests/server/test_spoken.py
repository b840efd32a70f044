"""Everybody is spoken to in his own language, whoever caused what is said and whatever that one speaks."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from gettext import NullTranslations
from typing import Final

import pytest
from clockwork import sitting
from house import House
from postman import answer
from together import quick_pictures

from server import (
    accounts,
    ahead,
    archive,
    commands,
    companions,
    languages,
    lobby,
    log,
    notify,
    outages,
    outbox,
    play,
    seating,
    story,
    talk,
    tournaments,
    visitors,
    wording,
)
from server.channels import Message
from server.channels.email import Sender, compose
from server.inbound.quotes import MARKER
from server.models import Match, Outbox, Prepared, Talk, User

BRACKETS: Final = {"cs": "⟦⟧", "de": "⟪⟫"}
NAMES: Final = {"Ailsa", "Bran", "Catrin", "Eilidh", "Clachan", "Bot", "UTC"}


class Bracketed(NullTranslations):
    """A language that is English in brackets of its own."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self.code = code

    def gettext(self, message: str) -> str:
        """Return the sentence in brackets."""
        opening, closing = BRACKETS[self.code]
        return f"{opening}{message}{closing}"

    def ngettext(self, one: str, many: str, number: int) -> str:
        """Return one of both in brackets."""
        return self.gettext(one if number == 1 else many)

    def pgettext(self, _context: str, message: str) -> str:
        """Return the word in brackets."""
        return self.gettext(message)


SPOKEN: Final = {code: Bracketed(code) for code in BRACKETS}


@pytest.fixture(autouse=True)
def _bracketed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "translations", lambda code: SPOKEN.get(code) or NullTranslations())
    quick_pictures(monkeypatch)


@pytest.fixture
def spoken(cottage: House) -> House:
    """A house in which Ailsa speaks Czech and Bran German."""
    for name, code in (("Ailsa", "cs"), ("Bran", "de")):
        User.update(language=code).where(User.name == name).execute()
        cottage.people[name] = User.get(User.name == name)
    return cottage


def is_in(text: str, code: str) -> bool:
    """Whether a text is in this language and in no other."""
    other = next(brackets for each, brackets in BRACKETS.items() if each != code)
    return BRACKETS[code][0] in text and other[0] not in text and other[1] not in text


def outside(text: str) -> set[str]:
    """Return the words of a text that no sentence of a catalogue holds."""
    depth, left = 0, []
    for sign in text:
        depth += (sign in "⟦⟪") - (sign in "⟧⟫")
        left.append(sign if depth == 0 and sign not in "⟧⟫" else " ")
    plain = re.sub(r"##-.*?-##|https?://\S+|\S+@\S+|[0-9a-f]{64}", " ", "".join(left))
    return {word for word in re.findall(r"[^\W\d_]{3,}", plain) if set(word) - set("rbgyk") and word != "III"} - NAMES


def moved(house: House, match: Match) -> Message:
    """Let whoever is awaited move, speaking his language; return the mail that the next gets."""
    house.mail()
    mover = sitting(match, house.played(match).position.to_act[0])
    with languages.speaking(mover.language):
        house.move(match)
    return next(mail for mail in house.mail() if mail.reply_to)


def test_who_is_awaited_is_told_in_his_own_language(spoken: House) -> None:
    match = spoken.begun("Ailsa", "Bran")
    for _ in range(2):
        mail = moved(spoken, match)
        code = spoken.people[mail.to_name].language
        assert mail.language == code
        for words in (mail.subject, mail.text, mail.html, mail.picture_alt):
            assert is_in(words, code)
        assert f'<html lang="{code}">' in mail.html
        raw = compose(mail, Sender("Clachan", "clachan@play.example.org", "play.example.org"))
        assert f"\r\nContent-Language: {code}\r\n".encode() in raw


def test_a_tournament_is_told_of_to_each_in_his_own_language(spoken: House) -> None:
    begins = spoken.now + timedelta(days=1)
    plan = tournaments.Plan("3 : 1", "clans", 2, {"move": 86400}, {}, "round-robin", 0, 3, 8, begins)
    cup = tournaments.announce(spoken.people["Ailsa"], plan, spoken.now)
    for name in ("Ailsa", "Bran", "Catrin"):
        tournaments.enter(cup.id, spoken.people[name], spoken.now)
    spoken.now = begins
    said = []
    while tournaments.run(spoken.now):
        said += [mail for mail in spoken.mail() if "/tournaments/" in mail.text]
        for match in Match.select().where(Match.status == "running"):
            seating.resign(match.id, sitting(match, 0), "web", now=spoken.now)
    assert len(said) == 4 * 3
    for mail in said:
        code = spoken.people[mail.to_name].language
        if code != "en":
            assert all(is_in(words, code) for words in (mail.subject, mail.text, mail.html))
            assert outside(mail.text) == set()


def test_a_match_keeps_one_subject_for_each_of_its_people(spoken: House) -> None:
    match = spoken.started("Ailsa", "Bran")
    spoken.mail()
    moved(spoken, match)
    moved(spoken, match)
    seating.resign(match.id, spoken.people["Ailsa"], "web", now=spoken.now)
    spoken.mail()
    mails = {(mail.to_name, mail.subject) for mail in spoken.post.messages}
    assert len(spoken.post.messages) > len(mails) == 2


def test_why_a_prepared_move_was_not_made_is_said_to_its_player(spoken: House) -> None:
    match = spoken.begun("Ailsa", "Bran")
    spoken.mail()
    played = spoken.played(match)
    mover, waiting = played.position.to_act[0], 1 - played.position.to_act[0]
    user = sitting(match, waiting)
    first, *_, last = played.view(mover).moves
    ahead.prepare(match.id, user, last, after=last, now=spoken.now)
    with languages.speaking(sitting(match, mover).language):
        spoken.move(match, first)
    kept = ahead.ready(match, user).dropped
    assert is_in(kept, user.language)
    mail = next(mail for mail in spoken.mail() if mail.to_name == user.name)
    assert is_in(mail.text, user.language)
    assert kept in " ".join(mail.text.split())


def test_what_was_stored_as_a_sentence_before_is_shown_as_it_is(spoken: House) -> None:
    match = spoken.begun("Ailsa", "Bran")
    Outbox.update(facts={"dropped": "Your prepared move A1-B1 was not made: it was old."}).execute()
    spoken.later(minutes=10)
    assert any("Your prepared move A1-B1 was not made" in mail.text for mail in spoken.mail())
    user = sitting(match, 0)
    Prepared.create(match=match, seat=0, user=user, text="A1-B1", dropped="It was old.", made_at=spoken.now)
    assert ahead.ready(match, user).dropped == "It was old."


def test_a_stranger_is_invited_in_the_language_of_who_invites_him(spoken: House) -> None:
    match = spoken.table("Bran", seats=2, invited_only=True)
    with languages.speaking("cs"):
        lobby.invite(match.id, spoken.people["Bran"], "eilidh@example.com", spoken.now)
    invitation = next(mail for mail in spoken.mail() if mail.to_address == "eilidh@example.com")
    assert is_in(invitation.text, "de")
    assert is_in(invitation.html, "de")
    assert invitation.language == "de"

    assert answer(spoken, invitation, "What is this?", sender="Eilidh <eilidh@example.com>") == "refused-no-order"
    assert is_in(spoken.mail()[-1].text, "de")
    assert answer(spoken, invitation, "join", sender="Eilidh <eilidh@example.com>") == "done"
    assert User.get(User.email == "eilidh@example.com").language == "de"
    assert all(is_in(mail.text, "de") for mail in spoken.mail())


def test_mails_of_a_person_are_answered_in_his_language(spoken: House) -> None:
    match = spoken.begun("Ailsa", "Bran")
    mail = moved(spoken, match)
    code = spoken.people[mail.to_name].language
    for text, verdict in (
        ("A1-Z99", "refused-no-order"),
        ("say Hello there\nsomething else", "done"),
        ("status", "done"),
        ("help", "done"),
        ("pause until yesterday", "refused-no-order"),
    ):
        assert answer(spoken, mail, text) == verdict
        told = spoken.mail()
        assert [one.language for one in told] == [code]
        assert is_in(told[0].text, code)
        assert not outside(told[0].text) - _notation()


def test_a_move_by_mail_is_told_to_each_in_his_own_language(spoken: House) -> None:
    match = spoken.begun("Ailsa", "Bran")
    mail = moved(spoken, match)
    played = spoken.played(match)
    text = played.view(played.position.to_act[0]).moves[0]
    assert answer(spoken, mail, text) == "done"
    told = spoken.mail()
    assert {one.to_name for one in told} == {"Ailsa", "Bran"}
    assert all(is_in(one.text, spoken.people[one.to_name].language) for one in told)


def test_the_owner_of_an_address_hears_in_his_language_that_another_wrote_to_it(spoken: House) -> None:
    match = spoken.begun("Ailsa", "Bran")
    mail = moved(spoken, match)
    assert answer(spoken, mail, "resign", sender="Mallory <mallory@example.com>") == "wrong-sender"
    assert is_in(spoken.mail()[-1].text, spoken.people[mail.to_name].language)


def test_a_mail_that_quotes_one_of_ours_in_another_language_is_read(spoken: House) -> None:
    match = spoken.begun("Ailsa", "Bran")
    mail = moved(spoken, match)
    code = spoken.people[mail.to_name].language
    explained = BRACKETS[code][0] + "Please write your answer above this line." + BRACKETS[code][1]
    assert mail.text.splitlines()[:2] == [MARKER, explained]
    assert answer(spoken, mail, "say Good day") == "done"
    assert [line.text for line in talk.lines(match)] == ["Good day"]


def _notation() -> set[str]:
    """Return what belongs to no language: the words of commands, with what they are shown with."""
    return {word for told in commands.WORDS.values() for word in re.findall(r"[^\W\d_]{3,}", told.usage)}


def test_every_word_of_every_mail_is_said_in_a_language(spoken: House) -> None:
    User.update(language="cs").execute()
    spoken.people = {user.name: user for user in User.select()}
    now = spoken.now
    match = spoken.begun("Ailsa", "Bran", "Catrin", clock={"move": 5 * 86400, "missing": "vote"})
    talk.speak(match, spoken.people["Bran"], "⟦Good day⟧", now)
    spoken.mail()
    play.nudge(match.id, _others(match)[0], "web", now=spoken.later(days=1, minutes=1))
    spoken.mail()
    spoken.later(hours=2)
    notify.reminder(match, log.places(match)[match.awaited[0]], match.asked, 80, now + timedelta(days=9), now)
    spoken.mail()
    seating.resign(match.id, _others(match)[0], "web", now=spoken.now)
    waiting = spoken.table("Ailsa", "Bran", autostart=False)
    lobby.invite(waiting.id, spoken.people["Ailsa"], "eilidh@example.com", spoken.now)
    notify.rematch(waiting, match, spoken.people["Ailsa"], [spoken.people["Bran"]], spoken.now)
    for kind in ("confirm", "known", "reset"):
        fresh = spoken.person(f"Eilidh {kind}", language="cs", confirmed_at=None)
        outbox.queue(kind, key=kind, now=spoken.now, user=fresh)
    outbox.queue("summary", key="s", now=spoken.now, user=spoken.people["Bran"], facts={"ended": [match.id]})
    notify.outage(outages.Outage.create(began_at=now, ended_at=now + timedelta(hours=1)), spoken.now)
    spoken.mail()
    spoken.finish(match)
    spoken.mail()
    kinds = {mail.kind for mail in Outbox.select().where(Outbox.state == "sent")}
    wanted = {"turn", "reminder", "notice", "start", "end", "invite", "rematch", "full", "confirm", "known", "reset"}
    assert kinds >= wanted | {"summary", "outage"}
    for mail in spoken.post.messages:
        assert not outside(mail.text) - {"join", "confirm", "known", "reset"}, mail.text
        assert not outside(mail.subject) - {"confirm", "known", "reset"}, mail.subject
        seen = re.sub(r"(?s)<head>.*?</head>|<[^>]+>", " ", mail.html)
        assert not outside(seen) - {"join", "confirm", "known", "reset"}, seen


def _others(match: Match) -> list[User]:
    awaited = log.get(match.id).awaited
    return [seat.user for seat in log.places(match) if seat.number not in awaited]


def test_what_bots_say_is_heard_by_each_in_his_language(spoken: House) -> None:
    match = spoken.table("Ailsa", seats=2)
    with languages.speaking("de"):
        lobby.fill(match.id, spoken.people["Ailsa"], "easy", spoken.now)
    assert [line.text for line in Talk.select()] == [companions.ABOUT["easy"].line]
    with languages.speaking("cs"):
        assert [line.text for line in talk.lines(match)] == [f"⟦{companions.ABOUT['easy'].line}⟧"]
    assert [line.text for line in talk.lines(match)] == [companions.ABOUT["easy"].line]


def test_what_people_say_is_theirs(spoken: House) -> None:
    match = spoken.begun("Ailsa", "Bran")
    talk.speak(match, spoken.people["Ailsa"], "Good day", spoken.now)
    with languages.speaking("cs"):
        assert [line.text for line in talk.lines(match)] == ["Good day"]


def test_the_log_is_the_same_whoever_speaks(spoken: House) -> None:
    match = spoken.begun("Ailsa", "Bran")
    with languages.speaking("de"):
        spoken.finish(match)
    found = log.get(match.id)
    assert found.reason
    assert not set("".join(BRACKETS.values())) & set(found.reason)
    assert not set("".join(BRACKETS.values())) & set(str(archive.export(found)))
    with languages.speaking("cs"):
        assert f"⟦{found.reason}⟧" in story.standing(spoken.played(match), ["Ailsa", "Bran"], None)


def test_a_finished_match_is_told_whole_in_any_language(spoken: House) -> None:
    match = spoken.finish(spoken.begun("Ailsa", "Bran"))
    with languages.speaking("cs"):
        findings = archive.check(match)
        told = archive.told(match)
    assert all(not outside(finding.sentence) for finding in findings)
    heads = [line for line in told.splitlines() if line.startswith("⟦")]
    assert {"⟦WHAT HAPPENED⟧", "⟦THE END⟧", "⟦TO CHECK IT⟧"} <= set(heads)


def test_spans_and_instants_are_of_the_locale() -> None:
    instant = datetime(2026, 12, 1, 13, 5, tzinfo=UTC)
    spans = {}
    for code in ("en", "cs", "de"):
        with languages.speaking(code):
            spans[code] = (
                wording.when(instant, "Europe/Prague"),
                wording.long_day(instant.date()),
                wording.span(timedelta(days=2, hours=1)),
            )
    assert spans == {
        "en": ("Tue 1 Dec 2026, 14:05 CET (UTC+1)", "1 December 2026", "2 days 1 hour"),
        "cs": ("1. 12. 2026, 14:05 CET (UTC+1)", "1. prosince 2026", "⟦2 days⟧ ⟦1 hour⟧"),
        "de": ("Di., 1. Dez. 2026, 14:05 CET (UTC+1)", "1. Dezember 2026", "⟪2 days⟫ ⟪1 hour⟫"),
    }


def test_a_visitor_and_who_signs_up_by_mail_keep_the_language_they_came_with(cottage: House) -> None:
    visitor, _ = visitors.try_game("clans", by=None, key="k", source="192.0.2.1", now=cottage.now, language="cs")
    assert visitor.language == "cs"
    assert visitor.name.startswith("⟦Visitor ")
    assert accounts.sign_up_by_mail("new@example.org", "Newcomer", cottage.now, "de").language == "de"
