"""What becomes of a mail that was kept: judged, carried out and answered, all in one transaction or not at all."""

from __future__ import annotations

import difflib
import hashlib
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from engine.language import gettext as _
from engine.language import later
from server import accounts, commands, db, languages, log, outbox, play, talk, throttle
from server.commands import Asked
from server.errors import Refused
from server.inbound import bounces, door, orders, silence
from server.inbound.judge import proven
from server.inbound.lines import own_lines
from server.inbound.parse import Letter, Unreadable, parse
from server.log import Played
from server.models import Inbound, MailKey, Match, ReplyToken, User
from server.settings import Settings

logger = logging.getLogger(__name__)

# A mail that our own fault keeps from being read is tried so often, then set aside for people to look at.
TRIES: Final = 3
# Mail programs repeat a mail within hours; the same words after this long are meant again.
SAME_TEXT: Final = timedelta(days=1)
SAME_ID: Final = timedelta(days=60)
NEAR: Final = 8
WORDS: Final = re.compile(r"\w+")

FOREIGN = later("A mail came to your answer address for {match} from an address that is not yours. Nothing was done.")
UNPROVEN = later("A mail to your answer address for {match} could not be shown to come from you. Nothing was done.")
NO_TOKEN = later("This address takes no answers. Answer the mail that your match sent you, or use the site.")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mail: a word of docs/mail.md, and whom and which match it concerned."""

    word: str
    user: User | None = None
    match: Match | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A mail that reached a known answer's address. `user` is None for an invited person without an account."""

    mail: Inbound
    letter: Letter
    token: ReplyToken
    user: User | None
    now: datetime

    @property
    def match(self) -> Match:
        """The match it is about."""
        return self.token.match

    @property
    def address(self) -> str:
        """The registered address, where answers go."""
        address: str = (self.user.email if self.user else None) or self.token.address
        return address

    @property
    def language(self) -> str:
        """The language in which answers are: the person's, or without an account that of the host who has invited."""
        return str((self.user or self.match.host).language)


def run(settings: Settings, now: Callable[[], datetime], limit: int = 200) -> int:
    """Work on the mails that wait, oldest first; return how many are done."""
    waiting = Inbound.select(Inbound.id).where(Inbound.done_at.is_null()).order_by(Inbound.received_at).limit(limit)
    return sum(work(row.id, settings, now()) for row in list(waiting))


def work(number: int, settings: Settings, now: datetime) -> bool:
    """Work on one mail; return whether it is done now. Two at once are harmless: one of them finds nothing to do."""
    try:
        mail = Inbound.get_by_id(number)
        letter = parse(bytes(mail.content or b""))
        with db.transaction():
            held = db.locked(Inbound.select().where((Inbound.id == number) & Inbound.done_at.is_null()), skip=True)
            if held.first() is None:
                return False
            _close(mail, _judge(mail, letter, settings, now), now)
    except Unreadable as fault:
        _set_aside(number, f"cannot be read: {fault}", now)
    except (*db.Unavailable, db.Broken):
        raise
    except Exception as fault:  # noqa: BLE001 - its traceback would quote the mail
        # A fault of ours in one mail must not stop the others.
        logger.error("mail %s in hand failed: %s", number, type(fault).__name__)
        _failed(number, type(fault).__name__, now)
        return False
    return True


def _judge(mail: Inbound, letter: Letter, settings: Settings, now: datetime) -> Verdict:
    """Decide on a mail and do what it asks for, inside the caller's transaction."""
    known = [found for text in _addresses(mail, letter) if (found := door.ours(text, settings))]
    tokens = [kept for found in known if found.kind == "move" and (kept := door.reply_token(found.token))]
    if not tokens:
        for found in known:
            if found.kind == "bounce":
                return _bounce(found, letter, settings)
    if why := silence.reason(letter, mail.sender, settings.mail_domain):
        return Verdict(f"silent-{why}")
    token = next((one for one in tokens if _wrote(letter, one)), next(iter(tokens), None))
    if token is None:
        return _lost(known, mail, letter, settings, now)
    case = Case(mail, letter, token, _person(token), now)
    with languages.speaking(case.language):
        return _decided(case, settings)


def _decided(case: Case, settings: Settings) -> Verdict:
    """Carry out what the owner of an answer's address asks for; whatever anybody else does is only told to him."""
    letter = case.letter
    if not letter.sender or letter.sender.lower() != case.address.lower():
        return _foreign(case, "wrong-sender", FOREIGN)
    if settings.mail_judge and not proven(letter, settings.mail_judge):
        return _foreign(case, "unproven", UNPROVEN)
    return _answered(case, settings)


def _addresses(mail: Inbound, letter: Letter) -> list[str]:
    """The envelope's recipient if it is known; what the headers say is only looked at without it."""
    return [mail.recipient] if mail.recipient else list(letter.recipients)


