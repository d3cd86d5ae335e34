"""What a container that failed says last, for who reads no log."""

from __future__ import annotations

from .wording import log, one_line

_MOST = 2048
"""Bytes: Kubernetes keeps 12 KiB for all containers of a pod."""


def leave_words(path: str, words: str) -> None:
    """Writes `words`, which have no secrets, in place of others to the file that Kubernetes puts into the container's status when it
    has ended. Where there is no such file nothing is written: the exit status has to do.
    """
    try:
        with open(path, 'r+', encoding='utf-8') as file:
            file.truncate()
            file.write(one_line(words).encode()[:_MOST].decode(errors='ignore'))
    except OSError:
        pass


def say_last(path: str, words: str) -> None:
    """Leaves them in the container's log too."""
    log(words)
    leave_words(path, words)
