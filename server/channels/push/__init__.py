"""The channel to people's browsers: one encrypted message to the push service of each (RFC 8030, 8188, 8291).

It needs the package pywebpush, the extra `push` of this program; without that there is no such way.
"""

from __future__ import annotations

from server.channels.push.sending import PushChannel, is_installed

__all__ = ["PushChannel", "is_installed"]
