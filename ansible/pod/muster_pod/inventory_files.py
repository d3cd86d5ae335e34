"""The inventory that Muster has made, as files."""

from __future__ import annotations

import os
from typing import Any

from .failure import StepFailure
from .files import put_file


def write_inventory_files(root: str, files: Any) -> None:
    """Writes texts by their path below `root`; a file that stands where a folder is needed gives way (cfs-flows 3).

    Raises StepFailure for a path that leads elsewhere, or through a link of a repository.
    """
    if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
        raise StepFailure('inventory_invalid', 'Muster gave no files of an inventory.')
    for path, text in files.items():
        *folders, name = path.split('/')
        if any(part in ('', '.', '..') for part in (*folders, name)):
            raise StepFailure('inventory_invalid', f"'{path}' is no path of an inventory.")
        target = os.path.join(make_folder(root, folders), name)
        try:
            put_file(target, text.encode('utf-8', 'replace'))
        except IsADirectoryError:
            raise StepFailure('inventory_invalid', f'The additional inventory has a folder named {name}.') from None


def has_inventory(hosts: str) -> bool:
    """Whether an additional inventory has brought a file."""
    try:
        return any(not name.startswith('.') for name in os.listdir(hosts))
    except (FileNotFoundError, NotADirectoryError):
        return False


def make_folder(root: str, folders: list[str]) -> str:
    """The folder below `root`, made if need be; a file or link that stands in its place is replaced."""
    path = root
    for name in folders:
        path = os.path.join(path, name)
        if os.path.islink(path) or (os.path.lexists(path) and not os.path.isdir(path)):
            os.unlink(path)
        os.makedirs(path, exist_ok=True)
    return path
