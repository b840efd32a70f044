"""In which order a newcomer is told what a game has to tell him: each lesson once, the most pressing first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.base import Lesson, View

Teller = Callable[[View, int], Lesson | None]
"""Looks at one view, at the viewer's turn of that number counted from 0, and returns its lesson if it applies there."""


def told(views: Sequence[View], tellers: Mapping[str, Teller]) -> Lesson | None:
    """Return the lesson of the last of the views: the first of the tellers, by key, that applies and has not before.

    While others are awaited nothing is told, so that whoever waits and whoever comes back later learn the same.
    """
    untold = dict(tellers)
    found = None
    for number, view in enumerate(views):
        found = _first(view, number, untold) if view.outcome or view.moves else None
        if found:
            del untold[found.key]
    return found


def _first(view: View, number: int, untold: Mapping[str, Teller]) -> Lesson | None:
    return next((lesson for teller in untold.values() if (lesson := teller(view, number))), None)
