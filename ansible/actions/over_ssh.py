"""The near side of a shell action at a target: `python over_ssh.py run CALL` and `python over_ssh.py end CALL` (`-`: standard input).

CALL is a file of JSON: `ssh`, the words of a command that executes what it is sent;
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
import sys
import threading
import time
from pathlib import Path

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(_HERE))

from connection import Connection, Trouble

from muster_run.masking import Masker

NO_STATUS = 255
"""Exit status of a run whose action has none."""
_ALIVE_EVERY = 5.0
"""Seconds between two signs of life; the far side gives up after a minute without any."""
_PATIENCE = 60
"""Seconds that a target may take until it greets: to be connected to, to log in, to find its Python."""
_LONGEST_MESSAGE = 1000


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
                    # After a crash of this machine the note says what may be at work elsewhere.
                    os.fsync(fd)
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
