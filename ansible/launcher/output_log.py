"""The file `output.log` of a run: masked, bounded in size, and never a reason for the run to fail."""

from __future__ import annotations

import os

from muster_run.masking import Masker

DEFAULT_LIMIT = 64 * 1024 * 1024
"""Bytes of output kept when the run's specification names no limit."""


class OutputLog:
    """Keeps the first half of the limit as it comes and, of all that follows, the last half.

    The head is written at once and unbuffered, so that it can be followed. The tail is kept in memory (half of the
    limit at most, plus one piece) and written at the end, after a line that says how many lines and bytes were left
    out, so that the lines behind it keep their numbers; both are cut at line ends where there are any. What a full disk
    refuses is counted and dropped, later output is tried again.
    """

    def __init__(self, path: str, limit: int, masker: Masker) -> None:
        self._path = path
        self._masker = masker
        self._head_left = limit // 2
        self._tail_limit = limit - limit // 2
        self._tail = bytearray()
        self._left_out = 0
        self._line_ends_left_out = 0
        self._whole_line = False
        self._head_whole = True
        self._lost = 0
        self._lost_reason = ''
        self._fd = -1
        self._put(b'')

    def write(self, piece: bytes) -> None:
        """Takes the next piece of output in."""
        self._keep(self._masker.feed(piece))

    def close(self) -> None:
        """Writes what is left, at the end of the output."""
        self._keep(self._masker.flush())
        if self._left_out:
            if not self._whole_line:
                self._drop(self._tail.find(b'\n', 0, len(self._tail) - 1) + 1)
            # Of a line whose beginning is in the head, the line end is left out alone.
            lines = self._line_ends_left_out - (0 if self._head_whole else 1)
            self._put(
                b'\n[muster] %d lines, %d bytes of output were left out here\n' % (max(lines, 0), self._left_out)
            )
        self._put(bytes(self._tail))
        if self._lost:
            self._put(
                b'\n[muster] %d bytes of output could not be written: %s\n' % (self._lost, self._lost_reason.encode())
            )
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _keep(self, text: bytes) -> None:
        if self._head_left > 0:
            cut = len(text)
            if cut > self._head_left:
                cut = text.rfind(b'\n', 0, self._head_left) + 1 or (0 if self._whole_line else self._head_left)
                self._head_left = 0
            else:
                self._head_left -= cut
                self._whole_line = text.endswith(b'\n') if text else self._whole_line
            self._put(text[:cut])
            if cut:
                self._head_whole = text[cut - 1] == 0x0A
            text = text[cut:]
        self._tail += text
        excess = len(self._tail) - self._tail_limit
        if excess > 0:
            self._drop(excess)

    def _drop(self, count: int) -> None:
        if count:
            self._whole_line = self._tail[count - 1] == 0x0A
            self._left_out += count
            self._line_ends_left_out += self._tail.count(b'\n', 0, count)
            del self._tail[:count]

    def _put(self, text: bytes) -> None:
        rest = memoryview(text)
        try:
            if self._fd < 0:
                self._fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError as error:
            self._lost += len(rest)
            self._lost_reason = error.strerror or str(error)
