"""What mails say: turns a queued mail into a finished message, or finds that it is no longer true."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from engine.base import View
from engine.language import gettext as _
from engine.language import later
from server import (
    columns,
    commands,
    digests,
    home,
    languages,
    links,
    log,
    outbox,
    presence,
    raster,
    stationery,
    story,
    talk,
    tournaments,
    wording,
)
from server.channels import DeliveryError, Message
from server.errors import Refused
from server.handing import Writer, Written
from server.inbound.door import bounce_token
from server.inbound.quotes import MARKER, harmless
from server.log import Played
from server.models import Match, Outbox, ReplyToken, Seat, User
from server.models.statements import insertion
from server.settings import Settings

# As wide as the template shows it, so that no reader has to make it smaller.
PICTURE_WIDTH: Final = 628
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
LIVES["digest"] = timedelta(hours=20)
_TOKEN: Final = insertion(ReplyToken, "hash", "user", "address", "match", "seat", "asked", "created_at")
# Mails that a link in them stops: those about turns.
UNSUBSCRIBED: Final = frozenset({"turn", "reminder", "digest"})


@dataclass(slots=True)
class _Work:
    """A mail that is being written, what was looked up for it, and what has to be stored before it is handed over."""

    settings: Settings
    mail: Outbox
    now: datetime
    seats: Sequence[Seat]
    stores: list[Callable[[], object]] = field(default_factory=list)


def writer(settings: Settings) -> Writer[Message]:
    """Return the function that writes queued mails for `outbox.deliver_due`."""

    def write(mail: Outbox, now: datetime) -> Written[Message] | str | datetime:
        try:
            work = _Work(settings, mail, now, _looked_up(mail))
            with languages.speaking(mail.user.language if mail.user else mail.facts.get("language", "en")):
                told = untrue(mail, now, work.seats) or _too_early(work)
                return told or Written(_message(work), work.stores)
        except Refused as fault:
            # A frozen match may be mended; its mail waits like one that a server put off.
            raise DeliveryError(f"cannot be written: {fault.code}") from fault

    return write


def _looked_up(mail: Outbox) -> Sequence[Seat]:
    """Return the seats of the match that a mail is about, and let the mail know match and person."""
    if mail.match_id is None:
        return ()
    mail.match = log.get(mail.match_id)
    seats = log.places(mail.match)
    mail.user = next((seat.user for seat in seats if seat.user_id == mail.user_id), None) or mail.user
    return seats


def untrue(mail: Outbox, now: datetime, seats: Sequence[Seat] = ()) -> str:
    """Return in a few words why the mail is no longer true, or an empty string while it is.

    `seats` are those of the match that it is about, if they have been looked up.
    """
    user, match = mail.user, mail.match
    if user is not None and (user.deleted_at or user.mail_stopped):
        return "the account is gone" if user.deleted_at else "the address takes no mail"
    if mail.kind in LIVES and mail.created_at + LIVES[mail.kind] < now:
        return "too old to be of use"
    if match is not None and mail.kind in {"turn", "reminder"}:
        return _turn_untrue(mail, match, seats or log.places(match))
    if user is not None and mail.kind == "digest" and not digests.waiting(user, now):
        return "nothing waits any more"
    if match is not None and mail.kind in {"invite", "rematch", "full"} and match.status != "open":
        return "the table is no longer open"
    if match is not None and mail.kind == "full" and len(seats or log.places(match)) < match.seats:
        return "a seat is free again"
    if user is not None and mail.kind == "confirm" and user.confirmed_at:
        return "the address is confirmed already"
    if user is not None and mail.kind == "confirm" and user.email != mail.address:
        return "another address was given"
    return ""


def _turn_untrue(mail: Outbox, match: Match, seats: Sequence[Seat]) -> str:
    """Return why a mail about a turn is no longer true: the turn is over, or its player does not want to hear of it."""
    if match.status != "running" or mail.seat not in match.awaited or mail.asked != _asked(match, mail.seat):
        return "the turn was taken meanwhile"
    seat = _seat(mail, seats)
    if seat is None or seat.user_id != mail.user_id:
        return "somebody else sits in the seat now"
    wish = seat.turn_mail if "asker" in mail.facts else seat.wish
    if wish == "off":
        return "turn mails were switched off"
    return "one mail a day tells of it" if mail.kind == "turn" and wish == "daily" else ""


def _too_early(work: _Work) -> datetime | None:
    """Return until when a turn mail has to wait because its reader, who wants it when he is away, is not; else None."""
    seat = _seat(work.mail, work.seats) if work.mail.kind == "turn" else None
    if seat is None or seat.wish != "away":
        return None
    away = presence.away_at(seat.user, work.mail.created_at)
    return away if away > work.now else None


def _seat(mail: Outbox, seats: Sequence[Seat]) -> Seat | None:
    return next((seat for seat in seats if seat.number == mail.seat), None)


def _asked(match: Match, seat: int) -> int | None:
    # The column is of the seat asked last: the only one there is, unless several are awaited together.
    return match.asked if match.awaited == (seat,) else log.read(match).position.asked[seat]


def _message(work: _Work) -> Message:
    mail, settings, facts = work.mail, work.settings, _facts(work)
    return Message(
        to_name=facts["name"],
        to_address=mail.address,
        subject=_(_SUBJECTS["lost" if mail.kind == "answer" and mail.match is None else mail.kind]).format_map(facts),
        text=stationery.text(mail.kind, facts),
        html=stationery.html(mail.kind, facts),
        message_id=f"{mail.message_id}@{settings.mail_domain}",
        thread=_thread(settings, mail),
        date=mail.created_at,
        reply_to=facts["reply_to"],
        picture=facts.get("png"),
        picture_alt=facts.get("png_alt", ""),
        unsubscribe_url=facts["unsubscribe"],
        unsubscribe_mail=facts["reply_to"] if facts["unsubscribe"] else None,
        bounce_token=bounce_token(settings, mail),
        answer=mail.kind == "answer",
        language=languages.current(),
    )


def _facts(work: _Work) -> dict[str, Any]:
    """Return what the templates of a mail are given, and its picture with it."""
    mail, settings = work.mail, work.settings
    facts: dict[str, Any] = {
        "kind": mail.kind,
        "site": settings.public_url,
        "house": settings.mail_name,
        "marker": MARKER,
        "user": mail.user,
        "name": mail.user.name if mail.user else "",
        "zone": mail.user.zone if mail.user else "UTC",
        "now": work.now,
        "match": mail.match,
        **mail.facts,
        "language": languages.current(),
        "above": _(stationery.ABOVE),
        "unsubscribe": None,
        "reply_to": None,
        **_special_facts(work),
    }
    if mail.kind in UNSUBSCRIBED:
        facts["unsubscribe"] = f"{settings.public_url}/unsubscribe/{_link(work, 'unsubscribe')}"
    if settings.answers and mail.match is not None and mail.kind in ANSWERED:
        facts["reply_to"] = f"move+{_reply_token(work, facts.get('expected'))}@{settings.mail_domain}"
    return facts | _answer_facts(mail, facts) if mail.kind == "answer" else facts


def _special_facts(work: _Work) -> dict[str, Any]:
    """Return the facts of what the mail is about: a match, a table, or what `_OWN_FACTS` has for its kind."""
    mail, match = work.mail, work.mail.match
    if match is None:
        own = _OWN_FACTS.get(mail.kind)
        return own(work, mail.user) if own and mail.user is not None else {}
    if mail.kind in MATCH_KINDS and match.status in {"running", "finished"} and mail.user is not None:
        return _match_facts(work, mail.user, log.read(match))
    return _table_facts(work, match)


def _link_facts(work: _Work, user: User) -> dict[str, Any]:
    return {"url": f"{work.settings.public_url}/{work.mail.kind}/{_link(work, work.mail.kind)}"}


def _outage_facts(work: _Work, user: User) -> dict[str, Any]:
    down = (datetime.fromtimestamp(work.mail.facts[end], UTC) for end in ("from", "to"))
    return {
        "restored": work.mail.facts.get("restored", False),
        "down": [wording.when(moment, user.zone) for moment in down],
        "waiting": _waiting(work.settings, user),
    }


def _summary_facts(work: _Work, user: User) -> dict[str, Any]:
    ended = [_named(work.settings, log.get(number)) for number in work.mail.facts["ended"]]
    return {"waiting": _waiting(work.settings, user), "ended": ended}


def _digest_facts(work: _Work, user: User) -> dict[str, Any]:
    return {"waiting": [_due(work.settings, item, user) for item in digests.waiting(user, work.now)]}


_OWN_FACTS: Final[Mapping[str, Callable[[_Work, User], dict[str, Any]]]] = {
    "confirm": _link_facts,
    "reset": _link_facts,
    "outage": _outage_facts,
    "summary": _summary_facts,
    "digest": _digest_facts,
    "tournament": lambda work, user: tournaments.facts(work.mail.facts, user, work.settings.public_url),
}
# A match keeps one subject for all its mails, so that mail programs keep them together.
_SUBJECTS: Final = dict.fromkeys(MATCH_KINDS, "{match_name}: {players}") | {
    "lost": later("Your mail to {house}"),
    "confirm": later("Please confirm your address"),
    "known": later("You already have an account"),
    "reset": later("A new password for {name}"),
    "invite": later("{host} invites you to {match_name}"),
    "rematch": later("{host} would like a rematch: {match_name}"),
    "full": later("{match_name}: every seat is taken"),
    "summary": later("Your matches"),
    "digest": later("Your turns"),
    "tournament": "{headline}",
    "uncalled": later("Your program is not called any more"),
    "untold": later("No more messages to {label}"),
    "outage": later("The server was down; your deadlines have moved on"),
}


def _picture(played: Played, view: View, marks: Sequence[str]) -> bytes:
    draw = played.game.picture
    return raster.board(draw(view, (), "ground"), draw(view, marks, "pieces"), PICTURE_WIDTH)


def _match_facts(work: _Work, user: User, played: Played) -> dict[str, Any]:
    mail, match, seats = work.mail, played.match, work.seats
    # A person whose seat a bot has taken sees what a spectator sees.
    seat = next((number for number, place in enumerate(seats) if place.user_id == user.id), None)
    called = story.names(seats)
    since = story.since_own(played, seat) if seat is not None else 0
    # An answer tells of the move that it made, too.
    lines = story.lines(played, called, seat, min(since, (mail.facts.get("row") or since + 1) - 1), user.zone)
    news = [line for line in lines if line.seq > since]
    if mail.kind == "notice":
        news = [line for line in news if line.seq >= min(mail.facts["rows"])]
    view, until = played.view(seat), columns.deadline(played)
    marks = story.marks(news[-6:], story.undone(played))
    kept = mail.kind == "end" and user.keeps_results
    return {
        "match_name": log.title(match),
        "players": wording.listed([place.owner.name for place in seats]),
        "called": called,
        "seat": seat,
        "lines": lines,
        "standing": story.standing(played, called, seat),
        "url": f"{work.settings.public_url}/matches/{match.id}",
        "news": news,
        "view": view,
        "board": played.game.text(view, called),
        "example": story.example(played.game, view),
        "deadline": wording.when(until, user.zone) if until else "",
        "left": wording.span(until - work.now) if until else "",
        "pace": log.rule_sentence(match),
        "acting": [called[number] for number in played.position.to_act],
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
        "kept": kept,
        "watch_from": since,
        "expected": log.expected(played, seat),
        "png": None if kept else _picture(played, view, marks),
        "png_alt": _("The board of {match}").format(match=log.title(match)),
    }


def _table_facts(work: _Work, match: Match) -> dict[str, Any]:
    mail, url = work.mail, f"{work.settings.public_url}/matches/{match.id}"
    if mail.kind == "invite":
        url = f"{work.settings.public_url}/invite/{_link(work, 'invite')}"
    return {
        "after": log.title(log.get(mail.facts["after"])) if "after" in mail.facts else "",
        "match_name": log.title(match),
        "host": User.get_by_id(mail.facts["by"]).name if "by" in mail.facts else match.host.name,
        "players": wording.listed([place.owner.name for place in work.seats]),
        "pace": log.rule_sentence(match),
        "url": url,
    }


def _said(played: Played, seat: int | None) -> list[tuple[str, str]]:
    """Return what was said at the table since the reader's last own move: who, and what, as one line."""
    own = story.since_own(played, seat) if seat is not None else 0
    since = log.instant(played.rows[own - 1].at if own else played.setup_row.at)
    new = [line for line in talk.lines(played.match, MOST_SAID) if line.at > since]
    return [(line.user.name, harmless(" ".join(line.text.split())[:LONGEST_SAID])) for line in new]


