"""Step `inventory`: keys, ansible.cfg and the inventory that Muster made, then `/inventory/complete` (cfs-flows 1.3, 3)."""

from __future__ import annotations

import errno
import os
import shutil

from .clone_step import PATIENCE_FAILED
from .completion import Completion
from .environment_vars import add_environment_variables
from .failure import StepFailure
from .files import put_file, read_file
from .ingest import Ingest, Interrupted
from .inventory_files import has_inventory, make_folder, write_inventory_files
from .places import Places
from .settings import Settings
from .sidecar import wait_for_sidecar
from .signals import Signals
from .ssh_keys import mounted_keys, place_keys
from .wording import log, reason_of


def run(settings: Settings, signals: Signals, ingest: Ingest) -> int:
    """Prepares what the playbooks need; `complete` is written whatever happens. Answers the exit status."""
    where = settings.places
    try:
        complete = Completion(where.complete)
    except OSError as error:
        _make_room(where)
        Completion(where.complete).write(1)
        failure = _failure_of(error)
        log(failure.message)
        ingest.report('inventory', 'failed', failure, patience=PATIENCE_FAILED)
        return 1
    status = 1
    try:
        _prepare(settings, signals, ingest)
        status = 0
    except StepFailure as failure:
        log(failure.message)
        # The others need not wait until Muster knows.
        complete.write(status)
        ingest.report('inventory', 'failed', failure, patience=PATIENCE_FAILED)
        return status
    except Interrupted:
        status = signals.exit_status
        raise
    finally:
        if not os.path.exists(where.complete):
            complete.write(status)
    ingest.report('inventory', 'done')
    return status


def _prepare(settings: Settings, signals: Signals, ingest: Ingest) -> None:
    where = settings.places
    if settings.sidecar_wait:
        wait_for_sidecar(signals)
    ingest.report('inventory', 'started')
    try:
        place_keys(where, mounted_keys(where))
        if not os.path.exists(os.path.join(where.ssh, 'id_ecdsa')):
            raise StepFailure('config_missing', f'There is no private key in {where.keys}.')
        config = read_file(where.ansible_config)
        if config is None:
            raise StepFailure('config_missing', f'There is no {where.ansible_config}.')
        put_file(os.path.join(where.inventory, 'ansible.cfg'), config)
        if settings.inventory_type == 'repo' and not has_inventory(where.hosts):
            raise StepFailure(
                'inventory_empty', 'The target is repo, but there is no additional inventory, or it has no file.'
            )
        make_folder(where.inventory, ['hosts'])
        write_inventory_files(where.inventory, _ask_for_files(ingest))
        add_environment_variables(where.hosts)
    except OSError as error:
        raise _failure_of(error) from None


def _ask_for_files(ingest: Ingest) -> object:
    answer = ingest.insist('GET', ingest.job('inventory'))
    if not answer.good or not isinstance(answer.body, dict):
        raise StepFailure('inventory_failed', f'Muster has no inventory for this session: {answer.said}')
    return answer.body.get('files')


def _failure_of(error: OSError) -> StepFailure:
    code = 'disk_low' if error.errno in (errno.ENOSPC, errno.EDQUOT) else 'inventory_failed'
    return StepFailure(code, f'The inventory cannot be written: {reason_of(error)}')


def _make_room(where: Places) -> None:
    """Gives up the repositories, which nobody will play now: without `complete` the other containers would wait for ever."""
    for name in os.listdir(where.inventory):
        if name.startswith('layer'):
            shutil.rmtree(os.path.join(where.inventory, name), ignore_errors=True)
