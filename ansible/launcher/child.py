"""Starting the one process that a run is about."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any

NOT_EXECUTABLE = 127
"""Exit status of a run whose command could not be executed, as a shell gives it."""

_RESET = ('SIGTERM', 'SIGINT', 'SIGHUP', 'SIGPIPE', 'SIGXFSZ', 'SIGCHLD')
"""Signals that the launcher or Python itself ignores or handles; the child gets their default actions."""


class InPlace(BaseException):
    """In the process that was to execute the program of a run: it goes on with what is loaded here, see warm.py."""

    def __init__(self, loaded: Any) -> None:
        super().__init__()
        self.loaded = loaded


def start_child(
    argv: list[str],
    cwd: str,
    env: Mapping[str, str],
    output: int,
    inherited: Sequence[int],
    go_on: Callable[[], None] | None = None,
) -> int:
    """Starts argv as leader of a new session and answers its process id.

    It gets exactly the environment `env`, an empty standard input, the descriptor `output` as standard output and
    error, and of all others only `inherited`. A command or directory that cannot be used is reported as one line of
    output and exit status 127. `go_on` is asked in the new process just before the command is executed, and raises InPlace
    where the process goes on by itself.
    """
    pid = os.fork()
    if pid == 0:
        goes_on = False
        try:
            _become(argv, cwd, env, output, inherited, go_on)
        except InPlace:
            goes_on = True
            raise
        except (OSError, ValueError, TypeError, LookupError) as error:
            reason = getattr(error, 'strerror', None) or error
            os.write(2, f'[muster] cannot run {argv[:1]!r} in {cwd!r}: {reason}\n'.encode('utf-8', 'replace'))
        finally:
            if not goes_on:
                os._exit(NOT_EXECUTABLE)
    return pid


def _become(
    argv: list[str],
    cwd: str,
    env: Mapping[str, str],
    output: int,
    inherited: Sequence[int],
    go_on: Callable[[], None] | None,
) -> None:
    os.dup2(os.open('/dev/null', os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.setsid()
    for name in _RESET:
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for fd in inherited:
        os.set_inheritable(fd, True)
    os.chdir(cwd)
    if go_on is not None:
        go_on()
    os.execvpe(argv[0], argv, env)
