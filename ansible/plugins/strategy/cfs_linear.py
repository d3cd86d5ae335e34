"""Strategy `cfs_linear`: Ansible's `linear` under the name that CFS configurations use."""

from __future__ import annotations

from ansible.plugins.strategy.linear import StrategyModule as LinearStrategyModule

DOCUMENTATION = """
    name: cfs_linear
    short_description: Executes tasks in a linear fashion
    description:
        - The builtin strategy C(linear) under the name that existing ansible.cfg files and plays use.
        - Whether a play was broken off is found out by the callback C(muster_events), for every strategy alike.
    author: Muster
"""


class StrategyModule(LinearStrategyModule):
    """The builtin strategy, unchanged: its result is always returned."""
