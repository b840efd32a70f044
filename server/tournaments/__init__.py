"""Tournaments: announced, entered until their date, played round by round; how they stand follows from the matches."""

from __future__ import annotations

from server.tournaments.entering import (
    FORMS,
    MOST,
    MOST_ROUNDS,
    Plan,
    announce,
    call_off,
    enter,
    find,
    leave_all,
    withdraw,
)
from server.tournaments.looks import Listed, Lists, Origin, Page, lists, newest, origin, origins, page
from server.tournaments.rounds import run
from server.tournaments.telling import facts

__all__ = [
    "FORMS",
    "MOST",
    "MOST_ROUNDS",
    "Listed",
    "Lists",
    "Origin",
    "Page",
    "Plan",
    "announce",
    "call_off",
    "enter",
    "facts",
    "find",
    "leave_all",
    "lists",
    "newest",
    "origin",
    "origins",
    "page",
    "run",
    "withdraw",
]
