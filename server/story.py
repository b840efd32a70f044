"""A match told in words: its log row by row, as far as the reader may know."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from engine import record
from engine.base import Game, Outcome, View
from engine.language import gettext as _
from engine.language import ngettext
from engine.replay import Position, Row
from server import events, wording
from server.log import Played, instant
from server.models import Seat, User


@dataclass(frozen=True, slots=True)
class Line:
    """What one row did: `sentences` in words, `touched` places of the board, `text` in notation; nothing secret."""

    seq: int
    seat: int | None
    kind: str
    text: str
    at: datetime
    via: str | None
    sentences: tuple[str, ...]
    touched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """The board as it stood after row `seq`, as one viewer may see it."""

    seq: int
    view: View
    line: Line | None


def names(places: Sequence[Seat]) -> list[str]:
    """Return the display names in seat order: of who sits there, or sat there before a bot took over."""
    return [_by_bot(seat.owner.name) if seat.user.bot and not seat.owner.bot else seat.user.name for seat in places]


def _by_bot(name: str) -> str:
    """Return the name of somebody for whom a bot plays on."""
    return _("{name} (bot)").format(name=name)


def lines(played: Played, called: Sequence[str], viewer: int | None, after: int = 0, zone: str = "UTC") -> list[Line]:
    """Tell the rows numbered above `after`, oldest first, to a reader in the zone. `called` are names in seat order."""
    then = _names_then(played, called)
    return [
        _line(played, row, before, now, then[row.seq - 1], viewer, zone)
        for row, before, now in _walk(played)
        if row.seq > after
    ]


def _names_then(played: Played, called: Sequence[str]) -> list[list[str]]:
    """Return, for each row, the names of those who sat there when it was written."""
    people = played.head.get("people", ())
    known = substitutes(played)
    if not known or len(people) != len(called):
        return [list(called)] * len(played.rows)
    first = [known.get(number, name) for number, name in zip(people, called, strict=True)]
    now, then = list(first), []
    for row in played.rows:
        then.append(list(now))
        if row.kind == "takeover" and row.seat is not None:
            person = row.text.removeprefix("person:")
            played_on = person == row.text
            now[row.seat] = _by_bot(first[row.seat]) if played_on else known.get(int(person), _("Somebody"))
    return then


def substitutes(played: Played) -> dict[int, str]:
    """Return the names, by number, of all who have sat in a match of which a seat was taken over; none of others."""
    takeovers = [row for row in played.rows if row.kind == "takeover"]
    # Whom a record means is known only where it comes from.
    if not takeovers or played.match.imported_at:
        return {}
    persons = (row.text for row in takeovers if row.text.startswith("person:"))
    numbers = {*played.head.get("people", ()), *(int(text.removeprefix("person:")) for text in persons)}
    return {user.id: user.name for user in User.select(User.id, User.name).where(User.id.in_(numbers))}


def since_own(played: Played, seat: int) -> int:
    """Return the number of the seat's last own move, 0 if it has made none: what happened after is news to it."""
    gone = undone(played)
    own = (row for row in played.rows if row.seat == seat and row.kind == "move" and row.via != "clock")
    return max((row.seq for row in own if row.seq not in gone), default=0)


def undone(played: Played) -> set[int]:
    """Return the numbers of the rows of moves that were taken back."""
    return {int(row.text) for row in played.rows if row.kind == "undo"}


def step(played: Played, called: Sequence[str], viewer: int | None, seq: int, zone: str = "UTC") -> Step | None:
    """Return the board after row `seq` (0: the setup) as the viewer may see it, or None if there is no such row."""
    if seq == 0:
        return Step(0, played.view(viewer, played.positions[0]), None)
    for row, before, now in _walk(played):
        if row.seq == seq:
            then = _names_then(played, called)[seq - 1]
            return Step(seq, played.view(viewer, now), _line(played, row, before, now, then, viewer, zone))
    return None


def opened(played: Played, viewer: int | None, seq: int) -> View:
    """Return the view after a row of a finished match with all that was hidden then, and the points as they would have
    been."""
    state = played.positions[seq].state
    scores, detail = state.tally()
    return played.game.view(state, viewer, Outcome("not yet", scores, (), detail))


