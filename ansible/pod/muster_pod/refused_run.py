"""A run that never began, as Muster hears of it."""

from __future__ import annotations

import time
from typing import Any

from .run_files import RunFiles

_NOT_STARTED = 127
"""Exit status of a run whose command could not be executed, as the launcher gives it."""


class RefusedRun(RunFiles):
    """Stands for the files of a run: the reason as its output, and its end. Nothing is written, since the disk may be full."""

    def __init__(self, runs: str, run_id: str, reason: str) -> None:
        super().__init__(runs, run_id)
        self._output = f'[muster] {reason}\n'.encode()
        self._ended_at = time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime())

    @property
    def exit(self) -> dict[str, Any] | None:
        return {'code': _NOT_STARTED, 'signal': None, 'ended_at': self._ended_at}

    @property
    def results(self) -> dict[str, Any] | None:
        return None

    def size(self, name: str) -> int:
        return len(self._output) if name == 'output.log' else 0

    def read(self, name: str, start: int, limit: int) -> bytes:
        return self._output[start : start + limit] if name == 'output.log' else b''
