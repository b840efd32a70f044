"""In which order a newcomer is told what a game has to tell him: each lesson once, the most pressing first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from engine.base import Lesson, Outcome, View

LONGEST: Final = 60
"""A lesson has at most so many words, its title not counted."""

Teller = Callable[[View], Lesson | None]
"""Looks at a view whose viewer is awaited, and returns its lesson if it applies there."""
Ending = Callable[[View, Outcome], Lesson | None]
"""Looks at the view of the end, and returns what is told then."""


def told(
    views: Sequence[View], tellers: Mapping[str, Teller], ending: Ending, since: Mapping[str, int]
) -> tuple[Lesson | None, ...]:
    """Return the lesson of each view: the first of the tellers, by key, that applies and has not before.

    `since` tells of some keys at which turn of the viewer, counted from 0, they come at the earliest. While others are
    awaited nothing is told, so that whoever waits and whoever comes back later learn the same.
    """
    untold = dict(tellers)
    found = []
    for turn, view in enumerate(views):
        if view.outcome:
            lesson = ending(view, view.outcome)
        else:
            ready = (teller for key, teller in untold.items() if since.get(key, 0) <= turn)
            lesson = _first(view, ready) if view.moves else None
            if lesson:
                del untold[lesson.key]
        found.append(lesson)
    return tuple(found)


def _first(view: View, tellers: Iterable[Teller]) -> Lesson | None:
    return next((lesson for teller in tellers if (lesson := teller(view))), None)
