"""Players that are handed a `View` and nothing else."""

from __future__ import annotations

from engine.base import Stream, View


def easy(view: View, chance: Stream) -> str:
    """Return one of the viewer's legal moves, in canonical notation, each as likely as the others."""
    return view.moves[chance.below(len(view.moves))]
