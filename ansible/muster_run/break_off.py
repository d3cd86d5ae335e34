"""Whether a playbook was broken off: ended for hosts that did not fail themselves.

Rule (cfs-flows 4.4): a play was broken off when its strategy's result has the bit for it, or when a host of it counts
as failed without a failure and without having been unreachable. `any_errors_fatal`, a failing `run_once` task and an
exceeded `max_fail_percentage` do that to hosts; a failure of all hosts does not.

Where ansible-core 2.19 marks such hosts decides which of its two sets is asked. It marks them in the play's iterator
and in the queue manager; where the block that failed has a `rescue`, the iterator takes the mark back and the queue
manager keeps it. In such a play every host goes on to its end, so nothing was broken off and only the iterator is
right; should a later play leave the host out because of the old mark, then it is failed in that play's iterator.

The check sits around the strategy that the queue manager loads, whatever its name: `cfs_linear` and `cfs_free`, the
builtin ones by short or full name (`ansible.builtin.free`) and those of collections. A file of the same name in our
path could not do that: a full name does not look there, and a `linear.py` cannot import the builtin module of the
same name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.plugins.loader import strategy_loader
from ansible.utils.display import Display


class BreakOffWatch:
    """Watches the plays of this process: whether one of them was broken off until now, and which hosts were in them."""

    def __init__(self) -> None:
        self.broken_off = False
        self.played: set[str] = set()
        self._stats: Any = None
        self._rescued: dict[str, int] = {}

    def was_rescued(self, host: str) -> bool:
        """Whether the failure of the host that Ansible tells now is taken back by a `rescue`: it has counted it so before it tells."""
        count = self._stats.rescued.get(host, 0) if self._stats is not None else 0
        before, self._rescued[host] = self._rescued.get(host, 0), count
        return count > before

    def install(self) -> None:
        """Puts the watch around every strategy that is loaded from now on; once per process."""
        load: Callable[..., Any] = strategy_loader.get

        def load_watched(name: str, *args: Any, **kwargs: Any) -> Any:
            strategy = load(name, *args, **kwargs)
            if hasattr(strategy, '_tqm'):
                self._watch(strategy)
            return strategy

        strategy_loader.get = load_watched

    def _watch(self, strategy: Any) -> None:
        run: Callable[..., Any] = strategy.run
        self._stats = getattr(strategy._tqm, '_stats', None)

        def run_watched(iterator: Any, *args: Any, **kwargs: Any) -> Any:
            result = run(iterator, *args, **kwargs)
            try:
                self.played.update(map(str, strategy._hosts_cache))
                self.broken_off = self.broken_off or was_broken_off(result, iterator, strategy)
            except Exception as error:  # an unknown strategy may lack anything; its play must not suffer
                Display().warning(f'Muster cannot tell whether the play was broken off: {error}')
            return result

        strategy.run = run_watched


def was_broken_off(result: Any, iterator: Any, strategy: Any) -> bool:
    """The rule above for one play (one batch of a play with `serial`), after its strategy has returned `result`."""
    queue_manager = strategy._tqm
    if int(result or 0) & queue_manager.RUN_FAILED_BREAK_PLAY:
        return True
    stats = queue_manager._stats
    failed = iterator.get_failed_hosts()
    # Hosts of the play only: those that failed in earlier plays are marked in every later iterator.
    return any(
        host in failed and not stats.failures.get(host) and not stats.dark.get(host) for host in strategy._hosts_cache
    )
