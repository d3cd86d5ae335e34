"""The session's keys, where ssh takes them: private files of our own, made anew whenever the mounted ones change."""

from __future__ import annotations

import os
from collections.abc import Iterable

from .files import put_file, read_file
from .places import Places

_PRIVATE = 0o600
_PUBLIC = 0o644


def mounted_keys(where: Places) -> list[tuple[str, str, int]]:
    """What the inventory step puts into place: mounted file, name, mode."""
    return [
        (os.path.join(where.keys, 'id_ecdsa'), 'id_ecdsa', _PRIVATE),
        (os.path.join(where.keys, 'id_ecdsa.pub'), 'id_ecdsa.pub', _PUBLIC),
        (os.path.join(where.certificates, 'id_ecdsa-cert.pub'), 'id_ecdsa-cert.pub', _PUBLIC),
        *_of_the_session(where),
    ]


def session_keys(where: Places) -> list[tuple[str, str, int]]:
    """What the `ansible` step keeps fresh: a certificate may be renewed while a playbook runs."""
    return [
        (os.path.join(where.session, 'private'), 'id_ecdsa', _PRIVATE),
        (os.path.join(where.session, 'public'), 'id_ecdsa.pub', _PUBLIC),
        (os.path.join(where.session, 'certificate'), 'id_ecdsa-cert.pub', _PUBLIC),
        *_of_the_session(where),
    ]


def _of_the_session(where: Places) -> list[tuple[str, str, int]]:
    return [
        (os.path.join(where.session, 'plain_key'), 'plain_key', _PRIVATE),
        (os.path.join(where.session, 'known_hosts'), 'known_hosts', _PUBLIC),
        (os.path.join(where.session, 'id_image'), 'id_image', _PRIVATE),
    ]


def place_keys(where: Places, keys: Iterable[tuple[str, str, int]]) -> None:
    """Puts into place what is mounted and differs from what is there. Raises OSError."""
    os.makedirs(where.ssh, mode=0o700, exist_ok=True)
    for source, name, mode in keys:
        content = read_file(source)
        target = os.path.join(where.ssh, name)
        if content and content != read_file(target):
            put_file(target, content, mode)
