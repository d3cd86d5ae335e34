"""Questions to /proc: does that process still run, and which processes belong to a run."""

from __future__ import annotations

import os
from typing import Any, NamedTuple


class _Stat(NamedTuple):
    parent: int
    state: str
    start_time: str


def is_alive(claim: dict[str, Any]) -> bool:
    """Whether the process that a claim names still runs; a zombie does not."""
    try:
        with open('/proc/sys/kernel/random/boot_id', encoding='ascii') as file:
            boot_id = file.read().strip()
    except OSError:
        return False
    stat = _stat(claim.get('pid', 0))
    return (
        stat is not None
        and claim.get('boot_id') == boot_id
        and claim.get('start_time') == stat.start_time
        and stat.state not in 'ZX'
    )


def keeper_of(claim: dict[str, Any] | None) -> int | None:
    """The process that what a killed launcher leaves falls to; None when it is not there."""
    keeper = claim.get('keeper') if claim is not None else None
    # In a pod this program is the first process, of which everything descends.
    if not isinstance(keeper, dict) or keeper.get('pid') in (None, 1, os.getpid()):
        return None
    return keeper['pid'] if is_alive({**claim, **keeper}) else None


def processes_of(
    run_id: str, launcher: int | None, keeper: int | None, known: dict[int, str]
) -> dict[int, str]:
    """The processes of a run by number, each with its start time; without zombies, the launcher, its keeper and this process.

    They are those of `known` that are still there, the descendants of these, of the launcher and of its keeper, and all that carry the
    run's id in their environment, whoever their parent is by now.
    """
    stats: dict[int, _Stat] = {}
    children: dict[int, list[int]] = {}
    for name in os.listdir('/proc'):
        if name.isdigit() and (stat := _stat(int(name))) and stat.state not in 'ZX':
            stats[int(name)] = stat
            children.setdefault(stat.parent, []).append(int(name))
    mark = f'MUSTER_RUN_ID={run_id}\0'.encode()
    own = [pid for pid in (keeper, launcher) if pid is not None]
    roots = [*own]
    roots += [pid for pid, started in known.items() if pid in stats and stats[pid].start_time == started]
    roots += [pid for pid in stats if mark in _environment(pid)]
    found: dict[int, str] = {}
    while roots:
        pid = roots.pop()
        if pid in stats and pid not in found and pid != os.getpid():
            found[pid] = stats[pid].start_time
            roots += children.get(pid, ())
    for pid in own:
        found.pop(pid, None)
    return found


def _stat(pid: int) -> _Stat | None:
    """The name, the second field, may hold blanks and parentheses."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as file:
            fields = file.read().rpartition(')')[2].split()
        return _Stat(int(fields[1]), fields[0], fields[19])
    except (OSError, IndexError, ValueError):
        return None


def _environment(pid: int) -> bytes:
    try:
        with open(f'/proc/{pid}/environ', 'rb') as file:
            return file.read()
    except OSError:
        return b''
