"""What a newcomer is told in his first match of Clans, each thing when it first comes up on the board.

Everything here is read off the viewer's own views; what a move founds is asked of the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from engine.base import Lesson, Outcome, Phrase, View, Who, either, listed
from engine.games.clans.advice import ADVICE
from engine.games.clans.board import CLANS, EPOCHS, NEIGHBOURS, NUMERALS, TERRITORIES
from engine.games.clans.outlook import arising, chances, ends, gain, known, nearing, pair, pile_of, use
from engine.games.clans.rules import SEVEN, SIZE, settle
from engine.games.clans.worth import for_whom, gave, would_give
from engine.language import gettext as _
from engine.lessons import Teller, told

LATE = 3
"""How many chips are left when the end is near."""


def lessons(views: Sequence[View]) -> tuple[Lesson | None, ...]:
    """Return what is to be told at each of the views."""
    return told(views, TELLERS, _sums, SINCE)


def _clan(view: View) -> Lesson:
    """Tell which clan is the viewer's, and how a move is made, by one that brings that clan into company."""
    own = _(view.table["own_clan"])
    text = _into_company(view)
    source, target = ends(text)
    return Lesson(
        "clan",
        Phrase("Your clan is {own}", {"own": own}),
        (
            Phrase(
                "Whatever {own} scores in villages is yours in the end; until then nobody else knows that you are for"
                " it.",
                {"own": own},
            ),
            Phrase(
                "A move takes all huts of one territory, whatever their clans, to a neighbour where huts stand. {text},"
                " for instance, leads {own} from {source} into company on {target}. Try it: nothing counts before you"
                " confirm it.",
                {"text": text, "own": own, "source": source, "target": target},
            ),
        ),
        (source, target),
    )


def _becoming(view: View) -> Lesson:
    """Tell what makes a village and why that matters, by the territory that is nearest to being one."""
    own, near = _(view.table["own_clan"]), nearing(view)
    place, left = (TERRITORIES[near[0].place], near[0].left) if near else ("", ())
    facts = {"own": own, "place": place, "left": listed(left)}
    if not near:
        said = []
    elif len(left) == 1:
        said = [Phrase("{place} has one neighbour left with huts, {left}: whoever empties {left} founds it.", facts)]
    else:
        said = [Phrase("{place} is nearest to it: of the land around it only {left} still hold huts.", facts)]
    return Lesson(
        "becoming",
        Phrase("How a village comes about"),
        (
            Phrase(
                "A territory with huts becomes a village as soon as all its neighbours are empty. Then every clan in it"
                " scores, whether it has one hut there or many. So empty the land around a group that has {own}.",
                facts,
            ),
            *said,
        ),
        (place, *left) if near else (),
    )


def _village(view: View) -> Lesson | None:
    """Tell of the move that founds villages and is best for the viewer's clan."""
    found = list(chances(view))
    if not found:
        return None
    own = view.table["own_clan"]
    best = max(found, key=lambda chance: use(chance, own))
    founding = max(best.made, key=lambda made: gain(made.village, own))
    place = TERRITORIES[founding.village.territory]
    facts = {"move": pair(best.text), "place": place}
    others = list(dict.fromkeys(pair(chance.text) for chance in found if pair(chance.text) != facts["move"]))
    empty = Phrase("Play {move}, and around {place} all land is empty: it becomes a village.", facts)
    sentences = [empty.then(would_give(founding)), for_whom(founding.village, own)]
    if others:
        sentences.append(Phrase("{others} would found one as well.", {"others": either(others[:2])}))
    places = tuple(dict.fromkeys((*ends(best.text), place)))
    return Lesson("village", Phrase("You can found a village now"), tuple(sentences), places)


def _order(view: View) -> Lesson | None:
    """Tell of the order when one legal move founds several villages."""
    found = arising(known(view), view.moves)
    several = {source: born for source, born in found.items() if len(born) > 1}
    if not several:
        return None
    text = next(pair(text) for text in view.moves if ends(text)[0] in several)
    names = tuple(TERRITORIES[territory] for territory in several[ends(text)[0]])
    return Lesson(
        "order",
        Phrase("Several villages by one move"),
        (
            Phrase(
                "{text} would empty the land around {names} at once. Whoever plays it founds them all, and says in"
                " which order. Each takes the next chip; if a new epoch begins in between, the later one counts by"
                " its terrain.",
                {"text": text, "names": listed(names)},
            ),
            Phrase("Make such a move, and you are asked for the order."),
        ),
        names,
    )


