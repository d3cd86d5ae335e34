"""Whether the playbook of this process was broken off: the strategies say it, the aggregator asks."""

found = False


def watch(tqm, iterator, result):
    """Takes the end of a play in: broken off when a host counts as failed that has neither failed nor been unreachable."""
    global found
    failed = set(tqm._failed_hosts) | set(iterator.get_failed_hosts())
    seen = set(tqm._stats.failures) | set(tqm._stats.dark)
    if failed - seen or result & tqm.RUN_FAILED_BREAK_PLAY:
        found = True
    return result
