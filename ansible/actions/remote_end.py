"""Ending a shell action at its target: part of what is sent there with `remote_shell.py`.

Nothing counts as gone that could not be seen to go. Python 3.6 and its standard library are enough.
"""

import os
import shutil
import signal
import stat
import time

CLAIM = 'claim'
"""Name of the note on which boot of the machine an action began; it is there as long as the action may be at work."""
KEEPER_GRACE = 12
"""Seconds that a keeper has to end an action, before it is ended itself."""
REFUSAL = 5
"""Seconds after which processes that cannot be ended are given up."""


def end(attempt, folder):
    """Ends an action. Returns whether all of it is gone, and why not."""
    left = end_all(attempt, KEEPER_GRACE)
    if left:
        return {'gone': False, 'why': 'processes cannot be ended: %s' % ', '.join(map(str, left[:10]))}
    try:
        found = os.lstat(folder)
    except FileNotFoundError:
        return {'gone': True, 'why': None}
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        return {'gone': False, 'why': '%s belongs to another user' % folder}
    if _began_on_this_boot(folder):
        _empty(folder)
        why = 'the process that watched over the action was killed: what has shed its environment may still be at work'
        return {'gone': False, 'why': why}
    shutil.rmtree(folder, ignore_errors=True)
    return {'gone': True, 'why': None}


def _began_on_this_boot(folder):
    try:
        with open(os.path.join(folder, CLAIM)) as file:
            return file.read() == boot_id()
    except FileNotFoundError:
        return False


def _empty(folder):
    """Removes all but the note by which the next one who asks gets the same answer."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name == CLAIM:
            continue
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)


def end_all(attempt, grace, keeper=None):
    """Ends every process of an attempt: TERM, after `grace` seconds KILL. Returns the processes that cannot be ended.

    `keeper`: a process that all of them descend of, which is left alone; None: the processes that name the attempt in their
    environment, and their descendants.
    """
    began = time.monotonic()
    told = set()
    left = {}
    empty = 0
    while True:
        left = _processes_of(attempt, keeper, left)
        # A process that forks while the table is read may be missed once.
        empty = 0 if left else empty + 1
        if empty == 2:
            return []
        passed = time.monotonic() - began
        if passed >= grace + REFUSAL:
            return sorted(left)
        for pid in left:
            if passed >= grace or pid not in told:
                told.add(pid)
                _signal(pid, signal.SIGKILL if passed >= grace else signal.SIGTERM)
        _reap()
        time.sleep(0.05)


def _processes_of(attempt, keeper, known):
    """Processes of an attempt by number, each with its start time; without zombies, this process and the keeper."""
    stats = {}
    children = {}
    for name in os.listdir('/proc'):
        found = _stat(int(name)) if name.isdigit() else None
        if found is not None:
            parent, start = found
            stats[int(name)] = start
            children.setdefault(parent, []).append(int(name))
    mark = ('MUSTER_ATTEMPT=%s\0' % attempt).encode()
    todo = [] if keeper is None else list(children.get(keeper, ()))
    todo += [pid for pid, start in known.items() if stats.get(pid) == start]
    todo += [pid for pid in stats if mark in _environment(pid)]
    found = {}
    while todo:
        pid = todo.pop()
        if pid in found or pid not in stats or pid in (os.getpid(), keeper):
            continue
        found[pid] = stats[pid]
        todo += children.get(pid, ())
    return found


def _stat(pid):
    """Parent and start time of a process; None for one that is gone, or a zombie. The name may hold blanks and parentheses."""
    try:
        with open('/proc/%d/stat' % pid, encoding='utf-8', errors='replace') as file:
            fields = file.read().rpartition(')')[2].split()
        # A zombie keeps the place of its other threads, which may still work.
        has_ended = fields[0] == 'X' or (fields[0] == 'Z' and int(fields[17]) <= 1)
        return None if has_ended else (int(fields[1]), fields[19])
    except (OSError, IndexError, ValueError):
        return None


def _environment(pid):
    try:
        with open('/proc/%d/environ' % pid, 'rb') as file:
            return file.read()
    except OSError:
        return b''


def _signal(pid, number):
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass  # It is gone, or it stays among the processes that are left.


def _reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def boot_id():
    """Identity of this boot of the machine."""
    with open('/proc/sys/kernel/random/boot_id') as file:
        return file.read().strip()