def _strife(view: View) -> Lesson | None:
    """Tell of strife when all five clans stand on one territory that is no village yet."""
    villages = {village["territory"] for village in view.table["villages"]}
    found = (name for name, huts in view.table["huts"].items() if all(huts) and name not in villages)
    place = next(found, None)
    if place is None:
        return None
    own, option = view.table["own_clan"], view.table["options"]["five_singles"]
    pile = view.table["huts"][place]
    _rest, gone = settle(pile_of(pile), option)
    clans = listed([_(clan) for clan in gone])
    facts = {"place": place, "own": _(own), "gone": clans, "count": pile[CLANS.index(own)]}
    if not gone and sum(pile) == len(CLANS):
        said = Phrase("At this table five single huts stay, so all would score here.", facts)
    elif not gone:
        said = Phrase("As things stand none has a single hut on {place}, so nobody would go.", facts)
    elif len(gone) == len(CLANS):
        said = Phrase("As things stand all five would go, and nobody would score.", facts)
    elif own in gone:
        said = Phrase("As things stand {gone} would go: your own clan too, unless more huts of {own} come.", facts)
    else:
        said = Phrase("As things stand {gone} would go; {own}, with {count} huts there, would stay.", facts)
    return Lesson(
        "strife",
        Phrase("All five clans on {place}", facts),
        (
            Phrase(
                "Five clans in one village are one too many: they quarrel. If {place} becomes a village with all of"
                " them, each clan with just one hut there is driven out before anybody scores.",
                facts,
            ),
            said,
        ),
        (place,),
    )


def _seven(view: View) -> Lesson | None:
    """Tell of large groups when one of seven huts or more stands beside a neighbour with huts."""
    if max(map(sum, view.table["huts"].values())) < SEVEN >> SIZE:
        return None
    state = known(view)
    place = next(
        (
            source
            for source, pile in enumerate(state.huts)
            if pile >= SEVEN and any(state.huts[near] for near in NEIGHBOURS[source])
        ),
        None,
    )
    if place is None:
        return None
    size = state.huts[place] >> SIZE
    ways = [TERRITORIES[near] for near in NEIGHBOURS[place] if state.huts[near] >> SIZE >= size]
    own = view.table["own_clan"]
    facts: dict[str, int | str] = {"place": TERRITORIES[place], "size": size, "ways": either(ways), "own": _(own)}
    now = Phrase("{place} can move to {ways} only.", facts) if ways else Phrase("So {place} stays where it is.", facts)
    return Lesson(
        "seven",
        Phrase("Seven huts sit still"),
        (
            Phrase(
                "{place} holds {size} huts. A group of seven or more moves only onto a neighbour with at least as"
                " many.",
                facts,
            ).then(now, Phrase("Smaller groups may still walk in and join it.")),
            Phrase("Your clan {own} is not in it yet: bring a hut there.", facts)
            if not view.table["huts"][TERRITORIES[place]][CLANS.index(own)]
            else Phrase("Your clan is in it: now empty the land around it."),
        ),
        (TERRITORIES[place],),
    )


def _chip(view: View) -> Lesson | None:
    """Tell of the first chip of the viewer."""
    mine = [village for village in view.table["villages"] if village["founder"] == view.viewer]
    if not mine:
        return None
    place = mine[0]["territory"]
    return Lesson(
        "chip",
        Phrase("Your first chip"),
        (
            Phrase(
                "You founded {place}, so its chip is yours: 1 point, whatever the village is worth and for whom.",
                {"place": place},
            ).then(gave(mine[0])),
            Phrase("A chip is little beside what a clan scores, but where two clans score alike, the chips decide."),
        ),
        (place,),
    )


def _first_village(view: View) -> Lesson | None:
    """Tell of the first village of the match if another player founded it."""
    village = next(iter(view.table["villages"]), None)
    if village is None or village["founder"] == view.viewer:
        return None
    return Lesson(
        "first-village",
        Phrase("The first village"),
        (
            Phrase(
                "{who} founded {place}: the land around it is empty. Nobody gets in or out of it any more.",
                {"who": Who(village["founder"]), "place": village["territory"]},
            ).then(gave(village)),
            Phrase(
                "For founding it {who} took a chip, 1 point. The founder is not always the one who gains most.",
                {"who": Who(village["founder"])},
            ),
        ),
        (village["territory"],),
    )


