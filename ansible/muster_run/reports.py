"""What a task's result on one host says, as the fields of an event."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from muster_run.wording import Wording

_FACTS = ('setup', 'gather_facts')
"""Actions whose good results hold facts only: megabytes, and nothing for a reader."""


def short_action(task: Any) -> str:
    """Name of the task's action without the collection that is Ansible's own: `copy`, `community.general.ufw`."""
    return str(task.action).removeprefix('ansible.builtin.').removeprefix('ansible.legacy.')


def is_censored(result: Any) -> bool:
    """Whether the result belongs to a task (or one item of a loop) with `no_log`.

    The result itself says so. Where it says nothing and the task's `no_log` is a template that only the worker has
    evaluated, the answer is yes.
    """
    data = result.result
    if data.get('_ansible_no_log') or 'censored' in data:
        return True
    if any(isinstance(item, Mapping) and (item.get('_ansible_no_log') or 'censored' in item) for item in _items(data)):
        return True
    no_log = result.task.no_log
    return no_log is True or (isinstance(no_log, str) and '_ansible_no_log' not in data)


def describe(result: Any, wording: Wording, failed: bool) -> dict[str, object]:
    """The telling fields of a result: item, message, stdout, stderr, rc; `censored` alone when `no_log` hides them."""
    if short_action(result.task) in _FACTS and not failed and not result.task.no_log:
        return {}
    if is_censored(result):
        return {'censored': True}
    data = result.result
    items = _items(data)
    if not items:
        return _texts(data, wording)
    bad = [item for item in items if isinstance(item, Mapping) and (item.get('failed') or item.get('unreachable'))]
    if not failed or not bad:
        return {}
    labels = [wording.text(item.get('_ansible_item_label', item.get('item', '')), 256) for item in bad]
    fields = _texts(bad[0], wording)
    reason = fields.get('message')
    summary = f'{len(bad)} of {len(items)} items failed'
    fields['message'] = wording.text(f'{summary}; {labels[0]}: {reason}' if reason else summary)
    fields['item'] = wording.text(', '.join(labels))
    return fields


_CLOSED = re.compile(r'(?:Shared c|C)onnection to \S+ closed\.')
_ADVICE = re.compile(r'(?:WARNING|warning|\[WARNING\]|\[notice\])\b:?')
_REASON_LIMIT = 300


def reason_of(fields: Mapping[str, object], unreachable: bool, wording: Wording) -> str:
    """Why a task failed, in one line: its exit status and the last useful line of its output, else its message."""
    status = fields.get('rc')
    has_failed = isinstance(status, int) and status != 0
    said = _last_line(fields.get('stderr')) or _last_line(fields.get('stdout')) if has_failed else ''
    if not said:
        message = str(fields.get('message') or '')
        lines = [line.strip() for line in message.splitlines() if line.strip()]
        said = lines[-1 if unreachable else 0] if lines else 'it did not say why'
    return wording.text(f'rc {status}: {said}' if has_failed else said, _REASON_LIMIT)


def _last_line(text: object) -> str:
    """The last line that says something; advice counts only where there is nothing else."""
    lines = [line.strip() for line in str(text or '').splitlines()]
    lines = [line for line in lines if any(map(str.isalnum, line)) and not _CLOSED.fullmatch(line)]
    telling = [line for line in lines if not _ADVICE.match(line)]
    return (telling or lines or [''])[-1]


def warnings_of(result: Any, wording: Wording) -> list[str]:
    """The warnings that came with a result; none of a censored one."""
    if not result.warnings or is_censored(result):
        return []
    return [wording.text(str(warning)) for warning in result.result.get('warnings') or ()]


def diff_of(result: Any, callback: Any) -> str:
    """The difference a task made, as unified text without colours; empty when there is none or `no_log` hides it."""
    if is_censored(result):
        return ''
    data = result.result
    parts = [item['diff'] for item in (*_items(data), data) if isinstance(item, Mapping) and item.get('diff')]
    return ''.join(callback._get_diff(part) for part in parts)


def _items(data: Mapping[str, Any]) -> list[Any]:
    items = data.get('results')
    return (
        items
        if isinstance(items, list) and all(isinstance(item, Mapping) and 'ansible_loop_var' in item for item in items)
        else []
    )


def _texts(data: Mapping[str, Any], wording: Wording) -> dict[str, object]:
    fields: dict[str, object] = {}
    for field, sources in (
        ('message', ('msg', 'reason', 'skip_reason', 'skipped_reason')),
        ('stdout', ('stdout', 'module_stdout')),
        ('stderr', ('stderr', 'module_stderr')),
    ):
        value = next((data[source] for source in sources if data.get(source)), None)
        if value is not None:
            fields[field] = wording.text(value)
    if isinstance(data.get('rc'), int):
        fields['rc'] = int(data['rc'])
    return fields
