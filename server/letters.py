"""What mails say: turns a queued mail into a finished message, or finds that it is no longer true."""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

import css_inline
import jinja2

from server import db, home, links, log, outbox, raster, story, wording
from server.channels import DeliveryError, Message
from server.errors import Refused
from server.log import Played
from server.models import Match, Outbox, ReplyToken, Seat, User
from server.settings import Settings

TEMPLATES: Final = Path(__file__).parent.parent / "templates"

# Everything a person writes stands above this line; the receiver cuts here.
MARKER: Final = "##- Please type your reply above this line -##"
PICTURE_WIDTH: Final = 640
MATCH_KINDS: Final = ("turn", "reminder", "start", "notice", "end")
# Mails that only make sense soon after their cause.
LIVES: Final = {"start": timedelta(days=3), "notice": timedelta(days=3), "full": timedelta(days=3)}


def writer(settings: Settings) -> outbox.Writer:
    """Return the function that writes queued mails for `outbox.deliver_due`."""

    def write(mail: Outbox, now: datetime) -> Message | str:
        try:
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
        if match.status != "running" or mail.seat not in match.awaited or match.asked != mail.asked:
            return "the turn was taken meanwhile"
        if seat is None or seat.user_id != mail.user_id:
            return "somebody else sits in the seat now"
        if mail.kind == "turn" and not user.turn_mail:
            return "turn mails were switched off"
    if match is not None and mail.kind in {"invite", "full"} and match.status != "open":
        return "the table is no longer open"
    if match is not None and mail.kind == "full" and len(log.places(match)) < match.seats:
        return "a seat is free again"
    if user is not None and mail.kind == "confirm" and user.confirmed_at:
        return "the address is confirmed already"
    return ""


def _message(settings: Settings, mail: Outbox, now: datetime) -> Message:
    facts: dict[str, Any] = {
        "kind": mail.kind,
        "site": settings.public_url,
        "house": settings.mail_name,
        "marker": MARKER,
        "user": mail.user,
        "zone": mail.user.zone if mail.user else "UTC",
        "now": now,
        **mail.facts,
    }
    picture, alt, reply_to, unsubscribe = None, "", None, None
    if mail.match is not None and mail.user is not None and mail.kind in MATCH_KINDS:
        played = log.read(mail.match)
        facts |= _match_facts(settings, mail, mail.user, played, now)
        picture = _picture(played, facts)
        alt = f"The board of {facts['match_name']}"
        if mail.kind in {"turn", "reminder"}:
            reply_to = f"move+{_reply_token(mail, now)}@{settings.mail_domain}"
            facts["reply_to"] = reply_to
        if mail.kind == "turn":
            unsubscribe = f"{settings.public_url}/unsubscribe/{_link('unsubscribe', mail, now)}"
    elif mail.match is not None:
        facts |= _table_facts(settings, mail, mail.match, now)
    elif mail.kind in {"confirm", "reset"}:
        facts["url"] = f"{settings.public_url}/{mail.kind}/{_link(mail.kind, mail, now)}"
    elif mail.user is not None and mail.kind == "summary":
        facts["waiting"] = _waiting(settings, mail.user)
        facts["ended"] = [_named(settings, log.get(number)) for number in mail.facts["ended"]]
    facts["unsubscribe"] = unsubscribe
    return Message(
        to_name=mail.user.name if mail.user else "",
        to_address=mail.address,
        subject=_SUBJECTS[mail.kind].format_map(facts),
        text=_text(mail.kind, facts),
        html=_html(mail.kind, facts),
        message_id=f"{mail.message_id}@{settings.mail_domain}",
        thread=tuple(f"{earlier}@{settings.mail_domain}" for earlier in outbox.thread(mail)),
        date=mail.created_at,
        reply_to=reply_to,
        picture=picture,
        picture_alt=alt,
        unsubscribe_url=unsubscribe,
        unsubscribe_mail=reply_to,
        bounce_token=_bounce_token(settings, mail),
    )


# A match keeps one subject for all its mails, so that mail programs keep them together.
_SUBJECTS: Final = dict.fromkeys(MATCH_KINDS, "{match_name}: {players}") | {
    "confirm": "Please confirm your address",
    "known": "You already have an account",
    "reset": "A new password for {user.name}",
    "invite": "{host} invites you to {match_name}",
    "full": "{match_name}: every seat is taken",
    "summary": "Your matches",
}


