"""What a container's environment says to the step that it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from .places import Places, places

_ON = ('1', 'true', 'yes', 'on')


class SettingsError(Exception):
    """The environment cannot be used; the text names the variable and what it needs."""


class Settings(NamedTuple):
    """Settings that can be used."""

    ingest_url: str
    session_id: str
    token_file: str
    ca_file: str
    """Certificates (PEM) to trust besides those of the system, if the file is there."""
    sidecar_wait: bool
    """Whether to wait for the proxy of a service mesh before anything is asked."""
    retry_max: int
    """Tries of a clone."""
    retry_delay: float
    """Longest pause between two of them, seconds."""
    inventory_type: str
    """Definition of the session's target."""
    places: Places


def read_places(environ: Mapping[str, str]) -> Places:
    """Where things are; the tests have a root of their own."""
    return places(environ.get('MUSTER_POD_ROOT', '').strip() or '/')


def read_settings(environ: Mapping[str, str]) -> Settings:
    """The settings in `environ`; an empty variable is as good as none. Raises SettingsError."""
    given = {name: value.strip() for name, value in environ.items() if value.strip()}
    for name in ('MUSTER_INGEST_URL', 'MUSTER_SESSION_ID'):
        if name not in given:
            raise SettingsError(f'{name} is not set')
    where = read_places(environ)
    return Settings(
        ingest_url=_address(given['MUSTER_INGEST_URL']),
        session_id=given['MUSTER_SESSION_ID'],
        token_file=given.get('MUSTER_TOKEN_FILE', f'{where.session}/token'),
        ca_file=given.get('SSL_CAINFO', where.platform_ca),
        sidecar_wait=given.get('MUSTER_RUNNER_SIDECAR_WAIT', '').lower() in _ON,
        retry_max=max(1, int(_number(given, 'GIT_RETRY_MAX', 60))),
        retry_delay=_number(given, 'GIT_RETRY_DELAY', 10),
        inventory_type=given.get('INVENTORY_TYPE', 'dynamic'),
        places=where,
    )


def _address(text: str) -> str:
    try:
        url = urlsplit(text)
        usable = url.scheme in ('http', 'https') and url.hostname and url.port != 0 and not url.query
    except ValueError:
        usable = False
    if not usable:
        raise SettingsError('MUSTER_INGEST_URL is no address: it needs to be like https://muster-ingest:8101')
    return text.rstrip('/')


def _number(given: Mapping[str, str], name: str, default: float) -> float:
    try:
        value = float(given.get(name, default))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1_000_000:
        raise SettingsError(f'{name} needs to be a number from 0 on')
    return value
