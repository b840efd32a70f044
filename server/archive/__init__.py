"""The archive: finished matches for ever. Finding them, taking them away, bringing them in, checking them."""

from __future__ import annotations

from server.archive.files import bundle, export, file_name, result, whole_record
from server.archive.imports import add
from server.archive.proof import Fairness, Finding, check, doubts, fairness, read_hash, row_of, stored
from server.archive.search import PAGE, RESULTS, Page, Player, find, players, reasons
from server.archive.telling import origin, told

__all__ = [
    "PAGE",
    "RESULTS",
    "Fairness",
    "Finding",
    "Page",
    "Player",
    "add",
    "bundle",
    "check",
    "doubts",
    "export",
    "fairness",
    "file_name",
    "find",
    "origin",
    "players",
    "read_hash",
    "reasons",
    "result",
    "row_of",
    "stored",
    "told",
    "whole_record",
]
