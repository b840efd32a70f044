"""The key by which push services know this house (VAPID, RFC 8292).

It follows from the secret key of the house, so all its machines have the same one and there is nothing more to keep.
"""

from __future__ import annotations

import base64
import hmac
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

# What the number of a private key on the curve P-256 is less than (FIPS 186-5).
_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_PURPOSE: Final = b"clachan: key of web push"


@lru_cache(maxsize=4)
def private(secret: str) -> EllipticCurvePrivateKey:
    """Return the private key of the house with this secret key."""
    from cryptography.hazmat.primitives.asymmetric import ec

    # Twice as many bits as are needed, so that no number is likelier than another.
    number = int.from_bytes(hmac.digest(secret.encode(), _PURPOSE, "sha512"))
    return ec.derive_private_key(number % (_ORDER - 1) + 1, ec.SECP256R1())


@lru_cache(maxsize=4)
def public(secret: str) -> str:
    """Return the public key as browsers take it: the uncompressed point, in base64url without padding."""
    from cryptography.hazmat.primitives import serialization

    point = (
        private(secret)
        .public_key()
        .public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    )
    return base64.urlsafe_b64encode(point).rstrip(b"=").decode()
