"""Warm processes for the tests: the real program, asked as a worker asks it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runs import LAUNCHER, PATIENCE, PLAYBOOK, Run, wait_until

PROGRAM = LAUNCHER.with_name('warm.py')
AT_START = ('PYTHON', 'LC_', 'LANG', 'HOME', 'TMPDIR', 'USER', 'LOGNAME')


def startup_of(env: Mapping[str, str]) -> dict[str, str]:
    """What a worker gives to the process that is to execute runs with this environment."""
    read = {name: value for name, value in env.items() if name.startswith(AT_START)}
    return {'PATH': '/usr/local/bin:/usr/bin:/bin', **read}


class WarmProcess:
    """One warm process."""

    def __init__(self, env: Mapping[str, str], script: Path = PLAYBOOK, words: list[str] | None = None) -> None:
        interpreter = script.read_text().splitlines()[0][2:]
        self.process = subprocess.Popen(
            [interpreter, *(words or [str(PROGRAM), str(script)])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=startup_of(env),
            cwd='/',
            start_new_session=True,
        )
        self.first = self.answer()

    def answer(self) -> dict[str, Any]:
        """Its next answer; empty when it ends without."""
        return json.loads(self.process.stdout.readline() or b'{}')

    def order(self, run: Path, **more: Any) -> None:
        """Asks it for a run and does not wait."""
        self.process.stdin.write(json.dumps({'run': str(run), **more}).encode() + b'\n')
        self.process.stdin.flush()

    def start(self, run: Path, **more: Any) -> dict[str, Any]:
        """Asks it for a run."""
        self.order(run, **more)
        return self.answer()

    def finish(self, run: Run, **more: Any) -> Run:
        """Executes a run to its end."""
        assert self.start(run.directory, **more) == {'started': True}
        run.finish()
        wait_until(lambda: not Path(f'/proc/{run.launcher_pid}').exists(), 'the end of the launcher')
        return run

    def memory(self, pid: int | None = None) -> bytes:
        """All that the process, or another one, has written in its memory."""
        pid = pid or self.process.pid
        found = []
        with open(f'/proc/{pid}/maps', encoding='utf-8') as maps, open(f'/proc/{pid}/mem', 'rb', buffering=0) as memory:
            for line in maps:
                span, access, *_ = line.split()
                if access.startswith('rw'):
                    start, end = (int(number, 16) for number in span.split('-'))
                    memory.seek(start)
                    found.append(memory.read(end - start))
        return b''.join(found)

    def close(self) -> int:
        """Goes away as a worker does; the exit status of the process."""
        self.process.stdin.close()
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.stdout.close()


_kept: dict[str, WarmProcess] = {}


def launch_warm(run: Run) -> bool:
    """Launches a run by a process that is kept for all tests. False: the run cannot be read, a cold launcher is to say so."""
    try:
        env = json.loads(run.read('spec.json'))['env']
        startup = startup_of(env)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False
    key = json.dumps(startup, sort_keys=True)
    if key not in _kept:
        for other in list(_kept):
            _kept.pop(other).close()
        _kept[key] = WarmProcess(env)
    answer = _kept[key].start(run.directory)
    assert answer == {'started': True}, answer
    return True


def is_test_of_warm() -> bool:
    """Whether all runs of the tests are to be started warm."""
    return os.environ.get('MUSTER_TEST_WARM', '') == '1'
