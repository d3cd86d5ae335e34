"""Keeps an imported Ansible and starts runs with it: `python warm.py PROGRAM`, a warm process of one worker.

It talks with the worker by its standard input and output alone, a line of JSON each way; it listens nowhere, so no
other process can ask it for anything, and it ends with the worker. It never sees a run: for each it forks a launcher, which does
what launch.py does, and in that the process that would execute ansible-playbook goes on with the imported Ansible.

    > {"ready": true}             once, or {"ready": false, "why": TEXT} before it ends
    < {"run": DIRECTORY}          starts the run
    > {"started": true}           its launcher has detached; or {"started": false, "why": TEXT}

Of a run of a session: `"inventory"`, the folder that the session's runs have in common, and `"last": true` where no run of it follows. Then
a process of that session alone may start the run, see session_keepers.py, while others are started; so an order with a `"number"`
is answered with that number, and before that by `{"reading": true}` where it is handed on to such a process, which may take long.

It ends after ten minutes without a run, and when a file of what it has imported is not on the disk as it was.
"""

from __future__ import annotations

import os
import sys

_SEARCH = [os.path.dirname(os.path.abspath(sys.argv[1])) if len(sys.argv) == 2 else '', *sys.path[1:]]
"""Where the program itself would find its modules; taken before anything of Muster is added."""
_HERE = os.path.dirname(os.path.abspath(__file__))
_ANSIBLE = os.path.dirname(_HERE)

import fcntl
import gc
import json
import select
import signal
import tempfile
import types
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from child import InPlace
from inventory_ahead import NAME, InventoryAhead, Unread, file_ahead
from launch import main as launch
from process_title import set_title
from session_keepers import SessionKeepers
from warm_ahead import work_ahead
from warm_configure import Cold, configure, give_up
from warm_load import Loaded, NotWarm, load

from muster_run.journal import timestamp

IDLE_S = 600
_NO_SETTINGS = os.path.join(_HERE, 'no-settings.cfg')
_LAUNCHER = os.path.join(_HERE, 'launch.py')
_PLUGINS = os.path.join(_ANSIBLE, 'plugins')
_LINE_MAX = 64 * 1024
_DONE = object()
_FOUND_BY_PYTHON = ('SIGPIPE', 'SIGXFSZ')
"""Signals that Python ignores from its start on."""


class Warm:
    """What a launcher that was forked here does otherwise than one that was executed."""

    def __init__(self, loaded: Loaded, ahead: InventoryAhead | Unread | None = None) -> None:
        self._loaded = loaded
        self._ahead = ahead

    def name_launcher(self, run: str) -> None:
        """Shows a launcher as what it is."""
        set_title([sys.executable, '-S', _LAUNCHER, run], dict(os.environ), 'python3')

    def go_on(self, argv: list[str], env: Mapping[str, str], inherited: list[int], run: str) -> None:
        """Raises InPlace where the program of the run can be executed here; else the run's events say why not."""
        try:
            if not argv or argv[0] != self._loaded.script:
                return
            configure(self._loaded, env, argv, _PLUGINS)
            set_title([sys.executable, *argv], env, os.path.basename(argv[0]))
        except Cold as cold:
            _tell(run, f'Ansible was started cold: {cold}')
            give_up()
            return
        except (Exception, SystemExit) as error:  # an Ansible that is not as it is known here; nothing has begun yet
            _tell(run, f'Ansible was started cold: it could not be prepared ({type(error).__name__})')
            give_up()
            return
        _be_like_new(inherited)
        if self._ahead is not None:
            self._ahead.tell = partial(_tell, run)
            sys.modules[NAME] = self._ahead
        raise InPlace(self._loaded)


def _be_like_new(inherited: list[int]) -> None:
    signal.set_wakeup_fd(-1)
    for name in _FOUND_BY_PYTHON:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for fd in map(int, os.listdir('/proc/self/fd')):
        if fd > 2 and fd not in inherited:
            try:
                os.close(fd)
            except OSError:
                pass  # That by which the folder was read.
    for name, module in list(sys.modules.items()):
        if (getattr(module, '__file__', None) or '').startswith(_ANSIBLE + '/'):
            del sys.modules[name]


