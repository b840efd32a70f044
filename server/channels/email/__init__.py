"""The channel that is there from the first day: mail, to a server or into a local mailbox, and its pictures."""

from __future__ import annotations

from server.channels.email.compose import Sender, compose, envelope_sender
from server.channels.email.headers import clean, clean_name
from server.channels.email.local import Entry, LocalMailbox, OpenMail
from server.channels.email.smtp import SmtpChannel, SmtpSettings, Tls

__all__ = [
    "Entry",
    "LocalMailbox",
    "OpenMail",
    "Sender",
    "SmtpChannel",
    "SmtpSettings",
    "Tls",
    "clean",
    "clean_name",
    "compose",
    "envelope_sender",
]
