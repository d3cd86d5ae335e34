"""Why clones are tried again, told while they are."""

from __future__ import annotations

import threading
import time

from .failure import StepFailure
from .ingest import Ingest

_AGAIN_SECONDS = 5.0
"""After that time it is tried again to tell what Muster did not take."""


class CloneTrouble:
    """What keeps the clones of one step: noted by their threads, told by the main one, which alone may speak to Muster."""

    def __init__(self, ingest: Ingest) -> None:
        self._ingest = ingest
        self._lock = threading.Lock()
        self._known: dict[int, StepFailure] = {}
        self._told = ''
        """What Muster knows; '' for no trouble."""
        self._not_before = 0.0

    def begins(self, number: int, failure: StepFailure) -> None:
        """A try of this clone has failed, and is followed by another one."""
        with self._lock:
            self._known[number] = failure

    def ends(self, number: int) -> None:
        """This clone is done."""
        with self._lock:
            self._known.pop(number, None)

    def tell(self) -> None:
        """Tells the trouble of the first clone that has one, or that there is none any more, unless Muster knows."""
        with self._lock:
            failure = self._known[min(self._known)] if self._known else None
        text = '' if failure is None else failure.message
        if text == self._told or time.monotonic() < self._not_before:
            return
        if self._ingest.report('clone', 'started', failure):
            self._told = text
        else:
            self._not_before = time.monotonic() + _AGAIN_SECONDS
