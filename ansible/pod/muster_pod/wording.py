"""Words for the container's log and for messages to Muster."""

from __future__ import annotations

import sys

_MOST = 2000


def log(line: str) -> None:
    """Writes a line to the container's log."""
    print(f'[muster] {one_line(line)}', file=sys.stderr, flush=True)


def one_line(text: str) -> str:
    """The text without line ends and other characters that a terminal acts on, cut after 2000 characters."""
    shown = ' '.join(''.join(character if character.isprintable() else ' ' for character in text).split())
    return shown if len(shown) <= _MOST else shown[:_MOST] + '...'


def reason_of(error: OSError) -> str:
    """What the system says, with the file that it says it of."""
    words = error.strerror or str(error) or type(error).__name__
    return f'{error.filename}: {words}' if error.filename else words
