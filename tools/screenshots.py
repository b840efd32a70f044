"""Make the pictures of the README: serve the demo from an empty folder and look at it with Chromium."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser

from tools import chromium, hosting

ROOT = Path(__file__).parent.parent
OUT = ROOT / "docs" / "pictures"
DESKTOP = {"width": 1280, "height": 900}
PASSWORD = "clachan-demo"  # noqa: S105 - of everybody in the demo
PHONE = {"width": 390, "height": 844}


@contextmanager
def demo() -> Iterator[str]:
    """Serve the demo on a free port and yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    site = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as data:
        own = {name: value for name, value in os.environ.items() if not name.startswith("CLACHAN_")}
        own |= {"CLACHAN_DATA": data, "CLACHAN_DEVELOPMENT": "1", "CLACHAN_MAIL_IN": "off"}
        own |= {"CLACHAN_LISTEN": f"127.0.0.1:{port}", "CLACHAN_PUBLIC_URL": site}
        for step in ("db migrate", "seed"):
            subprocess.run([sys.executable, "-m", "server.cli", *step.split()], env=own, cwd=ROOT, check=True)
        server = subprocess.Popen([sys.executable, "-m", "server.cli", "serve"], env=own, cwd=ROOT)
        try:
            for _ in range(100):
                try:
                    urllib.request.urlopen(f"{site}/healthz", timeout=1).close()  # noqa: S310 - our own address
                    break
                except OSError:
                    time.sleep(0.1)
            yield site
        finally:
            server.terminate()
            server.wait(20)


def shoot(browser: Browser, site: str, name: str, path: str, size: dict[str, int], scheme: str, who: str = "") -> None:
    """Save one page as docs/pictures/<name>.png."""
    context = browser.new_context(viewport=size, color_scheme=scheme, device_scale_factor=1, locale="en-GB")
    page = context.new_page()
    if who:
        hosting.sign_in(page, site, who, PASSWORD)
    page.goto(site + path)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=OUT / f"{name}.png")
    context.close()


def main() -> None:
    """Make them all."""
    OUT.mkdir(exist_ok=True)
    with demo() as site, chromium.opened() as browser:
        shoot(browser, site, "clans", "/matches/2", DESKTOP, "light", "Ailsa")
        shoot(browser, site, "glory", "/matches/5", DESKTOP, "light", "Ailsa")
        shoot(browser, site, "phone", "/matches/2", PHONE, "dark", "Ailsa")


if __name__ == "__main__":
    main()
