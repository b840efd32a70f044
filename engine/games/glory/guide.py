"""What a newcomer is told in his first match of Clans and Glory, each thing when it first comes up on the table.

Everything here is read off the viewer's own views.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.base import Lesson, Outcome, Phrase, Plain, View, Who, listed
from engine.games.glory.cards import (
    CARD,
    LOWEST,
    MATCH,
    NEAR,
    PLACE,
    SEPARATE,
    SPOT,
    SPOTS,
    WIDE,
    card_words,
)
from engine.language import gettext as _
from engine.language import later
from engine.lessons import Teller, told

LATE = 3
"""How many turns of his own a player has left when the end is in sight."""


def lessons(views: Sequence[View]) -> tuple[Lesson | None, ...]:
    """Return what is to be told at each of the views."""
    return told(views, TELLERS, _sums, SINCE)


def _hand(view: View) -> Lesson | None:
    """Tell how a card is laid, by one that fits."""
    if _none_fits(view):
        return None
    card, spot = view.moves[0].split()[:2]
    near = _matching(view, card, spot)[0]
    other, row = view.table["cards"][near], view.table["options"]["row"]
    facts: dict[str, int | str] = {
        "words": card_words(card),
        "spot": spot,
        "near": near,
        "other": card_words(other),
    }
    if row == SEPARATE:
        rule = Phrase(
            "Lay one of your cards face up on a free spot. It fits if it shares colour or strength with any card"
            " opposite or beside it, left or right at the same place."
        )
    else:
        rule = Phrase(
            "Lay one of your cards face up on a free spot. It fits if it shares colour or strength with any card"
            " opposite or beside it, left or right."
        )
    said = _WHY[near[1:] == spot[1:], card[0] == other[0]]
    return Lesson(
        "hand",
        Phrase("Your hand and the row"),
        (
            rule,
            Phrase(said, facts).then(Phrase("Try it: nothing counts before you confirm it.")),
        ),
        (spot, near),
    )


_WHY = {
    (True, True): later(
        "Your {words}, for instance, fits on {spot}: opposite it, on {near}, lies {other}, of the same colour."
    ),
    (True, False): later(
        "Your {words}, for instance, fits on {spot}: opposite it, on {near}, lies {other}, of the same strength."
    ),
    (False, True): later(
        "Your {words}, for instance, fits on {spot}: beside it, on {near}, lies {other}, of the same colour."
    ),
    (False, False): later(
        "Your {words}, for instance, fits on {spot}: beside it, on {near}, lies {other}, of the same strength."
    ),
}
"""Why a card fits: whether because of the spot opposite, and whether because of the colour."""


def _beside(view: View) -> Lesson:
    if view.table["options"]["row"] == SEPARATE:
        row = Phrase("At this table a wall parts the places, so N3 and N4 are no neighbours.")
        near = Phrase(
            "The neighbours of a spot are the one opposite, and those left and right of it on the same side; at the"
            " edge of a place one is missing."
        )
    else:
        row = Phrase("The row runs on from place to place: N3 and N4 are neighbours, though their places differ.")
        near = Phrase(
            "The neighbours of a spot are the one opposite, and those left and right of it on the same side; at either"
            " end of the row one is missing."
        )
    one = Phrase("A card that matches one neighbour fits, whatever the others are.")
    return Lesson(
        "beside",
        Phrase("Which spots are neighbours"),
        (near.then(one), row),
    )


def _shields(view: View) -> Lesson | None:
    left = view.table["shields"][view.viewer or 0]
    if not left:
        return None
    return Lesson(
        "shields",
        Phrase("Your shields"),
        (
            Phrase(
                "After laying a card you may put a shield on the place where you laid it, or keep your shields: you"
                " have {left}.",
                {"left": left},
            ),
            Phrase(
                "At the end the shield placed first takes all cards of the lowest strength at its place, the second all"
                " of the next lowest, and so on. Each card is worth its strength."
            ),
        ),
    )


def _taking(view: View) -> Lesson | None:
    """Tell what the first shield of a place takes, and what the next one would."""
    table = view.table
    place = next((name for name, found in table["standings"].items() if found), None)
    if place is None:
        return None
    seat, strength, cards = table["standings"][place][0]
    free = _strengths(table, place)[len(table["stacks"][place]) :]
    count = _at(table, place).count(free[0]) if free else 0
    facts: dict[str, int | str] = {
        "place": int(place),
        "who": Who(seat),
        "cards": cards,
        "strength": strength,
        "points": cards * strength,
        "next": free[0] if free else 0,
        "count": count,
        "more": count * free[0] if free else 0,
    }
    if seat == view.viewer:
        first = Phrase(
            "Your shield was the first on place {place}, so as things stand it takes all cards of the lowest strength:"
            " {cards} × {strength} = {points}.",
            facts,
        )
    else:
        first = Phrase(
            "The shield of {who} was the first on place {place}, so as things stand it takes all cards of the lowest"
            " strength: {cards} × {strength} = {points}.",
            facts,
        )
    if free:
        then = Phrase("The next shield there would take strength {next}: {count} × {next} = {more}.", facts)
    else:
        then = Phrase("Every strength there has its shield; as things stand another would get nothing.")
    return Lesson(
        "taking",
        Phrase("Who takes what", facts),
        (
            first,
            then,
            Phrase("The number beneath each shield is what it would take now."),
        ),
        (f"place {place}",),
    )


def _late_shield(view: View) -> Lesson | None:
    """Tell of a shield that gets nothing."""
    table = view.table
    found = (name for name, stack in table["stacks"].items() if len(stack) > len(_strengths(table, name)))
    place = next(found, None)
    if place is None:
        return None
    strengths = _strengths(table, place)
    seat = table["stacks"][place][len(strengths)]
    facts: dict[str, int | str] = {"place": int(place), "who": Who(seat), "strengths": listed([*map(str, strengths)])}
    more = (
        Phrase("More shields lie there, so as things stand a shield of yours gets nothing.")
        if seat == view.viewer
        else Phrase("More shields lie there, so as things stand a shield of {who} gets nothing.", facts)
    )
    return Lesson(
        "late-shield",
        Phrase("Too late at place {place}", facts),
        (
            Phrase(
                "The face-up cards at place {place} are of strength {strengths}, and each strength feeds one shield.",
                facts,
            ).then(more),
            Phrase("A card of another strength, laid there, would still feed it."),
        ),
        (f"place {place}",),
    )


def _shifting(view: View) -> Lesson | None:
    """Tell how a card of a new, lower strength would change what a shield of the viewer takes."""
    table = view.table
    for place, found in table["standings"].items():
        present = _strengths(table, place)
        for seat, strength, cards in found:
            missing = [lower for lower in range(LOWEST, strength) if lower not in present]
            if seat == view.viewer and missing and _has_room(table, place):
                facts = {"place": int(place), "strength": strength, "points": strength * cards, "low": missing[-1]}
                return Lesson(
                    "shifting",
                    Phrase("What may still change"),
                    (
                        Phrase(
                            "Your shield on place {place} takes strength {strength} now, {points} in all. Another"
                            " card of that strength would add to it.",
                            facts,
                        ),
                        Phrase(
                            "But a card of strength {low} would push it down to something lower, for the shields take"
                            " from the bottom up. A place is safe only when it is full.",
                            facts,
                        ),
                    ),
                    (f"place {place}",),
                )
    return None


def _keeping(view: View) -> Lesson | None:
    left = view.table["shields"][view.viewer or 0]
    if not left:
        return None
    return Lesson(
        "keeping",
        Phrase("When to put a shield"),
        (
            Phrase(
                "The first shield of a place gets the lowest cards, a later one higher cards or none at all. Early is"
                " safe, late is rich."
            ),
            Phrase(
                "Shields left to you: {left}; turns left to you: {turns}. You may put one shield a turn, and those"
                " still with you at the end count nothing.",
                {"left": left, "turns": _own_turns(view)},
            ),
        ),
    )


def _down(view: View) -> Lesson | None:
    if not _none_fits(view):
        return None
    return Lesson(
        "down",
        Phrase("None of your cards fits"),
        (
            Phrase(
                "A card must share colour or strength with a card opposite or beside it. None of yours can, so for once"
                " you lay one face down on any free spot. It matches and scores nothing, and nobody else sees it before"
                " the end."
            ),
            Phrase("Lay one that you can spare where others would like to lay; you may add a shield."),
        ),
    )


def _others_down(view: View) -> Lesson | None:
    """Tell of the first card that another player laid face down."""
    found = [(spot, down["seat"]) for spot, down in view.table["down"].items() if down["seat"] != view.viewer]
    if not found:
        return None
    spot, seat = found[0]
    return Lesson(
        "others-down",
        Phrase("A card face down"),
        (
            Phrase(
                "{who} laid a card face down on {spot}: nothing in that hand fitted anywhere. It matches nothing and is"
                " worth nothing. Which card it is, you see at the end.",
                {"who": Who(seat), "spot": spot},
            ),
        ),
        (spot,),
    )


def _end_in_sight(view: View) -> Lesson | None:
    own = _own_turns(view)
    if not 1 < own <= LATE:
        return None
    last = view.table["last"]
    facts: dict[str, int | str] = {"who": Who(last), "turns": view.table["turns"], "own": own}
    if last == view.viewer:
        said = Phrase(
            "You hold the small hand, and the match ends when you have laid its last card: in {turns} moves, {own} of"
            " them yours. The others keep one card each, which counts nothing.",
            facts,
        )
    else:
        said = Phrase(
            "{who} holds the small hand, and the match ends when its last card is laid: in {turns} moves, {own} of them"
            " yours. One card stays in your hand then and counts nothing.",
            facts,
        )
    return Lesson(
        "end-in-sight",
        Phrase("The end is in sight"),
        (
            said,
            Phrase("Look for a place where a shield of yours still finds something to take."),
        ),
    )


def _last_move(view: View) -> Lesson | None:
    if _own_turns(view) != 1:
        return None
    left = view.table["shields"][view.viewer or 0]
    if left:
        said = Phrase(
            "Shields left to you: {left}. They count nothing later, so lay your card where one of them takes"
            " something.",
            {"left": left},
        )
    else:
        said = Phrase("You have no shield left: lay the card where it feeds one of yours, or harms somebody else's.")
    return Lesson("last-move", Phrase("Your last move"), (said,))


def _sums(view: View, outcome: Outcome) -> Lesson | None:
    """Tell how the viewer's score came about, and what the others have."""
    if view.viewer is None:
        return None
    took = _("{cards} × {strength} at place {place}")
    found = [
        took.format(cards=cards, strength=strength, place=place)
        for place, takings in view.table["standings"].items()
        for seat, strength, cards in takings
        if seat == view.viewer
    ]
    scores = outcome.scores
    mine: dict[str, int | str] = {"took": listed(found), "score": scores[view.viewer]}
    others = [
        Phrase("{who} took {score}.", {"who": Who(seat), "score": score})
        for seat, score in enumerate(scores)
        if seat != view.viewer
    ]
    if found:
        said = Phrase("Your shields took {took}: {score} in all.", mine)
    else:
        said = Phrase("Your shields took nothing: {score} in all.", mine)
    more = Phrase("Every place was scored by itself, the lowest strength for the first shield.")
    return Lesson("sums", Phrase("How the points came about"), (said, *others, more))


