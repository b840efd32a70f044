"""What a newcomer to Clans is told of the worth of villages: whom one would help, and whom it helped."""

from __future__ import annotations

from engine.base import Phrase, Plain, listed
from engine.games.clans.board import EPOCHS, TERRAIN
from engine.games.clans.outlook import gain
from engine.games.clans.rules import SIZE, Founding, Village
from engine.language import gettext as _
from engine.language import later

_GIVEN = {
    (False, False): later("It gives {value} to {clans}: {huts} for the huts."),
    (False, True): later("It gives {value} to {clans}: {huts} for the huts, {bonus} for {terrain}."),
    (True, False): later("It gives {value} each to {clans}: {huts} for the huts."),
    (True, True): later("It gives {value} each to {clans}: {huts} for the huts, {bonus} for {terrain}."),
}
"""What a village would give: whether to several clans, and whether its terrain is favourable."""
_DRIVEN = {
    (False, False): later("Strife drives out {gone}; then it gives {value} to {clans}: {huts} for the huts."),
    (False, True): later(
        "Strife drives out {gone}; then it gives {value} to {clans}: {huts} for the huts, {bonus} for {terrain}."
    ),
    (True, False): later("Strife drives out {gone}; then it gives {value} each to {clans}: {huts} for the huts."),
    (True, True): later(
        "Strife drives out {gone}; then it gives {value} each to {clans}: {huts} for the huts, {bonus} for {terrain}."
    ),
}
"""The same where strife drives some clans out before."""


def would_give(founding: Founding) -> Phrase:
    """Return what a village would be worth and why."""
    village, pile, gone = founding
    terrain = TERRAIN[village.territory]
    _chips, favourable, hostile, bonus = EPOCHS[village.epoch]
    facts: dict[str, int | str] = {
        "terrain": _(terrain),
        "gone": listed([_(clan) for clan in gone]),
        "value": village.value,
        "clans": listed([_(clan) for clan in village.clans]),
        "huts": pile >> SIZE,
        "bonus": bonus,
    }
    if terrain in hostile:
        return Phrase("It is worth nothing, because {terrain} is hostile now.", facts)
    if not pile:
        return Phrase("It is worth nothing, because strife drives everybody out.", facts)
    said = _DRIVEN if gone else _GIVEN
    return Phrase(said[len(village.clans) > 1, terrain in favourable], facts)


def for_whom(village: Village, own: str) -> Phrase:
    """Tell whether founding a village helps the player whose clan is `own`."""
    if gain(village, own):
        return Phrase("Your clan gains, and for founding it you take a chip: one more point for you.")
    return Phrase(
        "Your clan {own} gains nothing by it; you would only take the founder's chip, 1 point.", {"own": _(own)}
    )


def gave(village: Plain) -> Phrase:
    """Tell what a village of a view gave when it was founded."""
    facts = {"value": village["value"], "clans": listed([_(clan) for clan in village["clans"]])}
    if not village["clans"]:
        return Phrase("No clan remained in it, so none scored.")
    if not village["value"]:
        return Phrase("On hostile terrain it was worth nothing to {clans}.", facts)
    if len(village["clans"]) == 1:
        return Phrase("It gave {value} to {clans}.", facts)
    return Phrase("It gave {value} each to {clans}.", facts)
