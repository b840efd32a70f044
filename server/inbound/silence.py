"""Which mails get no answer and do nothing: those no person wrote. Source: RFC 3834 and what programs really send."""

from __future__ import annotations

from typing import Final

from server.inbound.parse import Letter

LOOP: Final = "x-clachan-loop"
# X-Auto-Response-Suppress is not among them: some programs put it into mails that people write.
LIST_HEADERS: Final = frozenset({"list-id", "list-post", "list-unsubscribe", "list-help", "mailing-list"})
MACHINE_HEADERS: Final = frozenset(
    {"x-autoreply", "x-autorespond", "x-autoresponder", "x-auto-reply", "auto-reply", "x-failed-recipients"}
)
BULK: Final = frozenset({"bulk", "junk", "list", "auto_reply", "auto-reply"})
DAEMONS: Final = frozenset(
    {"mailer-daemon", "postmaster", "noreply", "no-reply", "donotreply", "do-not-reply", "bounce", "bounces", "daemon"}
)
REPORTS: Final = frozenset({"multipart/report", "message/delivery-status", "message/disposition-notification"})


def reason(letter: Letter, path: str | None, domain: str) -> str:
    """Return in a word why a mail is met with silence, or an empty string.

    `path` is the envelope's sender, "" for the null path, None if not known; `domain` is ours.
    """
    values = dict(reversed(letter.headers))
    local, _, host = letter.sender.casefold().rpartition("@")
    auto = values.get("auto-submitted", "no").partition(";")[0].strip().casefold()
    if LOOP in values or host == domain.casefold():
        return "own"
    if auto not in {"no", ""}:
        return "automatic"
    if path == "" or values.get("return-path", "").strip() == "<>":
        return "null-path"
    if letter.kind in REPORTS:
        return "report"
    if values.keys() & LIST_HEADERS or values.get("precedence", "").strip().casefold() in BULK:
        return "list"
    if values.keys() & MACHINE_HEADERS:
        return "automatic"
    return "daemon" if local in DAEMONS else ""
