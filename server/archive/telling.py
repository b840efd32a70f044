"""A finished match as a text to read: everything that its record holds, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC
from typing import Final

from engine.base import Outcome, Plain
from engine.language import gettext as _
from engine.language import later, ngettext
from server import log, story, wording
from server.archive import imports, proof
from server.errors import Refused
from server.log import Played
from server.models import Match, Seat
from server.story import Line

WAYS: Final = {
    "web": later("on the site"),
    "email": later("by mail"),
    "api": later("by a program"),
    "bot": later("by a bot"),
    "clock": later("by the clock"),
    "auto": later("made ahead"),
}
LABELS: Final = (later("Game"), later("Rule"), later("Time"), later("Rated"), later("Began"), later("Ended"))
TIE: Final = "\u00a0"  # a space at which no line is broken


def told(match: Match) -> str:
    """Return the match as a text of lines. Raises `Refused`: not-found before the end, or damaged."""
    if match.status != "finished":
        raise Refused("not-found", _("The text of a match can be had when it has ended."))
    played, seats = log.read(match), log.places(match)
    if played.outcome is None:
        why = _("Match {match} counts as finished, but its log does not end.").format(match=match.id)
        raise Refused("damaged", why)
    called, undated = story.names(seats), imports.undated(match)
    standing = story.standing(played, called, None)
    parts = (
        _heading(played, standing),
        _people(seats, called, played.outcome),
        _facts(played, undated),
        [_("THE DEAL, as the record has it: seats are counted from 0"), "", *_deal(played.setup)],
        [_("WHAT HAPPENED"), "", *_rows(played, called, undated)],
        [_("THE END"), "", standing, "", played.game.text(played.view(None), called).strip()],
        [_("TO CHECK IT"), "", *_proof(played, seats, called)],
    )
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def origin(match: Match) -> str:
    """Return where an imported match comes from, in sentences. Raises `Refused` (damaged)."""
    day = wording.long_day((match.imported_at or match.created_at).astimezone(UTC).date())
    number = imports.kept(match).get("match")
    sentences = (
        _("This match was not played here: it came as a record on {day}.").format(day=day),
        "" if number is None else _("There it was match {number}.").format(number=number),
        _("A star marks the names that only the record knows."),
    )
    return " ".join(filter(None, sentences))


def _heading(played: Played, standing: str) -> Iterator[str]:
    title = log.title(played.match)
    yield from (title, "=" * len(title), "", standing)
    if played.match.imported_at:
        yield from ("", wording.wrapped(origin(played.match)))


def _people(seats: Sequence[Seat], called: Sequence[str], outcome: Outcome) -> Iterator[str]:
    width = max(map(len, called))
    points = [ngettext("{n} point", "{n} points", score).format(n=score) for score in outcome.scores]
    for number, (seat, name) in enumerate(zip(seats, called, strict=True)):
        won = ", " + _("won") if number in outcome.winners else ""
        same = seat.user_id == seat.owner_id or seat.user.bot
        first = "" if same else "; " + _("at first {name}").format(name=seat.owner.name)
        place = _("Seat {number}").format(number=number + 1)
        yield f"{place}   {name:<{width}}   {points[number]}{won}{first}"


def _facts(played: Played, undated: Collection[int]) -> Iterator[str]:
    """Yield what is known of the match, each fact with a label before it, in two columns."""
    words = {word: _(word) for word in LABELS}
    width = max(map(len, words.values())) + 3
    for word, fact in _known(played, undated):
        yield wording.wrapped(f"{words[word]:<{width}}{fact}", " " * width)


def _known(played: Played, undated: Collection[int]) -> Iterator[tuple[str, str]]:
    """Yield each of `LABELS` with its fact."""
    yield "Game", _("{game}, rules {number}").format(game=played.game.title, number=played.head["rules"])
    for option in played.game.options:
        value = played.head["options"].get(option.name, option.default)
        yield "Rule", f"{option.label}: {dict(option.choices).get(value, value)}"
    if "clock" in played.head:
        yield "Time", log.rule_sentence(played.match)
    if not played.match.imported_at:
        yield "Rated", _("yes") if played.match.rated else _("no")
    last = played.rows[-1] if played.rows else played.setup_row
    if 0 not in undated:
        yield "Began", _when(played.setup_row.at)
    steps = ngettext("after {n} step", "after {n} steps", last.seq).format(n=last.seq)
    yield "Ended", steps if last.seq in undated else f"{_when(last.at)}, {steps}"


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
    by = " ".join(filter(None, (who, _(WAYS[line.via]) if line.via in WAYS else line.via)))
    what = line.text if line.kind == "move" else f"{line.kind} {line.text}".strip()
    at = f"{line.at:%Y-%m-%d %H:%M:%S} UTC" if dated else ""
    return f"{line.seq:>4}. " + ": ".join(filter(None, (", ".join(filter(None, (at, by))), what)))


def _proof(played: Played, seats: Sequence[Seat], called: Sequence[str]) -> Iterator[str]:
    """Yield what the deal was drawn from, and the last hash; all others are in the record."""
    committed, seed = _("Committed to"), _("Drawn from")
    last = _("Hash of step {number}").format(number=played.position.seq)
    width = max(17, *(len(label) + 1 for label in (committed, seed, last)))
    drawn = proof.fairness(played.match, seats)
    if drawn:
        yield from (f"{committed:<{width}}{drawn.commitment}", f"{seed:<{width}}{drawn.seed}")
        for words, name in zip(drawn.contributions, called, strict=False):
            yield f"{'':<{width}}{words} ({name})"
    if not played.match.imported_at or imports.hashes(played.match)[-1:] == [played.last_hash]:
        yield f"{last:<{width}}{played.last_hash}"
    yield wording.wrapped(_("The record of this match can be replayed and checked by `clachan record check`."))
