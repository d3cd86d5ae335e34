"""Which hosts the plays of a playbook are for, of those that the limit matches: told as soon as they are known.

Muster compares them with the hosts that have a result: what a playbook that ends early never came to is not reached, and no
result says so. The hosts of the plays that are still to come are told at the start, since a playbook that is killed tells
nothing at its end. A later play may be for more: `add_host` and `group_by` make hosts and groups while a playbook goes on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ansible.executor.playbook_executor import PlaybookExecutor
from ansible.inventory import manager
from ansible.template import Templar
from ansible.utils.display import Display

CHUNK_BYTES = 12 * 1024
"""Most bytes of names in one event."""

_TEMPLATE = re.compile(r'\{\{|\{%')
_ASKS = re.compile(r'\b(?:lookup|query|q)\s*\(|\b(?:now|random|pipe)\b')
"""What a template may not ask twice: once for us, and once for the play."""


class TargetWatch:
    """Tells every host of a play once, in lists that fit into an event."""

    def __init__(self, tell: Callable[[list[str]], None]) -> None:
        self._tell = tell
        self._told: set[str] = set()

    def install(self) -> None:
        """Listens to the hosts of each play that begins, of all its batches; once per process."""
        serialise: Callable[..., Any] = PlaybookExecutor._get_serialized_batches

        def serialise_and_tell(executor: Any, play: Any) -> Any:
            batches = serialise(executor, play)
            try:
                self._add(host for batch in batches for host in batch)
            except Exception as error:  # nothing here may fail a playbook
                Display().warning(f'Muster cannot tell the hosts of a play: {error}')
            return batches

        PlaybookExecutor._get_serialized_batches = serialise_and_tell

    def foresee(self, playbook: Any) -> None:
        """Tells the hosts of the plays after the first one, as far as they are known before anything has run."""
        plays = playbook.get_plays()[1:]
        if not plays:
            return
        inventory = plays[0].get_variable_manager()._inventory
        loud, manager.display = manager.display, _Quiet()
        try:
            for play in plays:
                try:
                    self._add(inventory.get_hosts(_pattern_of(play)))
                except Exception:  # the play itself says what is wrong with its hosts, when its turn comes
                    continue
        finally:
            manager.display = loud
            # A pattern that matches nothing is warned of when it is looked up for its play, and it may match by then.
            inventory.clear_pattern_cache()

    def _add(self, hosts: Iterable[Any]) -> None:
        new = [name for name in dict.fromkeys(str(host) for host in hosts) if name not in self._told]
        self._told.update(new)
        for names in _chunks(new):
            self._tell(names)


class _Quiet:
    """Stands for Ansible's display where nothing is to be said."""

    def __getattr__(self, _name: str) -> Callable[..., None]:
        return lambda *_args, **_kwargs: None


def _pattern_of(play: Any) -> Any:
    """The play's hosts; templates of them with what is known before the first play."""
    hosts = play.hosts
    text = str(hosts)
    if not _TEMPLATE.search(text):
        return hosts
    if _ASKS.search(text):
        raise ValueError('not known yet')
    variables = play.get_variable_manager().get_vars(play=play)
    return Templar(loader=play.get_loader(), variables=variables).template(hosts)


def _chunks(names: list[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 0
    for name in names:
        cost = len(name.encode('utf-8', 'replace')) + 8
        if chunk and size + cost > CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append(name)
        size += cost
    if chunk:
        yield chunk
