"""Starting a run with the launcher, once."""

from __future__ import annotations

import json
import os
import sys
import time

from .failure import StepFailure
from .files import put_file, read_file
from .orders import RunOrder
from .places import Places
from .required import check_requirements
from .run_files import RunFiles
from .settings import Settings
from .signals import Signals, run_child
from .ssh_keys import await_certificate, place_keys, session_keys
from .trust import trust_environment
from .warm import WarmAnsible, run_base
from .wording import reason_of

_ANSIBLE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_LAUNCHER = os.path.join(_ANSIBLE, 'launcher', 'launch.py')
_DEBUG_PLAYBOOKS = os.path.join(_ANSIBLE, 'debug')
_CLAIM_SECONDS = 10.0
_WARM_CLAIM_SECONDS = 2.0
"""How long a launcher of the warm process may take, until another one is started; whichever comes first claims the run."""
_ROOM_MIN = 1024 * 1024
"""With less free bytes a disk counts as full: the record of a run, and every task, need some."""
_FOLDERS = ('home', 'runs', 'tmp', 'ansible-home', 'cp')


def start_run(run: RunFiles, order: RunOrder, settings: Settings, signals: Signals, warm: WarmAnsible) -> None:
    """Starts the run unless it was started before; returns when a launcher has claimed it. Raises StepFailure."""
    if run.claim is not None:
        return
    where = settings.places
    try:
        for name in _FOLDERS:
            os.makedirs(os.path.join(where.work, name), mode=0o700, exist_ok=True)
        if is_full(where.work):
            raise StepFailure('disk_low', f'layer {order.layer + 1}: the disk of {where.work} is full')
        if order.limit is not None:
            put_file(os.path.join(where.work, 'limit'), order.limit.encode(), 0o600)
        for path, text in order.files.items():
            # Of the path only its name counts: all are beside each other, wherever this pod's folder is.
            put_file(os.path.join(where.work, os.path.basename(path)), text.encode('utf-8', 'surrogatepass'), 0o600)
        check_requirements(order, where)
        await_certificate(where, order.certificate_until, signals)
        place_keys(where, session_keys(where))
        trust = trust_environment(where, settings.ca_file)
        run.make(_spec_of(order, where, trust), _masks(where, settings.token_file), _tenant_login())
    except OSError as error:
        raise StepFailure('run_not_started', f'layer {order.layer + 1}: {reason_of(error)}') from None
    is_warm = warm.start(run.directory, signals)
    status = 0 if is_warm else _launch(run)
    began = time.monotonic()
    end = began + _CLAIM_SECONDS
    while run.claim is None:
        if is_warm and time.monotonic() > began + _WARM_CLAIM_SECONDS:
            is_warm = False
            status = _launch(run)
        if status != 0 or time.monotonic() > end:
            run.forget_secrets()
            lines = run.read('launcher.log', 0, 65536).decode('utf-8', 'replace').strip().splitlines()
            said = lines[-1] if lines else f'it ended with status {status}'
            raise StepFailure('run_not_started', f'layer {order.layer + 1}: the launcher did not take the run: {said}')
        signals.pause(0.01)


def open_warm(settings: Settings) -> WarmAnsible:
    """The warm process for the runs of this pod; it is imported while others prepare them."""
    where = settings.places
    return WarmAnsible(sys.executable, _program(), where, os.environ)


def _program() -> str:
    return os.path.join(os.path.dirname(sys.executable), 'ansible-playbook')


def _launch(run: RunFiles) -> int:
    return run_child(
        [sys.executable, '-S', _LAUNCHER, run.directory], {'PATH': '/usr/local/bin:/usr/bin:/bin', 'LANG': 'C.UTF-8'}
    )


def is_full(path: str) -> bool:
    """Whether the disk that `path` is on has no room to speak of."""
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize < _ROOM_MIN


def _spec_of(order: RunOrder, where: Places, trust: dict[str, str]) -> dict[str, object]:
    folder = _DEBUG_PLAYBOOKS if order.debug else order.cwd
    playbook = os.path.realpath(os.path.join(folder, order.playbook))
    if not playbook.startswith(os.path.realpath(folder) + os.sep) or not os.path.isfile(playbook):
        raise StepFailure(
            'playbook_missing', f'layer {order.layer + 1}: there is no playbook {order.playbook} in its repository'
        )
    programs = os.path.dirname(sys.executable)
    beside = _program()
    return {
        'run_id': order.run_id,
        'argv': [beside if os.path.exists(beside) else 'ansible-playbook', playbook, *order.arguments],
        'cwd': folder,
        'env': {
            'PATH': f'{programs}:{os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin")}',
            **run_base(where),
            **trust,
            **order.environment,
        },
        'log_max_bytes': order.log_max,
    }


def _tenant_login() -> dict[str, str]:
    """The login of the configuration's tenant at its secret store, for a playbook that reads secrets there itself."""
    if not os.environ.get('VAULT_TOKEN'):
        return {}
    return {name: os.environ[name] for name in ('VAULT_ADDR', 'VAULT_TOKEN') if os.environ.get(name)}


def _masks(where: Places, token_file: str) -> list[str]:
    """Values that may not appear in what the run says: those of the session, and the token of this pod."""
    found = read_file(os.path.join(where.session, 'masks.json'))
    try:
        masks = json.loads(found) if found else []
    except ValueError:
        raise StepFailure('run_not_started', 'masks.json of the session is no JSON') from None
    token = (read_file(token_file) or b'').decode('utf-8', 'replace').strip()
    return [mask for mask in [*masks, token] if isinstance(mask, str) and mask]
