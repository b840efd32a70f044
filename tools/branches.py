"""Fail unless enough branches of the parts that must not fail are tested; reads what `coverage json` wrote."""

from __future__ import annotations

import json
import sys
from pathlib import Path

PARTS = {"engine": "engine/"} | {name: f"server/{name}.py" for name in ("play", "outbox", "deadlines")}
NEEDED = 95.0


def main() -> None:
    """Print the share of tested branches of each part; exit 1 if one is under `NEEDED` per cent."""
    files = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["files"]
    short = False
    for part, place in PARTS.items():
        sums = [found["summary"] for name, found in files.items() if name.startswith(place)]
        share = 100 * sum(one["covered_branches"] for one in sums) / max(1, sum(one["num_branches"] for one in sums))
        print(f"{part}: {share:.1f} % of branches")
        short = short or not sums or share < NEEDED
    if short:
        sys.exit(f"at least {NEEDED} % are needed")


if __name__ == "__main__":
    main()
