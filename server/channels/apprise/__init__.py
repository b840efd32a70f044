"""Channels of well-known services: what they want to be sent, the library Apprise knows; where to, we see to.

A plugin of the library is made for each message out of what was checked before. Its exchanges go through
`server.channels.guarded`; it is given no address to parse, no attachment, no file, and nothing to remember.
"""

from __future__ import annotations

from server.channels import Kind
from server.channels.apprise.hooks import Discord, Slack
from server.channels.apprise.matrix import Matrix
from server.channels.apprise.ntfy import Ntfy
from server.channels.apprise.telegram import Telegram
from server.channels.guarded import Passage

__all__ = ["kinds"]


def kinds(passage: Passage) -> dict[str, Kind]:
    """Return the channels, these and no others, by the word that is stored for each."""
    return {
        "discord": Discord(passage),
        "matrix": Matrix(passage),
        "ntfy": Ntfy(passage),
        "slack": Slack(passage),
        "telegram": Telegram(passage),
    }
