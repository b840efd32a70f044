"""What mails say: turns a queued mail into a finished message, or finds that it is no longer true."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

import css_inline
import jinja2

from engine import language
from server import columns, commands, db, home, languages, links, log, outbox, raster, story, talk, wording
from server.channels import DeliveryError, Message
from server.errors import Refused
from server.inbound.door import bounce_token
from server.inbound.quotes import MARKER, is_marker
from server.log import Played
from server.models import Match, Outbox, ReplyToken, Seat, User
from server.settings import Settings

TEMPLATES: Final = Path(__file__).parent.parent / "templates"

PICTURE_WIDTH: Final = 640
MATCH_KINDS: Final = ("turn", "reminder", "start", "notice", "end", "answer")
# Mails that can be answered; of the others nothing is asked.
ANSWERED: Final = (*MATCH_KINDS, "invite", "rematch", "full")
# What was said at the table is told so far back, and so much of each line.
MOST_SAID: Final = 10
LONGEST_SAID: Final = 300
# So many legal moves fit into a mail that lists them all.
MOST_LISTED: Final = 400
# Mails that only make sense soon after their cause.
LIVES: Final = dict.fromkeys(("start", "notice", "full", "outage"), timedelta(days=3))


def writer(settings: Settings) -> outbox.Writer:
    """Return the function that writes queued mails for `outbox.deliver_due`."""

    def write(mail: Outbox, now: datetime) -> Message | str:
        try:
            with languages.speaking(mail.user.language if mail.user else mail.facts.get("language", "en")):
                return untrue(mail, now) or _message(settings, mail, now)
        except Refused as fault:
            # A frozen match may be mended; its mail waits like one that a server put off.
            raise DeliveryError(fault.sentence) from fault

    return write


def untrue(mail: Outbox, now: datetime) -> str:
    """Return in a few words why the mail is no longer true, or an empty string while it is."""
    user, match = mail.user, mail.match
    if user is not None and (user.deleted_at or user.mail_stopped):
        return "the account is gone" if user.deleted_at else "the address takes no mail"
    if mail.kind in LIVES and mail.created_at + LIVES[mail.kind] < now:
        return "too old to be of use"
    if match is not None and user is not None and mail.kind in {"turn", "reminder"}:
        seat = Seat.get_or_none((Seat.match == match) & (Seat.number == mail.seat))
        if match.status != "running" or mail.seat not in match.awaited or mail.asked != _asked(match, mail.seat):
            return "the turn was taken meanwhile"
        if seat is None or seat.user_id != mail.user_id:
            return "somebody else sits in the seat now"
        if mail.kind == "turn" and not user.turn_mail:
            return "turn mails were switched off"
    if match is not None and mail.kind in {"invite", "rematch", "full"} and match.status != "open":
        return "the table is no longer open"
    if match is not None and mail.kind == "full" and len(log.places(match)) < match.seats:
        return "a seat is free again"
    if user is not None and mail.kind == "confirm" and user.confirmed_at:
        return "the address is confirmed already"
    if user is not None and mail.kind == "confirm" and user.email != mail.address:
        return "another address was given"
    return ""


def _asked(match: Match, seat: int) -> int | None:
    # The column is of the seat asked last: the only one there is, unless several are awaited together.
    return match.asked if match.awaited == (seat,) else log.read(match).position.asked[seat]


def _message(settings: Settings, mail: Outbox, now: datetime) -> Message:
    facts: dict[str, Any] = {
        "kind": mail.kind,
        "site": settings.public_url,
        "house": settings.mail_name,
        "marker": MARKER,
        "user": mail.user,
        "zone": mail.user.zone if mail.user else "UTC",
        "now": now,
        "match": mail.match,
        **mail.facts,
    }
    picture, alt, reply_to, unsubscribe = None, "", None, None
    asked = None
    match = mail.match if mail.kind in MATCH_KINDS else None
    if match is not None and match.status in {"running", "finished"} and mail.user is not None:
        played = log.read(match)
        facts |= _match_facts(settings, mail, mail.user, played, now)
        facts |= {"kept": mail.kind == "end" and mail.user.keeps_results, "watch_from": facts["since"]}
        picture = None if facts["kept"] else _picture(played, facts)
        alt = f"The board of {facts['match_name']}"
        asked = log.expected(played, facts["seat"])
        if mail.kind == "turn":
            unsubscribe = f"{settings.public_url}/unsubscribe/{_link('unsubscribe', mail, now)}"
    elif mail.match is not None:
        facts |= _table_facts(settings, mail, mail.match, now)
    elif mail.kind in {"confirm", "reset"}:
        facts["url"] = f"{settings.public_url}/{mail.kind}/{_link(mail.kind, mail, now)}"
    elif mail.user is not None and mail.kind == "outage":
        down = (datetime.fromtimestamp(mail.facts[end], UTC) for end in ("from", "to"))
        facts["down"] = [wording.when(moment, mail.user.zone) for moment in down]
        facts["waiting"] = _waiting(settings, mail.user)
    elif mail.user is not None and mail.kind == "summary":
        facts["waiting"] = _waiting(settings, mail.user)
        facts["ended"] = [_named(settings, log.get(number)) for number in mail.facts["ended"]]
    if settings.answers and mail.match is not None and mail.kind in ANSWERED:
        reply_to = f"move+{_reply_token(mail, asked, now)}@{settings.mail_domain}"
    facts["reply_to"] = reply_to
    if mail.kind == "answer":
        facts |= _answer_facts(mail, facts)
    facts["unsubscribe"] = unsubscribe
    return Message(
        to_name=mail.user.name if mail.user else "",
        to_address=mail.address,
        subject=_SUBJECTS["lost" if mail.kind == "answer" and mail.match is None else mail.kind].format_map(facts),
        text=_text(mail.kind, facts),
        html=_html(mail.kind, facts),
        message_id=f"{mail.message_id}@{settings.mail_domain}",
        thread=_thread(settings, mail),
        date=mail.created_at,
        reply_to=reply_to,
        picture=picture,
        picture_alt=alt,
        unsubscribe_url=unsubscribe,
        unsubscribe_mail=reply_to if unsubscribe else None,
        bounce_token=bounce_token(settings, mail),
        answer=mail.kind == "answer",
    )


# A match keeps one subject for all its mails, so that mail programs keep them together.
_SUBJECTS: Final = dict.fromkeys(MATCH_KINDS, "{match_name}: {players}") | {
    "lost": "Your mail to {house}",
    "confirm": "Please confirm your address",
    "known": "You already have an account",
    "reset": "A new password for {user.name}",
    "invite": "{host} invites you to {match_name}",
    "rematch": "{host} would like a rematch: {match_name}",
    "full": "{match_name}: every seat is taken",
    "summary": "Your matches",
    "outage": "The server was down; your deadlines have moved on",
}


def _picture(played: Played, facts: Mapping[str, Any]) -> bytes:
    draw, view = played.game.picture, facts["view"]
    return raster.board(draw(view, (), "ground"), draw(view, facts["marks"], "pieces"), PICTURE_WIDTH)


def _match_facts(settings: Settings, mail: Outbox, user: User, played: Played, now: datetime) -> dict[str, Any]:
    match, seats = played.match, log.places(played.match)
    # A person whose seat a bot has taken sees what a spectator sees.
    seat = next((number for number, place in enumerate(seats) if place.user_id == user.id), None)
    called = story.names(seats)
    lines = story.lines(played, called, seat, zone=user.zone)
    since = story.since_own(played, seat) if seat is not None else 0
    news = [line for line in lines if line.seq > since]
    if mail.kind == "notice":
        news = [line for line in news if line.seq >= min(mail.facts["rows"])]
    view, until = played.view(seat), columns.deadline(played)
    return {
        "match_name": log.title(match),
        "players": wording.listed([place.owner.name for place in seats]),
        "called": called,
        "seat": seat,
        "lines": lines,
        "standing": story.standing(played, called, seat),
        "url": f"{settings.public_url}/matches/{match.id}",
        "news": news,
        "marks": story.marks(news[-6:], story.undone(played)),
        "view": view,
        "board": played.game.text(view, called),
        "example": view.moves[len(view.moves) // 2] if view.moves else played.game.example,
        "deadline": wording.when(until, user.zone) if until else "",
        "left": wording.span(until - now) if until else "",
        "pace": log.rule_sentence(match),
        "acting": wording.listed([called[number] for number in played.position.to_act]),
        "outcome": played.outcome,
        "scores": list(zip(called, played.outcome.scores, strict=True)) if played.outcome else [],
        "last_hash": story.shown_hash(played),
        "since": since,
        "said": _said(played, seat),
        "row": played.position.seq,
        "dropped": mail.facts.get("dropped", ""),
        "why": _why_reminded(mail, called),
        "late": [called[number] for number in played.position.to_act if columns.undecided(played, number)],
        "first": seat is not None and since == 0,
    }


def _table_facts(settings: Settings, mail: Outbox, match: Match, now: datetime) -> dict[str, Any]:
    url = f"{settings.public_url}/matches/{match.id}"
    if mail.kind == "invite":
        url = f"{settings.public_url}/invite/{_link('invite', mail, now)}"
    return {
        "after": log.title(log.get(mail.facts["after"])) if "after" in mail.facts else "",
        "match_name": log.title(match),
        "host": User.get_by_id(mail.facts["by"]).name if "by" in mail.facts else match.host.name,
        "players": wording.listed([place.owner.name for place in log.places(match)]),
        "pace": log.rule_sentence(match),
        "url": url,
    }


def _said(played: Played, seat: int | None) -> list[tuple[str, str]]:
    """Return what was said at the table since the reader's last own move: who, and what, as one line."""
    own = story.since_own(played, seat) if seat is not None else 0
    since = log.instant(played.rows[own - 1].at if own else played.setup_row.at)
    new = [line for line in talk.lines(played.match, MOST_SAID) if line.at > since]
    return [(line.user.name, _harmless(" ".join(line.text.split())[:LONGEST_SAID])) for line in new]


