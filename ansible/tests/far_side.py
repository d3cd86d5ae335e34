"""Shell actions at a target for the tests: a command in the place of ssh, a folder of the target, what is left of an action."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import struct
import subprocess
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from connection import GREETING, program
from runs import ANSIBLE, PATIENCE, is_running, wait_until

OVER_SSH = ANSIBLE / 'actions' / 'over_ssh.py'
BEGIN = 'import sys;f=sys.stdin.buffer;exec(compile(f.read(int(f.readline())),"remote_shell.py","exec"))'


class FarSide:
    """An action at a target, which is this machine."""

    def __init__(self, directory: Path) -> None:
        self.attempt = str(uuid.uuid4())
        self.directory = directory
        self.folder = directory / 'far'
        self.files = directory / 'files'
        self.run_directory = directory / 'run'
        self.files.mkdir()
        self.run_directory.mkdir()

    def command(self, marked: bool = True) -> str:
        """The command of the target: that which begins carries the attempt, that which ends does not."""
        mark = f'env MUSTER_ATTEMPT={self.attempt} ' if marked else ''
        return f"exec {mark}{shlex.quote(sys.executable)} -I -c '{BEGIN}'"

    def script(self, text: str) -> FarSide:
        """Gives the action its file."""
        (self.files / 'action.sh').write_text(text)
        return self

    def start(
        self,
        before: str = '',
        ssh: list[str] | None = None,
        secrets: Sequence[str] = (),
        patience: float | None = None,
    ) -> subprocess.Popen[str]:
        """Begins the action; `before` is done by the shell of the target first; `ssh` stands in for all of that."""
        call = {
            'ssh': ssh or ['sh', '-c', f'{before}\n{self.command()}'],
            'attempt': self.attempt,
            'folder': str(self.folder),
            'argv': ['bash', 'action.sh'],
            'env': {'MUSTER_INPUTS': str(self.folder / 'inputs.json')},
            'files': str(self.files),
            **({} if patience is None else {'patience': patience}),
        }
        place = self.directory / 'call.json'
        place.write_text(json.dumps(call))
        env = {**os.environ, 'MUSTER_RUN_DIR': str(self.run_directory)}
        masks = os.memfd_create('masks')
        with open(masks, 'w', closefd=False) as file:
            json.dump(list(secrets), file)
        os.lseek(masks, 0, os.SEEK_SET)
        env['MUSTER_MASK_FD'] = str(masks)
        run = subprocess.Popen(
            [sys.executable, str(OVER_SSH), 'run', str(place)],
            env=env,
            pass_fds=[masks],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        os.close(masks)
        return run

    def finish(self, **how: Any) -> tuple[int, str]:
        """Executes the action; its exit status and its output."""
        run = self.start(**how)
        output = run.communicate(timeout=PATIENCE)[0]
        return run.returncode, output

    def end(self, ssh: list[str] | None = None) -> tuple[int, dict[str, Any]]:
        """Ends the action over another connection; exit status and answer."""
        call = {
            'ssh': ssh or ['sh', '-c', self.command(marked=False)],
            'attempt': self.attempt,
            'folder': str(self.folder),
        }
        run = subprocess.run(
            [sys.executable, str(OVER_SSH), 'end', '-'],
            input=json.dumps(call),
            stdout=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return run.returncode, json.loads(run.stdout)

    def events(self) -> list[dict[str, Any]]:
        """What was noted, without times."""
        path = self.run_directory / 'events.jsonl'
        lines = path.read_text().splitlines() if path.exists() else []
        return [{key: value for key, value in json.loads(line).items() if key != 'time'} for line in lines]

    def number(self, name: str) -> int:
        """The number of a process that the action has written into a file."""
        path = self.directory / name
        return int(wait_until(lambda: path.exists() and path.read_text().strip(), name))

    def processes(self, part: str = '') -> list[int]:
        """Processes that carry the attempt, and a part of a command line."""
        found = []
        for entry in Path('/proc').iterdir():
            with contextlib.suppress(OSError):
                if not entry.name.isdigit():
                    continue
                if f'MUSTER_ATTEMPT={self.attempt}\0'.encode() not in (entry / 'environ').read_bytes():
                    continue
                if part.encode() in (entry / 'cmdline').read_bytes() and is_running(int(entry.name)):
                    found.append(int(entry.name))
        return sorted(found)

    def keeper(self) -> int:
        """The process that watches over the action."""
        return next(pid for pid in self.processes('remote_shell.py') if _parent(pid) not in self.processes('remote_shell.py'))

    def close(self) -> None:
        """Ends what a test has left."""
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _parent(pid: int) -> int:
    return int(Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[1])


class Spoken:
    """The far side by itself, spoken to frame by frame; `instead` changes its text."""

    def __init__(self, far: FarSide, instead: tuple[str, str] | None = None) -> None:
        text = program()
        if instead is not None:
            assert instead[0].encode() in text
            text = text.replace(instead[0].encode(), instead[1].encode())
        self.process = subprocess.Popen(
            ['sh', '-c', far.command()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.input, self.output = self.process.stdin, self.process.stdout
        self.say(b'%d\n' % len(text) + text)
        assert self.output.read(len(GREETING)) == GREETING

    def say(self, content: bytes) -> None:
        """Sends bytes."""
        self.input.write(content)
        self.input.flush()

    def order(self, far: FarSide, script: str, path: str = 'action.sh') -> None:
        """Sends an action of one file."""
        content = script.encode()
        order = {
            'do': 'run',
            'attempt': far.attempt,
            'folder': str(far.folder),
            'argv': ['bash', 'action.sh'],
            'env': {},
            'files': [{'path': path, 'size': len(content), 'mode': 0o600}],
        }
        self.say(json.dumps(order).encode() + b'\n' + content)

    def hear(self) -> tuple[bytes, bytes]:
        """The next frame."""
        kind, size = struct.unpack('>cI', self.output.read(5))
        return kind, self.output.read(size)
