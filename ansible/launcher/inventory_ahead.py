"""The inventory that Muster generates for a session, parsed before its runs are there; each of them takes it as if it had read it.

Only that one file is read, by the same function as in a run. What a repository adds to the inventory, and all that Ansible does with it,
happens in the run. Where the run could have read something else in the file, it reads the file anew and its events say why.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any

NAME = 'muster_inventory_ahead'
"""Under this name a run's inventory plugin looks for it among the modules."""
_FILE = '01-cfs-generated.yaml'
_BYTES_MIN = 128 * 1024
"""A smaller file is read in a few milliseconds."""
_VERBOSE = 3
"""From here on Ansible tells of each host and group that it adds."""
_ANEW = 'The inventory was read anew'


class NotAhead(Exception):
    """Why the file cannot be read ahead."""


class Unread:
    """In place of what was read: why a run has to read the file by itself."""

    def __init__(self, why: str) -> None:
        self.why = why
        self.tell: Callable[[str], None] = lambda _: None

    def fill(self, *_: Any) -> bool:
        """Leaves the inventory as it is."""
        self.tell(f'{_ANEW}: {self.why}')
        return False


class InventoryAhead:
    """What was read of the file, for one session."""

    def __init__(self, path: str, plugins: str) -> None:
        """Reads it. Raises NotAhead; then this process has warned of something that a run is to say, and may start none."""
        from ansible import constants
        from ansible.inventory.data import InventoryData
        from ansible.utils.display import Display

        self.path = path
        self.tell: Callable[[str], None] = lambda _: None
        self._stamp = stamp_of(path)
        self._transform = constants.TRANSFORM_INVALID_GROUP_CHARS
        self._data = InventoryData()
        self._data.current_source = path
        try:
            _plugin(plugins).read(self._data, path)
        except Exception as error:  # whatever is wrong with the file: the run that reads it says so
            raise NotAhead(f'its file is broken ({type(error).__name__})') from None
        # Ansible keeps which hosts a group has, and forgets it for groups that anything is added to.
        for group in self._data.groups.values():
            group.get_hosts()
        gc.freeze()
        display = Display()
        if any(getattr(display, name, None) for name in ('_warns', '_deprecations', '_errors')):
            raise NotAhead('something in it is to be warned of')

    def changed(self) -> bool:
        """Whether the file is not on the disk any more as it was then."""
        return stamp_of(self.path) != self._stamp

    def fill(self, inventory: Any, path: str, verbosity: int) -> bool:
        """In a run: puts what was read into an inventory that has nothing yet; False where it is to be read anew."""
        why = self._why_not(inventory, path, verbosity)
        if why is not None:
            self.tell(f'{_ANEW}: {why}')
            return False
        inventory.groups.clear()
        inventory.groups.update(self._data.groups)
        inventory.hosts.update(self._data.hosts)
        return True

    def _why_not(self, inventory: Any, path: str, verbosity: int) -> str | None:
        from ansible import constants

        if path != self.path or self.changed():
            return 'its file is another one'
        if verbosity >= _VERBOSE or constants.DEFAULT_DEBUG:
            return 'Ansible is to tell how it reads the inventory'
        if constants.TRANSFORM_INVALID_GROUP_CHARS != self._transform:
            return 'its setting TRANSFORM_INVALID_GROUP_CHARS is unusual'
        if self._data.localhost is not None:
            return 'it has this machine as a host'
        if inventory.hosts or set(inventory.groups) != {'all', 'ungrouped'} or inventory.groups['all'].vars:
            return 'other files come before its own'
        return None


def file_ahead(folder: str) -> str | None:
    """The generated file of an inventory folder where it is worth to be read ahead."""
    path = os.path.join(folder, _FILE)
    try:
        return path if os.stat(path).st_size >= _BYTES_MIN else None
    except OSError:
        return None


def _plugin(plugins: str) -> Any:
    path = os.path.join(plugins, 'inventory', 'muster_fleet.py')
    spec = importlib.util.spec_from_file_location('muster_fleet_ahead', path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def stamp_of(path: str) -> tuple[int, ...] | None:
    """By this a file is known that was not written since; None when it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)