def _picture(played: Played, facts: Mapping[str, Any]) -> bytes:
    draw, view = played.game.picture, facts["view"]
    return raster.board(draw(view, (), "ground"), draw(view, facts["marks"], "pieces"), PICTURE_WIDTH)


def _match_facts(settings: Settings, mail: Outbox, user: User, played: Played, now: datetime) -> dict[str, Any]:
    match, seats = played.match, log.places(played.match)
    # A person whose seat a bot has taken sees what a spectator sees.
    seat = next((number for number, place in enumerate(seats) if place.user_id == user.id), None)
    called = story.names(seats)
    news = story.lines(played, called, seat, story.since_own(played, seat) if seat is not None else 0)
    if mail.kind == "notice":
        news = [line for line in news if line.seq >= min(mail.facts["rows"])]
    view, until = played.view(seat), log.deadline(played)
    return {
        "match": match,
        "match_name": log.title(match),
        "players": wording.listed([place.owner.name for place in seats]),
        "called": called,
        "url": f"{settings.public_url}/matches/{match.id}",
        "news": news,
        "marks": story.marks(news[-6:]),
        "view": view,
        "board": played.game.text(view, called),
        "example": played.game.example,
        "deadline": wording.when(until, user.zone) if until else "",
        "left": wording.span(until - now) if until else "",
        "pace": wording.pace(match.pace),
        "acting": wording.listed([called[number] for number in played.position.to_act]),
        "outcome": played.outcome,
        "winners": wording.listed([called[number] for number in played.outcome.winners]) if played.outcome else "",
        "scores": list(zip(called, played.outcome.scores, strict=True)) if played.outcome else [],
        "last_hash": story.shown_hash(played),
        "row": played.position.seq,
        "first": seat is not None and story.since_own(played, seat) == 0,
    }


def _table_facts(settings: Settings, mail: Outbox, match: Match, now: datetime) -> dict[str, Any]:
    url = f"{settings.public_url}/matches/{match.id}"
    if mail.kind == "invite":
        url = f"{settings.public_url}/invite/{_link('invite', mail, now)}"
    return {
        "match": match,
        "match_name": log.title(match),
        "host": User.get_by_id(mail.facts["by"]).name if "by" in mail.facts else match.host.name,
        "players": wording.listed([place.owner.name for place in log.places(match)]),
        "pace": wording.pace(match.pace),
        "url": url,
    }


def _waiting(settings: Settings, user: User) -> list[dict[str, str]]:
    return [
        {**_named(settings, match), "deadline": wording.when(match.deadline, user.zone)}
        for match in home.awaiting(user)
        if match.deadline
    ]


def _named(settings: Settings, match: Match) -> dict[str, str]:
    return {"name": log.title(match), "url": f"{settings.public_url}/matches/{match.id}"}


def _bounce_token(settings: Settings, mail: Outbox) -> str:
    """Return what only a server that got this very mail could know, so that a bounce without it is a forged one."""
    return hmac.new(settings.secret_key.encode(), f"bounce {mail.message_id}".encode(), "sha256").hexdigest()[:24]


def _link(purpose: str, mail: Outbox, now: datetime) -> str:
    with db.transaction():
        return links.mint(purpose, now, user=mail.user, match=mail.match)


def _reply_token(mail: Outbox, now: datetime) -> str:
    """Return a new address token: 120 random bits in base32, kept hashed, bound to person, match, seat and row."""
    token = base64.b32encode(secrets.token_bytes(15)).decode().lower()
    with db.transaction():
        ReplyToken.insert(
            hash=links.digest(token), user=mail.user, match=mail.match, seat=mail.seat, asked=mail.asked, created_at=now
        ).execute()
    return token


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
    return environment


def _text(kind: str, facts: Mapping[str, Any]) -> str:
    return _environment().get_template(f"{kind}.txt").render(facts).strip() + "\n"


def _html(kind: str, facts: Mapping[str, Any]) -> str:
    return _inliner().inline(_environment().get_template(f"{kind}.html").render(facts))


@cache
def _inliner() -> css_inline.CSSInliner:
    return css_inline.CSSInliner(load_remote_stylesheets=False)
