"""The channel to people's own programs: one signed POST to an https address."""

from __future__ import annotations

from server.channels.webhook.address import target
from server.channels.webhook.call import WebhookChannel, signature

__all__ = ["WebhookChannel", "signature", "target"]
