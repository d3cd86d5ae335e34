"""Signals of this process as something to wait for.

Inside its container a step is process 1, for which the kernel knows no default actions: without a handler it would not
end when the pod is deleted, and nobody else takes the status of orphaned processes.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence


class Signals:
    """Takes the signals over; one per process, made and used in the main thread."""

    def __init__(self) -> None:
        self.ending: int = 0
        """Number of the signal that asked this process to end; 0 when none has."""
        self.adopts = False
        """Whether to take the status of every child that ends while this process waits, also of those it did not start."""
        self._wake, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    @property
    def exit_status(self) -> int:
        """Exit status of a process that was asked to end, as a shell gives it."""
        return 128 + self.ending

    def wait(self, seconds: float, *fds: int) -> bool:
        """Waits until one of `fds` can be read, a signal comes or the time is over; True when one of `fds` can be read."""
        ready, _, _ = select.select([self._wake, *fds], [], [], max(0.0, seconds))
        if self._wake in ready:
            try:
                os.read(self._wake, 4096)
            except BlockingIOError:
                pass
            if self.adopts:
                _reap()
        return any(fd in ready for fd in fds)

    def pause(self, seconds: float, known: int | None = None) -> None:
        """Lets the time pass; ends early only when `ending` is another one than `known` (by default the one at the beginning)."""
        before = self.ending if known is None else known
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self.ending == before:
            self.wait(left)

    def _end(self, number: int, _frame: object) -> None:
        self.ending = number


def run_child(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Runs a short program to its end and answers its exit status; nothing waits on signals meanwhile."""
    return subprocess.run(argv, env=env, cwd='/', stdin=subprocess.DEVNULL, check=False).returncode


def _reap() -> None:
    """Takes the status of every child that has ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