def _tell(run: str, message: str) -> None:
    event = {'time': timestamp(), 'type': 'cold_start', 'message': message}
    try:
        fd = os.open(os.path.join(run, 'events.jsonl'), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        with open(fd, 'ab') as file:
            file.write(json.dumps(event).encode() + b'\n')
    except OSError:
        pass  # A full disk: the run goes on, as with any other event.


def _say(channel: int, **fields: object) -> None:
    os.write(channel, json.dumps(fields).encode() + b'\n')


def _serve(loaded: Loaded, asked: int, channel: int) -> None:
    """Starts runs until the worker is gone, ten minutes have passed or what was loaded has changed."""

    def start(run: str, ahead: InventoryAhead | Unread | None, channels: tuple[int, ...]) -> int:
        return _start(Warm(loaded, ahead), run, channels)

    def answer(order: dict[str, Any], status: int | None) -> None:
        why = {} if status == 0 else {'why': 'its process has ended' if status is None else f'its launcher ended with {status}'}
        number = {'number': order['number']} if 'number' in order else {}
        _say(channel, started=status == 0, **number, **why)

    keepers = SessionKeepers(_PLUGINS, start, answer, (asked, channel))
    waiting = b''
    ahead = work_ahead(_PLUGINS)
    while ready := _ready((asked, *keepers.channels), ahead):
        for fd in ready:
            if fd in keepers.channels:
                keepers.hear(fd)
        if asked not in ready:
            continue
        piece = os.read(asked, _LINE_MAX)
        if not piece:
            return
        *lines, waiting = (waiting + piece).split(b'\n')
        for line in lines:
            order = json.loads(line)
            if (changed := loaded.changed()) is not None:
                number = {'number': order['number']} if 'number' in order else {}
                _say(channel, started=False, why=f'{changed} has changed', **number)
                return
            path = file_ahead(order['inventory']) if 'inventory' in order else None
            if path is None or not keepers.take(order, path):
                answer(order, start(order['run'], None, (asked, channel)))
            elif 'number' in order:
                _say(channel, reading=True, number=order['number'])


def _ready(fds: tuple[int, ...], ahead: Iterator[None]) -> list[int]:
    """Those that can be read; none after ten minutes. Until then the steps of `ahead` are done, so that no run waits for more than one."""
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    found = poll.poll(0)
    while not found and next(ahead, _DONE) is not _DONE:
        found = poll.poll(0)
    return [fd for fd, _ in found or poll.poll(IDLE_S * 1000)]


def _start(warm: Warm, run: str, channels: tuple[int, ...]) -> int:
    """Forks the launcher of a run; the exit status of the process that has detached it."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    status = 70
    goes_on = False
    try:
        for fd in channels:
            os.close(fd)
        status = launch([_LAUNCHER, run], warm)
    except InPlace:
        goes_on = True
        raise
    finally:
        if not goes_on:
            os._exit(status)
    return status


def main() -> types.CodeType | None:
    """Serves; in the process of a run the program that is to be executed now."""
    asked, channel = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (0, 1))
    null = os.open('/dev/null', os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    # Nothing of a site or a user is read here: what a run finds there it reads itself.
    os.environ.update(ANSIBLE_CONFIG=_NO_SETTINGS, ANSIBLE_LOCAL_TEMP=tempfile.gettempdir(), ANSIBLE_NOCOLOR='1')
    try:
        set_title([sys.executable, *sys.argv], dict(os.environ), 'muster-warm')
        loaded = load(sys.argv[1], _SEARCH)
        if len(os.listdir('/proc/self/task')) != 1:
            raise NotWarm('its import starts threads')
    except (NotWarm, OSError, ImportError, AttributeError, LookupError) as error:
        why = str(error) if isinstance(error, NotWarm) else f'{type(error).__name__}: {error}'
        _say(channel, ready=False, why=why)
        return None
    gc.collect()
    gc.freeze()
    _say(channel, ready=True)
    try:
        _serve(loaded, asked, channel)
    except InPlace as here:
        return here.loaded.code
    return None


if __name__ == '__main__':
    code = main()
    if code is not None:
        program = types.ModuleType('__main__')
        program.__file__ = sys.argv[0]
        sys.modules['__main__'] = program
        exec(code, program.__dict__)
