"""Runs for the tests: a run directory, the real launcher, the real ansible-playbook of the interpreter's own venv."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ANSIBLE = Path(__file__).resolve().parents[1]
LAUNCHER = ANSIBLE / 'launcher' / 'launch.py'
PLAYBOOK = Path(sys.executable).parent / 'ansible-playbook'
PATIENCE = 300.0
"""Seconds after which a condition that a test waits for counts as never coming."""


def wait_until(condition: Callable[[], Any], what: str) -> Any:
    """Waits for a condition and answers its value."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < end, f'waited {PATIENCE:.0f} s for {what}'
        time.sleep(0.01)
    return value


def processes_of(run: Path) -> list[int]:
    """The launchers of a run that are alive."""
    found = []
    for entry in Path('/proc').iterdir():
        try:
            if entry.name.isdigit() and str(run).encode() in (entry / 'cmdline').read_bytes().split(b'\0'):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def is_running(pid: int) -> bool:
    """Whether there is that process; one whose parent has not taken its status yet does not run."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] not in 'ZX'
    except OSError:
        return False


def free_port() -> int:
    """A port for a server that starts later: of no outgoing connection, and of no test of another suite."""
    while True:
        port = random.randrange(32_000, 32_700)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(('127.0.0.1', port))
            return port


class Run:
    """One run directory and what is found in it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def specify(
        self,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        cwd: str = '/',
        masks: Iterable[str] = (),
        **more: Any,
    ) -> Run:
        """Writes spec.json and, with masks, mask.json."""
        self.directory.mkdir(exist_ok=True)
        spec = {
            'run_id': 'r-1-0',
            'argv': list(argv),
            'cwd': cwd,
            'env': dict(env or {}),
            'log_max_bytes': 1 << 20,
            **more,
        }
        (self.directory / 'spec.json').write_text(json.dumps(spec))
        if masks:
            (self.directory / 'mask.json').write_text(json.dumps(list(masks)))
        return self

    def launch(self) -> Run:
        """Starts the launcher, which detaches; with MUSTER_TEST_WARM=1 in a warm process."""
        from warm_process import is_test_of_warm, launch_warm

        if is_test_of_warm() and launch_warm(self):
            return self
        subprocess.run([sys.executable, str(LAUNCHER), str(self.directory)], check=True, timeout=PATIENCE)
        return self

    def finish(self) -> Run:
        """Waits for the end of the run."""
        wait_until((self.directory / 'exit.json').exists, 'exit.json')
        return self

    def read(self, name: str) -> str:
        """A file of the run as text."""
        return (self.directory / name).read_text(encoding='utf-8', errors='replace')

    @property
    def exit(self) -> dict[str, Any]:
        return json.loads(self.read('exit.json'))

    @property
    def output(self) -> str:
        return self.read('output.log')

    @property
    def launcher_pid(self) -> int:
        return json.loads(self.read('claim'))['pid']

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The events of one type, or all."""
        events = [json.loads(line) for line in self.read('events.jsonl').splitlines()]
        return [event for event in events if kind in (None, event['type'])]

    @property
    def results(self) -> dict[str, Any]:
        return json.loads(self.read('results.json'))

    @property
    def statuses(self) -> dict[str, str]:
        """What each host reached; empty when nothing was recorded."""
        if not (self.directory / 'results.json').exists():
            return {}
        return {host: result['status'] for host, result in self.results['hosts'].items()}

    def everything(self) -> str:
        """All that the run left, but for what it was given."""
        return '\n'.join(self.read(path.name) for path in self.directory.iterdir() if path.name != 'spec.json')


def playbook_env(home: Path) -> dict[str, str]:
    """A complete environment for ansible-playbook, with the shipped ansible.cfg and a home of its own."""
    return {
        'PATH': f'{PLAYBOOK.parent}:/usr/local/bin:/usr/bin:/bin',
        'HOME': str(home),
        'LANG': 'C.UTF-8',
        'PYTHONDONTWRITEBYTECODE': '1',
        'ANSIBLE_NOCOLOR': '1',
        'ANSIBLE_CONFIG': str(ANSIBLE / 'ansible.cfg'),
        'ANSIBLE_PYTHON_INTERPRETER': sys.executable,
        'ANSIBLE_SSH_CONTROL_PATH_DIR': str(home / 'cp'),
    }


class Workbench:
    """Plays a playbook on hosts of a local connection, in directories of the test's own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.home = directory / 'home'
        self.home.mkdir()
        self.count = 0

    def play(
        self,
        playbook: str,
        *args: str,
        hosts: Mapping[str, str] | Sequence[str] = ('h1', 'h2', 'h3'),
        env: Mapping[str, str] | None = None,
        masks: Iterable[str] = (),
        run: Path | None = None,
    ) -> Run:
        """Plays a playbook (its text) to the end; `hosts` may give a host variables of its own."""
        self.count += 1
        place = self.directory / f'play{self.count}'
        place.mkdir()
        own = hosts if isinstance(hosts, Mapping) else dict.fromkeys(hosts, '')
        lines = [
            '[all]',
            *(f'{host} {variables}' for host, variables in own.items()),
            '[all:vars]',
            'ansible_connection=local',
        ]
        (place / 'hosts').write_text('\n'.join(lines) + '\n')
        (place / 'site.yml').write_text(playbook)
        argv = [str(PLAYBOOK), '-i', str(place / 'hosts'), str(place / 'site.yml'), *args]
        started = Run(run or place / 'run').specify(argv, {**playbook_env(self.home), **(env or {})}, str(place), masks)
        return started.launch().finish()


def require_tmpfs(mount_point: Path, size: str) -> str:
    """Mounts a small disk; answers why that is not possible, or an empty text."""
    mount = shutil.which('mount')
    if os.geteuid() != 0 or mount is None:
        return 'a small disk needs root and mount(8)'
    mount_point.mkdir()
    done = subprocess.run(
        [mount, '-t', 'tmpfs', '-o', f'size={size}', 'tmpfs', str(mount_point)],
        capture_output=True,
        text=True,
        check=False,
    )
    return '' if done.returncode == 0 else f'no small disk can be mounted here: {done.stderr.strip()}'
