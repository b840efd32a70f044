"""Whether a match was played as it is told: its hashes, its moves, its end and its deal, checked anew."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine import deal, games, record, replay
from engine.base import Game
from engine.language import gettext as _
from engine.record import RecordError
from engine.replay import ReplayError, Row
from server import audit, log, story
from server.archive import imports
from server.errors import Refused
from server.models import LogRow, Match, Seat

HASH: Final = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


@dataclass(frozen=True, slots=True)
class Fairness:
    """What the deal was drawn from: the commitment, the server's secret bytes, both in hex, and, by seat, what each
    person added."""

    commitment: str
    seed: str
    contributions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one check, in a sentence: whether it `holds`, None if it could not be made; `row` is where not."""

    sentence: str
    holds: bool | None
    row: int | None = None


def fairness(match: Match, seats: Sequence[Seat]) -> Fairness | None:
    """Return what anybody needs to deal the match again, to be shown after the end only.

    None if the match came as a record that does not say it. Raises `Refused` (damaged) as `imports.kept` does.
    """
    if not match.imported_at:
        seed = bytes(match.secret)
        return Fairness(deal.commitment(seed), seed.hex(), tuple(seat.contribution for seat in seats))
    said = imports.kept(match).get("fairness", {})
    if "seed" in said and "contributions" in said:
        return Fairness(said["commitment"], said["seed"], tuple(said["contributions"]))
    return None


def check(match: Match) -> list[Finding]:
    """Check all there is to check of a finished match, as it is stored; nothing is taken for granted."""
    entries, seats = stored(match), log.places(match)
    found = [_chain(entries)]
    try:
        head = json.loads(entries[0].text)
        game = games.game(head["game"])
        found += [_end(match, seats, game, head, entries[1:]), *_drawn(match, seats, game, head)]
    except (LookupError, TypeError, ValueError):
        found.append(Finding(_("Step 0, the setup, cannot be read, so nothing can be replayed."), False, 0))
    return [*found, *_came(match), _remembered(match)]


def stored(match: Match) -> list[LogRow]:
    """Return the rows of the log as they are stored, of row 0 first; they show every secret."""
    return list(LogRow.select().where(LogRow.match == match).order_by(LogRow.seq))


def doubts(match: Match) -> list[str]:
    """Return what is wrong with the deal of a match, and with the record it came as, in sentences; [] if nothing is."""
    try:
        played = log.read(match)
    except Refused:
        return []
    found = [*_drawn(match, log.places(match), played.game, played.head), *_came(match)]
    return [finding.sentence for finding in found if finding.holds is False]


def _chain(entries: Sequence[LogRow]) -> Finding:
    """Follow the hashes from row 0 on, as they are stored."""
    previous = ""
    for seq, entry in enumerate(entries):
        if entry.seq != seq:
            return Finding(_("Step {step} is missing from the log.").format(step=seq), False, seq)
        try:
            row = Row(seq, entry.seat, entry.kind, entry.text, log.stamp(entry.at), entry.via)
        except ValueError:
            return Finding(_("Step {step} has no time.").format(step=seq), False, seq)
        previous = record.row_hash(previous, row)
        if previous != bytes(entry.hash).hex():
            why = _(
                "The chain of hashes breaks at step {step}: its hash does not follow from what it says and from the "
                "step before, so it was changed."
            )
            return Finding(why.format(step=seq), False, seq)
    if not entries:
        return Finding(_("The log has nothing in it."), False)
    told = _(
        "The log has the steps 0 to {last}, and each hash follows from what the step says and from the step before. "
        "The last one is {hash}."
    )
    return Finding(told.format(last=len(entries) - 1, hash=previous), True)


