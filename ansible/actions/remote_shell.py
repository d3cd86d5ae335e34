"""The far side of a shell action: what a target executes, sent to its `python3` over ssh together with `remote_end.py`. Python 3.6 and its
standard library are enough.

It greets with GREETING and then reads an order, one line of JSON, from standard input:

    {"do": "run", "attempt", "folder", "argv", "env", "files": [{"path", "size", "mode"}]}    followed by the contents of the files
    {"do": "end", "attempt", "folder"}

and answers in frames: a letter, the length as four bytes, so many bytes.

    A   the files are there; the action begins with the next byte of the input
    O   output of the action
    X   {"status", "left"}: its exit status, and whether files of it could not be removed. Its folder is gone before this is said
    F   why nothing was begun
    E   {"gone", "why"}: whether every process of the attempt is gone, the answer to "end"

Two processes see to it that the action does not outlive who asked for it. The worker follows the action, and ends itself when the
input ends or is silent for SILENCE. The keeper is its parent, and the nearest subreaper of all that the action begins: whatever leaves
its session, its parent or its environment behind falls to it. When the worker ends in any way but well, the keeper ends what is left, and
removes the folder. What an action that ends well has left at work lives on, as it does after a shell action on the machine of a worker.

The environment of all of them names the attempt (MUSTER_ATTEMPT), by which "end" finds them over another connection. A folder that is
there without a worker says that the keeper was killed: then something may be at work that nothing tells from others.
"""

import ctypes
import json
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback

from remote_end import CLAIM, boot_id, end, end_all

GREETING = b'muster-remote-shell 1\n'
SILENCE = 60
"""Seconds without a word after which the other side counts as lost."""
GRACE = 3
"""Seconds that processes have to end by themselves."""

_PR_SET_CHILD_SUBREAPER = 36
_NOT_EXECUTABLE = 127
_READ = 65536
_PIPE_CAPACITY = 1024 * 1024
_STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Lost(Exception):
    """The other side is gone, or says nothing for too long."""


def main():
    """Does what it is asked for. Returns the exit status, which says nothing of the action."""
    _write(GREETING)
    for number in (signal.SIGALRM, *_STOPPING):
        signal.signal(number, _raise_lost)
    try:
        order = json.loads(_take_line().decode())
        if order['do'] == 'end':
            signal.alarm(0)
            _send(b'E', end(order['attempt'], order['folder']))
            return 0
        return _run(order)
    except Lost:
        return 1


def _run(order):
    """Places the files, waits for the word to begin, and begins. Until then nothing has happened here."""
    folder = order['folder']
    try:
        _become_subreaper()
        # Who makes the folder owns it: a folder that is there belongs to somebody else.
        os.mkdir(folder, 0o700)
    except (OSError, AttributeError) as error:
        _send(b'F', str(error))
        return 1
    try:
        _place(folder, order['files'])
        _claim(folder)
        _send(b'A', '')
        _take(1)
        signal.alarm(0)
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
        keeper = os.getpid()
        worker = os.fork()
    except (OSError, ValueError) as error:
        # A ValueError: the locale of the target has no such file names.
        shutil.rmtree(folder, ignore_errors=True)
        _send(b'F', str(error))
        return 1
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if worker == 0:
        _work(order, keeper)
    return _keep(worker, order['attempt'], folder)


