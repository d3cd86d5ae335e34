"""The near side of a shell action at a target: `python over_ssh.py run CALL` and `python over_ssh.py end CALL` (`-`: standard input).

CALL is a file of JSON: `ssh`, the words of a command that executes `remote_shell.py` at the target once it has been sent its text;
`attempt` and `folder`, by which the far side knows the action; perhaps `patience`, the seconds that it may take to greet; for `run` also
`argv`, `env` and `files`, a folder whose content is copied.

`run` is the program of a run: it hands on the output of the action, ends with its exit status, and writes down what became of it as
events of the run. For the exit status of ssh is not that of the action, and no text of an action can pass for an event.

    target_begun    the action is about to begin; without this event nothing has happened at the target
    target_end      `end` is one of
                      exited       with `status`, and `left` where files could not be removed
                      unreachable  ssh did not come so far as to begin: `message`
                      refused      the target did not begin: no sudo, no python3, no room: `message`
                      lost         the connection ended before the action did: `message`

`end` ends every process of an attempt and prints {"gone", "why"}; its exit status is 0 where the target has answered.
"""

from __future__ import annotations

import json
import os
import stat
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(_HERE))

from muster_run.masking import Masker

PROGRAM = os.path.join(_HERE, 'remote_shell.py')
GREETING = b'muster-remote-shell 1\n'
NO_STATUS = 255
"""Exit status of a run whose action has none."""
_UNREACHED = 255
"""Exit status of ssh for what is no end of the command."""
_ALIVE_EVERY = 5.0
"""Seconds between two signs of life; the far side gives up after a minute without any."""
_PATIENCE = 60
"""Seconds that a target may take until it greets: to be connected to, to log in, to find its Python."""
_READ = 65536
_NOISE = 64 * 1024
"""Bytes that a target may print before it greets: what its shell has to say."""
_LARGEST_FRAME = 16 * 1024 * 1024
_LONGEST_MESSAGE = 1000


class Trouble(Exception):
    """Why there is no exit status."""

    def __init__(self, end: str, message: str) -> None:
        super().__init__(message)
        self.end = end
        self.message = message


class Connection:
    """The command at the target, as long as it is there."""

    def __init__(self, words: list[str]) -> None:
        self._ssh = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._last_words = b''
        self._greeted = False
        self._noise = b''
        self._errors = threading.Thread(target=self._hear_errors, daemon=True)
        self._errors.start()

    def open(self, patience: float) -> None:
        """Sends the program, and waits until it greets. Raises Trouble."""
        late = threading.Event()
        timer = threading.Timer(patience, lambda: (late.set(), self._ssh.kill()))
        timer.daemon = True
        timer.start()
        try:
            self._await_greeting()
        except Trouble:
            if late.is_set():
                raise Trouble('unreachable', f'the target did not answer within {patience} s') from None
            raise
        finally:
            timer.cancel()

    def _await_greeting(self) -> None:
        program = Path(PROGRAM).read_bytes()
        self.send(b'%d\n' % len(program) + program)
        assert self._ssh.stdout is not None
        while not self._noise.endswith(GREETING):
            # Byte by byte: nothing that comes after the greeting may be taken away here.
            piece = os.read(self._ssh.stdout.fileno(), 1)
            if not piece or len(self._noise) > _NOISE:
                raise self.trouble()
            self._noise += piece
        self._greeted = True

    def send(self, content: bytes) -> None:
        """Sends bytes. What the target does not take is not told here: why it went shows in what it says."""
        assert self._ssh.stdin is not None
        rest = memoryview(content)
        try:
            while rest:
                rest = rest[os.write(self._ssh.stdin.fileno(), rest) :]
        except (BrokenPipeError, ValueError):
            pass

    def frames(self) -> Iterator[tuple[bytes, bytes]]:
        """What the target says, until it says no more."""
        while (head := self._read(5)) is not None:
            kind, size = struct.unpack('>cI', head)
            content = self._read(size) if size <= _LARGEST_FRAME else None
            if content is None:
                return
            yield kind, content

    def answer(self, kind: bytes) -> bytes:
        """The next thing that the target says, which should be of this kind. Raises Trouble."""
        said, content = next(self.frames(), (b'', b''))
        if said == kind:
            return content
        if said == b'F':
            raise Trouble('refused', content.decode('utf-8', 'replace'))
        raise self.trouble()

    def trouble(self) -> Trouble:
        """Why the target says no more, before it has begun."""
        status = self.close()
        return Trouble('unreachable' if status == _UNREACHED else 'refused', self.last_words(status))

    def last_words(self, status: int) -> str:
        """What ssh, or the target, said last."""
        noise = b'' if self._greeted else self._noise
        for text in (self._last_words, noise):
            lines = text.decode('utf-8', 'replace').strip().splitlines()
            if lines:
                return lines[-1].strip()
        return f'ssh ended with exit status {status}'

    def close(self) -> int:
        """Ends the connection; the exit status of ssh."""
        assert self._ssh.stdin is not None
        try:
            self._ssh.stdin.close()
        except BrokenPipeError:
            pass
        try:
            status = self._ssh.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._ssh.kill()
            status = self._ssh.wait()
        # Whatever ssh has left behind may hold the pipe.
        self._errors.join(timeout=2)
        return status

    def _read(self, size: int) -> bytes | None:
        assert self._ssh.stdout is not None
        content = b''
        while len(content) < size:
            piece = os.read(self._ssh.stdout.fileno(), min(size - len(content), _READ))
            if not piece:
                return None
            content += piece
        return content

    def _hear_errors(self) -> None:
        assert self._ssh.stderr is not None
        while piece := os.read(self._ssh.stderr.fileno(), _READ):
            self._last_words = (self._last_words + piece)[-_READ:]
            os.write(2, piece)