def _end(match: Match, seats: Sequence[Seat], game: Game, head: dict[str, Any], entries: Sequence[LogRow]) -> Finding:
    """Replay the match, and compare the end that the rules give with the one that lists and pages show."""
    rows = [Row(entry.seq, entry.seat, entry.kind, entry.text, None, entry.via) for entry in entries]
    try:
        position = replay.replay(game, head["setup"], head["seats"], head["options"], rows)
    except ReplayError as fault:
        told = _("Step {step} cannot stand where it stands.").format(step=fault.seq)
        return Finding(f"{told} {fault.why}", False, fault.seq)
    outcome, seq = position.outcome, position.seq
    if outcome is None:
        told = _("By the rules of {game} the match has not ended after step {step}.").format(game=game.title, step=seq)
        return Finding(told, False, seq)
    scores = ", ".join(f"{name} {score}" for name, score in zip(story.names(seats), outcome.scores, strict=True))
    told = _(
        "Replayed by the rules of {game}, every step is possible, and step {step} ends the match: {reason}; {scores}."
    )
    by_rules = told.format(game=game.title, step=seq, reason=_(outcome.reason), scores=scores)
    shown = (match.reason, [seat.score for seat in seats], [seat.number for seat in seats if seat.won])
    if shown != (outcome.reason, list(outcome.scores), list(outcome.winners)):
        wrong = _("That is not the result which is shown.")
        return Finding(f"{by_rules} {wrong}", False)
    right = _("That is the result which is shown.")
    return Finding(f"{by_rules} {right}", True)


def _drawn(match: Match, seats: Sequence[Seat], game: Game, head: dict[str, Any]) -> Iterator[Finding]:
    """Check the commitment, and deal again."""
    try:
        drawn = fairness(match, seats)
    except Refused:
        return  # `_came` tells it
    if drawn is None:
        yield Finding(_("The record does not say what the deal was drawn from, so that cannot be checked."), None)
        return
    secret = bytes.fromhex(drawn.seed)
    if head["seed"] != drawn.seed or deal.commitment(secret) != drawn.commitment:
        yield Finding(_("The secret bytes in step 0 are not those that were committed to."), False, 0)
    else:
        told = _("The secret bytes in step 0 are those that were committed to: {commitment}.")
        yield Finding(told.format(commitment=drawn.commitment), True)
    dealt = game.deal(deal.stream_for(secret, drawn.contributions), head["seats"], head["options"])
    if record.canonical(dealt) != record.canonical(head["setup"]):
        told = _("Dealt from the secret bytes and what the players added, the match begins otherwise.")
        yield Finding(told, False, 0)
    else:
        told = _("Dealt again from the secret bytes and what the players added, the match begins the same.")
        yield Finding(told, True)


def _came(match: Match) -> Iterator[Finding]:
    """Check the record that an imported match came as, and the log against it."""
    if not match.imported_at:
        return
    try:
        record.check(imports.kept(match))
        agrees = imports.agrees(match)
    except (Refused, RecordError) as fault:
        yield Finding(_("The record that the match came as does not hold: {fault}").format(fault=fault), False)
        return
    if agrees:
        yield Finding(_("The record that the match came as holds, and the log says the same."), True)
    else:
        yield Finding(_("The log does not say what the record says that the match came as."), False)


def _remembered(match: Match) -> Finding:
    faults = audit.faults(match)
    if faults:
        told = _("What is remembered of the match is not what its log says.")
        return Finding(" ".join([told, *faults]), False)
    return Finding(_("What lists and pages remember of the match is what its log says."), True)


def read_hash(text: str) -> str:
    """Return the hash in what somebody copied out of a mail, "" if there is none."""
    # Mail programs wrap and quote.
    found = HASH.search(re.sub(r"[\s>]+", "", text.casefold()))
    return found[0] if found else ""


def row_of(match: Match, digest: str) -> int | None:
    """Return the number of the row after which this hash, or the seal of it, was shown; None if it is not of the match.

    While the match runs only what was shown is known here: else a secret row could be guessed and the guess be tried.
    Raises `Refused` (damaged) for a running match that is frozen.
    """
    plain = {row.seq: bytes(row.hash).hex() for row in stored(match)}
    seed = bytes(match.secret).hex()
    sealed = {seq: record.seal(found, seed) for seq, found in plain.items()} if seed else {}
    if match.status != "finished":
        secret = story.first_secret(log.read(match))
        shown = [{seq: sealed[seq] if secret and seq >= secret else found for seq, found in plain.items()}]
    else:
        shown = [plain, sealed, dict(enumerate(imports.hashes(match)))]
    return next((seq for hashes in shown for seq, found in hashes.items() if found == digest), None)
