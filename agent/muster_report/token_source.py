"""The token of the node. It is in no argument, no file of its own and no line of the log."""

import os
import signal
import subprocess
from contextlib import suppress
from typing import Callable, List, Optional

from .settings import Settings
from .wording import one_line

PAUSE_SECONDS = 2
"""Between two tries to get a token (cfs-flows 6.1)."""
_HELPER_SECONDS = 30
_LOG_EACH = 30
_FILE_MAX = 65536


class NoToken(Exception):
    """There is no token now; the text says why and holds nothing of what should have been one."""


def token_source(
    settings: Settings, sleep: Callable[[float], None], log: Callable[[str], None]
) -> Callable[[], Optional[str]]:
    """A function that answers a fresh token, for ever trying until there is one; None where none is wanted."""
    if settings.token_command is not None:
        command = settings.token_command
        return lambda: _until_taken(lambda: _from_command(command), sleep, log)
    if settings.token_file is not None:
        path = settings.token_file
        return lambda: _until_taken(lambda: _from_file(path), sleep, log)
    return lambda: None


def _until_taken(take: Callable[[], str], sleep: Callable[[float], None], log: Callable[[str], None]) -> str:
    """A first failure is logged at once, then each minute, lest a night without tokens fill the journal."""
    tries = 0
    while True:
        try:
            return take()
        except NoToken as error:
            if tries % _LOG_EACH == 0:
                log('no token yet: {}'.format(error))
        tries += 1
        sleep(PAUSE_SECONDS)


def _from_command(command: List[str]) -> str:
    """The helper's standard output. Its errors are its own matter: they go to where this program's go."""
    try:
        helper = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True, close_fds=True
        )
    except (OSError, ValueError) as error:
        raise NoToken('the helper cannot be run: {}'.format(getattr(error, 'strerror', None) or error)) from None
    with helper:
        try:
            output, _ = helper.communicate(timeout=_HELPER_SECONDS)
        except subprocess.TimeoutExpired:
            # Its children too: they may be what it waits for.
            with suppress(ProcessLookupError):
                os.killpg(helper.pid, signal.SIGKILL)
            raise NoToken('the helper did not end within {} s'.format(_HELPER_SECONDS)) from None
    if helper.returncode != 0:
        raise NoToken('the helper ended with status {}'.format(helper.returncode))
    return _checked(output, 'the helper printed')


def _from_file(path: str) -> str:
    try:
        with open(path, 'rb') as file:
            content = file.read(_FILE_MAX)
    except OSError as error:
        raise NoToken('{}: {}'.format(one_line(path), error.strerror)) from None
    return _checked(content, '{} holds'.format(one_line(path)))


def _checked(content: bytes, who: str) -> str:
    """The token in it: one word of characters that a header can carry."""
    words = content.split()
    if len(words) != 1 or not all(0x21 <= byte <= 0x7E for byte in words[0]):
        raise NoToken('{} {}'.format(who, 'nothing' if not words else 'something else than one token'))
    return words[0].decode('ascii')
