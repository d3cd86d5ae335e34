"""A repository's address, taken apart as Muster's own git does it."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

from .failure import StepFailure

SCHEMES = ('https', 'http', 'ssh', 'git')
"""What is cloned in a pod: never a path of the pod itself."""

_BLANK_OR_CONTROL = re.compile(r'[\s\x00-\x1f\x7f-\x9f]|%(?:0[0-9a-f]|1[0-9a-f]|7f)', re.IGNORECASE)
_HELPER = re.compile(r'[A-Za-z0-9][A-Za-z0-9+.-]*::')
_URL = re.compile(r'([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)(.*)', re.DOTALL)
_HOST = re.compile(r'(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_.])?)(?::\d{1,5})?')
_SCP = re.compile(r'(?:([A-Za-z0-9_][A-Za-z0-9._@+-]*)@)?(\[[^\]/]*\]|[^/:@]+):([^-:].*)', re.DOTALL)


class Address(NamedTuple):
    """An address that may be used."""

    scheme: str
    url: str
    """What git gets: never with a password, for http and https without a user too."""
    host: str
    """Host and port as written."""
    username: str
    password: str


def parse_address(text: str) -> Address:
    """Takes an address apart; raises StepFailure `repository_url_refused` (cfs-decision h)."""
    if not text or text.startswith('-') or _BLANK_OR_CONTROL.search(text) or _HELPER.match(text):
        raise _refused(text)
    url = _URL.fullmatch(text)
    if url is None:
        scp = _SCP.fullmatch(text)
        if scp is None or not _HOST.fullmatch(scp[2]):
            raise _refused(text)
        return Address('ssh', text, scp[2], scp[1] or '', '')
    scheme, authority, path = url[1].lower(), url[2], url[3]
    info, _, host = authority.rpartition('@')
    if scheme not in SCHEMES or not _HOST.fullmatch(host):
        raise _refused(text)
    if scheme in ('http', 'https'):
        username, _, password = info.partition(':')
        return Address(scheme, f'{scheme}://{host}{path}', host, unquote(username), unquote(password))
    if ':' in info or (info and scheme == 'git') or info.startswith('-') or path in ('', '/'):
        raise _refused(text)
    return Address(scheme, f'{scheme}://{authority}{path}', host, info, '')


def _refused(text: str) -> StepFailure:
    shown = re.sub(r'^([A-Za-z][A-Za-z0-9+.-]*://).*@', r'\1***@', text[:500])
    return StepFailure(
        'repository_url_refused', f"Repository URL '{shown}' is refused: in a pod it is {', '.join(SCHEMES)} and a host."
    )