def _epoch(epoch: int, view: View) -> Lesson | None:
    """Tell what the epoch of that index makes of the terrains, once it has begun."""
    if view.table["epoch"] != epoch + 1:
        return None
    chips, favourable, hostile, bonus = EPOCHS[epoch]
    facts: dict[str, int | str] = {
        "numeral": NUMERALS[epoch],
        "chips": chips,
        "good": _(favourable[0]),
        "bad": listed([_(terrain) for terrain in hostile]),
        "bonus": bonus,
        "left": chips - view.table["epochs"][epoch]["done"],
    }
    if len(favourable) > 1:
        said = Phrase(
            "Every terrain adds {bonus} points now, and none is hostile. One village only is founded in it: the last.",
            facts,
        )
    elif epoch == 0:
        said = Phrase(
            "A village gives each of its clans 1 point for every hut in it. Terrain changes that: in the first epoch"
            " one on {good} gives {bonus} more, and one on {bad} nothing. After {chips} villages the next epoch begins,"
            " with other terrain.",
            facts,
        )
    else:
        said = Phrase(
            "Now a village on {good} gives {bonus} points more than its huts, and one on {bad} nothing. On other"
            " terrain only the huts count. Villages that stand already keep what they were worth.",
            facts,
        )
    ahead = Phrase(
        "Villages still to come in epoch {numeral}: {left}. The track beside the board shows what comes next.", facts
    )
    return Lesson(
        f"epoch-{epoch + 1}",
        Phrase("What a village is worth") if epoch == 0 else Phrase("Epoch {numeral} has begun", facts),
        (said, ahead) if len(favourable) == 1 else (said,),
    )


def _late(view: View) -> Lesson | None:
    left = view.table["open"]
    if left > LATE:
        return None
    return Lesson(
        "late",
        Phrase("The end is near"),
        (
            Phrase(
                "Chips left: {left}. The twelfth village ends the match at once, and so does a board on which"
                " nobody can move.",
                {"left": left},
            ),
            Phrase(
                "Huts that are in no village by then score nothing. So ask before every move: can {own} still get into"
                " a village that counts, and whom else would that help?",
                {"own": _(view.table["own_clan"])},
            ),
        ),
    )


def _sums(view: View, outcome: Outcome) -> Lesson | None:
    """Tell how every score came about, the viewer's first."""
    if view.viewer is None:
        return None
    table, scores = view.table, outcome.scores
    seats = sorted(range(view.seats), key=lambda seat: seat != view.viewer)
    sums = [
        Phrase(
            "{who} was for {clan}: {points} points of the clan and {chips} for chips make {score}.",
            {
                "who": Who(seat),
                "clan": _(clan := table["clans"][seat]),
                "points": table["clan_points"][clan],
                "chips": table["chips"][seat],
                "score": scores[seat],
            },
        )
        for seat in seats
    ]
    return Lesson("sums", Phrase("How the points came about"), tuple(sums))


def _into_company(view: View) -> str:
    """Return the first legal move that leads the viewer's clan to another one; the first of all if none does."""
    own, huts = CLANS.index(view.table["own_clan"]), view.table["huts"]
    for text in view.moves:
        source, target = ends(text)
        if huts[source][own] and not huts[target][own]:
            return pair(text)
    return pair(view.moves[0])


TELLERS: dict[str, Teller] = {
    "clan": _clan,
    "becoming": _becoming,
    "epoch-1": partial(_epoch, 0),
    "chip": _chip,
    "first-village": _first_village,
    "village": _village,
    **{f"epoch-{epoch + 1}": partial(_epoch, epoch) for epoch in range(1, len(EPOCHS))},
    "late": _late,
    "strife": _strife,
    "seven": _seven,
    "order": _order,
    **ADVICE,
}
"""The lessons by key, the most pressing first; what a village is and what it is worth before all that speaks of it."""
SINCE: dict[str, int] = {
    "becoming": 1,
    **dict.fromkeys([key for key in TELLERS if key not in {"clan", "becoming"}], 2),
    **dict.fromkeys(ADVICE, 3),
    "hiding": 5,
    "ahead": 5,
    "pace": 6,
}
"""At which turn, counted from 0, they come at the earliest."""
