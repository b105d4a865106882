"""Where a connection comes from, as limits count it."""

from ipaddress import IPv6Address, ip_address

_NETWORK = 64
"""The bits of an address of IPv6 that name a network: who has one, has all addresses in it."""


def source_of(address: str) -> str:
    """What the limits of an address are counted for."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return found.packed[: _NETWORK // 8].hex()
