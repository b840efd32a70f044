"""Tournaments: announced, entered until their date, played round by round; how they stand follows from the matches."""

from __future__ import annotations

from server.tournaments.entering import FORMS, MOST, MOST_ROUNDS, Plan, announce, call_off, enter, find, withdraw
from server.tournaments.looks import Page, Part, Shelf, page, part, parts, shelf
from server.tournaments.rounds import run
from server.tournaments.telling import facts

__all__ = [
    "FORMS",
    "MOST",
    "MOST_ROUNDS",
    "Page",
    "Part",
    "Plan",
    "Shelf",
    "announce",
    "call_off",
    "enter",
    "facts",
    "find",
    "page",
    "part",
    "parts",
    "run",
    "shelf",
    "withdraw",
]
