"""What a viewer may know of a position of Clans, what a move does in words, and the move of a seat out of time.

Secret while a match runs is only which clan each seat holds (rule sheet: Public and secret).
"""

from __future__ import annotations

from engine.base import Outcome, Phrase, Plain, Stream, View, Who, listed
from engine.games.clans.board import CLANS, EPOCH_OF_CHIP, EPOCHS, NUMERALS, TERRAIN, TERRITORIES
from engine.games.clans.notation import format as written
from engine.games.clans.rules import (
    SIZE,
    Founding,
    Move,
    State,
    Village,
    foundings,
    huts_of,
    newborn_by,
    too_late,
)
from engine.language import gettext as _

KIND = "clans"


def view(state: State, viewer: int | None, outcome: Outcome | None) -> View:
    """Return what the viewer may know; with an outcome, the clans of all."""
    to_act = () if outcome else state.to_act
    moves: tuple[str, ...] = ()
    if viewer is not None and viewer in to_act:
        moves = tuple(written(state, viewer, move) for move in state.legal_moves(viewer))
    return View(
        kind=KIND,
        seats=state.seats,
        viewer=viewer,
        to_act=to_act,
        moves=moves,
        outcome=outcome,
        table=_table(state, viewer, outcome),
    )


def words(state: State, seat: int, move: Move) -> tuple[Phrase, ...]:
    """Tell what a legal move does: the huts, each village with the reason of every point, and the end if it comes."""
    count = state.huts[move.source] >> SIZE
    facts: dict[str, int | str] = {
        "mover": Who(seat),
        "source": TERRITORIES[move.source],
        "target": TERRITORIES[move.target],
    }
    phrases = [
        Phrase.plural(
            "{mover} moved {n} hut from {source} to {target}.",
            "{mover} moved {n} huts from {source} to {target}.",
            count,
            facts,
        )
    ]
    phrases += [_told(founding, seat) for founding in foundings(state, seat, move)]
    phrases += [
        Phrase(
            "{territory} stands alone too, but no chip is left for it, so it scores nothing.",
            {"territory": TERRITORIES[territory]},
        )
        for territory in too_late(state, move)
    ]
    after = state.apply(seat, move)
    if not after.to_act:
        open_end = Phrase("No legal move is left: the match is over.")
        phrases.append(open_end if after.open else Phrase("The twelfth village ends the match."))
    return tuple(phrases)


def touched(state: State, move: Move) -> tuple[str, ...]:
    """Return the territories that a legal move touches: from, to, and the villages that arise."""
    places = (move.source, move.target, *move.order, *newborn_by(state, move))
    return tuple(TERRITORIES[territory] for territory in dict.fromkeys(places))


def timeout_move(state: State, seat: int) -> Move:
    """Return the first legal move that founds no village, or the first of all if every one does.

    It is the same for everyone, gives nothing away and gains nothing, so nobody profits from running out of time.
    """
    first = None
    for move in state.legal_moves(seat):
        if not newborn_by(state, move):
            return move
        first = first or move
    if first is None:
        raise ValueError(f"seat {seat} is not awaited")
    return first


def reshuffled(state: State, viewer: int | None, stream: Stream) -> State:
    """Return the position with other clans dealt to everybody but the viewer."""
    own = None if viewer is None else state.table.clans[viewer]
    others = stream.shuffled(clan for clan in range(len(CLANS)) if clan != own)
    clans = tuple(held if seat == viewer else others.pop() for seat, held in enumerate(state.table.clans))
    return state._replace(table=state.table._replace(clans=clans))


def _table(state: State, viewer: int | None, outcome: Outcome | None) -> Plain:
    """Return the public facts, and the viewer's own secret."""
    clans = [CLANS[clan] for clan in state.table.clans]
    taken = len(state.villages)
    return {
        "huts": {name: huts_of(pile) for name, pile in zip(TERRITORIES, state.huts, strict=True) if pile},
        **state.tally().detail,
        "open": state.open,
        "epoch": None if outcome or not state.to_act else EPOCH_OF_CHIP[taken] + 1,
        "epochs": [
            {
                "chips": epoch.chips,
                "done": EPOCH_OF_CHIP[:taken].count(index),
                "favourable": list(epoch.favourable),
                "hostile": list(epoch.hostile),
                "bonus": epoch.bonus,
            }
            for index, epoch in enumerate(EPOCHS)
        ],
        "own_clan": None if viewer is None else clans[viewer],
        "clans": clans if outcome else None,
        "options": {"five_singles": state.table.five_singles},
    }


def _told(founding: Founding, seat: int) -> Phrase:
    """Tell of one village: the chip, strife, value, who scores it and why."""
    village, pile, gone = founding
    facts: dict[str, int | str] = {
        "territory": TERRITORIES[village.territory],
        "epoch": NUMERALS[village.epoch],
        "mover": Who(seat),
        "gone": listed([_(clan) for clan in gone]),
        "terrain": _(TERRAIN[village.territory]),
        "huts": pile >> SIZE,
        "bonus": EPOCHS[village.epoch].bonus,
        "value": village.value,
        "clans": listed([_(clan) for clan in village.clans]),
    }
    founded = Phrase("{mover} founded a village at {territory} in epoch {epoch} and took its chip (1 point).", facts)
    if gone:
        strife = Phrase("All five clans met there, so strife drove out the single huts of {gone}.", facts)
        founded = founded.then(strife)
    return founded.then(_given(village, facts))


def _given(village: Village, facts: dict[str, int | str]) -> Phrase:
    """Tell what a village gives, and to whom."""
    _chips, favourable, hostile, _bonus = EPOCHS[village.epoch]
    terrain, several = TERRAIN[village.territory], len(village.clans) > 1
    if not village.clans:
        return Phrase("No hut remains, so no clan scores.", facts)
    if terrain in hostile:
        return Phrase("It gives {clans} nothing: {terrain} is hostile then.", facts)
    if terrain not in favourable:
        if several:
            return Phrase("It gives {value} each to {clans}: {huts} for the huts, nothing for {terrain}.", facts)
        return Phrase("It gives {value} to {clans}: {huts} for the huts, nothing for {terrain}.", facts)
    if several:
        return Phrase(
            "It gives {value} each to {clans}: {huts} for the huts, {bonus} because {terrain} is favourable then.",
            facts,
        )
    return Phrase(
        "It gives {value} to {clans}: {huts} for the huts, {bonus} because {terrain} is favourable then.", facts
    )
