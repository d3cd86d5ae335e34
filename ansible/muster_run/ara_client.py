"""What ARA's callback talks to: the API of an ARA server, by requests that are masked and end soon."""

from __future__ import annotations

import json
from typing import Any

import requests

from muster_run.masking import Masker

TIMEOUT = 10
"""Seconds that the server may take to connect, and between two parts of an answer."""


class AraTroubleError(RuntimeError):
    """The server does not take a record; the text says why, without the record."""


class AraClient:
    """The methods of ARA's own client that its callback calls. Each raises AraTroubleError when it did not work."""

    def __init__(self, server: str, credentials: tuple[str, str] | None, masker: Masker) -> None:
        self._server = server.rstrip('/')
        self._masker = masker
        self._session = requests.Session()
        self._session.headers.update({'Accept': 'application/json', 'Content-Type': 'application/json'})
        self._session.auth = credentials

    def get(self, path: str, /, **params: Any) -> Any:
        """Reads a record."""
        return self._ask('GET', path, params=params)

    def post(self, path: str, /, **record: Any) -> Any:
        """Makes a record, or answers the one that is there."""
        return self._ask('POST', path, data=self._masked(record))

    def patch(self, path: str, /, **fields: Any) -> Any:
        """Changes a record."""
        return self._ask('PATCH', path, data=self._masked(fields))

    def put(self, path: str, /, **record: Any) -> Any:
        """Replaces a record."""
        return self._ask('PUT', path, data=self._masked(record))

    def _masked(self, record: dict[str, Any]) -> bytes:
        """The record as JSON, in which the run's secrets are asterisks."""
        masked = self._masker.mask(json.dumps(record, default=str).encode())
        try:
            json.loads(masked)
        except ValueError:
            # A secret that is a piece of JSON itself was masked; what is left of the record means nothing.
            raise AraTroubleError('a record holds a secret that cannot be taken out of it') from None
        return masked

    def _ask(self, method: str, path: str, **how: Any) -> Any:
        try:
            answer = self._session.request(method, self._server + path, timeout=TIMEOUT, **how)
        except requests.RequestException as error:
            raise AraTroubleError(f'{method} {path}: {type(error).__name__}') from None
        if answer.status_code >= 400:
            raise AraTroubleError(f'{method} {path} was answered {answer.status_code}')
        try:
            return answer.json() if answer.content else None
        except ValueError:
            raise AraTroubleError(f'{method} {path} was not answered with JSON') from None
