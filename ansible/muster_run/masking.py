"""Known secrets in a run's output become asterisks, however they are spelled and wherever the output was cut."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

MASK = b'********'
"""What stands in the place of a secret; of fixed length, so that it says nothing about it."""

MIN_LINE = 8
"""Shortest line (bytes) of a secret with several lines that is masked by itself; shorter ones are words of everyday."""


def spellings(secret: str) -> set[bytes]:
    """How a secret shows up in output: as it is, in JSON, percent-encoded as in a URL, and line by line."""
    value = secret.strip()
    if not value:
        return set()
    texts = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    lines = {line.strip() for line in value.splitlines()} if '\n' in value else set()
    found = {text.encode('utf-8', 'surrogatepass') for text in texts}
    found.update(raw for raw in (line.encode('utf-8', 'surrogatepass') for line in lines) if len(raw) >= MIN_LINE)
    found.add(_percent_encoded(value.encode('utf-8', 'surrogatepass')))
    return found


def _percent_encoded(raw: bytes) -> bytes:
    """Percent-encodes all but unreserved characters (RFC 3986). Importing urllib.parse would cost the launcher 8 ms."""
    return b''.join(
        bytes((byte,)) if chr(byte).isascii() and (chr(byte).isalnum() or byte in b'-._~') else b'%%%02X' % byte
        for byte in raw
    )


class Masker:
    """Masks a stream of bytes piece by piece.

    The result is the same as if the whole stream had been masked at once: an end of a piece that may be the beginning
    of a secret is held until the next piece decides. Nothing else is held, so output is shown as it comes.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        words: set[bytes] = set()
        for secret in secrets:
            words |= spellings(secret)
        # The longest first: where one secret begins with another one, none of its rest may stay readable.
        self._words = sorted(words, key=lambda word: (-len(word), word))
        self._expression = re.compile(b'|'.join(re.escape(word) for word in self._words)) if words else None
        self._held = b''

    @property
    def longest(self) -> int:
        """Length in bytes of the longest spelling; 0 when there is nothing to mask."""
        return len(self._words[0]) if self._words else 0

    def feed(self, piece: bytes) -> bytes:
        """Takes the next piece in and answers what can be shown now."""
        shown, self._held = self._split(self._held + piece)
        return shown

    def flush(self) -> bytes:
        """Answers what was held, at the end of the stream."""
        rest, self._held = self._held, b''
        return self.mask(rest)

    def mask(self, text: bytes) -> bytes:
        """Masks a text that is complete; the stream is not touched."""
        return text if self._expression is None else self._expression.sub(MASK, text)

    def mask_beginning(self, text: bytes) -> bytes:
        """Masks a text that was cut at its end; an end that may be the beginning of a secret is dropped."""
        return self._split(text)[0]

    def _split(self, text: bytes) -> tuple[bytes, bytes]:
        """What of the text can be shown, masked, and the rest that more text has to decide."""
        if self._expression is None:
            return text, b''
        shown: list[bytes] = []
        start = 0
        end = len(text) - self._undecided(text)
        for match in self._expression.finditer(text):
            if match.start() >= end:
                break
            shown += (text[start : match.start()], MASK)
            start = match.end()
        end = max(start, end)
        shown.append(text[start:end])
        return b''.join(shown), text[end:]

    def _undecided(self, text: bytes) -> int:
        """Length of the longest end of the text that is the beginning of a longer secret."""
        longest = 0
        for word in self._words:
            at = text.find(word[:1], max(0, len(text) - len(word) + 1))
            while at >= 0 and len(text) - at > longest:
                if word.startswith(text[at:]):
                    longest = len(text) - at
                at = text.find(word[:1], at + 1)
        return longest
