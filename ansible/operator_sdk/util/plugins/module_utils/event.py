"""Events about objects of the cluster."""

from __future__ import annotations

from datetime import datetime
from typing import Any


def event_name(name: str, now: datetime, *, with_time: bool) -> str:
    """Returns the name of an Event: with the time behind it, as Kubernetes itself does, each is an Event of its own."""
    return f'{name}.{int(now.timestamp() * 1_000_000):x}' if with_time else name


def event_of(arguments: dict[str, Any], name: str, involved: dict[str, Any], there: dict[str, Any] | None, now: datetime) -> dict[str, Any]:
    """Returns the Event that is to be; one of the same reason that is there is counted up."""
    time = now.strftime('%Y-%m-%dT%H:%M:%SZ')
    again = there is not None and there.get('reason') == arguments['reason']
    event = {
        'apiVersion': 'v1',
        'kind': 'Event',
        'metadata': {'name': name, 'namespace': arguments['namespace']},
        'message': arguments['message'],
        'reason': arguments['reason'],
        'type': arguments['type'],
        'involvedObject': involved,
        'count': (there.get('count') or 0) + 1 if again else 1,
        'firstTimestamp': (there.get('firstTimestamp') or time) if again else time,
        'lastTimestamp': time,
    }
    for key in ('source', 'reportingComponent'):
        if arguments.get(key) is not None:
            event[key] = arguments[key]
    return event
