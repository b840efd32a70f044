"""A message on its way to a browser: written small, encrypted for it alone, handed to its push service."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import Final
from urllib.parse import urlsplit

from server.channels import Blank, Brief, DeliveryError
from server.channels.guarded import Passage
from server.channels.push import device, key
from server.channels.webhook import target

# Services take 4096 bytes, of which the encryption needs about a hundred; a character may take six.
LONGEST_TITLE: Final = 100
LONGEST_TEXT: Final = 450
# So many seconds a service keeps a message for a device that is off: news of yesterday is no news.
LIVES: Final = 86400
GONE: Final = frozenset({404, 410})


@cache
def is_installed() -> bool:
    """Whether the package is there that this channel needs."""
    return find_spec("pywebpush") is not None


class PushChannel:
    """Shows messages on people's devices. `secret` is that of the house, `contact` the mail address at which those who
    run push services reach its keeper, and `passage` the way to public machines."""

    name = "Push"
    blanks: Sequence[Blank] = ()

    def __init__(self, secret: str, contact: str, passage: Passage) -> None:
        self._secret = secret
        self._contact = contact
        self._passage = passage

    @property
    def key(self) -> str:
        """The public key, given to a browser so that it lets this house, and nobody else, send it messages."""
        return key.public(self._secret)

    def read(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the address of a device. Raises `DeliveryError` with a sentence to translate."""
        return device.read(given, loopback=self._passage.loopback)

    def shown(self, address: Mapping[str, str]) -> str:
        """Return the host of the push service."""
        return urlsplit(address["endpoint"]).hostname or ""

    def deliver(self, message: Brief) -> None:
        """Hand the message to the device's push service. Raises `DeliveryError` unless that takes it."""
        # The packages take a while to load, and web servers never need them.
        import pywebpush
        import requests
        from py_vapid import Vapid02, VapidException

        endpoint, keys = message.address["endpoint"], {name: message.address[name] for name in device.KEYS}
        where = target(endpoint, loopback=self._passage.loopback)
        claims = {"aud": f"{'https' if where.secure else 'http'}://{where.authority}", "sub": f"mailto:{self._contact}"}
        # Its own check of mail addresses knows no domain of one word.
        signer = Vapid02(key.private(self._secret), {"no-strict": True})
        with self._passage.session() as session:
            with suppress(pywebpush.WebPushException, VapidException, requests.RequestException):
                pywebpush.webpush(
                    {"endpoint": endpoint, "keys": keys},
                    payload(message),
                    signer,
                    claims,
                    ttl=LIVES,
                    requests_session=session,
                )
            # The library takes some answers of success for others, and others for some of success.
            if session.status // 100 != 2:
                fault, gone = session.refusal(), session.status in GONE
                raise DeliveryError(str(fault), unknown=fault.unknown, wait=fault.wait, gone=gone, said=fault.said)


def payload(message: Brief) -> str:
    """Return what the worker of the site reads: title, text, path and language, no more than services take."""
    told = {
        "title": _cut(message.title, LONGEST_TITLE),
        "text": _cut(message.text, LONGEST_TEXT),
        "path": urlsplit(message.url).path or "/",
        "language": message.language,
    }
    return json.dumps(told, ensure_ascii=False)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
