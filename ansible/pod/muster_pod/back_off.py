"""Pauses between tries that grow, with chance in them so that many pods do not ask at once."""

from __future__ import annotations

import random


class BackOff:
    """The pauses of one thing that is tried again and again, in seconds."""

    def __init__(self, first: float = 0.5, longest: float = 30.0) -> None:
        self._first = first
        self._longest = longest
        self._tries = 0

    def next(self, asked: float = 0.0) -> float:
        """The pause before the next try: twice the last one up to the longest, of which a part is chance; at least `asked`."""
        whole = min(self._longest, self._first * 2 ** min(self._tries, 20))
        self._tries += 1
        return max(asked, whole * random.uniform(0.5, 1.0))

    def reset(self) -> None:
        """The last try went well."""
        self._tries = 0


def asked_for(retry_after: str | None, longest: float = 120.0) -> float:
    """Seconds of a header `Retry-After`; 0 without a usable one."""
    text = (retry_after or '').strip()
    return min(longest, float(int(text[:5]))) if text.isascii() and text.isdigit() else 0.0