def _bounce(found: door.Ours, letter: Letter, settings: Settings) -> Verdict:
    mail = door.bounced(found.token, settings)
    if mail is None:
        return Verdict("unknown-address")
    verdict = bounces.judge(letter)
    bounces.settle(mail, verdict)
    return Verdict(verdict, mail.user, mail.match)


def _lost(known: list[door.Ours], mail: Inbound, letter: Letter, settings: Settings, now: datetime) -> Verdict:
    """Answer a registered person who wrote to an address that takes no moves; meet everybody else with silence."""
    if any(found.kind == "keeper" for found in known):
        return Verdict("for-keepers")
    user = User.get_or_none((User.email_key == letter.sender.casefold()) & User.confirmed_at.is_null(False))
    if (
        user is None
        or not letter.sender
        or not known
        or (settings.mail_judge and not proven(letter, settings.mail_judge))
    ):
        return Verdict("unknown-address")
    # Whoever sends it: once a day, or a forger could have us write to somebody again and again.
    key = f"answer lost {user.id} {now:%Y%m%d}"
    with languages.speaking(user.language):
        told = _(NO_TOKEN)
    _queue_answer(mail, letter, user.email, user, None, now, key=key, code="no-token", sentences=[told])
    return Verdict("no-token", user)


def _person(token: ReplyToken) -> User | None:
    """Return whose answer's address it is; an invitation's may belong to somebody who has an account by now."""
    if token.user_id is not None:
        return token.user
    # Not somebody who has only said that the address is his.
    holders = User.select().where((User.email_key == token.address.casefold()) & User.confirmed_at.is_null(False))
    return next((user for user in holders if (user.email or "").lower() == token.address.lower()), None)


def _wrote(letter: Letter, token: ReplyToken) -> bool:
    """Whether the sender owns the answer's address."""
    user = _person(token)
    address: str = (user.email if user else None) or token.address
    return letter.sender.lower() == address.lower()


def _foreign(case: Case, word: str, sentence: str) -> Verdict:
    """Tell the owner of an answer's address that somebody else wrote to it. What was written is not repeated."""
    if case.user is not None:
        _refuse(case, word, _(sentence).format(match=log.title(case.match)), to="", received=0)
    return Verdict(word, case.user, case.match)


def _first_time(case: Case, *, acts: bool) -> bool:
    """Note what makes the mail the same as another: its id, and if it does more than ask, its text.

    Return whether it is the first of them.
    """
    text = hashlib.sha256(case.letter.text.encode("utf-8", "replace")).hexdigest()
    token = bytes(case.token.hash).hex()
    keys = [(f"text {token} {text}", SAME_TEXT)] if acts else []
    if case.letter.message_id:
        keys.append((f"id {token} {case.letter.message_id}", SAME_ID))
    new = True
    for key, span in keys:
        digest = hashlib.sha256(key.encode("utf-8", "replace")).digest()
        MailKey.delete().where((MailKey.hash == digest) & (MailKey.expires_at <= case.now)).execute()
        # Another process may have the same mail in hand: then this waits for it, and inserts nothing.
        noted = MailKey.insert(hash=digest, expires_at=case.now + span).on_conflict_ignore().as_rowcount().execute()
        new = new and noted == 1
    return new


def _answered(case: Case, settings: Settings) -> Verdict:
    """Carry out what the mail asks for and queue the answer."""
    try:
        if case.user is not None:
            throttle.count("mail by", str(case.user.id), case.now)
        asked = _orders(case, settings)
        with db.transaction():
            # Noted with what it does: a mail that was refused may come again.
            if not _first_time(case, acts=asked.acts):
                return Verdict("duplicate", case.user, case.match)
            case, sentences, row = _carry_out(case, asked, settings)
    except Refused as fault:
        _refuse(case, fault.code, fault.sentence, choices=fault.choices, since=fault.since, near=_near(case, settings))
        return Verdict(f"refused-{fault.code}"[:32], case.user, case.match)
    if asked.unread and not asked.move:
        sentences.append(_("What else your mail said was not read; a line for all at the table begins with say."))
    _answer(case, sentences=sentences, row=row, help=asked.help)
    return Verdict("done", case.user, case.match)


def _orders(case: Case, settings: Settings) -> orders.Orders:
    lines = own_lines(case.letter.text, (settings.mail_name,))
    # What a mail program sends for the unsubscribe address of a mail (RFC 2369).
    if not lines and case.letter.subject.strip().casefold() == "unsubscribe":
        lines = ["stop"]
    match = log.get(case.match.id)
    own = case.user is not None and log.own_number(match, case.user) == case.token.seat
    return orders.read(lines, play.move_reader(match, case.token.seat, own=own))