def _harmless(text: str) -> str:
    """Return somebody's words so that the receiver never takes them for the line above which answers stand."""
    return text.replace("#", "") if is_marker(text) else text


def _why_reminded(mail: Outbox, called: Sequence[str]) -> str:
    """Return why a reminder comes: somebody asks for the move, or so much of the time is gone."""
    if "asker" in mail.facts:
        return f"{called[mail.facts['asker']]} asks for your move."
    return f"{mail.facts['share']} % of your time are gone." if "share" in mail.facts else ""


def _waiting(settings: Settings, user: User) -> list[dict[str, str]]:
    return [
        {**_named(settings, match), "deadline": wording.when(match.deadline, user.zone)}
        for match in home.awaiting(user)
        if match.deadline
    ]


def _named(settings: Settings, match: Match) -> dict[str, str]:
    return {"name": log.title(match), "url": f"{settings.public_url}/matches/{match.id}"}


def _link(purpose: str, mail: Outbox, now: datetime) -> str:
    with db.transaction():
        return links.mint(purpose, now, user=mail.user, match=mail.match)


def _reply_token(mail: Outbox, asked: int | None, now: datetime) -> str:
    """Return a new address token: 120 random bits in base32, kept hashed, bound to person, match, seat and row."""
    token = base64.b32encode(secrets.token_bytes(15)).decode().lower()
    with db.transaction():
        ReplyToken.insert(
            hash=links.digest(token),
            user=mail.user,
            address="" if mail.user else mail.address,
            match=mail.match,
            seat=mail.seat,
            asked=asked if mail.asked is None else mail.asked,
            created_at=now,
        ).execute()
    return token


