"""One request of this program, and what became of it."""

import json
import signal
import socket
import ssl
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Dict, Iterator, NamedTuple, Optional
from urllib.parse import SplitResult, urlsplit

from .settings import Settings
from .wording import one_line

CONNECT_SECONDS = 3
READ_SECONDS = 10
WHOLE_SECONDS = 30
"""A request takes no longer, however slowly bytes drip in."""
_BODY_MAX = 65536


class Answer(NamedTuple):
    """What came back."""

    status: Optional[int]
    """None: no answer came; whether the report arrived is unknown."""
    said: str
    """The reason that the server gave, or why there is no answer: one line without the token."""
    retry_after: Optional[str]
    """The header `Retry-After`."""


def send(settings: Settings, body: bytes, token: Optional[str]) -> Answer:
    """Sends the report once, on a connection of its own. Follows no redirect and uses no proxy."""
    try:
        with _at_most(WHOLE_SECONDS):
            answer = _ask(settings, body, token)
    except (OSError, HTTPException, ValueError) as error:
        # Python 3.6 has certificates of another host among the errors of values.
        answer = Answer(None, '{}: {}'.format(type(error).__name__, error), None)
    # Before it is cut, or a part of the token could be left.
    return answer._replace(said=one_line(answer.said.replace(token, '***') if token else answer.said))


class NotThere(Exception):
    """What was asked for did not come; the text says why."""


def get(address: str, ca_file: Optional[str]) -> bytes:
    """What is at the address, at most 64 KiB of it; raises NotThere. Follows no redirect, uses no proxy, sends no token."""
    url = urlsplit(address)
    path = url.path + ('?' + url.query if url.query else '')
    try:
        with _at_most(WHOLE_SECONDS), _exchange(url, ca_file, 'GET', path or '/', None, {'Accept': '*/*'}) as response:
            if response.status != 200:
                raise NotThere('{} {}'.format(response.status, one_line(_reason(response))))
            return response.read(_BODY_MAX)
    except (OSError, HTTPException, ValueError) as error:
        raise NotThere(one_line('{}: {}'.format(type(error).__name__, error))) from None


def _ask(settings: Settings, body: bytes, token: Optional[str]) -> Answer:
    url = urlsplit(settings.component_url)
    headers = {'Accept': 'application/json', 'Content-Type': 'application/json'}
    if token is not None:
        headers['Authorization'] = 'Bearer ' + token
    with _exchange(url, settings.ca_file, 'PATCH', url.path, body, headers) as response:
        said = '' if 200 <= response.status < 300 else _reason(response)
        return Answer(response.status, said, response.getheader('Retry-After'))


@contextmanager
def _exchange(
    url: SplitResult, ca_file: Optional[str], method: str, path: str, body: Optional[bytes], headers: Dict[str, str]
) -> Iterator[HTTPResponse]:
    """The answer to a request on a connection of its own."""
    if url.scheme == 'https':
        # Read each time: the certificates may come, or be replaced, while this program waits.
        context = ssl.create_default_context(cafile=ca_file)
        connection = HTTPSConnection(url.hostname, url.port, timeout=CONNECT_SECONDS, context=context)
    else:
        connection = HTTPConnection(url.hostname, url.port, timeout=CONNECT_SECONDS)
    try:
        connection.connect()
        connection.sock.settimeout(READ_SECONDS)
        connection.request(method, path, body, {**headers, 'Connection': 'close', 'User-Agent': 'muster-report'})
        yield connection.getresponse()
    finally:
        connection.close()


def _reason(response: HTTPResponse) -> str:
    """Title and detail of a problem document, else the words of the status."""
    if 300 <= response.status < 400:
        return 'redirects are not followed'
    try:
        problem = json.loads(response.read(_BODY_MAX).decode('utf-8', 'replace'))
    except (OSError, HTTPException, ValueError, RecursionError):
        problem = None
    found = [problem.get(member) for member in ('title', 'detail')] if isinstance(problem, dict) else []
    texts = [text for text in found if isinstance(text, str) and text]
    return ': '.join(texts) or response.reason


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """Ends what the main thread is doing after that time, with a socket.timeout."""

    def cut(*_):
        raise socket.timeout('not answered within {} s'.format(seconds))

    before = signal.signal(signal.SIGALRM, cut)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