class Events:
    """The events of this run: a line is written whole or not at all."""

    def __init__(self, directory: str, secrets: list[str]) -> None:
        self._path = os.path.join(directory, 'events.jsonl')
        self._secrets = secrets

    def write(self, kind: str, **fields: object) -> bool:
        """Whether the event is there."""
        now = time.time()
        when = f'{time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))}.{int(now * 1000) % 1000:03d}Z'
        line = json.dumps({'time': when, 'type': kind, **fields}).encode() + b'\n'
        try:
            fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                size = os.fstat(fd).st_size
                if os.write(fd, line) == len(line):
                    return True
                os.ftruncate(fd, size)
            finally:
                os.close(fd)
        except OSError as error:
            print(f'[muster] the end of the action cannot be noted: {error.strerror}', file=sys.stderr)
        return False

    def masked(self, text: str) -> str:
        """A text without the secrets of the run."""
        masker = Masker(self._secrets)
        shown = masker.feed(text.encode('utf-8', 'replace')) + masker.flush()
        return shown.decode('utf-8', 'replace')[:_LONGEST_MESSAGE]


def main(argv: list[str]) -> int:
    """Does what the command line says."""
    if len(argv) != 3 or argv[1] not in ('run', 'end'):
        print('usage: over_ssh.py run|end CALL', file=sys.stderr)
        return 2
    call = json.load(sys.stdin) if argv[2] == '-' else json.loads(Path(argv[2]).read_text(encoding='utf-8'))
    return _end(call) if argv[1] == 'end' else _run(call, Events(os.environ['MUSTER_RUN_DIR'], _secrets()))


def _secrets() -> list[str]:
    """Secrets that may not show; the launcher hands them on in a file in memory."""
    number = os.environ.get('MUSTER_MASK_FD')
    if number is None:
        return []
    with open(int(number), encoding='utf-8') as file:
        return json.load(file)


def _end(call: dict) -> int:
    connection = Connection(call['ssh'])
    try:
        connection.open(call.get('patience', _PATIENCE))
        connection.send(_line({'do': 'end', 'attempt': call['attempt'], 'folder': call['folder']}))
        print(connection.answer(b'E').decode())
    except Trouble as trouble:
        print(json.dumps({'gone': False, 'why': trouble.message}))
        return 1
    connection.close()
    return 0


def _run(call: dict, events: Events) -> int:
    try:
        connection = _prepared(call)
    except Trouble as trouble:
        return _without_status(events, trouble.end, trouble.message)
    if not events.write('target_begun'):
        connection.close()
        return _without_status(events, 'refused', 'there is no room for the events of the run')
    # With this byte it begins.
    connection.send(b'.')
    threading.Thread(target=_keep_alive, args=(connection,), daemon=True).start()
    for kind, content in connection.frames():
        if kind == b'O':
            _print(content)
        elif kind == b'X':
            connection.close()
            return _exited(events, json.loads(content))
    status = connection.close()
    return _without_status(events, 'lost', connection.last_words(status))


def _prepared(call: dict) -> Connection:
    """A connection on which the action is about to begin. Raises Trouble."""
    connection = Connection(call['ssh'])
    connection.open(call.get('patience', _PATIENCE))
    paths = sorted(path for path in Path(call['files']).rglob('*') if path.is_file())
    files = [
        {
            'path': str(path.relative_to(call['files'])),
            'size': path.stat().st_size,
            'mode': stat.S_IMODE(path.stat().st_mode),
        }
        for path in paths
    ]
    order = {key: call[key] for key in ('attempt', 'folder', 'argv', 'env')}
    connection.send(_line({'do': 'run', **order, 'files': files}))
    for path in paths:
        connection.send(path.read_bytes())
    connection.answer(b'A')
    return connection


def _keep_alive(connection: Connection) -> None:
    while True:
        time.sleep(_ALIVE_EVERY)
        connection.send(b'.')


def _exited(events: Events, end: dict) -> int:
    if end['left']:
        print('[muster] files of the action could not be removed at the target', file=sys.stderr)
    is_noted = events.write('target_end', end='exited', status=end['status'], left=end['left'])
    return end['status'] if is_noted else NO_STATUS


def _without_status(events: Events, end: str, message: str) -> int:
    _print(f'[muster] {message}\n'.encode('utf-8', 'replace'))
    events.write('target_end', end=end, message=events.masked(message))
    return NO_STATUS


def _print(content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(1, rest) :]


def _line(order: dict) -> bytes:
    return json.dumps(order).encode() + b'\n'


if __name__ == '__main__':
    sys.exit(main(sys.argv))
