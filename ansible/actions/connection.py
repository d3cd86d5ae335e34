"""The command at a target that a shell action is begun or ended by: it is sent its program, greets, and then speaks in frames."""

from __future__ import annotations

import os
import struct
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

GREETING = b'muster-remote-shell 1\n'
PARTS = ('remote_end', 'remote_shell')
"""Modules of the far side. The last one is executed; it finds the others by their names."""
_LOADER = """import sys, types
for name, text in %r:
    sys.modules[name] = types.ModuleType(name)
    exec(compile(text, name + '.py', 'exec'), sys.modules[name].__dict__)
exec(compile(%r, %r, 'exec'))
"""
_UNREACHED = 255
"""Exit status of ssh for what is no end of the command."""
_READ = 65536
_NOISE = 64 * 1024
"""Bytes that a target may print before it greets: what its shell has to say."""
_LARGEST_FRAME = 16 * 1024 * 1024
_CLOSING = 10
"""Seconds that a connection may take to close."""


def program() -> bytes:
    """The text that a target executes."""
    here = Path(__file__).resolve().parent
    *others, (name, main) = ((part, (here / f'{part}.py').read_text(encoding='utf-8')) for part in PARTS)
    return (_LOADER % (others, main, f'{name}.py')).encode()


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
        self._sending = threading.Lock()
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
        text = program()
        self.send(b'%d\n' % len(text) + text)
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
        # Two threads send, and one of them closes: a number of a closed file may be that of another file already.
        with self._sending:
            try:
                while rest and not self._ssh.stdin.closed:
                    rest = rest[os.write(self._ssh.stdin.fileno(), rest) :]
            except BrokenPipeError:
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
        if not self._sending.acquire(timeout=_CLOSING):
            # Somebody waits for a target that takes nothing any more.
            self._ssh.kill()
            self._sending.acquire()
        try:
            self._ssh.stdin.close()
        except BrokenPipeError:
            pass
        finally:
            self._sending.release()
        try:
            status = self._ssh.wait(timeout=_CLOSING)
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
