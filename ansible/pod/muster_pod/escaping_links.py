"""Symbolic links of a checkout that lead out of it."""

from __future__ import annotations

import os
from collections.abc import Iterator

_LINKS_MAX = 40
"""As many links as Linux follows in one path."""


def remove_escaping_links(root: str) -> list[str]:
    """Removes links that lead out of the checkout (absolute, by `..`, through another link), into a `.git`, or round in
    circles; answers a warning for each. Links that stay inside remain, also dangling ones."""
    bad = [link for link in _links_below(root) if not _stays_inside(root, link)]
    for link in bad:
        os.unlink(link)
    paths = sorted(os.path.relpath(link, root) for link in bad)
    return [f"Symbolic link '{path}' leads out of the repository and was removed." for path in paths]


def _links_below(root: str) -> Iterator[str]:
    folders = [root]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    yield entry.path
                elif entry.is_dir() and entry.name != '.git':
                    folders.append(entry.path)


def _stays_inside(root: str, link: str) -> bool:
    """Walks the link's target as the kernel does, part by part, and looks whether a step leaves `root`."""
    here = os.path.dirname(link)
    followed = 1
    steps = _steps_of(link)
    while steps:
        step = steps.pop(0)
        if step in ('', '.'):
            continue
        if step == '..':
            if here == root:
                return False
            here = os.path.dirname(here)
            continue
        if step.lower() == '.git':
            return False
        here = os.path.join(here, step)
        if not os.path.islink(here):
            continue
        followed += 1
        inner = _steps_of(here)
        if inner is None or followed > _LINKS_MAX:
            return False
        here = os.path.dirname(here)
        steps[:0] = inner
    return steps is not None


def _steps_of(link: str) -> list[str] | None:
    """Parts of a link's target; None when it is absolute."""
    target = os.readlink(link)
    return None if target.startswith('/') else target.split('/')