TELLERS: dict[str, Teller] = {
    "down": _down,
    "hand": _hand,
    "last-move": _last_move,
    "shields": _shields,
    "taking": _taking,
    "others-down": _others_down,
    "late-shield": _late_shield,
    "end-in-sight": _end_in_sight,
    "beside": _beside,
    "shifting": _shifting,
    "keeping": _keeping,
}
"""The lessons by key, the most pressing first."""
SINCE: dict[str, int] = {"shields": 1, "beside": 1, "keeping": 3}
"""At which turn, counted from 0, they come at the earliest."""


def _none_fits(view: View) -> bool:
    return all(move.split()[2:3] == ["down"] for move in view.moves)


def _matching(view: View, card: str, spot: str) -> list[str]:
    """Return the spots around this one whose face-up card shares the card's colour or strength."""
    cards = view.table["cards"]
    around = [SPOTS[near] for near in NEAR[view.table["options"]["row"]][SPOT[spot]] if near < len(SPOTS)]
    return [near for near in around if near in cards and MATCH[CARD[card]] >> CARD[cards[near]] & 1]


def _at(table: Plain, place: str) -> list[int]:
    """Return the strengths of the face-up cards at a place."""
    return [int(card[1]) for spot, card in table["cards"].items() if PLACE[SPOT[spot]] + 1 == int(place)]


def _strengths(table: Plain, place: str) -> list[int]:
    """Return the different strengths at a place, ascending."""
    return sorted(set(_at(table, place)))


def _has_room(table: Plain, place: str) -> bool:
    """Tell whether a spot of the place is free."""
    taken = {*table["cards"], *table["down"]}
    return sum(PLACE[SPOT[spot]] + 1 == int(place) for spot in taken) < 2 * WIDE


def _own_turns(view: View) -> int:
    """Return how many turns the viewer, who is awaited, has left, this one among them."""
    turns: int = view.table["turns"]
    return -(-turns // view.seats)
