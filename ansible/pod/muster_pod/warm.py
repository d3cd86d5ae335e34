"""A process of this pod that has imported Ansible, and starts the launchers of its runs.

It is made while the pod waits for its inventory. Whatever goes wrong with it costs a cold start and nothing else: of all launchers of
a run, one claims it.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping
from typing import Any

from .places import Places
from .signals import Signals

_PROGRAM = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), 'launcher', 'warm.py'
)
_READY_SECONDS = 10.0
_ANSWER_SECONDS = 3.0
_READ_SECONDS = 60.0
"""The same when it says that it may have to read the inventory of a whole fleet before."""
_LANGUAGE = 'C.UTF-8'


def run_base(where: Places) -> dict[str, str]:
    """The variables of each run that an interpreter reads at its start."""
    return {'HOME': os.path.join(where.work, 'home'), 'LANG': _LANGUAGE}


class WarmAnsible:
    """The process, or none where `program` is not there or it cannot be made."""

    def __init__(self, interpreter: str, program: str, where: Places, environ: Mapping[str, str]) -> None:
        self._folder = where.hosts
        self._unread = b''
        self._is_ready = False
        self._orders = 0
        self._process: subprocess.Popen[bytes] | None = None
        if environ.get('MUSTER_ANSIBLE_WARM', '').lower() == 'off' or not os.path.exists(program):
            return
        try:
            self._process = subprocess.Popen(
                [interpreter, _PROGRAM, program],
                env={'PATH': '/usr/local/bin:/usr/bin:/bin', **run_base(where)},
                cwd='/',
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            pass

    def start(self, directory: str, signals: Signals) -> bool:
        """Starts a run; False where that did not come to be, or is not known."""
        if not self._await_ready(signals):
            return False
        self._orders += 1
        number = self._orders
        try:
            order = {'run': directory, 'inventory': self._folder, 'last': False, 'number': number}
            os.write(self._process.stdin.fileno(), json.dumps(order).encode() + b'\n')
        except OSError:
            self.close()
            return False
        end = time.monotonic() + _ANSWER_SECONDS
        while (answer := self._answer(signals, end)) is not None:
            if answer.get('number') == number and 'started' in answer:
                return answer['started'] is True
            end = time.monotonic() + _READ_SECONDS
        return False

    def close(self) -> None:
        """Ends the process; what it has started goes on."""
        if self._process is not None:
            self._process.kill()
            for pipe in (self._process.stdin, self._process.stdout):
                pipe.close()
            self._process.wait()
        self._process = None

    def _await_ready(self, signals: Signals) -> bool:
        if self._process is None or self._is_ready:
            return self._process is not None
        answer = self._answer(signals, time.monotonic() + _READY_SECONDS)
        self._is_ready = answer is not None and answer.get('ready') is True
        if not self._is_ready:
            self.close()
        return self._is_ready

    def _answer(self, signals: Signals, end: float) -> dict[str, Any] | None:
        """Its next answer; None when it is gone or says nothing until `end`, after which it is asked no more."""
        fd = self._process.stdout.fileno()
        while b'\n' not in self._unread:
            left = end - time.monotonic()
            piece = b''
            if left > 0 and not signals.ending:
                if not signals.wait(left, fd):
                    continue
                piece = os.read(fd, 65536)
            if not piece:
                self.close()
                return None
            self._unread += piece
        line, self._unread = self._unread.split(b'\n', 1)
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            self.close()
            return None
        return answer
