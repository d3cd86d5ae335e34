"""Starting the one process that a run is about."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence

NOT_EXECUTABLE = 127
"""Exit status of a run whose command could not be executed, as a shell gives it."""

_RESET = ('SIGTERM', 'SIGINT', 'SIGHUP', 'SIGPIPE', 'SIGXFSZ', 'SIGCHLD')
"""Signals that the launcher or Python itself ignores or handles; the child gets their default actions."""


def start_child(argv: list[str], cwd: str, env: Mapping[str, str], output: int, inherited: Sequence[int]) -> int:
    """Starts argv as leader of a new session and answers its process id.

    It gets exactly the environment `env`, an empty standard input, the descriptor `output` as standard output and
    error, and of all others only `inherited`. A command or directory that cannot be used is reported as one line of
    output and exit status 127.
    """
    pid = os.fork()
    if pid == 0:
        try:
            _become(argv, cwd, env, output, inherited)
        except (OSError, ValueError, TypeError, LookupError) as error:
            reason = getattr(error, 'strerror', None) or error
            os.write(2, f'[muster] cannot run {argv[:1]!r} in {cwd!r}: {reason}\n'.encode('utf-8', 'replace'))
        finally:
            os._exit(NOT_EXECUTABLE)
    return pid


def _become(argv: list[str], cwd: str, env: Mapping[str, str], output: int, inherited: Sequence[int]) -> None:
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
    os.execvpe(argv[0], argv, env)
