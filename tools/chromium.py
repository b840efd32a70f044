"""Debian's Chromium, as tests, pictures and figures use it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import Browser, sync_playwright

PROGRAM: Final = "/usr/bin/chromium"
# Each window would have two processes for what pops up under its address bar, and one in reserve: more than half of
# what a page costs. The others are those of Playwright's own list that matter here, since the last list counts.
WITHOUT: Final = (
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "SpareRendererForSitePerProcess",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "OptimizationHints",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
)
SWITCHES: Final = ("--no-sandbox", "--disable-gpu", f"--disable-features={','.join(WITHOUT)}")


@contextmanager
def opened(*switches: str) -> Iterator[Browser]:
    """Yield a browser without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=[*SWITCHES, *switches])
        yield browser
        browser.close()