def _why_reminded(mail: Outbox, called: Sequence[str]) -> str:
    """Return why a reminder comes: somebody asks for the move, or so much of the time is gone."""
    if "asker" in mail.facts:
        return _("{name} asks for your move.").format(name=called[mail.facts["asker"]])
    return _("{share} % of your time are gone.").format(share=mail.facts["share"]) if "share" in mail.facts else ""


def _waiting(settings: Settings, user: User) -> list[dict[str, str]]:
    return [
        {**_named(settings, match), "deadline": wording.when(match.deadline, user.zone)}
        for match in home.awaiting(user)
        if match.deadline
    ]


def _due(settings: Settings, item: home.Item, user: User) -> dict[str, Any]:
    """Return what the mail of a day tells of one match."""
    dial = item.dial
    return {
        **_named(settings, item.match),
        "last": item.last,
        "late": dial is not None and dial.late,
        "deadline": wording.when(dial.until, user.zone) if dial and dial.until else "",
        "left": wording.span(dial.left) if dial and dial.left is not None else "",
    }


def _named(settings: Settings, match: Match) -> dict[str, str]:
    return {"name": log.title(match), "url": f"{settings.public_url}/matches/{match.id}"}


def _link(work: _Work, purpose: str) -> str:
    """Return the token of a new link, which is stored before the mail is handed over."""
    token, mail, now = links.new_token(), work.mail, work.now
    work.stores.append(lambda: links.mint(purpose, now, user=mail.user, match=mail.match, token=token))
    return token


def _reply_token(work: _Work, asked: int | None) -> str:
    """Return a new address token: 120 random bits in base32, kept hashed, bound to person, match, seat and row."""
    token, mail = base64.b32encode(secrets.token_bytes(15)).decode().lower(), work.mail
    work.stores.append(
        lambda: _TOKEN.run(
            hash=links.digest(token),
            user=mail.user_id,
            address="" if mail.user else mail.address,
            match=mail.match_id,
            seat=mail.seat,
            asked=asked if mail.asked is None else mail.asked,
            created_at=work.now,
        )
    )
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
        "words": [word._replace(about=_(word.about)) for word in commands.WORDS.values() if mail.facts.get("help")],
        "legal": list(view.moves[:MOST_LISTED]) if mail.facts.get("help") and view else [],
        "board": facts.get("board", ""),
        "standing": facts.get("standing", ""),
    }
