"""The parent of the launcher: what a killed launcher leaves becomes its child, and so is found whatever it has shed.

A process may leave its session, its parent and its environment behind, but not its nearest subreaper. While the launcher lives, that is
the launcher; once it was killed, it is the keeper. It does nothing but wait: for a launcher that ends in order it goes too, and what the
run has left working by then lives on as before.
"""

from __future__ import annotations

import ctypes
import json
import os

from claim import start_time

_PR_SET_CHILD_SUBREAPER = 36
NOTE = 'kept'
"""Name of the note that of a run whose launcher was killed nothing is left."""


def become_subreaper() -> None:
    """From now on orphans among the descendants of this process become its children."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def keep(run: str) -> dict[str, object] | None:
    """In a new process, which is to be the launcher: who keeps it. In this one None, when the launcher has ended.

    Who keeps it is found out here, before the fork: the parent of a launcher whose keeper was killed is somebody else, such as the first
    process of the machine, of which every process descends.
    """
    become_subreaper()
    keeper = {'pid': os.getpid(), 'start_time': start_time()}
    launcher = os.fork()
    if launcher == 0:
        return keeper
    status = _reap_until(launcher)
    if os.WIFSIGNALED(status) and _keeps(run):
        _reap_until(None)
        _note(run)
    return None


def _reap_until(last: int | None) -> int:
    """Reaps children until this one has ended, or none is left; the wait status of the one that ended last."""
    status = 0
    try:
        while True:
            pid, status = os.waitpid(-1, 0)
            if pid == last:
                return status
    except ChildProcessError:
        return status


def _keeps(run: str) -> bool:
    """Whether the launcher had claimed the run, which another one may have done."""
    try:
        with open(os.path.join(run, 'claim'), encoding='ascii') as file:
            return json.load(file)['keeper']['pid'] == os.getpid()
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _note(run: str) -> None:
    try:
        os.close(os.open(os.path.join(run, NOTE), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError:
        pass  # A full disk, or the run is gone: then somebody is told that something may be left.
