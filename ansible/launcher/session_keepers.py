"""Processes that hold the inventory of one session each, for the runs of that session alone.

A warm process forks such a process with the first run of a session that has more to come, and hands it the order of each: it starts the
run as the warm process would, with the inventory at hand. It ends with the warm process, with the session's last run, and when the file of
the inventory has changed or is gone.
"""

from __future__ import annotations

import json
import os
import select
import socket
import time
from collections.abc import Callable
from typing import Any

from child import InPlace
from inventory_ahead import InventoryAhead, NotAhead, Unread, stamp_of

IDLE_S = 600
_LOOK_S = 15
"""How often (s) a process looks whether its inventory is still there."""
HELD_MAX = 2
"""The inventory of a large fleet takes hundreds of MB."""
_LINE_MAX = 64 * 1024

Start = Callable[[str, 'InventoryAhead | Unread | None', tuple[int, ...]], int]
"""Starts a run in a process whose descriptors these are; the exit status of what has detached its launcher."""


class _Keeper:
    def __init__(self, pid: int, channel: int) -> None:
        self.pid = pid
        self.channel = channel
        self.waiting: list[dict[str, Any]] = []
        self.used = time.monotonic()
        self.unread = b''


class SessionKeepers:
    """Those of one warm process. `answer`: told what became of an order; `open_here`: descriptors of the warm process alone."""

    def __init__(
        self, plugins: str, start: Start, answer: Callable[[dict[str, Any], int | None], None], open_here: tuple[int, ...]
    ) -> None:
        self._plugins = plugins
        self._start = start
        self._answer = answer
        self._open_here = open_here
        self._held: dict[str, _Keeper] = {}

    @property
    def channels(self) -> tuple[int, ...]:
        """Descriptors on which they answer."""
        return tuple(keeper.channel for keeper in self._held.values())

    def take(self, order: dict[str, Any], path: str) -> bool:
        """Hands on the order of a run with this inventory; False where the warm process is to start it by itself."""
        keeper = self._held.get(path)
        if keeper is None:
            if order.get('last') or not self._has_room():
                return False
            keeper = self._held[path] = self._begin(path)
        try:
            os.write(keeper.channel, json.dumps(order).encode() + b'\n')
        except OSError:
            self._over(path)
            return False
        keeper.used = time.monotonic()
        keeper.waiting.append(order)
        return True

    def hear(self, channel: int) -> None:
        """Hands on what a process has answered. Of a process that is gone nothing is known, and that is handed on."""
        path, keeper = next((path, keeper) for path, keeper in self._held.items() if keeper.channel == channel)
        try:
            piece = os.read(channel, _LINE_MAX)
        except OSError:
            piece = b''
        if not piece:
            self._over(path)
            return
        *lines, keeper.unread = (keeper.unread + piece).split(b'\n')
        for line in lines:
            answer, order = json.loads(line), keeper.waiting.pop(0)
            if 'unread' in answer:
                self._answer(order, self._start(order['run'], Unread(answer['unread']), self._open_here))
            else:
                self._answer(order, answer['status'])

    def _has_room(self) -> bool:
        while len(self._held) >= HELD_MAX:
            idle = [(keeper.used, path) for path, keeper in self._held.items() if not keeper.waiting]
            if not idle:
                return False
            self._over(min(idle)[1])
        return True

    def _over(self, path: str) -> None:
        keeper = self._held.pop(path)
        os.close(keeper.channel)
        os.waitpid(keeper.pid, 0)
        for order in keeper.waiting:
            self._answer(order, None)

    def _begin(self, path: str) -> _Keeper:
        ours, theirs = (end.detach() for end in socket.socketpair())
        pid = os.fork()
        if pid:
            os.close(theirs)
            return _Keeper(pid, ours)
        goes_on = False
        try:
            for fd in (ours, *self.channels, *self._open_here):
                os.close(fd)
            self._hold(path, theirs)
        except InPlace:
            goes_on = True
            raise
        finally:
            if not goes_on:
                os._exit(0)
        raise AssertionError('it has ended')

    def _hold(self, path: str, channel: int) -> None:
        """In the process of a session: answers orders until no more can come."""
        ahead: InventoryAhead | None = None
        stamp = stamp_of(path)
        why = ''
        try:
            ahead = InventoryAhead(path, self._plugins)
        except NotAhead as error:
            why = str(error)
        poll = select.poll()
        poll.register(channel, select.POLLIN)
        unread = b''
        until = time.monotonic() + IDLE_S
        while time.monotonic() < until and stamp_of(path) == stamp:
            if not poll.poll(_LOOK_S * 1000):
                continue
            until = time.monotonic() + IDLE_S
            piece = os.read(channel, _LINE_MAX)
            if not piece:
                return
            *lines, unread = (unread + piece).split(b'\n')
            for line in lines:
                order = json.loads(line)
                answer = {'unread': why} if ahead is None else {'status': self._start(order['run'], ahead, (channel,))}
                os.write(channel, json.dumps(answer).encode() + b'\n')
                if order.get('last'):
                    return
