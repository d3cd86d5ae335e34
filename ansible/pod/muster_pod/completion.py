"""The file by which the inventory step tells all other containers that it has ended."""

from __future__ import annotations

import os

_ROOM = 16


class Completion:
    """`/inventory/complete`, with room for it taken while there is some: a full disk must not keep the others waiting."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._draft = os.path.join(os.path.dirname(path), '.complete')
        with open(self._draft, 'wb') as file:
            file.write(b' ' * _ROOM)

    def write(self, status: int) -> None:
        """Makes the file with this exit status; written once, whole or not at all."""
        with open(self._draft, 'r+b') as file:
            file.write(str(status).encode())
            file.truncate()
        os.rename(self._draft, self._path)
