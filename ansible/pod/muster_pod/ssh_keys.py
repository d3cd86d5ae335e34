"""The session's keys, where ssh takes them: private files of our own, made anew whenever the mounted ones change."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from .files import put_file, read_file
from .places import Places
from .signals import Signals
from .wording import log

_PRIVATE = 0o600
_PUBLIC = 0o644
_CERTIFICATE_SECONDS = 90.0
"""So long may a node take to show what has changed in a Secret, when nobody has told it to look."""
_LOOK_SECONDS = 0.1


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


def await_certificate(where: Places, until: int, signals: Signals) -> None:
    """Waits until the mounted certificate is good until then or longer, until this process is to end, or for 90 s; hosts may know
    the key itself. Muster raises that time as well when something else of the Secret has changed."""
    end = time.monotonic() + _CERTIFICATE_SECONDS
    while _mounted_until(where) < until:
        if time.monotonic() >= end:
            log('what has changed in the Secret does not come; going on with what is there')
            return
        signals.pause(_LOOK_SECONDS)
        if signals.ending:
            return


def _mounted_until(where: Places) -> int:
    text = (read_file(os.path.join(where.session, 'certificate_until')) or b'').strip()
    return int(text) if text.isdigit() else 0
