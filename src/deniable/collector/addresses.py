"""Addresses of clients: which of them count as one, and which belong to proxies."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from deniable.errors import InvalidParameter

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _parsed(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text.strip())
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, ipaddress.IPv6Address) else address


def source_of(text: str) -> str | None:
    """What a client's address counts as: itself, or its /64 network, since one subscriber has a whole one of those.

    >>> source_of("192.0.2.7"), source_of("::ffff:192.0.2.7"), source_of("2001:db8:1:2:3::4")
    ('192.0.2.7', '192.0.2.7', '2001:db8:1:2::')
    """
    address = _parsed(text)
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.IPv6Address(int(address) >> 64 << 64))
    return None if address is None else str(address)


@dataclass(frozen=True)
class Proxies:
    """The proxies in front, declared by the operator: only they may say whose request they pass on."""

    networks: tuple[Network, ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Proxies:
        """From addresses or networks as text.

        >>> Proxies.parse(["127.0.0.1", "10.0.0.0/8"]).trust("10.1.2.3")
        True
        """
        try:
            return cls(tuple(ipaddress.ip_network(text) for text in texts))
        except ValueError:
            rule = "--trusted-proxy must be the proxy's address or network"
            raise InvalidParameter(f"{rule}, such as 127.0.0.1 or 10.0.0.0/8") from None

    def trust(self, host: str) -> bool:
        """Does this address belong to a declared proxy?"""
        address = _parsed(host) if self.networks else None
        return address is not None and any(address in network for network in self.networks)

    def client_of(self, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
        """Who a trusted proxy says is its client: the last forwarded address that is not a proxy's. None: it does not say."""
        line = b",".join(value for name, value in headers if name == b"x-forwarded-for")
        for part in reversed(line.decode("latin-1").split(",")):
            if part.strip() and not self.trust(part):
                return source_of(part)
        return None
