"""What a run in check mode would change on every host, bounded in size."""

from __future__ import annotations

import json
import os
from typing import Any

HOST_TASKS = 50
"""Most tasks that are kept of one host."""

HOST_DIFF_BYTES = 32 * 1024
"""Most bytes of the differences of one host."""

RUN_BYTES = 16 * 1024 * 1024
"""Most bytes of all hosts together: results.json is read and handed in as a whole. Differences get half of it."""


class ChangeBook:
    """Tasks that would change something, by host. What has no room loses its difference first, then is only counted."""

    def __init__(self) -> None:
        self._changes: dict[str, list[dict[str, object]]] = {}
        self._left_out: dict[str, int] = {}
        self._uncertain: dict[str, int] = {}
        self._diff_sizes: dict[str, int] = {}
        self._diff_size = 0
        self._size = 0

    def add(self, host: str, change: dict[str, object]) -> None:
        """Notes one task of a host; its texts are clean and short."""
        if 'uncertain' in change:
            self._uncertain[host] = self._uncertain.get(host, 0) + 1
        kept = self._changes.setdefault(host, [])
        bare = {key: value for key, value in change.items() if key != 'diff'}
        bare_size = len(json.dumps(bare).encode())
        if len(kept) >= HOST_TASKS or self._size + bare_size > RUN_BYTES:
            self._left_out[host] = self._left_out.get(host, 0) + 1
            return
        diff_size = len(json.dumps(change).encode()) - bare_size
        used = self._diff_sizes.get(host, 0) + diff_size
        if used > HOST_DIFF_BYTES or self._diff_size + diff_size > RUN_BYTES // 2:
            change, diff_size = bare, 0
        kept.append(change)
        self._size += bare_size + diff_size
        self._diff_size += diff_size
        self._diff_sizes[host] = self._diff_sizes.get(host, 0) + diff_size

    def fields(self, host: str) -> dict[str, object]:
        """The members of the host's entry in results.json."""
        return {
            'changes': self._changes.get(host, []),
            'changes_left_out': self._left_out.get(host, 0),
            'uncertain': self._uncertain.get(host, 0),
        }


def place_of(task: Any, directory: str) -> str:
    """Where the task is written, as `file:line` below `directory` (a real path) or in a collection; empty when unknown."""
    path = task.get_path() or ''
    file, _, line = path.rpartition(':')
    if not file or not line.isdigit():
        return ''
    real = os.path.realpath(file)
    if real.startswith(f'{directory}/'):
        return f'{real[len(directory) + 1 :]}:{line}'
    _, collection, rest = real.partition('/ansible_collections/')
    return f'{rest}:{line}' if collection else f'{os.path.basename(real)}:{line}'
