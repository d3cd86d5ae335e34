"""How another server is reached that a repository names: that of a submodule, or of content that git-lfs keeps."""

from __future__ import annotations

import ipaddress
import json
import re

from .git_address import Address

_PORTS = {'https': 443, 'http': 80}
_HOST = re.compile(r'(\[[^\]]*\]|[^:]*)(?::([0-9]{1,5}))?')


def same_server(one: Address, other: Address) -> bool:
    """Whether two addresses are the same scheme, host and port."""
    return one.scheme == other.scheme and _place(one.host, one.scheme) == _place(other.host, other.scheme)


def common_credentials(path: str, address: Address) -> tuple[str, str] | None:
    """The common credentials (`path`: their file), where that server is one of those that they may go to."""
    try:
        with open(path, encoding='utf-8') as file:
            common = json.load(file)
    except (OSError, ValueError):
        return None
    if address.scheme not in _PORTS or (address.scheme == 'http' and not _is_loopback(address)):
        return None
    place = _place(address.host, address.scheme)
    if not any(_place(str(host), address.scheme) == place for host in common.get('hosts') or []):
        return None
    return str(common.get('username') or ''), str(common.get('password') or '')


def _place(text: str, scheme: str) -> tuple[str, int | None]:
    found = _HOST.fullmatch(text.strip().lower())
    if found is None:
        return text, None
    return found[1].removesuffix('.'), int(found[2]) if found[2] else _PORTS.get(scheme)


def _is_loopback(address: Address) -> bool:
    name = _place(address.host, address.scheme)[0].strip('[]')
    try:
        return name == 'localhost' or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
