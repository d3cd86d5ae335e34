"""A real ARA server for a test, with its records in a folder of the test's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

from runs import free_port, wait_until

MANAGE = Path(sys.executable).parent / 'ara-manage'


class AraServer:
    """Runs until `close`; listens on a port of its own."""

    def __init__(self, directory: Path) -> None:
        address = f'127.0.0.1:{free_port()}'
        self.url = f'http://{address}'
        env = {**os.environ, 'ARA_BASE_DIR': str(directory), 'ARA_ALLOWED_HOSTS': '["127.0.0.1"]'}
        log = directory / 'server.log'
        with open(log, 'wb') as file:
            subprocess.run([MANAGE, 'migrate'], env=env, stdout=file, stderr=file, check=True)
            self._server = subprocess.Popen(
                [MANAGE, 'runserver', '--noreload', address], env=env, stdout=file, stderr=file
            )
        wait_until(self._answers, f'the ARA server; its log: {log}')

    def records(self, kind: str, **query: str) -> list[dict[str, Any]]:
        """Records of one kind, as its API lists them."""
        words = '&'.join(f'{key}={value}' for key, value in query.items())
        with urllib.request.urlopen(f'{self.url}/api/v1/{kind}?{words}', timeout=120) as answer:
            return json.load(answer)['results']

    def record(self, kind: str, number: int) -> dict[str, Any]:
        """One record with all that belongs to it."""
        with urllib.request.urlopen(f'{self.url}/api/v1/{kind}/{number}', timeout=120) as answer:
            return json.load(answer)

    def close(self) -> None:
        """Ends it."""
        self._server.terminate()
        self._server.wait()

    def _answers(self) -> bool:
        assert self._server.poll() is None
        try:
            self.records('playbooks')
        except OSError:
            return False
        return True
