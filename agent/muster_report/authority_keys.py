"""Public keys of certificate authorities, in whatever form they come."""

import json
import re
from base64 import b64decode
from typing import List

_NAME = ('Global', 'cfs_public_key')
"""Key of the boot metadata that holds them (cfs-flows 6.3)."""
_LINE = re.compile('((?:ssh|ecdsa|sk)-[a-z0-9@.-]+) ([A-Za-z0-9+/]+={0,2})(?: .*)?')


class NoKeys(Exception):
    """There is none in it; the text says what there is."""


def read_keys(answer: bytes) -> List[str]:
    """The keys, `type base64` each. Takes lines of text, the same as a JSON string, and metadata that have it at `Global.cfs_public_key`.

    One line that is no key spoils all: a part of them is as good as a wrong answer. Raises NoKeys.
    """
    lines = [line.strip() for line in _text(answer).splitlines()]
    keys = [_key(line) for line in lines if line and not line.startswith('#')]
    if not keys:
        raise NoKeys('the answer has no key')
    return keys


def _text(answer: bytes) -> str:
    text = answer.decode('utf-8', 'replace').strip()
    if not text.startswith(('"', '{')):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise NoKeys('the answer is no JSON') from None
    if isinstance(value, dict):
        inner = value.get(_NAME[0])
        value = inner.get(_NAME[1]) if isinstance(inner, dict) else value.get('.'.join(_NAME))
    if not isinstance(value, str):
        raise NoKeys('the metadata have no {}'.format('.'.join(_NAME)))
    return value


def _key(line: str) -> str:
    found = _LINE.fullmatch(line)
    if found is None:
        raise NoKeys('a line of the answer is no public key')
    kind, body = found.groups()
    try:
        blob = b64decode(body, validate=True)
    except ValueError:
        raise NoKeys('a line of the answer is no public key') from None
    # The key says itself what it is.
    if blob[:4] != len(kind).to_bytes(4, 'big') or blob[4 : 4 + len(kind)] != kind.encode():
        raise NoKeys('a line of the answer is no public key')
    return '{} {}'.format(kind, body)
