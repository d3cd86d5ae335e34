"""Step `ansible`: waits for the inventory, then runs what Muster orders until it says that it is finished."""

from __future__ import annotations

import time

from .clone_step import PATIENCE_FAILED
from .failure import StepFailure
from .files import read_file
from .follow_run import follow_run, ship_run
from .ingest import Ingest
from .launch import is_full, open_warm, start_run
from .orders import RunOrder, next_order
from .places import Places
from .refused_run import RefusedRun
from .run_files import RunFiles
from .settings import Settings
from .shipment import has_lost_results
from .sidecar import wait_for_sidecar
from .signals import Signals
from .warm import WarmAnsible
from .wording import log

_FAST_LOOKS = 10.0
"""Seconds in which the inventory is looked for often: in most pods it is there at once."""


def run(settings: Settings, signals: Signals, ingest: Ingest) -> int:
    """Answers the exit status that Muster orders."""
    # What a playbook leaves behind becomes a child of process 1, which this is.
    signals.adopts = True
    warm = open_warm(settings)
    try:
        return _run(settings, signals, ingest, warm)
    finally:
        warm.close()


def _run(settings: Settings, signals: Signals, ingest: Ingest, warm: WarmAnsible) -> int:
    where = settings.places
    if not _await_inventory(where, signals):
        return signals.exit_status
    if settings.sidecar_wait:
        wait_for_sidecar(signals)
    status = (read_file(where.complete) or b'').decode('utf-8', 'replace').strip()
    if status not in ('', '0'):
        failure = StepFailure('', f'the inventory step ended with {status}')
        log(failure.message)
        ingest.report('ansible', 'failed', failure)
        return 1
    # Muster gives no order before it knows that somebody is here to take it.
    ingest.report('ansible', 'started', patience=None)
    try:
        return _Worker(settings, signals, ingest, warm).work()
    except StepFailure as failure:
        log(failure.message)
        ingest.report('ansible', 'failed', failure, patience=PATIENCE_FAILED)
        return 1


class _Worker:
    """Takes the orders, one after the other."""

    def __init__(self, settings: Settings, signals: Signals, ingest: Ingest, warm: WarmAnsible) -> None:
        self._settings = settings
        self._warm = warm
        self._where = settings.places
        self._signals = signals
        self._ingest = ingest
        self._said_failed = False

    def work(self) -> int:
        """Until it is finished, or this process is to end; answers the exit status."""
        done = 0
        while (order := next_order(self._ingest, self._signals, done)) is not None:
            if order.run is None:
                return order.exit_code
            self._execute(order.run)
            done = order.number
        return self._signals.exit_status

    def _execute(self, order: RunOrder) -> None:
        """Runs a layer once and hands over all of it; one that was run before is handed over again."""
        run = RunFiles(self._where.runs, order.run_id)
        try:
            start_run(run, order, self._settings, self._signals, self._warm)
        except StepFailure as failure:
            self._fail(failure)
            ship_run(RefusedRun(self._where.runs, order.run_id, failure.message), self._ingest, self._signals)
            return
        if self._said_failed:
            self._ingest.report('ansible', 'started', patience=PATIENCE_FAILED)
            self._said_failed = False
        log(f'layer {order.layer + 1}: running {order.playbook}')

        def say_if_full(code: int) -> None:
            work = self._where.work
            if (code != 0 or run.results is None) and is_full(work):
                self._fail(StepFailure('disk_low', f'layer {order.layer + 1}: the disk of {work} is full'))
            elif has_lost_results(run):
                # The playbook's own files may have filled it, and be gone by now.
                message = f'layer {order.layer + 1}: the results of its hosts could not be written to the disk of {work}'
                self._fail(StepFailure('disk_low', message))

        follow_run(run, self._where, self._ingest, self._signals, say_if_full)

    def _fail(self, failure: StepFailure) -> None:
        """Says why a run fails; before its end, which Muster goes on from."""
        log(failure.message)
        self._said_failed = True
        self._ingest.report('ansible', 'failed', failure, patience=PATIENCE_FAILED)


def _await_inventory(where: Places, signals: Signals) -> bool:
    """True when the inventory step has ended; False when this process is asked to end before."""
    began = time.monotonic()
    while read_file(where.complete) is None:
        signals.pause(0.1 if time.monotonic() - began < _FAST_LOOKS else 1.0)
        if signals.ending:
            return False
    return True
