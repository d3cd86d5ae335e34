"""A repository, and runs of it by a warm process and by a launcher of their own."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runs import ANSIBLE, PLAYBOOK, Run, playbook_env
from warm_process import WarmProcess


class Place:
    """A repository, and runs of it by the one and the other way."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.home = directory / 'home'
        self.home.mkdir()
        self.repository = directory / 'repository'
        self.repository.mkdir()
        self.env = {**playbook_env(self.home), 'ANSIBLE_NOCOLOR': '1', 'ANSIBLE_HOME': str(self.home / 'ansible')}
        self.process: WarmProcess | None = None
        (self.repository / 'hosts').write_text('h1\nh2\n[all:vars]\nansible_connection=local\n')

    @property
    def warm(self) -> WarmProcess:
        if self.process is None:
            self.process = WarmProcess(self.env)
            assert self.process.first == {'ready': True}
        return self.process

    def write(self, name: str, text: str) -> None:
        path = self.repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run(
        self,
        name: str,
        warm: bool,
        words: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        masks: Sequence[str] = (),
    ) -> Run:
        run = Run(self.directory / name)
        # More hosts at once answer in any order.
        argv = [str(PLAYBOOK), '-i', 'hosts', '--forks', '1', 'site.yml', *words]
        run.specify(argv, {**self.env, **(env or {})}, str(self.repository), masks)
        if warm:
            return self.warm.finish(run)
        return launch_cold(run).finish()


def launch_cold(run: Run) -> Run:
    """Starts it by a launcher of its own."""
    subprocess.run([sys.executable, '-S', str(ANSIBLE / 'launcher' / 'launch.py'), str(run.directory)], check=True)
    return run


def colds(run: Run) -> list[str]:
    if not (run.directory / 'events.jsonl').exists():
        return []
    return [event['message'] for event in run.events('cold_start')]


def left_by(run: Run) -> dict[str, Any]:
    """All that a run left, without times and numbers of processes."""
    found: dict[str, Any] = {'exit': {key: run.exit[key] for key in ('code', 'signal')}}
    found['files'] = sorted(path.name for path in run.directory.iterdir())
    for name in ('output.log', 'events.jsonl', 'results.json', 'launcher.log'):
        text = run.read(name) if (run.directory / name).exists() else None
        if text is not None:
            text = re.sub(r'"(time|duration)":\s*("[^"]*"|[\d.]+)', r'"\1":0', text.replace(run.directory.name, 'RUN'))
            text = re.sub(r'ansible-(tmp|local)-[\w.-]+', 'TMP', text)
        found[name] = text
    return found
