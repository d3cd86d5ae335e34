"""Muster's ingest port as a session's pod speaks to it."""

from __future__ import annotations

import json
import os
import socket
import ssl
import time
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from .back_off import BackOff, asked_for
from .failure import StepFailure, TokenRefused
from .last_words import leave_words
from .settings import Settings
from .signals import Signals
from .wording import log, one_line

PROTOCOL = '2'
_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 30.0
"""So long may an answer take beyond the time that was asked for."""
_LAST_ANSWER_SECONDS = 5.0
"""The same when this process is to end."""
_LAST_PATIENCE = 5.0
"""Seconds for a report when this process is to end."""
_WARNINGS_MAX = 100
_BODY_MAX = 256 * 1024 * 1024
_AGAIN = (408, 425, 429, 500, 502, 503, 504)
"""Statuses after which the same request may go well."""
_UPDATE_SECONDS = 600.0
"""So long servers of an older release, which do not speak this protocol, may answer: as Kubernetes gives a rolling update by default."""


class Answer(NamedTuple):
    """What came of one request."""

    status: int | None
    """None: no answer came; whether the request arrived is unknown."""
    body: Any
    """The JSON of the answer, or None."""
    said: str
    """Why it was refused or did not come: one line without the token."""
    retry_after: float

    @property
    def good(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def code(self) -> str:
        """The catalogue's code of a refusal."""
        return str(self.body.get('code', '')) if isinstance(self.body, dict) else ''

    @property
    def speaks_another(self) -> bool:
        """Whether the server does not know this protocol."""
        return self.code == 'runner_protocol_unsupported'

    @property
    def may_pass(self) -> bool:
        """Whether the same request may go well later."""
        return self.status is None or self.status in _AGAIN or self.speaks_another


class Interrupted(Exception):
    """This process was asked to end while it waited."""


class Ingest:
    """Requests of one session, one at a time, on a connection that is kept."""

    def __init__(self, settings: Settings, signals: Signals) -> None:
        self._settings = settings
        self._signals = signals
        self._url = urlsplit(settings.ingest_url)
        self._connection: HTTPConnection | None = None
        self._misunderstood: float | None = None
        """Since when every answer came from servers that do not know this protocol."""

    def job(self, *parts: str) -> str:
        """Path of this session's job and of what is below it."""
        return '/'.join(('/jobs', quote(self._settings.session_id, safe=''), *(quote(part, safe='') for part in parts)))

    def ask(self, method: str, path: str, body: bytes | dict[str, Any] | None = None, wait: float = 0.0) -> Answer:
        """One request, which may be asked to wait for news for `wait` seconds.

        Raises TokenRefused when the token is not taken, or nobody has spoken this protocol for longer than an update takes, and
        Interrupted when this process is asked to end while it waits for news.
        """
        token = self._token()
        fresh = self._connection is None
        answer = self._try(method, path, body, wait, token)
        if answer.status is None and not fresh:
            # The server closed a connection that was kept; that says nothing about the request.
            answer = self._try(method, path, body, wait, token)
        if answer.status in (401, 403) or self._is_misunderstood(answer):
            raise TokenRefused(f'{answer.status} {answer.said}')
        return answer

    def _is_misunderstood(self, answer: Answer) -> bool:
        """Whether there is no hope any more that a server of this release comes."""
        if not answer.speaks_another:
            if answer.status is not None:
                self._misunderstood = None
            return False
        # The next connection may lead to another replica.
        self.close()
        if self._misunderstood is None:
            self._misunderstood = time.monotonic()
        return time.monotonic() - self._misunderstood > _UPDATE_SECONDS

    def insist(
        self,
        method: str,
        path: str,
        body: bytes | dict[str, Any] | None = None,
        patience: float | None = None,
        wait: float = 0.0,
    ) -> Answer:
        """Asks until an answer comes that asking again would not change, or for `patience` seconds.

        Raises TokenRefused, and Interrupted when this process is asked to end, or was before.
        """
        return self._insist(method, path, body, patience, wait, 0)

    def _insist(
        self, method: str, path: str, body: bytes | dict[str, Any] | None, patience: float | None, wait: float, known: int
    ) -> Answer:
        """`known`: the signal that is no reason to stop, since what is asked is part of ending; 0 for none."""
        began = time.monotonic()
        pauses = BackOff()
        while self._signals.ending == known:
            answer = self.ask(method, path, body, wait)
            if not answer.may_pass:
                return answer
            pause = pauses.next(answer.retry_after)
            if patience is not None and time.monotonic() + pause - began > patience:
                return answer
            log(f'{method} {path}: {answer.status or "no answer"} {answer.said}; again in {pause:.1f} s')
            self._signals.pause(pause, known)
        raise Interrupted

    def report(
        self,
        step: str,
        state: str,
        failure: StepFailure | None = None,
        warnings: list[str] | None = None,
        patience: float | None = 0.0,
    ) -> bool:
        """Says what became of a step; when that cannot be said within `patience` seconds (None: however long it takes), the
        container's last words and its exit status have to do. Answers whether it was said."""
        body: dict[str, Any] = {'state': state}
        leave_words(self._settings.places.last_words, failure.message if failure is not None else '')
        if failure is not None:
            body['message'] = one_line(failure.message)
            if failure.code:
                body['code'] = failure.code
        if warnings:
            body['warnings'] = [one_line(warning) for warning in warnings[:_WARNINGS_MAX]]
            if len(warnings) > _WARNINGS_MAX:
                body['warnings'][-1] = f'and {len(warnings) - _WARNINGS_MAX + 1} warnings more'
        try:
            ending = self._signals.ending
            if ending:
                patience = min(_LAST_PATIENCE, patience or 0.0)
            answer = self._insist('POST', self.job('steps', step), body, patience, 0.0, ending)
        except (Interrupted, TokenRefused) as error:
            log(f'not reported: {step} {state} {error}')
            return False
        if not answer.good:
            log(f'not reported: {step} {state}: {answer.status or "no answer"} {answer.said}')
        return answer.good

    def close(self) -> None:
        """Drops the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _try(self, method: str, path: str, body: bytes | dict[str, Any] | None, wait: float, token: str) -> Answer:
        try:
            return self._exchange(method, path, body, wait, token)
        except (OSError, HTTPException, ValueError) as error:
            self.close()
            said = f'{type(error).__name__}: {error}'
            return Answer(None, None, one_line(said.replace(token, '***') if token else said), 0.0)

    def _exchange(self, method: str, path: str, body: bytes | dict[str, Any] | None, wait: float, token: str) -> Answer:
        connection = self._connected()
        connection.sock.settimeout(self._answer_seconds)
        headers = {
            'Authorization': f'Bearer {token}',
            'Accept': 'application/json',
            'User-Agent': 'muster-pod',
            'muster-runner-protocol': PROTOCOL,
        }
        content = json.dumps(body).encode() if isinstance(body, dict) else body
        if content is not None:
            headers['Content-Type'] = 'application/json' if isinstance(body, dict) else 'application/octet-stream'
        connection.request(method, self._url.path + path, content, headers)
        self._await(connection.sock, wait)
        with connection.getresponse() as response:
            data = response.read(_BODY_MAX)
            closing = response.will_close
        if closing:
            self.close()
        return _answer_of(response, data, token)

    def _connected(self) -> HTTPConnection:
        if self._connection is None:
            host, port = self._url.hostname or '', self._url.port
            if self._url.scheme == 'https':
                # Read each time: the certificates may be replaced while the pod runs.
                context = ssl.create_default_context()
                if os.path.isfile(self._settings.ca_file) and os.path.getsize(self._settings.ca_file):
                    context.load_verify_locations(self._settings.ca_file)
                connection: HTTPConnection = HTTPSConnection(host, port, timeout=_CONNECT_SECONDS, context=context)
            else:
                connection = HTTPConnection(host, port, timeout=_CONNECT_SECONDS)
            connection.connect()
            self._connection = connection
        return self._connection

    def _await(self, sock: socket.socket, wait: float) -> None:
        """Waits until the answer begins; a wait for news ends at once when this process is asked to end."""
        began = time.monotonic()
        while not (isinstance(sock, ssl.SSLSocket) and sock.pending()):
            left = began + wait + self._answer_seconds - time.monotonic()
            if self._signals.wait(left, sock.fileno()):
                return
            if wait and self._signals.ending:
                self.close()
                raise Interrupted
            if left <= 0:
                raise TimeoutError('no answer in time')

    @property
    def _answer_seconds(self) -> float:
        return _LAST_ANSWER_SECONDS if self._signals.ending else _ANSWER_SECONDS

    def _token(self) -> str:
        """Read each time: it may be replaced while the pod runs."""
        try:
            with open(self._settings.token_file, encoding='ascii') as file:
                return file.read().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise TokenRefused(f'the token cannot be read: {error}') from None


def _answer_of(response: HTTPResponse, data: bytes, token: str) -> Answer:
    try:
        body = json.loads(data) if data else None
    except (ValueError, RecursionError):
        body = None
    said = ''
    if not 200 <= response.status < 300:
        texts = [body.get(member) for member in ('title', 'detail')] if isinstance(body, dict) else []
        said = ': '.join(text for text in texts if isinstance(text, str) and text) or response.reason
        said = one_line(said.replace(token, '***') if token else said)
    return Answer(response.status, body, said, asked_for(response.getheader('Retry-After')))