def _thread(settings: Settings, mail: Outbox) -> tuple[str, ...]:
    """Return the ids of the mails before this one, and of the mail it answers, oldest first."""
    earlier = tuple(f"{one}@{settings.mail_domain}" for one in outbox.thread(mail))
    return (*earlier, mail.facts["to"]) if mail.facts.get("to") else earlier


def _answer_facts(mail: Outbox, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an answer says was done, or was wrong; a move is told from the log."""
    row, lines = mail.facts.get("row"), facts.get("lines", ())
    made = next((line for line in lines if line.seq == row), None)
    view = facts.get("view")
    return {
        "code": mail.facts.get("code", ""),
        "own": bool(mail.facts["received"]),
        "view": view,
        "sentences": [*(made.sentences if made else ()), *mail.facts["sentences"]],
        "made": made.text if made else "",
        "choices": mail.facts.get("choices", []),
        "near": mail.facts.get("near", []),
        "since": mail.facts.get("since", []),
        "received": wording.when(datetime.fromtimestamp(mail.facts["received"], UTC), facts["zone"]),
        "words": list(commands.WORDS.values()) if mail.facts.get("help") else [],
        "legal": list(view.moves[:MOST_LISTED]) if mail.facts.get("help") and view else [],
        "board": facts.get("board", ""),
        "standing": facts.get("standing", ""),
    }


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES / "mail"),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["wrapped"] = wording.wrapped
    environment.add_extension("jinja2.ext.i18n")
    environment.policies["ext.i18n.trimmed"] = True
    environment.install_gettext_callables(  # type: ignore[attr-defined]
        language.gettext, language.ngettext, newstyle=True, pgettext=language.pgettext
    )
    return environment


def _text(kind: str, facts: Mapping[str, Any]) -> str:
    text = _environment().get_template(f"{kind}.txt").render(facts).strip() + "\n"
    return f"{MARKER}\n\n{text}" if facts["reply_to"] else text


def _html(kind: str, facts: Mapping[str, Any]) -> str:
    return _inliner().inline(_environment().get_template(f"{kind}.html").render(facts))


@cache
def _inliner() -> css_inline.CSSInliner:
    return css_inline.CSSInliner(load_remote_stylesheets=False)
