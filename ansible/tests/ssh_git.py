"""A real sshd that serves git repositories, for the tests."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

from runs import PATIENCE, free_port

SSHD = shutil.which('sshd', path=f'{os.environ.get("PATH", "")}:/usr/sbin')


class SshGit:
    """Accepts one key for the running user on a free port of 127.0.0.1."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        for name in ('host', 'client'):
            subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', directory / name], check=True)
        self.port = free_port()
        lines = [
            f'Port {self.port}',
            'ListenAddress 127.0.0.1',
            f'HostKey {directory / "host"}',
            f'AuthorizedKeysFile {directory / "client.pub"}',
            f'PidFile {directory / "pid"}',
            'UsePAM no',
            'StrictModes no',
            'PermitRootLogin prohibit-password',
            # To bash, a shell inside another one: it does not read the ~/.bashrc of whoever runs the tests.
            'SetEnv SHLVL=2',
        ]
        (directory / 'sshd_config').write_text('\n'.join(lines) + '\n')
        if os.geteuid() == 0:
            Path('/run/sshd').mkdir(exist_ok=True)
        self._server = subprocess.Popen([str(SSHD), '-D', '-e', '-f', directory / 'sshd_config'], stderr=subprocess.DEVNULL)
        self.key = (directory / 'client').read_text()
        self.known_hosts = f'[127.0.0.1]:{self.port} {(directory / "host.pub").read_text()}'
        self._await()

    def close(self) -> None:
        self._server.terminate()
        self._server.wait(20)

    def _await(self) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                socket.create_connection(('127.0.0.1', self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError('sshd does not listen')
