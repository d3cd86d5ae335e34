"""Executes one run and keeps its output and its end: `python launch.py <run directory>`.

The run outlives whoever asked for it. So the launcher detaches first and answers at once; everything that is known
about the run afterwards is in its directory:

    spec.json     read: argv, cwd, env, log_max_bytes, trace of the run, and its run_id
    mask.json     read, and removed unless others mask the events: secrets that may not appear in the output
    claim         written: which process executes the run; a second launcher of the same run sees it and does nothing
    kept          written when the launcher was killed and nothing of the run is left, see keeper.py
    output.log    written: standard output and error of the run
    exit.json     written last: {"code", "signal", "ended_at", "cpu_seconds"}; the run has ended when it is there
    launcher.log  written: what goes wrong in the launcher itself

`trace` says what writes the events of the run: with `journal` (default) Muster's callback or the program of the run, with
`job_events` ansible-runner. With `none` nothing writes events. With `job_events` and `none` no process of the run gets the secrets.

A claim without exit.json whose process is gone means that the launcher was killed: nobody knows how the run ended.
Exit status: 0 when detached (whoever wins the claim), 2 when the argument is not a directory.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

_HERE = os.path.dirname(os.path.abspath(__file__))
_ANSIBLE = os.path.dirname(_HERE)
sys.path.append(_ANSIBLE)

from child import NOT_EXECUTABLE, start_child
from claim import take_claim
from keeper import become_subreaper, keep
from output_log import DEFAULT_LIMIT, OutputLog
from plugin_paths import callback_environment, plugin_environment

from muster_run.masking import Masker

if TYPE_CHECKING:
    from warm import Warm

JOURNAL = 'journal'
JOB_EVENTS = 'job_events'
_READ = 65536
_EXIT_DRAFT = '.exit.json'
_EXIT_ROOM = 256
_PIPE_CAPACITY = 1024 * 1024
"""No pipe holds more than this (Linux' default fs.pipe-max-size), so reading this much after the end empties it."""


def main(argv: list[str], warm: Warm | None = None) -> int:
    """Detaches and, in the detached process, executes the run. `warm`: with the Ansible that is loaded there, where that is possible."""
    if len(argv) != 2 or not os.path.isdir(argv[1]):
        print('usage: launch.py RUN_DIRECTORY', file=sys.stderr)
        return 2
    run = os.path.abspath(argv[1])
    if not _detach(run):
        return 0
    if warm is not None:
        warm.name_launcher(run)
    if (keeper := keep(run)) is not None and take_claim(run, keeper):
        _execute(run, warm)
    return 0


def _detach(run: str) -> bool:
    """True in a process without parent, terminal, session or open files of the caller; False in the caller."""
    first = os.fork()
    if first:
        os.waitpid(first, 0)
        return False
    os.setsid()
    if os.fork():
        os._exit(0)
    # Whoever ends the run ends its processes; the launcher stays to write down how they ended.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    null = os.open('/dev/null', os.O_RDWR)
    try:
        errors = os.open(os.path.join(run, 'launcher.log'), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        errors = null
    for fd, source in enumerate((null, null, errors)):
        os.dup2(source, fd)
    os.closerange(3, max(map(int, os.listdir('/proc/self/fd'))) + 1)
    os.chdir('/')
    return True


def _execute(run: str, warm: Warm | None) -> None:
    """Runs the claimed run to its end; whatever goes wrong before its start ends in exit.json too."""
    become_subreaper()
    _reserve_exit(run)
    log = None
    try:
        with open(os.path.join(run, 'spec.json'), encoding='utf-8') as file:
            spec = json.load(file)
        secrets = _take_masks(run, keep=spec.get('trace') == JOB_EVENTS)
        environment = _take_environment(run)
        log = OutputLog(os.path.join(run, 'output.log'), int(spec.get('log_max_bytes', DEFAULT_LIMIT)), Masker(secrets))
        spec['env'] = {**spec['env'], **environment}
        status = _start_and_watch(run, spec, secrets, log, warm)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        log = log or OutputLog(os.path.join(run, 'output.log'), DEFAULT_LIMIT, Masker(()))
        log.write(f'[muster] the run cannot be started: {type(error).__name__}: {error}\n'.encode('utf-8', 'replace'))
        sys.excepthook(type(error), error, error.__traceback__)
        status = NOT_EXECUTABLE << 8
    log.close()
    _write_exit(run, status)


def _take_masks(run: str, keep: bool) -> list[str]:
    """The run's secrets, which may not show; `keep`: the reader of the events needs the file until the run has ended."""
    secrets = _take(run, 'mask.json', [], keep)
    if not isinstance(secrets, list) or not all(isinstance(secret, str) for secret in secrets):
        raise ValueError('mask.json is not an array of strings')
    return secrets


def _take_environment(run: str) -> dict[str, str]:
    """Variables of the playbook that are secrets and so are not in its spec."""
    variables = _take(run, 'environment.json', {})
    if not isinstance(variables, dict) or not all(isinstance(value, str) for value in variables.values()):
        raise ValueError('environment.json is not an object of strings')
    return variables


def _take(run: str, name: str, missing: object, keep: bool = False) -> object:
    """What a file of secrets holds. Unless it is kept it is gone before anything of the run happens; a broken one stops the run."""
    path = os.path.join(run, name)
    try:
        with open(path, encoding='utf-8') as file:
            if not keep:
                os.unlink(path)
            text = file.read()
    except FileNotFoundError:
        return missing
    try:
        return json.loads(text)
    except ValueError:
        raise ValueError(f'{name} is not JSON') from None


def _start_and_watch(run: str, spec: dict, secrets: list[str], log: OutputLog, warm: Warm | None) -> int:
    """Starts the run's command, follows it to its end and answers its wait status."""
    env = dict(spec['env'])
    journal = spec.get('trace', JOURNAL) == JOURNAL
    plugins = os.path.join(_ANSIBLE, 'plugins')
    env.update(plugin_environment(env, plugins) if journal else callback_environment(env, plugins))
    env.update(MUSTER_RUN_ID=spec['run_id'], **({'MUSTER_RUN_DIR': run} if journal else {'MUSTER_HIDE_NO_LOG': '1'}))
    output, output_writer = os.pipe()
    inherited = []
    # ansible-runner closes descriptors that it does not know, and the number may then be another file.
    if secrets and journal:
        # A file in memory, not a pipe: a pipe takes 64 KiB until somebody reads, and nobody may.
        masks = os.memfd_create('muster-masks')
        with open(masks, 'wb', closefd=False) as file:
            file.write(json.dumps(secrets).encode())
        os.lseek(masks, 0, os.SEEK_SET)
        inherited.append(masks)
        env['MUSTER_MASK_FD'] = str(masks)
    wake = _wake_on_child_end()
    go_on = None
    # A run whose events others write may not have the secrets, which this process has had.
    if warm is not None and journal:
        go_on = partial(warm.go_on, spec['argv'], env, inherited, run)
    child = start_child(spec['argv'], spec['cwd'], env, output_writer, inherited, go_on)
    for fd in (output_writer, *inherited):
        os.close(fd)
    return _watch(child, output, wake, log)


def _wake_on_child_end() -> int:
    """A descriptor that becomes readable when a child or an adopted orphan ends."""
    wake, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    return wake


def _watch(child: int, output: int, wake: int, log: OutputLog) -> int:
    """Copies the output until the child has ended, reaping every orphan that was adopted meanwhile; its wait status."""
    os.set_blocking(output, False)
    poll = select.poll()
    poll.register(output, select.POLLIN)
    poll.register(wake, select.POLLIN)
    status = None
    while status is None:
        for fd, _ in poll.poll():
            if fd == wake:
                os.read(wake, 512)
                status = _reap(child)
            elif _copy(output, log) == 0:
                poll.unregister(output)
    # A background process may hold the pipe for ever, so what is in it now is all.
    left = _PIPE_CAPACITY
    while left > 0 and (copied := _copy(output, log)):
        left -= copied
    return status


def _copy(output: int, log: OutputLog) -> int | None:
    """Copies what can be read at once: the number of bytes, None if there are none now, 0 if none can come."""
    try:
        piece = os.read(output, _READ)
    except BlockingIOError:
        return None
    log.write(piece)
    return len(piece)


def _reap(child: int) -> int | None:
    """Takes the status of all processes that have ended; the child's wait status if it is among them."""
    status = None
    try:
        while True:
            pid, ended = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return status
            if pid == child:
                status = ended
    except ChildProcessError:
        return status


def _reserve_exit(run: str) -> None:
    """Takes the room for exit.json while there is some: the run's own output may fill the disk."""
    try:
        fd = os.open(os.path.join(run, _EXIT_DRAFT), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(fd, 'wb') as file:
            file.write(b' ' * _EXIT_ROOM)
    except OSError as error:
        _complain(f'exit.json: {error}')


def _write_exit(run: str, status: int) -> None:
    """Writes exit.json, whole or not at all; waits for room on a full disk, unless the run's directory is gone."""
    code = os.waitstatus_to_exitcode(status)
    now = time.time()
    end = {
        'code': code if code >= 0 else 128 - code,
        'signal': _signal_name(-code) if code < 0 else None,
        'ended_at': f'{time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))}.{int(now * 1000) % 1000:03d}Z',
        'cpu_seconds': _cpu_seconds(),
    }
    draft = os.path.join(run, _EXIT_DRAFT)
    while os.path.isdir(run):
        try:
            fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with open(fd, 'wb') as file:
                file.write(json.dumps(end).encode())
                file.truncate()
                os.fsync(fd)
            os.rename(draft, os.path.join(run, 'exit.json'))
            return
        except OSError as error:
            _complain(f'exit.json: {error}')
            time.sleep(1)


def _cpu_seconds() -> float:
    """Processor time of the launcher and of every process it has reaped, which is all of the run's that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return round(sum(usage.ru_utime + usage.ru_stime for usage in usages), 3)


def _complain(text: str) -> None:
    """Writes a line into launcher.log; where there is no room for it, nobody can be told."""
    try:
        os.write(2, f'{text}\n'.encode('utf-8', 'replace'))
    except OSError:
        pass


def _signal_name(number: int) -> str:
    """Name of a signal; most real-time signals have none of their own."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f'SIG{number}'


if __name__ == '__main__':
    sys.exit(main(sys.argv))
