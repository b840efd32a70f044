"""How a machine is reached that somebody has named: looked up once, public, connected to what was checked, in time."""

from __future__ import annotations

import contextlib
import errno
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import dns.exception
import dns.resolver

from server.channels import NO_ANSWER, NOT_FOUND, NOT_PUBLIC, DeliveryError
from server.channels.webhook.address import Target, is_address, is_loopback, is_public

LONGEST_LOOKUP: Final = 2.0
"""In seconds."""

Resolver = Callable[[str, float], Sequence[str]]


def lookup(name: str, seconds: float) -> Sequence[str]:
    """Return the addresses of a name. Raises `DeliveryError`."""
    try:
        return list(dns.resolver.resolve_name(name, lifetime=seconds).addresses())
    except dns.exception.DNSException as fault:
        said = NOT_FOUND if isinstance(fault, dns.resolver.NXDOMAIN) else NO_ANSWER
        raise DeliveryError(f"the name cannot be looked up: {type(fault).__name__}", said=said) from None


def checked(where: Target, resolve: Resolver, *, loopback: bool) -> Sequence[str]:
    """Return the addresses of the target, all of which may be called. Raises `DeliveryError`."""
    here = loopback and is_loopback(where.host)
    if here or is_address(where.host):
        return ["127.0.0.1" if where.host == "localhost" else where.host]
    found = resolve(where.host, LONGEST_LOOKUP)
    # One that is not public among others is no mistake but an attempt.
    if not found or not all(is_public(address) for address in found):
        raise DeliveryError("the name does not belong to a public machine", said=NOT_PUBLIC)
    return found


@contextlib.contextmanager
def line(where: Target, addresses: Sequence[str], ends: float, context: ssl.SSLContext) -> Iterator[socket.socket]:
    """Hold a connection to one of the addresses for the block, as secure as the target wants. Raises `OSError`."""
    with contextlib.ExitStack() as held:
        found = held.enter_context(_connect(addresses, where.port, ends))
        found.settimeout(left(ends))
        if where.secure:
            found = held.enter_context(context.wrap_socket(found, server_hostname=where.host))
        found.settimeout(left(ends))
        yield found


def _connect(addresses: Sequence[str], port: int, ends: float) -> socket.socket:
    """Return a connection to the first of the addresses that takes one, with a share of the time for each. Raises
    `OSError`."""
    for number, address in enumerate(addresses, 1):
        with contextlib.suppress(OSError):
            return socket.create_connection((address, port), left(ends) / (len(addresses) - number + 1))
    raise OSError(errno.ECONNREFUSED, "nobody takes the call")


def left(ends: float) -> float:
    """Return how many seconds are left. Raises `TimeoutError`."""
    left = ends - time.monotonic()
    if left <= 0:
        raise TimeoutError("it took too long")
    return left


def cause(fault: Exception) -> str:
    """Return a few words of ours or of the system, none of the other side."""
    if isinstance(fault, ssl.SSLCertVerificationError):
        return f"its certificate is not good ({fault.verify_message})"
    if isinstance(fault, TimeoutError):
        return "it took too long"
    return (fault.strerror or type(fault).__name__) if isinstance(fault, OSError) else str(fault)
