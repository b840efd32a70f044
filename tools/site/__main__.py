"""Build the site of the documentation: `python -m tools.site [FOLDER]`, by default var/site; warnings are errors."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.site.gather import ROOT, gather

HERE = Path(__file__).parent


def build(folder: Path) -> int:
    """Put the site in the place of what is in the folder; return the exit code of Sphinx, not 0 after any warning."""
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as made:
        gather(Path(made, "pages"))
        strict = ("-q", "-W", "--keep-going", "-n", "-D", f"html_static_path={made}/pages/_static")
        places = ("-d", f"{made}/read", "-c", str(HERE), f"{made}/pages", str(folder))
        return subprocess.run([sys.executable, "-m", "sphinx", *strict, *places], check=False).returncode


if __name__ == "__main__":
    site = Path(*sys.argv[1:2] or [ROOT / "var" / "site"])
    failed = build(site)
    if not failed:
        print(f"The site begins at {site / 'index.html'}")
    sys.exit(failed)
