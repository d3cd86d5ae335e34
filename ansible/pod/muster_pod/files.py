"""Writing files so that nobody reads half of one."""

from __future__ import annotations

import os
import tempfile


def put_file(path: str, content: bytes, mode: int = 0o644) -> None:
    """Puts a file at `path` in one step; a link that stands there is replaced, not followed."""
    folder, name = os.path.split(path)
    fd, part = tempfile.mkstemp(prefix=f'.{name}.', dir=folder)
    try:
        with open(fd, 'wb') as file:
            os.fchmod(fd, mode)
            file.write(content)
        os.rename(part, path)
    except BaseException:
        os.unlink(part)
        raise


def read_file(path: str) -> bytes | None:
    """What the file holds; None when there is none."""
    try:
        with open(path, 'rb') as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
