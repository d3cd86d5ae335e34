"""Ending a run so that no process of it is left."""

from __future__ import annotations

import os
import signal
import time

from .processes import is_alive, keeper_of, processes_of
from .run_files import RunFiles
from .signals import Signals

_GRACE = 3.0
"""Seconds that a process has to end by itself after TERM."""
_LAUNCHER_GRACE = 1.0
"""Seconds that the launcher has to write the end when its last child is gone."""
_LIMIT = 8.0
"""After so long processes that do not end, or may not be signalled, are left to the end of the container."""
_PAUSE = 0.05
_EMPTY_LOOKS = 2
"""A process that forks while the table is read may be missed once."""


def end_run(run: RunFiles, signals: Signals) -> None:
    """TERM, 3 s, then KILL until none is found. Harmless for a run that has ended or never began."""
    began = time.monotonic()
    run.was_told_to_end = run.was_told_to_end or run.exit is None
    told: set[int] = set()
    left: dict[int, str] = {}
    empty = 0
    idle_since: float | None = None
    while empty < _EMPTY_LOOKS and time.monotonic() - began < _LIMIT:
        claim = run.claim
        launcher = claim['pid'] if claim is not None and is_alive(claim) else None
        left = processes_of(run.run_id, launcher, keeper_of(claim), left)
        empty = empty + 1 if not left and launcher is None else 0
        late = time.monotonic() - began >= _GRACE
        for pid in left:
            if late or pid not in told:
                _signal(pid, signal.SIGKILL if late else signal.SIGTERM)
                told.add(pid)
        # With no child left the launcher writes the exit file and goes; or it is about to start the child.
        idle_since = None if left else idle_since or time.monotonic()
        if launcher is not None and idle_since is not None and time.monotonic() - idle_since > _LAUNCHER_GRACE:
            _signal(launcher, signal.SIGKILL)
        signals.wait(_PAUSE)
    run.forget_secrets()


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass
