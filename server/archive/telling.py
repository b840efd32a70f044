"""A finished match as a text to read: everything that its record holds, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC
from typing import Final

from engine.base import Outcome, Plain
from server import log, story, wording
from server.archive import imports, proof
from server.errors import Refused
from server.log import Played
from server.models import Match, Seat
from server.story import Line

WAYS: Final = {
    "web": "on the site",
    "email": "by mail",
    "api": "by a program",
    "bot": "by a bot",
    "clock": "by the clock",
    "auto": "made ahead",
}
TIE: Final = "\u00a0"  # a space at which no line is broken


def told(match: Match) -> str:
    """Return the match as a text of lines. Raises `Refused`: not-found before the end, or damaged."""
    if match.status != "finished":
        raise Refused("not-found", "The text of a match can be had when it has ended.")
    played, seats = log.read(match), log.places(match)
    if played.outcome is None:
        raise Refused("damaged", f"Match {match.id} counts as finished, but its log does not end.")
    called, undated = story.names(seats), imports.undated(match)
    standing = story.standing(played, called, None)
    parts = (
        _heading(played, standing),
        _people(seats, called, played.outcome),
        _facts(played, undated),
        ["THE DEAL, as the record has it: seats are counted from 0", "", *_deal(played.setup)],
        ["WHAT HAPPENED", "", *_rows(played, called, undated)],
        ["THE END", "", standing, "", played.game.text(played.view(None), called).strip()],
        ["TO CHECK IT", "", *_proof(played, seats, called)],
    )
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def origin(match: Match) -> str:
    """Return where an imported match comes from, in sentences. Raises `Refused` (damaged)."""
    day = (match.imported_at or match.created_at).astimezone(UTC)
    number = imports.kept(match).get("match")
    there = "" if number is None else f" There it was match {number}."
    return (
        f"This match was not played here: it came as a record on {day.day} {day:%B %Y}.{there} "
        "A star marks the names that only the record knows."
    )


def _heading(played: Played, standing: str) -> Iterator[str]:
    title = log.title(played.match)
    yield from (title, "=" * len(title), "", standing)
    if played.match.imported_at:
        yield from ("", wording.wrapped(origin(played.match)))


def _people(seats: Sequence[Seat], called: Sequence[str], outcome: Outcome) -> Iterator[str]:
    width = max(map(len, called))
    for number, (seat, name) in enumerate(zip(seats, called, strict=True)):
        won = ", won" if number in outcome.winners else ""
        first = "" if seat.user_id == seat.owner_id or seat.user.bot else f"; at first {seat.owner.name}"
        score = wording.counted(outcome.scores[number], "point")
        yield f"Seat {number + 1}   {name:<{width}}   {score}{won}{first}"


def _facts(played: Played, undated: Collection[int]) -> Iterator[str]:
    yield f"Game    {played.game.title}, rules {played.head['rules']}"
    for option in played.game.options:
        value = played.head["options"].get(option.name, option.default)
        yield _fact(f"Rule    {option.label}: {dict(option.choices).get(value, value)}")
    if "clock" in played.head:
        yield _fact(f"Time    {log.rule_sentence(played.match)}")
    if not played.match.imported_at:
        yield f"Rated   {'yes' if played.match.rated else 'no'}"
    last = played.rows[-1] if played.rows else played.setup_row
    if 0 not in undated:
        yield f"Began   {_when(played.setup_row.at)}"
    at = "" if last.seq in undated else f"{_when(last.at)}, "
    yield f"Ended   {at}after {wording.counted(last.seq, 'step')}"


def _fact(text: str) -> str:
    return wording.wrapped(text, " " * 8)


def _when(at: str | None) -> str:
    return f"{log.instant(at):%Y-%m-%d %H:%M:%S} UTC"


def _deal(setup: Plain) -> Iterator[str]:
    """Yield what chance decided, a line or more for each of its parts, of whichever game it is."""
    for name, value in sorted(setup.items()):
        yield wording.wrapped(f"{name.replace('_', ' ')}: {_flat(value)}", "  ").replace(TIE, " ")


def _flat(value: Plain) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}{TIE}{_flat(one)}" for key, one in sorted(value.items()))
    if isinstance(value, list):
        return ("; " if any(isinstance(one, list) for one in value) else " ").join(map(_flat, value))
    return str(value)


def _rows(played: Played, called: Sequence[str], undated: Collection[int]) -> Iterator[str]:
    for line in story.lines(played, called, None):
        yield _row(line, called, dated=line.seq not in undated)
        for sentence in line.sentences:
            yield wording.wrapped(f"      {sentence}", " " * 6)


def _row(line: Line, called: Sequence[str], *, dated: bool) -> str:
    """Return the line of a row: its number, when it came, whose it is, how it came, and what it is in notation."""
    who = called[line.seat] if line.seat is not None else ""
    by = " ".join(filter(None, (who, WAYS.get(line.via or "", line.via))))
    what = line.text if line.kind == "move" else f"{line.kind} {line.text}".strip()
    at = f"{line.at:%Y-%m-%d %H:%M:%S} UTC" if dated else ""
    return f"{line.seq:>4}. " + ": ".join(filter(None, (", ".join(filter(None, (at, by))), what)))


def _proof(played: Played, seats: Sequence[Seat], called: Sequence[str]) -> Iterator[str]:
    """Yield what the deal was drawn from, and the last hash; all others are in the record."""
    drawn = proof.fairness(played.match, seats)
    if drawn:
        yield from (f"Committed to     {drawn.commitment}", f"Drawn from       {drawn.seed}")
        for words, name in zip(drawn.contributions, called, strict=False):
            yield f"                 {words} ({name})"
    if not played.match.imported_at or imports.hashes(played.match)[-1:] == [played.last_hash]:
        yield f"{f'Hash of step {played.position.seq}':<17}{played.last_hash}"
    yield wording.wrapped("The record of this match can be replayed and checked by `clachan record check`.")
