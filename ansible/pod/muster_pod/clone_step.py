"""Step `clone`: every repository of the session, at most four at once (cfs-flows 2)."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import partial

from .clone_list import Clone, read_clones
from .clone_one import clone_one
from .clone_trouble import CloneTrouble
from .failure import StepFailure
from .git import Gits
from .git_access import access_of, access_to, copy_ssh_key
from .ingest import Ingest
from .settings import Settings
from .signals import Signals
from .wording import log, reason_of

_WIDTH = 4
_LOOK_SECONDS = 0.2
_PATIENCE_DONE = 30.0
"""So long is it tried to say that all went well; the step after this one waits for Muster anyway."""
PATIENCE_FAILED = 300.0
"""So long is it tried to say why a step failed."""


def run(settings: Settings, signals: Signals, ingest: Ingest) -> int:
    """Clones all of the list and reports; answers the exit status."""
    ingest.report('clone', 'started')
    try:
        warnings = _clone_all(settings, signals, CloneTrouble(ingest))
    except StepFailure as failure:
        log(failure.message)
        ingest.report('clone', 'failed', failure, patience=PATIENCE_FAILED)
        return 1
    if signals.ending:
        return signals.exit_status
    ingest.report('clone', 'done', warnings=warnings, patience=_PATIENCE_DONE)
    return 0


def _clone_all(settings: Settings, signals: Signals, trouble: CloneTrouble) -> list[str]:
    """Answers the warnings in the order of the list; the first failure ends all others."""
    where = settings.places
    clones = read_clones(where)
    stop = threading.Event()
    memory = ''
    scratch = ''
    try:
        scratch = tempfile.mkdtemp(prefix='.clone-', dir=where.inventory)
        memory = tempfile.mkdtemp(dir=where.memory) if os.access(where.memory, os.W_OK) else tempfile.mkdtemp(dir=scratch)
        copy_ssh_key(where, memory)
        gits = Gits(scratch, os.environ)

        def work(clone: Clone) -> list[str]:
            env = access_of(clone, where, scratch, memory)
            fails = partial(trouble.begins, clone.number)
            env_of = partial(access_to, clone, where, scratch, memory)
            warnings = clone_one(gits, clone, env, env_of, settings.retry_max, settings.retry_delay, stop, fails)
            trouble.ends(clone.number)
            return warnings

        with ThreadPoolExecutor(_WIDTH) as pool:
            futures = [pool.submit(work, clone) for clone in clones]
            try:
                _await(futures, signals, trouble)
            finally:
                stop.set()
                gits.stop()
                pool.shutdown(cancel_futures=True)
        if signals.ending:
            return []
        return [warning for future in futures for warning in future.result()]
    except OSError as error:
        raise StepFailure('clone_failed', f'nothing can be cloned here: {reason_of(error)}') from None
    finally:
        for folder in (memory, scratch):
            if folder:
                shutil.rmtree(folder, ignore_errors=True)


def _await(futures: list[Future[list[str]]], signals: Signals, trouble: CloneTrouble) -> None:
    """Waits until all are done, one has failed, or this process is to end, and tells of trouble; raises the first failure."""
    left = set(futures)
    while left and not signals.ending:
        done, left = wait(left, _LOOK_SECONDS, FIRST_EXCEPTION)
        for future in done:
            future.result()
        if not signals.ending:
            trouble.tell()
