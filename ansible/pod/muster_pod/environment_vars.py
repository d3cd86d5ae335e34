"""The variable of all hosts that says that they are no images (cfs-flows 3.5)."""

from __future__ import annotations

import os
import re
import uuid

from .failure import StepFailure
from .files import put_file, read_file

_NAMES = ('all', 'all.yml', 'all.yaml', 'all.json')
"""Names under which Ansible finds the variables of all hosts; it reads the first that exists, and no other."""
_OWN_FILE = 'cray_cfs_environment.yaml'
_LINE = b'cray_cfs_image: false\n'
_KEY = re.compile(rb'[A-Za-z_][A-Za-z0-9_]*:(?:[ \t]|$)')


def add_environment_variables(hosts: str) -> None:
    """Adds `cray_cfs_image: false` for all hosts beside the inventory in `hosts`: in a folder as a file of its own, to a file by
    a line at its end, else as a new file.

    A file that is not plainly a list of variables (encrypted, JSON, several documents) moves into a folder, where Ansible reads
    both. Links of the repository are read inside of `hosts` only and never written through.
    """
    root = os.path.realpath(hosts)
    folder = os.path.join(root, 'group_vars')
    if not os.path.lexists(folder):
        os.mkdir(folder)
    folder = _inside(root, folder)
    if not os.path.isdir(folder):
        raise StepFailure('inventory_invalid', 'group_vars of the inventory is not a folder.')
    for name in _NAMES:
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            return put_file(os.path.join(_inside(root, path), _OWN_FILE), _LINE)
        if os.path.exists(path):
            return _add_to_file(root, path)
    return put_file(os.path.join(folder, 'all'), _LINE)


def _add_to_file(root: str, path: str) -> None:
    content = read_file(_inside(root, path)) or b''
    if _takes_a_line(content):
        if not re.search(rb'^cray_cfs_image:[ \t]+false[ \t]*$', content, re.MULTILINE):
            put_file(path, content + (b'' if not content or content.endswith(b'\n') else b'\n') + _LINE)
        return
    aside = f'{path}.{uuid.uuid4()}'
    os.rename(path, aside)
    folder = os.path.join(os.path.dirname(path), 'all')
    os.mkdir(folder)
    put_file(os.path.join(folder, os.path.basename(path)), content)
    put_file(os.path.join(folder, _OWN_FILE), _LINE)
    os.unlink(aside)


def _takes_a_line(content: bytes) -> bool:
    """Whether this is plainly one block of variables: each line is empty, a comment, indented, of a list, or `name:`.

    There is no reader of YAML here; what is not recognised takes the other way, to the same effect.
    """
    seen = False
    for number, line in enumerate(content.splitlines()):
        text = line.rstrip()
        if not text or text.startswith(b'#') or (number == 0 and text == b'---'):
            continue
        if _KEY.match(text):
            seen = True
        elif not seen or not text.startswith((b' ', b'- ')):
            return False
    return True


def _inside(root: str, path: str) -> str:
    real = os.path.realpath(path)
    if not os.path.exists(real) or os.path.commonpath([root, real]) != root:
        name = os.path.relpath(path, root)
        raise StepFailure('repository_unsafe', f"'{name}' of the additional inventory leads out of it.")
    return real
