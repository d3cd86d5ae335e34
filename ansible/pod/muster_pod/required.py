"""What layers ask for in their requirements files, held against what this image has."""

from __future__ import annotations

import json
import os
import sys

from .failure import StepFailure
from .files import read_file
from .orders import RunOrder
from .places import Places
from .signals import run_child

_ANSIBLE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_CHECK = os.path.join(_ANSIBLE, 'muster_run', 'requirements_check.py')
_FILES = ('collections/requirements.yml', 'roles/requirements.yml')
_NAMED = 5


def check_requirements(order: RunOrder, where: Places) -> None:
    """Raises StepFailure when layers ask for collections or roles that this image does not have: nothing is downloaded."""
    folders = {order.layer: order.cwd}
    for name in os.listdir(where.inventory):
        if name.startswith('layer') and name[5:].isdigit():
            folders.setdefault(int(name[5:]), os.path.join(where.inventory, name))
    layers = [(number, folder) for number, folder in sorted(folders.items()) if number >= order.layer]
    asking = [(number, folder) for number, folder in layers if _has_requirements(folder)]
    if order.debug or not asking:
        return
    answer = os.path.join(where.work, 'tmp', 'requirements')
    playbook = lambda number: order.playbook if number == order.layer else ''  # noqa: E731
    words = [word for number, folder in asking for word in (str(number), folder, playbook(number))]
    status = run_child([sys.executable, _CHECK, answer, *words], {'LANG': 'C.UTF-8', **order.environment})
    try:
        missing = json.loads(read_file(answer) or b'')
    except ValueError:
        missing = [f'layer {order.layer + 1}: what it requires could not be looked up, exit status {status}']
    if missing:
        more = f'; and {len(missing) - _NAMED} more' if len(missing) > _NAMED else ''
        raise StepFailure(
            'collection_missing',
            f'{"; ".join(missing[:_NAMED])}{more}. Nothing is downloaded during a session: '
            'install it in the image, or put it into the repository',
        )


def _has_requirements(folder: str) -> bool:
    return any(os.path.lexists(os.path.join(folder, file)) for file in _FILES)
