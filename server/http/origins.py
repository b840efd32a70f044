"""Where a request comes from."""

from __future__ import annotations

from contextlib import suppress
from ipaddress import IPv6Address, ip_address, ip_network

import flask


def source() -> str:
    """Return the network address of the request, as far as configured proxies are trusted.

    Of an IPv6 address it is the network of 64 bits: whoever has one has all the addresses in it.
    """
    address = flask.request.remote_addr or "unknown"
    with suppress(ValueError):
        read = ip_address(address)
        if isinstance(read, IPv6Address):
            return str(read.ipv4_mapped or ip_network((read.packed[:8] + bytes(8), 64)))
    return address
