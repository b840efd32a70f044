"""Prints one table of how fast everything is, with goals: `make bench`, or `python -m bench [--quick] [PART ...]`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Final

from bench import figures, mails, memory, moves, pages, playouts, replay, serving
from bench.figures import Figure
from tests import postgresql

PARTS: Final[dict[str, Callable[..., list[Figure]]]] = {
    "replay": replay.measure,
    "playouts": playouts.measure,
    "moves": partial(moves.measure, "sqlite"),
    "moves-postgresql": partial(moves.measure, "postgresql"),
    "serving": partial(serving.measure, "sqlite"),
    "serving-postgresql": partial(serving.measure, "postgresql"),
    "mails": mails.measure,
    "memory": memory.measure,
    "pages": pages.measure,
}


def main() -> None:
    """Measure all parts, or those named, and print the table as it grows."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--quick", action="store_true", help="see whether everything runs; the figures say nothing")
    words.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    given = words.parse_args()
    left_out = set() if postgresql.binaries() else {name for name in PARTS if name.endswith("postgresql")}
    found: list[Figure] = []
    for name in given.parts or [name for name in PARTS if name not in left_out]:
        found += PARTS[name](quick=given.quick)
    print(figures.table(found))


if __name__ == "__main__":
    main()
