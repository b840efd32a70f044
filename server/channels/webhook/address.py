"""Which addresses may be called: https, and nothing but public machines, so that nobody reaches our own network."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

from engine.language import later
from server.channels import DeliveryError

LONGEST: Final = 500
# The lower ports belong to other services; of them only that of https may be called.
HTTPS: Final = 443
FREE_PORTS: Final = range(1024, 65536)

_PRINTED: Final = re.compile(r"[!-~]+")
_LABEL: Final = "[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_NAME: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
# All public addresses of version 6.
_PUBLIC_SIX: Final = ipaddress.ip_network("2000::/3")
# Of nobody too, which the standard library does not know: documentation (RFC 9637), and what once led to version 6.
_OF_NOBODY: Final = (ipaddress.ip_network("3fff::/20"), ipaddress.ip_network("192.88.99.0/24"))


@dataclass(frozen=True, slots=True)
class Target:
    """Where a call goes: `host` is a name or an address without brackets, `path` what is asked for there."""

    host: str
    port: int
    path: str
    secure: bool

    @property
    def authority(self) -> str:
        """Host and port as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.secure and self.port == HTTPS else f"{host}:{self.port}"


def target(url: str, *, loopback: bool) -> Target:
    """Return the parts of an address. Raises `DeliveryError` with the reason why it may not be called.

    `loopback` lets this machine itself be called, and that over http too.
    """
    parts = _split(url)
    host = parts.hostname or "" if parts else ""
    if parts is None or "@" in parts.netloc or not (_NAME.fullmatch(host) or is_address(host)):
        raise DeliveryError(later("This address cannot be read."))
    here = loopback and is_loopback(host)
    if parts.scheme != "https" and not (here and parts.scheme == "http"):
        raise DeliveryError(later("The address has to begin with https://."))
    port = parts.port or HTTPS
    if port != HTTPS and port not in FREE_PORTS:
        raise DeliveryError(later("The port of the address belongs to another service."))
    private = is_loopback(host) or (is_address(host) and not is_public(host))
    if private and not here:
        raise DeliveryError(later("That is not the address of a public machine."))
    return Target(host, port, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""), parts.scheme == "https")


def _split(url: str) -> SplitResult | None:
    """Return the parts of an address, None if it is too long, holds what none may, or has no sensible port."""
    # The standard parser leaves out line ends and tabs without a word, and browsers take a backslash for a slash.
    if len(url) > LONGEST or not _PRINTED.fullmatch(url) or "\\" in url or "#" in url:
        return None
    try:
        parts = urlsplit(url)
        return parts if parts.port != 0 and "%" not in parts.netloc else None
    except ValueError:
        return None


def is_address(host: str) -> bool:
    """Whether a host is an address and not a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        # Resolvers read 127.1 and 0x7f000001 as addresses too; no name ends with such a part.
        return bool(re.fullmatch(r"(?:.*\.)?(?:[0-9]+|0[xX][0-9A-Fa-f]*)", host))
    return True


def is_loopback(host: str) -> bool:
    """Whether a host, name or address, is this machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_public(host: str) -> bool:
    """Whether an address is that of a public machine: not one of our own network, nor of nobody's, nor of many."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    # A zone says by which way of this machine: so it is no address that all know.
    if "%" in host or any(address in network for network in _OF_NOBODY):
        return False
    if isinstance(address, ipaddress.IPv6Address) and (address not in _PUBLIC_SIX or address.sixtofour):
        return False
    return address.is_global and not address.is_multicast
