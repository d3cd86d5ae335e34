"""The linear strategy, which notices plays that were broken off."""

import broken_off
from ansible.plugins.strategy.linear import StrategyModule as Linear

DOCUMENTATION = """
name: cfs_linear
short_description: linear, noticing plays that were broken off
description: As linear.
author: tests
"""


class StrategyModule(Linear):
    def run(self, iterator, play_context):
        return broken_off.watch(self._tqm, iterator, super().run(iterator, play_context))
