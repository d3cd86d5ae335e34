"""Strategy `cfs_free`: Ansible's `free` under the name that CFS configurations use."""

from __future__ import annotations

from ansible.plugins.strategy.free import StrategyModule as FreeStrategyModule

DOCUMENTATION = """
    name: cfs_free
    short_description: Executes tasks without waiting for all hosts
    description:
        - The builtin strategy C(free) under the name that existing ansible.cfg files and plays use.
        - Whether a play was broken off is found out by the callback C(muster_events), for every strategy alike.
    author: Muster
"""


class StrategyModule(FreeStrategyModule):
    """The builtin strategy, unchanged: its result is always returned."""