def _carry_out(case: Case, asked: orders.Orders, settings: Settings) -> tuple[Case, list[str], int | None]:
    """Do what is asked for, all or nothing; return the case, what to say, and the row of the move if there is one."""
    if case.token.address and asked.word == "stop":
        accounts.refuse_invitations(case.address, case.now)
        return case, [_("You will get no more invitations from us.")], None
    new, user = case.user is None, case.user or _newcomer(case, asked)
    case = replace(case, user=user)
    order = Asked(
        case.match.id, user, case.token.asked or 0, "email", case.mail.received_at, invited=bool(case.token.address)
    )
    sentences: list[str] = []
    row = None
    if asked.move:
        done = commands.run("move", asked.move, order).done
        row = done.seq if done else None
    if asked.word:
        sentences += commands.run(asked.word, asked.rest, order).sentences
    if new:
        told = _("Your account is called {name}. To sign in on the site as well, ask for a password here: {address}")
        sentences.append(told.format(name=user.name, address=f"{settings.public_url}/forgot"))
    for line in asked.says:
        talk.speak(log.get(case.match.id), user, line, case.now)
    if asked.says:
        sentences.append(_("Your words were said at the table."))
    return case, sentences, row


def _newcomer(case: Case, asked: orders.Orders) -> User:
    """Return the account of an invited person who takes the seat."""
    if asked.word != "join":
        raise Refused("no-order", _("To take a seat, answer with the word join. To decline, do nothing."))
    return accounts.sign_up_by_mail(case.letter.sender, case.letter.sender_name, case.now, case.language)


def _near(case: Case, settings: Settings) -> list[str]:
    """Return the legal moves that look most like what was sent."""
    played = _awaited(case)
    if played is None:
        return []
    moves = played.view(case.token.seat).moves
    near: dict[str, None] = {}
    for line in own_lines(case.letter.text, (settings.mail_name,))[:5]:
        text = line[:60].upper().removeprefix("MOVE ")
        first = next(iter(WORDS.findall(text)), "")
        near |= dict.fromkeys(move for move in moves if first and first == WORDS.findall(move)[0])
        near |= dict.fromkeys(difflib.get_close_matches(text, moves, NEAR, 0.5))
    return list(near)[:NEAR]


def _awaited(case: Case) -> Played | None:
    match = log.get(case.match.id)
    if match.status != "running" or case.token.seat not in match.awaited or case.user is None:
        return None
    return log.read(match) if log.own_number(match, case.user) == case.token.seat else None


def _refuse(case: Case, code: str, sentence: str, **more: Any) -> None:
    """Queue an answer that says what was wrong, once a day for each person, match and fault.

    The same refusal of other words is another fault; so many of them are answered in a day and no more.
    """
    try:
        throttle.count("wrong by", case.address.lower(), case.now)
    except Refused:
        return
    said = "" if code in {"wrong-sender", "unproven"} else " ".join(own_lines(case.letter.text)[:20])
    fault = hashlib.sha256(f"{code} {sentence} {said}".encode("utf-8", "replace")).hexdigest()[:12]
    key = f"answer {case.match.id} {case.address.casefold()[:60]} {case.now:%Y%m%d} {fault}"
    _answer(case, key=key, code=code, sentences=[sentence], **more)


def _answer(case: Case, **facts: Any) -> None:
    _queue_answer(case.mail, case.letter, case.address, case.user, case.match, case.now, seat=case.token.seat, **facts)


def _queue_answer(
    mail: Inbound,
    letter: Letter,
    address: str | None,
    user: User | None,
    match: Match | None,
    now: datetime,
    *,
    key: str = "",
    seat: int | None = None,
    **facts: Any,
) -> None:
    outbox.queue(
        "answer",
        key=key or f"answer {mail.id}",
        now=now,
        user=user,
        address=address or "",
        match=match,
        seat=seat,
        facts={
            "to": letter.message_id,
            "received": mail.received_at.timestamp(),
            # Of somebody without an account nothing else tells it.
            **({} if user else {"language": languages.current()}),
            **facts,
        },
    )


def _close(mail: Inbound, verdict: Verdict, now: datetime) -> None:
    logger.info("mail %s: %s", mail.id, verdict.word)
    Inbound.update(
        state="done",
        verdict=verdict.word,
        note=verdict.note,
        user=verdict.user,
        match=verdict.match,
        done_at=now,
        # What has been used is still good for the next word: nobody who reads the table shall have it.
        recipient="",
        content=door.without_tokens(bytes(mail.content or b"")),
    ).where(Inbound.id == mail.id).execute()


def _set_aside(number: int, note: str, now: datetime) -> None:
    with db.transaction():
        mine = (Inbound.id == number) & Inbound.done_at.is_null()
        Inbound.update(state="aside", verdict="aside", note=note[:200], done_at=now).where(mine).execute()


def _failed(number: int, note: str, now: datetime) -> None:
    with db.transaction():
        Inbound.update(attempts=Inbound.attempts + 1).where(Inbound.id == number).execute()
        tries = Inbound.get_by_id(number).attempts
    if tries >= TRIES:
        _set_aside(number, note, now)
