"""Conditions of a status: their form, and how new conditions are merged into the stored ones."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

Condition = dict[str, Any]

STATUSES = ('True', 'False', 'Unknown')
_WORD = re.compile(r'[A-Za-z][A-Za-z0-9]*')
_TIMES = ('lastHeartbeatTime', 'lastTransitionTime')


class MistakeError(ValueError):
    """An argument that cannot be used; its text names it."""


def checked(conditions: list[Condition]) -> list[Condition]:
    """Returns the conditions as they are written. Raises MistakeError for the first that has another form."""
    return [_checked(condition, f'conditions[{number}]') for number, condition in enumerate(conditions)]


def _checked(condition: Condition, place: str) -> Condition:
    if not isinstance(condition, dict):
        raise MistakeError(f'{place} is no map')
    written = {key: value for key, value in condition.items() if value is not None}
    for key in ('type', 'status'):
        if written.get(key, '') == '':
            raise MistakeError(f'{place}: {key} is missing')
    # YAML makes booleans of the words.
    status = str(written['status'])
    if status not in STATUSES:
        raise MistakeError(f'{place}: status is {status}; it is one of {", ".join(STATUSES)}')
    written['status'] = status
    reason = written.get('reason', '')
    if reason != '' and not (isinstance(reason, str) and _WORD.fullmatch(reason)):
        raise MistakeError(f'{place}: reason is {reason}; it is a single word in CamelCase')
    for key in ('type', 'message'):
        if not isinstance(written.get(key, ''), str):
            raise MistakeError(f'{place}: {key} is no text')
    for key in _TIMES:
        if key in written:
            written[key] = _time(written[key], f'{place}: {key}')
    return written


def _time(value: object, place: str) -> str:
    if isinstance(value, datetime):
        value = value.isoformat()
    try:
        parsed = datetime.fromisoformat(str(value))
    except ValueError:
        parsed = None
    if parsed is None or parsed.tzinfo is None:
        raise MistakeError(f'{place} is {value}; it is a time such as 2026-01-02T03:04:05Z')
    return str(value)


def merged(there: list[Any], given: list[Condition], now: str) -> list[Any]:
    """Returns the stored conditions. A given condition takes the place of the stored condition of its type; other given conditions come last."""
    result = list(there)
    for condition in given:
        at = next((i for i, one in enumerate(result) if _is(one, condition['type'])), None)
        if at is None:
            result.append({'lastTransitionTime': now, **condition})
        else:
            result[at] = _changed(result[at], condition, now)
    return result


def _changed(there: Condition, given: Condition, now: str) -> Condition:
    """The time of the last transition moves with the status alone."""
    if all(there.get(key) == value for key, value in given.items() if key != 'lastTransitionTime'):
        return there
    moved = there.get('status') != given['status'] or 'lastTransitionTime' not in there
    time = given.get('lastTransitionTime', now) if moved else there['lastTransitionTime']
    return {**there, **given, 'lastTransitionTime': time}


def _is(condition: object, kind: str) -> bool:
    return isinstance(condition, dict) and condition.get('type') == kind


def holds(there: Any, given: Any) -> bool:
    """Whether all that is given is there already: maps by their keys, everything else as it is."""
    if isinstance(there, dict) and isinstance(given, dict):
        return all(
            (key not in there if value is None else key in there and holds(there[key], value))
            for key, value in given.items()
        )
    return there == given
