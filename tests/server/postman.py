"""People at their mail programs: answers to mails as bytes, and a round of the post."""

from __future__ import annotations

import re
from email.message import EmailMessage
from email.utils import make_msgid

from house import House

from server import inbound
from server.channels import Message
from server.models import Inbound


def reply(to: Message, text: str, *, sender: str | None = None, **headers: str) -> bytes:
    """Return the answer of a mail's reader: his words above, what he answers quoted below; `headers` with _ for -."""
    mail = EmailMessage()
    mail["From"] = sender or f"{to.to_name} <{to.to_address}>"
    mail["To"] = f"Clachan <{to.reply_to}>"
    mail["Subject"] = f"Re: {to.subject}"
    mail["In-Reply-To"] = f"<{to.message_id}>"
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    for name, value in {"Message-ID": make_msgid(domain="example.org"), **given}.items():
        mail[name] = value
    quoted = "\n".join(f"> {line}" for line in to.text.splitlines())
    mail.set_content(f"{text}\n\nOn Tue, Nov 3, 2026 at 10:11 AM Clachan <{to.reply_to}> wrote:\n{quoted}\n")
    return mail.as_bytes()


def send(house: House, raw: bytes, sender: str | None = None, recipient: str | None = None) -> str:
    """Hand a mail in; return the word of what became of it."""
    envelope = inbound.Envelope("smtp", sender, recipient)
    number = inbound.receive(raw, envelope, house.settings, lambda: house.now)
    return str(Inbound.get_by_id(number).verdict)


def answer(house: House, to: Message, text: str, **more: str) -> str:
    """Answer a mail; return the word of what became of the answer."""
    return send(house, reply(to, text, **more))


def flat(mail: Message) -> str:
    """Return the text of a mail as one line."""
    return " ".join(mail.text.split())


def example(mail: Message) -> str:
    """Return the example of a move that a turn mail gives, which is a legal one."""
    found = re.search(r"with your move in the\s+first\s+line, for example:\n\n +(.+)\n", mail.text)
    assert found, mail.text
    return found.group(1).strip()
