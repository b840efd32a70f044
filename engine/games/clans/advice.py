"""What helps a newcomer to Clans at turns at which nothing new comes up on the board, read off his own view."""

from __future__ import annotations

from engine.base import Lesson, Phrase, View, listed
from engine.games.clans.board import CHIPS, CLANS, EPOCHS, INDEX, TERRAIN, TERRITORIES
from engine.games.clans.outlook import Nearing, nearing
from engine.language import gettext as _
from engine.lessons import Teller


def _near(view: View) -> Lesson | None:
    """Tell which territory with the viewer's clan is nearest to being a village, and what it would give."""
    found = _with_own(view)
    if not found:
        return None
    place, left, gain = TERRITORIES[found[0].place], found[0].left, found[0].gain
    terrain = TERRAIN[found[0].place]
    facts: dict[str, int | str] = {
        "own": _(view.table["own_clan"]),
        "place": place,
        "left": listed(left),
        "gain": gain,
        "terrain": _(terrain),
    }
    if len(left) == 1:
        said = Phrase(
            "{place} has one neighbour left with huts, {left}: whoever empties {left} founds a village there.", facts
        )
    else:
        said = Phrase.plural(
            "{place} is nearest: {n} of its neighbours still holds huts, {left}. Once it is empty, it is a village.",
            "{place} is nearest: {n} of its neighbours still hold huts, {left}. Once these are empty, it is a village.",
            len(left),
            facts,
        )
    if gain:
        worth = Phrase("As it stands it would give {gain} to {own}, and more if huts come in.", facts)
    elif terrain in EPOCHS[view.table["epoch"] - 1].hostile:
        worth = Phrase("In this epoch it would give nothing, for {terrain} is hostile.", facts)
    else:
        worth = Phrase("As it stands it would give nothing to {own}.", facts)
    return Lesson("near", Phrase("The next village for {own}", facts), (said, worth), (place, *left))


def _step(view: View) -> Lesson | None:
    """Tell that whoever takes the last step but one lets the next player found."""
    near = next((near for near in _with_own(view) if len(near.left) == 2), None)
    if near is None:
        return None
    place = TERRITORIES[near.place]
    facts = {"own": _(view.table["own_clan"]), "place": place, "left": listed(near.left)}
    return Lesson(
        "step",
        Phrase("The last step but one"),
        (
            Phrase(
                "Two neighbours of {place} still hold huts, {left}. Whoever empties one of them lets the next player"
                " empty the other, and found.",
                facts,
            ),
            Phrase(
                "Do not let that stop you: founding itself brings only a chip, 1 point, and {own} scores the same"
                " whoever founds. But where {own} gains little, let another take the last step but one.",
                facts,
            ),
        ),
        (place, *near.left),
    )


def _walking(_view: View) -> Lesson:
    return Lesson(
        "walking",
        Phrase("Where huts can go"),
        (
            Phrase("Huts cross borders and rivers, but never a lake. They all belong to nobody: any player moves any."),
            Phrase(
                "Nobody walks onto empty land, so what is empty stays empty. Bit by bit the groups grow and are cut off"
                " from each other, and where no neighbour is left, there is a village."
            ),
        ),
    )


def _spread(view: View) -> Lesson | None:
    """Tell that a clan had better be in many villages than in one with many huts."""
    own = view.table["own_clan"]
    huts = {name: pile[CLANS.index(own)] for name, pile in view.table["huts"].items() if pile[CLANS.index(own)]}
    if len(huts) < 2:
        return None
    most = max(huts, key=lambda name: huts[name])
    facts: dict[str, int | str] = {"own": _(own), "count": len(huts), "most": most, "top": huts[most]}
    if huts[most] == 1:
        stands = Phrase("Your clan {own} stands on {count} territories, with one hut on each.", facts)
    else:
        stands = Phrase("Your clan {own} stands on {count} territories, with {top} huts on {most}.", facts)
    return Lesson(
        "spread",
        Phrase("One hut is enough"),
        (
            stands,
            Phrase(
                "A village gives {own} the same for one hut of it as for five. So {own} does best with a hut or two in"
                " each of several large groups, where the others bring the rest.",
                facts,
            ),
        ),
    )


def _hiding(view: View) -> Lesson:
    """Tell how not to show which clan is one's own."""
    points, own = view.table["clan_points"], view.table["own_clan"]
    best = max(points, key=lambda clan: (points[clan], clan == own))
    facts = {"own": _(own), "points": points[own], "best": _(best), "most": points[best]}
    if not points[best]:
        lead = Phrase("Everybody sees the points of the clans: none has any yet.")
    elif best == own:
        lead = Phrase("Everybody sees the points of the clans: yours leads with {points}.", facts)
    else:
        lead = Phrase("Everybody sees the points of the clans: {best} leads with {most}, yours has {points}.", facts)
    unseen = Phrase(
        "What nobody should see is that you are for {own}. If every move of yours helps it, the others notice and keep"
        " it out of good villages.",
        facts,
    )
    return Lesson(
        "hiding",
        Phrase("Keep your clan to yourself"),
        (
            lead.then(unseen),
            Phrase("So help another clan now and then, best where {own} gains as well.", facts),
        ),
    )


def _ahead(view: View) -> Lesson | None:
    """Tell what terrain the next epoch favours, and where the viewer's clan stands on it."""
    epoch = view.table["epoch"]
    if epoch >= len(EPOCHS) - 1:
        return None
    now, then = EPOCHS[epoch - 1], EPOCHS[epoch]
    own = view.table["own_clan"]
    good = [
        name
        for name, pile in view.table["huts"].items()
        if pile[CLANS.index(own)] and TERRAIN[INDEX[name]] in then.favourable
    ]
    facts: dict[str, int | str] = {
        "own": _(own),
        "bonus": now.bonus,
        "good": _(now.favourable[0]),
        "more": then.bonus,
        "better": _(then.favourable[0]),
        "bad": listed([_(terrain) for terrain in then.hostile]),
        "places": listed(good[:3]),
    }
    if good:
        where = Phrase("Your clan has huts there, on {places}.", facts)
    else:
        where = Phrase("Your clan {own} has no huts there yet.", facts)
    return Lesson(
        "ahead",
        Phrase("What the next epoch brings"),
        (
            Phrase(
                "Later epochs give more: {good} adds {bonus} to a village now, {better} will add {more} in the next. A"
                " large group there may wait for it.",
                facts,
            ).then(where),
            Phrase("On {bad} a village will give nothing then: found there before, or not at all.", facts),
        ),
        tuple(good[:3]),
    )


def _pace(view: View) -> Lesson:
    return Lesson(
        "pace",
        Phrase("How long the match lasts"),
        (
            Phrase(
                "Even a single hut can become a village, and takes a chip then. Chips left: {left} of {chips}; with the"
                " last one the match ends at once.",
                {"left": view.table["open"], "chips": CHIPS},
            ),
            Phrase(
                "Whoever is ahead may hurry it with small villages; whoever is behind does better to build large ones"
                " slowly."
            ),
        ),
    )


def _with_own(view: View) -> list[Nearing]:
    """Return the territories with the viewer's clan that may become villages, the nearest first."""
    own, huts = CLANS.index(view.table["own_clan"]), view.table["huts"]
    return [near for near in nearing(view) if huts[TERRITORIES[near.place]][own]]


ADVICE: dict[str, Teller] = {
    "near": _near,
    "walking": _walking,
    "step": _step,
    "spread": _spread,
    "hiding": _hiding,
    "ahead": _ahead,
    "pace": _pace,
}
"""These lessons by key, the most helpful first."""
