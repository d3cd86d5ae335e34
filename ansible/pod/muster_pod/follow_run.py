"""A started run to its end: shipped while it goes on, its keys kept fresh, ended when this process is to end."""

from __future__ import annotations

import time
from collections.abc import Callable

from .end_run import end_run
from .failure import StepFailure, TokenRefused
from .ingest import Ingest
from .places import Places
from .processes import is_alive
from .run_files import RunFiles
from .shipment import Shipment
from .signals import Signals
from .ssh_keys import place_keys, session_keys
from .wording import log, reason_of

_LOOK_SECONDS = 0.1
_ALIVE_SECONDS = 1.0
_KEYS_SECONDS = 5.0
_SHIP_LAST_SECONDS = 20.0
"""So long is the rest of a run sent when this process is to end; after that the container would be killed."""


def follow_run(
    run: RunFiles, where: Places, ingest: Ingest, signals: Signals, on_end: Callable[[int], None]
) -> None:
    """Returns when Muster has all of the run, or when this process is to end and has sent what it could.

    `on_end` is told the exit status before Muster is. Raises StepFailure `run_lost` when nobody knows how the run ended, and TokenRefused, both with no process left.
    """
    try:
        lost = _ship(run, where, ingest, signals, on_end)
    except TokenRefused:
        end_run(run, signals)
        raise
    if lost:
        end_run(run, signals)
        raise StepFailure('run_lost', 'the process that ran the playbook is gone, and nobody knows how it ended')


def ship_run(run: RunFiles, ingest: Ingest, signals: Signals) -> None:
    """Sends all of a run that has ended."""
    shipment = Shipment(ingest, run)
    deadline = None
    while not shipment.done and not _over(deadline):
        if signals.ending and deadline is None:
            shipment.hurry()
            deadline = time.monotonic() + _SHIP_LAST_SECONDS
        if not shipment.step(ended=True):
            signals.wait(shipment.wait)


def _ship(
    run: RunFiles, where: Places, ingest: Ingest, signals: Signals, on_end: Callable[[int], None]
) -> bool:
    """Whether the run was lost."""
    shipment = Shipment(ingest, run)
    alive = _Every(_ALIVE_SECONDS)
    keys = _Every(_KEYS_SECONDS)
    missing = 0
    deadline = None
    ended = False
    while not _over(deadline):
        if signals.ending and deadline is None:
            log('the playbook is ended')
            end_run(run, signals)
            shipment.hurry()
            deadline = time.monotonic() + _SHIP_LAST_SECONDS
        if not ended and (end := run.exit) is not None:
            ended = True
            on_end(end['code'])
        if not ended and alive.due():
            claim = run.claim
            missing = missing + 1 if claim is None or not is_alive(claim) else 0
        # Seen dead twice, without an exit file that could have been written between the two looks.
        lost = not ended and missing >= 2
        if not ended and keys.due():
            _renew_keys(where)
        sent = shipment.step(ended or lost)
        if shipment.done:
            if not ended and not lost:
                end_run(run, signals)
            return lost
        if not sent:
            pause = shipment.wait if ended or lost else _LOOK_SECONDS
            signals.wait(pause)
    return False


def _renew_keys(where: Places) -> None:
    try:
        place_keys(where, session_keys(where))
    except OSError as error:
        log(f'renewed keys cannot be put into place: {reason_of(error)}')


def _over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline


class _Every:
    """True once in so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next = time.monotonic() + seconds

    def due(self) -> bool:
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + self._seconds
        return True
