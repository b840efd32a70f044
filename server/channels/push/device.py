"""A device: where its push service takes messages for it, and the keys that only its browser can read them with."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Final

from engine.language import later
from server.channels import DeliveryError
from server.channels.webhook import target

# A point on the curve P-256, uncompressed, and a secret of the browser's (RFC 8291): so many bytes.
KEYS: Final = {"p256dh": 65, "auth": 16}
_BASE64: Final = re.compile(r"([A-Za-z0-9_-]+)={0,2}")


def read(given: Mapping[str, str], *, loopback: bool) -> dict[str, str]:
    """Return endpoint, p256dh and auth of a subscription, checked. Raises `DeliveryError` with a sentence to translate.

    `loopback` lets the push service be this machine.
    """
    endpoint = given.get("endpoint", "").strip()
    target(endpoint, loopback=loopback)
    return {"endpoint": endpoint, **{name: _key(given.get(name, ""), size) for name, size in KEYS.items()}}


def _key(text: str, size: int) -> str:
    """Return a key in base64url without padding."""
    found = _BASE64.fullmatch(text.strip())
    raw = b""
    if found and len(text) < 200:
        bare = found.group(1)
        raw = base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4)) if len(bare) % 4 != 1 else b""
    if len(raw) != size or (size == KEYS["p256dh"] and not _is_point(raw)):
        raise DeliveryError(later("This address cannot be read."))
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _is_point(raw: bytes) -> bool:
    from cryptography.hazmat.primitives.asymmetric import ec

    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), raw)
    except ValueError:
        return False
    return True
