"""A session's pod for the tests: its files below a folder, its steps as processes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from pod_server import Muster
from runs import ANSIBLE, PATIENCE, playbook_env
from warm_process import is_test_of_warm

POD = ANSIBLE / 'pod'
RUN, SECOND_RUN = (f'run-{uuid4()}' for _ in range(2))
"""Of these tests alone: a step ends whatever on its machine carries the id of its run, also what others test there at the same time."""
PLAIN = '- hosts: all\n  gather_facts: false\n  tasks:\n    - debug:\n        msg: hello of {{ inventory_hostname }}\n'
"""A playbook of one task that says something of each host."""


class Pod:
    """Folders and files as a session's Secret and volumes make them."""

    def __init__(self, root: Path, muster: Muster) -> None:
        self.root = root
        self.muster = muster
        self.env = {
            'PATH': f'{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin',
            'PYTHONPATH': str(POD),
            'PYTHONDONTWRITEBYTECODE': '1',
            'MUSTER_POD_ROOT': str(root),
            'MUSTER_INGEST_URL': muster.url,
            'MUSTER_SESSION_ID': '0b8c9f0e-8f3c-4a51-9d0e-6f6b7c8d9e0f',
            'GIT_RETRY_DELAY': '0.2',
            'MUSTER_ANSIBLE_WARM': 'on' if is_test_of_warm() else 'off',
        }
        self.processes: list[subprocess.Popen[str]] = []
        for folder in ('inventory/ssh', 'muster/session', 'muster/credentials', 'muster/work', 'dev/shm'):
            self.path(folder).mkdir(parents=True)
        self.write('muster/session/token', muster.token)
        self.write('secret-keys/id_ecdsa', 'PRIVATE KEY 1\n')
        self.write('secret-keys/id_ecdsa.pub', 'PUBLIC KEY 1\n')
        self.write('secret-certs/id_ecdsa-cert.pub', 'CERTIFICATE 1\n')
        self.write('tmp/ansible/ansible.cfg', '[defaults]\nforks = 5\n')
        self.write('dev/termination-log', '')

    def path(self, name: str) -> Path:
        return self.root / name

    def write(self, name: str, text: str) -> Path:
        file = self.path(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def read(self, name: str) -> str:
        return self.path(name).read_text()

    def start(self, step: str, prefix: Sequence[str] = (), **env: str) -> subprocess.Popen[str]:
        """Starts a step, behind the words of `prefix`; its log is a file, so that it never waits for a reader."""
        with open(self.root / f'{step}.log', 'a') as log:
            process = subprocess.Popen(
                [*prefix, sys.executable, '-m', 'muster_pod', step, '[]'],
                env={**self.env, **env},
                cwd='/',
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                text=True,
            )
        self.processes.append(process)
        return process

    def run(self, step: str, **env: str) -> int:
        """Runs a step to its end and answers its exit status."""
        return self.start(step, **env).wait(PATIENCE)

    def log(self, step: str) -> str:
        return (self.root / f'{step}.log').read_text()

    def last_words(self) -> str:
        """What Kubernetes would tell of the container."""
        return self.read('dev/termination-log')

    def inventory_done(self, *hosts: str) -> None:
        """Leaves what the steps before `ansible` leave, with hosts of a local connection."""
        lines = ['all:', '  vars:', '    ansible_connection: local', '  hosts:', *(f'    {host}: {{}}' for host in hosts)]
        self.write('inventory/hosts/01-cfs-generated.yaml', '\n'.join(lines) + '\n')
        self.write('inventory/complete', '0')

    def playbook(self, text: str, name: str = 'site.yml', layer: int = 0) -> None:
        self.write(f'inventory/layer{layer}/{name}', text)

    def order(self, run_id: str = RUN, layer: int = 0, env: Mapping[str, str] | None = None, **more: Any) -> None:
        """Orders a run of the layer's playbook. `env`: variables of it besides."""
        variables = env or {}
        env = playbook_env(self.path('muster/work/home'))
        # Muster sends nothing that an interpreter reads at its start.
        del env['PYTHONDONTWRITEBYTECODE']
        env.update(
            ANSIBLE_INVENTORY=str(self.path('inventory/hosts')),
            ANSIBLE_HOME=str(self.path('muster/work/ansible-home')),
            ANSIBLE_LOCAL_TEMP=str(self.path('muster/work/tmp')),
            ANSIBLE_REMOTE_TMP=str(self.path('muster/work/tmp/remote')),
            ANSIBLE_SSH_CONTROL_PATH_DIR=str(self.path('muster/work/cp')),
            **variables,
        )
        run = {
            'id': run_id,
            'layer': layer,
            'attempt': 1,
            'playbook': 'site.yml',
            'debug': False,
            'arguments': [],
            'limit_file': None,
            'environment': env,
            'cwd': str(self.path(f'inventory/layer{layer}')),
            'log_max': 1 << 20,
            **more,
        }
        self.muster.order(action='run', run=run)

    def mask(self, *secrets: str) -> None:
        self.write('muster/session/masks.json', json.dumps(list(secrets)))

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        left = [entry for entry in Path('/proc').iterdir() if entry.name.isdigit() and self._owns(entry)]
        for entry in left:
            # It may have ended since it was seen.
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(entry.name), 9)

    def _owns(self, entry: Path) -> bool:
        try:
            return f'MUSTER_RUN_DIR={self.root}'.encode() in (entry / 'environ').read_bytes()
        except OSError:
            return False
