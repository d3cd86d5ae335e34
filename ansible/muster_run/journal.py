"""The files that a run leaves for Muster: `events.jsonl`, line by line, and `results.json`, once, whole."""

from __future__ import annotations

import errno
import json
import os
import time

from muster_run.wording import shorten

LINE_LIMIT = 16 * 1024
"""Most bytes of an event's line; its long texts are shortened until it fits."""

STATS_LIMIT = 64 * 1024
"""Most bytes of the line with the final statistics of all hosts."""

_RESULTS_DRAFT = '.results.json'
"""Name of the results as long as they are not whole; left behind by a run whose results were never written."""

_RESULTS_ROOM = 256 * 1024
"""Bytes kept for the results from the beginning: those of some 1,800 hosts."""

_SHORTENED = ('diff', 'stdout', 'stderr', 'message', 'item')
"""Texts that give way in a line that is too long, the longest-winded first."""


def timestamp() -> str:
    """Now, UTC, as ISO 8601 with milliseconds."""
    now = time.time()
    return f'{time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))}.{int(now * 1000) % 1000:03d}Z'


class Journal:
    """Writes the events of one run; never raises, because no playbook may fail for its record.

    A line is written by one call and stays whole: what a full disk took of it is removed again, the event is dropped
    and counted in `dropped`, its cause is in `trouble`.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._draft = os.path.join(directory, _RESULTS_DRAFT)
        self._fd = -1
        self.dropped = 0
        self.trouble = ''
        self._reserve_results()

    def write(self, kind: str, fields: dict[str, object]) -> None:
        """Appends one event; `fields` holds clean texts only."""
        event = {'time': timestamp(), 'type': kind, **fields}
        line = _line(event)
        if kind != 'stats':
            line = _fitting(event, line)
        self._append(line)

    def _append(self, line: bytes) -> None:
        size = -1
        try:
            if self._fd < 0:
                path = os.path.join(self._directory, 'events.jsonl')
                self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            size = os.fstat(self._fd).st_size
            if os.write(self._fd, line) == len(line):
                return
            self.trouble = os.strerror(errno.ENOSPC)
        except OSError as error:
            self.trouble = _cause(error)
        self.dropped += 1
        if size >= 0:
            try:
                os.ftruncate(self._fd, size)
            except OSError:
                pass

    def _reserve_results(self) -> None:
        """Takes the room for the results while there is some: the run itself may fill the disk."""
        try:
            with open(self._open_draft(), 'wb') as file:
                try:
                    os.posix_fallocate(file.fileno(), 0, _RESULTS_ROOM)
                except OSError:
                    # Of a disk that is as good as full nothing is kept from the run.
                    file.truncate(0)
        except OSError:
            pass

    def write_results(self, results: dict[str, object], attempts: int = 5, pause: float = 1.0) -> bool:
        """Writes results.json, whole or not at all; `attempts` with a pause (s) between. True when it is there.

        Either way the room that was kept for it and that it does not need is free from then on.
        """
        for attempt in range(attempts):
            if attempt:
                time.sleep(pause)
            try:
                with open(self._open_draft(), 'w', encoding='utf-8') as file:
                    json.dump(results, file)
                    file.truncate()
                os.rename(self._draft, os.path.join(self._directory, 'results.json'))
                return True
            except OSError as error:
                self.trouble = _cause(error)
        try:
            # The file stays: whoever reads the run knows by it that there were results.
            os.truncate(self._draft, 0)
        except OSError:
            pass
        return False

    def _open_draft(self) -> int:
        return os.open(self._draft, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)


def fits_stats(fields: dict[str, object]) -> bool:
    """Whether the final statistics of all hosts fit into one line."""
    return len(_line(fields)) + 64 <= STATS_LIMIT


def _cause(error: OSError) -> str:
    return error.strerror or str(error)


def _line(event: dict[str, object]) -> bytes:
    return json.dumps(event, ensure_ascii=False, separators=(',', ':')).encode() + b'\n'


def _fitting(event: dict[str, object], line: bytes) -> bytes:
    for limit in (2048, 512, 64):
        for field in _SHORTENED:
            if len(line) <= LINE_LIMIT:
                return line
            text = event.get(field)
            if isinstance(text, str):
                event[field] = shorten(text, limit)
                line = _line(event)
    return line
