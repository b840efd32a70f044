"""Whether what is installed has known weaknesses: `make audit`. Says so loudly when it could not find out."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent
PINS: Final = (ROOT / "requirements" / "run.txt", ROOT / "requirements" / "dev.txt")
# Fetched when it is needed: it brings more packages than the whole program, and is none of it.
PROGRAM: Final = ("uv", "tool", "run", "--quiet", "pip-audit==2.10.1")
OPTIONS: Final = (
    "--require-hashes",
    "--disable-pip",
    "--progress-spinner",
    "off",
    "--timeout",
    "20",
    "--format",
    "json",
)
PATIENCE: Final = 300


def main() -> int:
    """Audit every list of pins; return 1 if a weakness is known, 0 otherwise, also if nothing could be found out."""
    found = [ask(file) for file in PINS]
    known, lines = told([each for each in found if each is not None], len(found))
    print("\n".join(lines))
    return 1 if known else 0


def ask(pins: Path) -> dict[str, Any] | None:
    """Return the report on a list of pins, None if there is none: no network, or none that leads to PyPI."""
    command = [str(Path(sys.executable).parent / PROGRAM[0]), *PROGRAM[1:], *OPTIONS, "--requirement", str(pins)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        report: dict[str, Any] = json.loads(ended.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return report


def told(reports: Sequence[dict[str, Any]], asked: int) -> tuple[bool, list[str]]:
    """Return whether a weakness is known, and what there is to say of so many reports of those asked for."""
    packages = {(one["name"], one.get("version", "")): one for report in reports for one in report["dependencies"]}
    lines = [
        f"{name} {version}: {weakness['id']}, mended in {', '.join(weakness['fix_versions']) or 'no version yet'}"
        for (name, version), one in sorted(packages.items())
        for weakness in one.get("vulns", ())
    ]
    skipped = [one for one in packages.values() if "skip_reason" in one]
    known = bool(lines)
    if len(reports) < asked or not packages or len(skipped) == len(packages):
        lines.append("NOTE: NOT AUDITED. The lists of known weaknesses at PyPI cannot be reached from here.")
    elif skipped:
        lines.append(f"NOTE: {len(skipped)} of {len(packages)} packages are unknown to PyPI and were not audited.")
    if not known and len(skipped) < len(packages):
        lines.append(f"No weakness is known in {len(packages) - len(skipped)} packages.")
    return known, lines


if __name__ == "__main__":
    sys.exit(main())