def _become_subreaper():
    """From now on orphans among the descendants of this process become its children."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), 'orphans cannot be adopted')


def _place(folder, files):
    before = os.umask(0o077)
    for file in files:
        path = os.path.join(folder, file['path'])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, file['mode']), 'wb') as placed:
            left = file['size']
            while left > 0:
                piece = _take(min(left, _READ))
                placed.write(piece)
                left -= len(piece)
    os.umask(before)


def _claim(folder):
    """Notes on which boot of the machine the action begins: after another one nothing of it can be at work."""
    with os.fdopen(os.open(os.path.join(folder, CLAIM), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), 'w') as file:
        file.write(boot_id())


# The worker


def _work(order, keeper):
    """Executes the action, and ends this process."""
    try:
        for number in _STOPPING:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
        # A pseudo terminal of sudo must not take the action with it: the keeper ends it, and sees that it is gone.
        os.setsid()
        is_over = threading.Event()
        threading.Thread(target=_listen, args=(order['attempt'], keeper, is_over), daemon=True).start()
        status = _execute(order['argv'], order['folder'], dict(os.environ, **order['env']))
        shutil.rmtree(order['folder'], ignore_errors=True)
        is_over.set()
        _send(b'X', {'status': status, 'left': os.path.lexists(order['folder'])})
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def _execute(argv, folder, env):
    """Returns the exit status of the action, as a shell gives it."""
    wake = _wake_on_child_end()
    output, writer = os.pipe()
    try:
        child = subprocess.Popen(
            argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=writer, stderr=writer, start_new_session=True
        )
    except OSError as error:
        _send(b'O', '[muster] cannot run %s: %s\n' % (argv[0], error.strerror))
        return _NOT_EXECUTABLE
    os.close(writer)
    code = _follow(child, output, wake)
    return code if code >= 0 else 128 - code


def _listen(attempt, keeper, is_over):
    """Ends the worker when the other side is gone. The keeper does the rest, if it is there."""
    try:
        while select.select([0], [], [], SILENCE)[0] and os.read(0, _READ):
            pass
        if is_over.is_set():
            # The other side has perhaps heard how it ended, and left before this process could.
            time.sleep(GRACE)
        if os.getppid() != keeper:
            end_all(attempt, GRACE)
    finally:
        os._exit(1)


def _wake_on_child_end():
    wake, waker = os.pipe()
    for fd in (wake, waker):
        os.set_blocking(fd, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker)
    return wake


def _follow(child, output, wake):
    """Hands the output on until the action has ended. Returns its status, which is negative for a signal."""
    os.set_blocking(output, False)
    watched = [output, wake]
    while child.poll() is None:
        for fd in select.select(watched, [], [])[0]:
            if fd == wake:
                os.read(wake, 512)
            elif _copy(output) == 0:
                watched.remove(output)
    # What the action has left may hold the pipe for ever, so what is in it now is all.
    left = _PIPE_CAPACITY
    while left > 0:
        copied = _copy(output)
        if not copied:
            break
        left -= copied
    return child.returncode


def _copy(output):
    """Hands on what can be read at once: the number of bytes, None if there are none now, 0 if none can come."""
    try:
        piece = os.read(output, _READ)
    except BlockingIOError:
        return None
    if piece:
        _send(b'O', piece)
    return len(piece)


# The keeper


def _keep(worker, attempt, folder):
    """Waits for the worker, and ends what is left of the action where the worker did not end well."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)

    def stop(*_):
        try:
            os.kill(worker, signal.SIGKILL)
        except ProcessLookupError:
            pass

    for number in _STOPPING:
        signal.signal(number, stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == worker:
            break
    if status == 0:
        return 0
    if not end_all(attempt, GRACE, os.getpid()):
        shutil.rmtree(folder, ignore_errors=True)
    return 1


# What is said and heard


def _raise_lost(*_):
    raise Lost


def _take_line():
    signal.alarm(SILENCE)
    line = sys.stdin.buffer.readline()
    if not line.endswith(b'\n'):
        raise Lost
    return line


def _take(size):
    signal.alarm(SILENCE)
    piece = sys.stdin.buffer.read(size)
    if len(piece) < size:
        raise Lost
    return piece


def _send(kind, what):
    """Sends a frame: bytes, a text, or data as JSON."""
    content = what if isinstance(what, bytes) else (what if isinstance(what, str) else json.dumps(what)).encode()
    _write(struct.pack('>cI', kind, len(content)) + content)


def _write(content):
    rest = memoryview(content)
    try:
        while rest:
            rest = rest[os.write(1, rest) :]
    except BrokenPipeError:
        raise Lost from None


if __name__ == '__main__':
    sys.exit(main())
