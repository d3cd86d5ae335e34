"""The free strategy, which notices plays that were broken off."""

import broken_off
from ansible.plugins.strategy.free import StrategyModule as Free

DOCUMENTATION = """
name: cfs_free
short_description: free, noticing plays that were broken off
description: As free.
author: tests
"""


class StrategyModule(Free):
    def run(self, iterator, play_context):
        return broken_off.watch(self._tqm, iterator, super().run(iterator, play_context))
