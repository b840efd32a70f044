"""Mails that come back: what the far side says of an address, and what follows. Source: RFC 3464."""

from __future__ import annotations

from typing import Final

from engine.language import later
from server import outbox
from server.inbound.parse import Letter
from server.models import Outbox

HARD, SOFT, UNCLEAR = "bounce-hard", "bounce-soft", "bounce-unclear"
LONGEST_STATUS: Final = 12


def judge(letter: Letter) -> str:
    """Return whether a report says that the address takes no mail for good, not now, or nothing that is clear."""
    verdict = UNCLEAR
    for report in letter.reports:
        for line in report.splitlines():
            name, _, value = line.partition(":")
            field, text = name.strip().casefold(), value.strip().casefold()
            if field == "action" and text in {"delayed", "relayed", "expanded", "delivered"}:
                return SOFT if text == "delayed" else UNCLEAR
            if field == "status" and len(text) <= LONGEST_STATUS:
                verdict = {"5": HARD, "4": SOFT}.get(text[:1], verdict)
    # A full mailbox says 5.2.2 and is empty again some day.
    full = any("5.2.2" in report for report in letter.reports)
    return SOFT if verdict == HARD and full else verdict


def settle(mail: Outbox, verdict: str) -> None:
    """Stop sending to an address that takes no mail for good, inside the caller's transaction."""
    if verdict == HARD:
        outbox.came_back(mail, later("your mail server returned our mail: there is no such address"))
