"""Git as a child process: argument vectors only, no configuration but its own, and ended as a whole."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from typing import IO

from .git_address import SCHEMES

_HERE = os.path.dirname(os.path.abspath(__file__))
_STDERR_MAX = 64 * 1024
_LIMIT_SECONDS = 3600.0
"""For one git: a server that hangs tells it nothing, and nobody else would end it. What takes longer is no repository of playbooks."""
_PASSED_ON = (
    'PATH',
    'http_proxy',
    'https_proxy',
    'HTTPS_PROXY',
    'all_proxy',
    'ALL_PROXY',
    'no_proxy',
    'NO_PROXY',
)
"""What git may see of the container's environment."""


class GitFailed(Exception):
    """A git that ended with an error; `stderr` is the end of what it said."""

    def __init__(self, stderr: str) -> None:
        super().__init__('git failed')
        self.stderr = stderr


class Gits:
    """The gits of one step, which may run in several threads and are ended together."""

    def __init__(self, home: str, environ: Mapping[str, str], limit: float = _LIMIT_SECONDS) -> None:
        """`limit`: seconds that one git may take."""
        self._limit = limit
        self._lock = threading.Lock()
        self._running: set[int] = set()
        self.stopped = False
        self._env = {
            'PATH': '/usr/local/bin:/usr/bin:/bin',
            **{name: environ[name] for name in _PASSED_ON if name in environ},
            'HOME': home,
            'TMPDIR': home,
            'LC_ALL': 'C',
            'GIT_CONFIG_NOSYSTEM': '1',
            'GIT_ATTR_NOSYSTEM': '1',
            'GIT_CONFIG_GLOBAL': os.path.join(_HERE, 'gitconfig'),
            'GIT_TERMINAL_PROMPT': '0',
            'GIT_ALLOW_PROTOCOL': ':'.join(SCHEMES),
            'GIT_PROTOCOL_FROM_USER': '0',
            'GIT_LFS_SKIP_SMUDGE': '1',
            'PYTHONDONTWRITEBYTECODE': '1',
        }

    def run(self, *args: str, env: Mapping[str, str] | None = None) -> None:
        """Runs git; raises GitFailed, also when it has not ended in time."""
        self._run(args, env, subprocess.DEVNULL)

    def output(self, *args: str) -> str:
        """The same, and answers what it wrote."""
        with tempfile.TemporaryFile(dir=self._env['TMPDIR']) as file:
            self._run(args, None, file)
            file.seek(0)
            return os.fsdecode(file.read())

    def _run(self, args: tuple[str, ...], env: Mapping[str, str] | None, output: IO[bytes] | int) -> None:
        with self._lock:
            if self.stopped:
                raise GitFailed('fatal: ended')
            try:
                child = subprocess.Popen(
                    ['git', *args],
                    env={**self._env, **(env or {})},
                    cwd='/',
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
            except OSError as error:
                raise GitFailed(f'fatal: git cannot be started: {error.strerror}') from None
            self._running.add(child.pid)
        late = threading.Event()

        def give_up() -> None:
            with self._lock:
                if child.pid in self._running:
                    late.set()
                    _kill_group(child.pid)

        timer = threading.Timer(self._limit, give_up)
        timer.daemon = True
        timer.start()
        try:
            with child:
                errors = _end_of(child.stderr)
        finally:
            timer.cancel()
            with self._lock:
                self._running.discard(child.pid)
        if child.returncode != 0:
            late_words = f'\nfatal: git did not end within {self._limit:g} s' if late.is_set() else ''
            raise GitFailed(errors.decode('utf-8', 'replace') + late_words)

    def stop(self) -> None:
        """Ends all of them, with all that they have started; none begins any more."""
        with self._lock:
            self.stopped = True
            for leader in self._running:
                _kill_group(leader)


def _kill_group(leader: int) -> None:
    """Ends a git with all that it has started."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _end_of(stream: IO[bytes]) -> bytes:
    """Reads all that comes and keeps the end of it alone: how much a server lets git say is the server's choice."""
    end = b''
    while chunk := os.read(stream.fileno(), _STDERR_MAX):
        end = (end + chunk)[-_STDERR_MAX:]
    return end