def standing(played: Played, called: Sequence[str], seat: int | None) -> str:
    """Return whose turn it is, or how the match ended, in one sentence: the same in title, heading and live region."""
    outcome = played.outcome
    if outcome and not outcome.winners:
        return _("The match was called off.")
    if outcome:
        winners = wording.listed([called[number] for number in outcome.winners])
        told = _("{names} won: {reason}.") if len(outcome.winners) == 1 else _("{names} share the win.")
        sentence = told.format(names=winners, reason=_(outcome.reason))
        return " ".join(filter(None, (sentence, _out_of_it(played, called))))
    if seat is not None and seat in played.position.to_act:
        return _("It is your turn.")
    return turn_of(called, played.position.to_act)


def turn_of(called: Sequence[str], seats: Sequence[int]) -> str:
    """Return in a sentence whose turn it is."""
    told = ngettext("It is {names}'s turn.", "It is {names}'s turn.", len(seats))
    return told.format(names=wording.listed([called[number] for number in seats]))


def example(game: Game, view: View) -> str:
    """Return a move that shows how moves are written: one that the viewer may make now, else one of the game's own."""
    return view.moves[len(view.moves) // 2] if view.moves else game.example


def _out_of_it(played: Played, called: Sequence[str]) -> str:
    """Return who had as many points as the winners and yet has not won, in a sentence; else nothing."""
    outcome = played.outcome
    if outcome is None or outcome.reason == "resignation":
        return ""
    best = max(outcome.scores[seat] for seat in outcome.winners)
    gone = [called[seat] for seat in sorted(played.position.resigned) if outcome.scores[seat] >= best]
    told = ngettext("{names} had resigned.", "{names} had resigned.", len(gone))
    return told.format(names=wording.listed(gone)) if gone else ""


def marks(told: Sequence[Line], gone: Collection[int] = ()) -> tuple[str, ...]:
    """Return the places that the lines touched, each once, in the order they were touched last.

    `gone` are rows of moves that were taken back.
    """
    places: dict[str, None] = {}
    for line in (line for line in told if line.seq not in gone):
        for place in line.touched:
            places.pop(place, None)
            places[place] = None
    return tuple(places)


def shown_hash(played: Played) -> str:
    """Return the last hash as everybody may read it: sealed while the text of a row is secret, see docs/records.md."""
    if played.outcome or first_secret(played) is None:
        return played.last_hash
    return record.seal(played.last_hash, bytes(played.match.secret).hex())


def first_secret(played: Played) -> int | None:
    """Return the number of the first row whose text is secret until the end, None if there is none."""
    return next((row.seq for row, before, _after in _walk(played) if _is_secret(played, row, before)), None)


def _is_secret(played: Played, row: Row, before: Position) -> bool:
    if row.kind != "move" or row.seat is None:
        return False
    move = played.game.parse(before.state, row.seat, row.text)
    canonical = played.game.format(before.state, row.seat, move)
    return played.game.public_text(before.state, row.seat, move, None) != canonical


def _walk(played: Played) -> Iterator[tuple[Row, Position, Position]]:
    """Yield each row with the position before and after it."""
    return zip(played.rows, played.positions, played.positions[1:], strict=False)


def _line(
    played: Played,
    row: Row,
    before: Position,
    now: Position,
    called: Sequence[str],
    viewer: int | None,
    zone: str,
) -> Line:
    name = called[row.seat] if row.seat is not None else ""
    text = row.text
    touched: tuple[str, ...] = ()
    if played.outcome:
        viewer = row.seat  # at the end everybody may know what the mover knew
    if row.kind == "move" and row.seat is not None:
        move = played.game.parse(before.state, row.seat, row.text)
        text = played.game.public_text(before.state, row.seat, move, viewer)
        phrases = played.game.words(before.state, row.seat, move, viewer)
        sentences = [phrase.read(called) for phrase in phrases]
        touched = played.game.touched(before.state, row.seat, move)
        if row.via == "clock":
            sentences.insert(0, _("The clock moved for {name}.").format(name=name))
    else:
        sentences = [events.sentence(played, row, called, zone)]
    if now.outcome and not before.outcome and now.outcome.reason == "resignation":
        last = called[now.outcome.winners[0]]
        sentences.append(_("Nobody else is left, so {name} wins.").format(name=last))
    return Line(row.seq, row.seat, row.kind, text, instant(row.at), row.via, tuple(sentences), touched)
