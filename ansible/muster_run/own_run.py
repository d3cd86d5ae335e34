"""What the launcher told this process about its run. Both of Muster's callbacks need it, and it can be read once only."""

from __future__ import annotations

import json
import os
from collections.abc import Callable


def _read_masks() -> list[str]:
    """The run's secrets, from the descriptor that the launcher left; nobody can read them from it afterwards."""
    number = os.environ.pop('MUSTER_MASK_FD', '')
    if not number:
        return []
    with open(int(number), 'rb') as file:
        return json.load(file)


# At import, before Ansible has started any process that could inherit them.
DIRECTORY = os.environ.pop('MUSTER_RUN_DIR', '')
MASKS = _read_masks()

_listeners: list[Callable[[str], None]] = []
_untold: list[str] = []


def tell(warning: str) -> None:
    """Makes a warning of the run's record, now or as soon as somebody keeps it."""
    if not _listeners:
        _untold.append(warning)
    for listener in _listeners:
        listener(warning)


def listen(listener: Callable[[str], None]) -> None:
    """Takes in all warnings, those of before too."""
    _listeners.append(listener)
    while _untold:
        listener(_untold.pop(0))
