"""Spares Ansible to look for variables of each host of an inventory where there can be none.

After an inventory is read, Ansible asks its plugins for variables of each group and host beside it, which for a large fleet takes as long as
half of the reading. Where only Ansible's own plugin is there, and the folders that it looks into are not, its answer is known.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

_FOLDERS = {'HOST': 'host_vars', 'GROUP': 'group_vars'}
_OWN = 'ansible.plugins.vars.host_group_vars'


def spare_vars() -> None:
    """In the process of a run. A release of ansible-core without this function goes on as before."""
    from ansible.inventory import manager
    from ansible.plugins.loader import vars_loader

    read = getattr(manager, 'get_vars_from_inventory_sources', None)
    combine = getattr(manager, 'combine_vars', None)
    if read is None or combine is None:
        return
    nothing: set[tuple[Any, ...]] = set()
    none: dict[str, Any] = {}

    def read_unless_known(loader: Any, sources: Sequence[Any], entities: Sequence[Any], stage: str) -> Any:
        key = (entities[0].base_type, stage, *sources)
        if key in nothing:
            return none
        found = read(loader, sources, entities, stage)
        if found == {} and _can_find_nothing(vars_loader, sources, entities[0].base_type.name):
            nothing.add(key)
        return found

    def combine_unless_none(first: Any, second: Any, merge: bool | None = None) -> Any:
        return first if second is none else combine(first, second, merge)

    manager.get_vars_from_inventory_sources = read_unless_known
    manager.combine_vars = combine_unless_none


def _can_find_nothing(vars_loader: Any, sources: Sequence[Any], kind: str) -> bool:
    names = getattr(vars_loader, '_plugin_instance_cache', None)
    if not names or kind not in _FOLDERS:
        return False
    if any(type(vars_loader.get(name)).__module__ != _OWN for name in names):
        return False
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in sources if path is not None]
    return not any(os.path.lexists(os.path.join(os.path.realpath(folder), _FOLDERS[kind])) for folder in folders)
