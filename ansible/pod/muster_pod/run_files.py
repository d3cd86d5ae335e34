"""The files of one run, by which this program and the launcher meet; the same as beside a worker."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from .files import put_file

_TERMINATED = {'code': 143, 'signal': 'SIGTERM'}
"""End of a process that TERM has ended, as the launcher gives it."""
_RUN_ID = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,199}')


class RunFiles:
    """The directory of one run."""

    def __init__(self, runs: str, run_id: str) -> None:
        if not _RUN_ID.fullmatch(run_id):
            raise ValueError('the id of a run is not one')
        self.run_id = run_id
        self.directory = os.path.join(runs, run_id)
        self.was_told_to_end = False
        """Whether TERM was sent to its processes before it had ended."""

    def path(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def make(self, spec: dict[str, Any], masks: list[str], environment: dict[str, str]) -> None:
        """Writes what the launcher reads; `environment`: variables that are secrets. Raises OSError."""
        os.makedirs(self.directory, mode=0o700, exist_ok=True)
        if masks:
            put_file(self.path('mask.json'), json.dumps(masks).encode(), 0o600)
        if environment:
            put_file(self.path('environment.json'), json.dumps(environment).encode(), 0o600)
        put_file(self.path('spec.json'), json.dumps(spec).encode(), 0o600)

    def forget_secrets(self) -> None:
        """Removes the run's secrets, should no launcher have done so."""
        for name in ('mask.json', 'environment.json'):
            try:
                os.unlink(self.path(name))
            except OSError:
                pass

    @property
    def claim(self) -> dict[str, Any] | None:
        """Who executes the run; None when nobody has claimed it."""
        return self._json('claim')

    @property
    def exit(self) -> dict[str, Any] | None:
        """How the run ended; None when it has not.

        One that was told to end, and failed, has failed by that, whatever status its program gives for it.
        """
        found = self._json('exit.json')
        if found is None or not isinstance(found.get('code'), int):
            return None
        end = {name: found.get(name) for name in ('code', 'signal', 'ended_at')}
        return {**end, **_TERMINATED} if self.was_told_to_end and end['code'] != 0 else end

    @property
    def results(self) -> dict[str, Any] | None:
        """What the hosts reached; None when the playbook never came to its statistics."""
        return self._json('results.json')

    def size(self, name: str) -> int:
        """Bytes of a file; 0 when it is not there."""
        try:
            return os.stat(self.path(name)).st_size
        except OSError:
            return 0

    def read(self, name: str, start: int, limit: int) -> bytes:
        """At most `limit` bytes of a file from `start` on; none when it is not there."""
        try:
            with open(self.path(name), 'rb', buffering=0) as file:
                file.seek(start)
                return file.read(limit)
        except OSError:
            return b''

    def _json(self, name: str) -> dict[str, Any] | None:
        try:
            with open(self.path(name), encoding='utf-8') as file:
                found = json.load(file)
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None
