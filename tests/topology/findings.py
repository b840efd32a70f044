"""What the database must hold after a trial: each function returns what is wrong, a sentence each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from email import message_from_bytes
from email.parser import BytesHeaderParser

from players import Told
from smtp_sink import Received

from server import log
from server.models import ClientKey, Inbound, Job, LogRow, Match, Outbox, User


def of_moves(told: Iterable[Told], matches: Collection[int]) -> Iterator[str]:
    """Each move that was acknowledged is in the log once, at the row told, and as told; so is each of these matches."""
    rows = {(row.match_id, row.seq): row for row in LogRow.select().where(LogRow.kind == "move")}
    keys = {(key.user_id, key.key): key for key in ClientKey.select()}
    places: Counter[tuple[int, int]] = Counter()
    for one in told:
        row, key = rows.get((one.match, one.row)), keys.get((one.person, one.key))
        places[one.match, one.row] += 1
        if row is None or (row.seat, row.text, row.via) != (one.seat, one.text, "web"):
            yield f"match {one.match}: {one.text} was acknowledged as row {one.row}, which is not that move"
        if key is None or (key.match_id, key.seq) != (one.match, one.row):
            yield f"match {one.match}: the key of row {one.row} is not remembered"
    yield from (
        f"match {match}: row {row} was acknowledged as two moves" for (match, row), n in places.items() if n > 1
    )
    # Who has begun to send a move asks until he knows, so none that is in the log was not acknowledged.
    web = {place for place, row in rows.items() if row.via == "web" and row.match_id in matches}
    yield from (f"match {match}: row {row} is a move that nobody was told of" for match, row in web - set(places))


def of_answers(sent: Mapping[str, int]) -> Iterator[str]:
    """Each answer that was taken in is kept once and was carried out, and each move by mail is of one of them."""
    verdicts: dict[str, list[str]] = {}
    for mail in Inbound.select():
        headers = BytesHeaderParser().parsebytes(bytes(mail.content or b""))
        verdicts.setdefault(headers["Message-ID"], []).append(mail.verdict)
    for number, match in sent.items():
        # A mail of which the sender did not hear that it was taken comes again, and is then known.
        if sorted(found := verdicts.get(number, [])) != ["done", *["duplicate"] * (len(found) - 1)]:
            yield f"match {match}: the answer {number} became {found}"
    done = sum(words.count("done") for words in verdicts.values())
    moves = LogRow.select().where((LogRow.kind == "move") & (LogRow.via == "email")).count()
    if moves != done:
        yield f"{done} answers were carried out, but there are {moves} moves by mail"


def of_deadlines(due: Mapping[int, datetime]) -> Iterator[str]:
    """Each deadline fired once, not too early; `due` are those that were there to fire, by match."""
    fired: dict[int, list[datetime]] = {}
    for row in LogRow.select().where(LogRow.kind == "timeout"):
        fired.setdefault(row.match_id, []).append(row.at)
    for match, at in due.items():
        found = fired.pop(match, [])
        if len(found) != 1:
            yield f"match {match}: its deadline fired {len(found)} times"
        elif found[0] < at:
            yield f"match {match}: its deadline {at} fired at {found[0]}"
    yield from (f"match {match}: somebody was timed out who had time" for match in fired)


def lags(due: Mapping[int, datetime]) -> list[float]:
    """Return by how many seconds each deadline was over when it fired, longest last."""
    rows = LogRow.select().where((LogRow.kind == "timeout") & LogRow.match.in_(list(due)))
    return sorted((row.at - due[row.match_id]).total_seconds() for row in rows)


def of_turns(received: Sequence[Received], now: datetime) -> Iterator[str]:
    """Each turn of a person has its mail, which left unless the turn was over; none came twice under two names."""
    copies = _copies(received)
    mails = list(Outbox.select().where(Outbox.kind == "turn"))
    asked = Counter((mail.match_id, mail.seat, mail.asked) for mail in mails)
    wanted = set(_turns())
    yield from (f"no mail was queued for turn {turn}" for turn in wanted - set(asked))
    yield from (f"turn {turn} has mails, but there was none" for turn in set(asked) - wanted)
    yield from (f"turn {turn} has {count} mails" for turn, count in asked.items() if count > 1)
    for mail in Outbox.select().where(Outbox.kind != "call"):
        name, came = f"mail {mail.id} ({mail.kind})", copies.pop(mail.message_id, 0)
        if mail.state == "sent" and not 1 <= came <= 2:
            yield f"{name} is sent, and came {came} times"
        if came > 1 and not mail.unsure:
            yield f"{name} came {came} times for no reason"
        if mail.state == "failed" and mail.note != "cut off twice while sending":
            yield f"{name} was given up: {mail.note}"
        if mail.done_at is None and mail.due_at < now - timedelta(seconds=30):
            yield f"{name} is {mail.state} since {mail.due_at}: {mail.note}"
    yield from (f"a mail came that was never queued: {number}" for number in copies)


def twice(received: Sequence[Received]) -> int:
    """Return how many mails came a second time, under the same Message-ID."""
    return len(received) - len(_copies(received))


def _copies(received: Sequence[Received]) -> Counter[str]:
    """Count how often each mail came, by what the queue calls it."""
    numbers = (str(message_from_bytes(mail.raw)["Message-ID"]) for mail in received)
    return Counter(number.strip("<>").partition("@")[0] for number in numbers)


def _turns() -> Iterator[tuple[int, int, int]]:
    """Yield match, seat and row of every time at which a person was asked to move."""
    bots = {user.id for user in User.select().where(User.bot != "")}
    for match in Match.select().where(Match.status.in_(["running", "finished"])):
        played, seen = log.read(match), set()
        people = {number for number, seat in enumerate(log.places(match)) if seat.user_id not in bots}
        for position in played.positions:
            seen |= {(seat, position.asked[seat] or 0) for seat in position.to_act if seat in people}
        yield from ((match.id, seat, asked) for seat, asked in seen)


def of_work(now: datetime) -> Iterator[str]:
    """Nothing is stuck: no deadline over, no mail unread, each job of late."""
    late = (Match.status == "running") & (Match.deadline < now - timedelta(seconds=30))
    yield from (
        f"match {match.id}: nobody looks at its deadline {match.deadline}" for match in Match.select().where(late)
    )
    for mail in Inbound.select().where(Inbound.done_at.is_null()):
        yield f"mail {mail.id} that came in is {mail.state}"
    for job in Job.select().where(Job.name.not_in(["sweep", "backup"])):
        if job.succeeded_at is None or job.succeeded_at < now - timedelta(seconds=30):
            yield f"job {job.name} last succeeded at {job.succeeded_at}: {job.fault}"
