"""What goes wrong with a request, as a refusal: of the database, of the framework, our own; and what a refusal says."""

from __future__ import annotations

import logging
from typing import Any, Final

from werkzeug.exceptions import HTTPException

from engine.language import gettext as _
from server import db, journal
from server.errors import Refused

logger = logging.getLogger(__name__)

RETRY: Final = 5
"""After so many seconds it is worth while to ask again when the answer was that it cannot be done just now."""
PATIENCE: Final = 60
"""After so many when somebody asks too often, unless it is known better."""
OF_DATABASE: Final = (*db.Unavailable, db.Broken)
"""Of which kinds the faults of a database are."""


def body(fault: Refused) -> dict[str, Any]:
    """Return what a program is told of a refusal."""
    return {
        "error": {"code": fault.code, "sentence": fault.sentence, "choices": fault.choices, "since": fault.since},
    }


def headers(fault: Refused) -> dict[str, str]:
    """Return the headers that go with a refusal: when to ask again."""
    again = {503: RETRY, 429: fault.again or PATIENCE}.get(fault.status)
    return {"Retry-After": str(again)} if again else {}


def of_framework(fault: HTTPException) -> Refused:
    """Return the refusal for what the framework refuses before anybody here has seen it."""
    codes = {401: "not-signed-in", 404: "not-found", 405: "method", 413: "too-large"}
    sentences = {
        404: _("There is no such page."),
        405: _("This address does not take that."),
        413: _("That is too large."),
    }
    code = codes.get(fault.code or 0, "bad-input")
    return Refused(code, sentences.get(fault.code or 0, _("The request could not be understood.")))


def of_database(fault: Exception) -> Refused:
    """Return the refusal while the database takes nothing, and note why."""
    # What peewee raises may hide the database's own words behind a failed rollback.
    logger.error("the database refused: %s", journal.origin(fault))
    if db.is_refusal_to_write(fault):
        return Refused(
            "read-only", _("Nothing can be stored just now, but all can be read. Please try again in a while.")
        )
    return Refused("busy", _("The server cannot store anything just now. Please try again in a while."))


def of_ours(fault: Exception) -> Refused:
    """Return the refusal for a fault of the program, and note it."""
    logger.exception("a request failed", exc_info=fault)
    return Refused("internal", _("Something went wrong here. It has been noted."))
