"""What a viewer may know of a position of Clans, what a move does in words, and the move of a seat out of time.

Secret while a match runs is only which clan each seat holds (rule sheet: Public and secret).
"""

from __future__ import annotations

from dataclasses import replace

from engine.base import Outcome, Phrase, Plain, Stream, View, Who, listed
from engine.games.clans.board import CLANS, EPOCH_OF_CHIP, EPOCHS, TERRAIN, TERRITORIES
from engine.games.clans.notation import format as written
from engine.games.clans.rules import (
    SIZE,
    Founding,
    Move,
    State,
    foundings,
    huts_of,
    newborn_by,
    too_late,
)

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
    phrases = [
        Phrase(
            "{mover} moved {count} huts from {source} to {target}."
            if count > 1
            else "{mover} moved {count} hut from {source} to {target}.",
            {
                "mover": Who(seat),
                "count": count,
                "source": TERRITORIES[move.source],
                "target": TERRITORIES[move.target],
            },
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
        last = "No legal move is left: the match is over." if after.open else "The twelfth village ends the match."
        phrases.append(Phrase(last))
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
    return replace(state, table=state.table._replace(clans=clans))


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
    """Tell of one village: terrain, strife, value, who scores it and the chip."""
    village, pile, gone = founding
    _, favourable, hostile, bonus = EPOCHS[village.epoch]
    terrain = TERRAIN[village.territory]
    template = "{mover} founded a village at {territory} in epoch {epoch} and took its chip (1 point)."
    if gone:
        template += " All five clans met there, so strife drove out the single huts of {gone}."
    if not pile:
        template += " No hut remains, so no clan scores."
    else:
        template += (
            " It gives {value} each to {clans}: " if len(village.clans) > 1 else " It gives {value} to {clans}: "
        )
        if terrain in hostile:
            template += "{terrain} is hostile then."
        elif terrain in favourable:
            template += "{huts} for the huts, {bonus} because {terrain} is favourable then."
        else:
            template += "{huts} for the huts, nothing for {terrain}."
    return Phrase(
        template,
        {
            "territory": TERRITORIES[village.territory],
            "epoch": village.epoch + 1,
            "mover": Who(seat),
            "gone": listed(gone),
            "terrain": terrain,
            "huts": pile >> SIZE,
            "bonus": bonus,
            "value": village.value,
            "clans": listed(village.clans),
        },
    )
