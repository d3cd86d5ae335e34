"""Which changes of a check may come only of tasks that check mode skips.

A command is not run in check mode, so what it registers is empty. A task that uses such a name then seems to change something that it
would not change in a real run. Names that are set by skipped tasks are noted for every host, and what is made of them is too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_BLOCK = re.compile(r'\{\{.*?\}\}|\{%.*?%\}', re.DOTALL)
_TEMPLATE_MAX = 1024 * 1024
"""Longer templates are not looked through, bytes."""
_DEPTH = 20
_NOT_RUN = 'Command would have run if not in check mode'
_FACTS = ('set_fact', 'ansible.builtin.set_fact', 'ansible.legacy.set_fact')
_TEMPLATES = ('template', 'ansible.builtin.template', 'ansible.legacy.template')


class SkippedNames:
    """Names whose values are not known because check mode skips the tasks that set them, by host; each with the name of that task."""

    def __init__(self) -> None:
        self._names: dict[str, dict[str, str]] = {}
        self._play: Any = None
        self._texts: dict[str, list[tuple[str, str]]] = {}
        self._notified: dict[str, tuple[set[str], set[str]]] = {}

    def play_starts(self, play: Any) -> None:
        """Another play has variables of its own."""
        self._play = play
        self._texts.clear()

    def task_starts(self, task: Any) -> None:
        """A task begins: only now are its texts as they are written, later the names in them are values."""
        if task._uuid not in self._texts:
            self._texts[task._uuid] = [(what, text) for what, text in _texts_of(task) if text.strip()]

    def judge(self, result: Any, task_name: str, changed: bool) -> str | None:
        """Takes notice of a task's result; answers why its change is uncertain, None where it is not, or nothing changes."""
        host, task = result.host.get_name(), result.task
        why = self._use_of(host, result)
        if changed and why is None:
            why = self._notified_by(host, task)
        self._take(host, result, task_name, why is not None)
        if changed:
            certain, uncertain = self._notified.setdefault(host, (set(), set()))
            (certain if why is None else uncertain).update(str(name) for name in task.notify or ())
        return why if changed else None

    def _take(self, host: str, result: Any, task_name: str, depends: bool) -> None:
        """The names that the task sets are unknown from now on, or known again."""
        task, data = result.task, result.result
        unknown = depends or _is_skipped(task, data)
        names = [str(task.register)] if task.register else []
        if task.action in _FACTS:
            names.extend(str(name) for name in task.args if name != 'cacheable')
        hosts = self._all_hosts(host) if task.run_once else [host]
        for each in hosts:
            known = self._names.setdefault(each, {})
            for name in names:
                if unknown:
                    known[name] = task_name
                elif task.action not in _FACTS or not data.get('skipped'):
                    known.pop(name, None)

    def _all_hosts(self, host: str) -> list[str]:
        try:
            return [str(each) for each in self._play.get_variable_manager()._inventory.get_hosts(self._play.hosts)]
        except Exception:
            return [host]

    def _use_of(self, host: str, result: Any) -> str | None:
        task = result.task
        if not any(self._names.values()):
            return None
        names = self._names.get(host, {})
        others = {name: by for known in self._names.values() for name, by in known.items()}
        texts = self._texts.get(task._uuid, ())
        for what, text in texts:
            if found := _mentioned(text, names, others):
                return _because(what, found, (names | others)[found])
        indirect = self._made_of(names, task, result)
        for what, text in texts:
            if found := _mentioned(text, indirect, {}):
                return _because(what, indirect[found], names.get(indirect[found], ''))
        if task.action in _TEMPLATES and (found := _mentioned(_template_of(task), {**names, **indirect}, others)):
            name = indirect.get(found, found)
            return _because('template', name, names.get(name, others.get(name, '')))
        return None

    def _made_of(self, names: Mapping[str, str], task: Any, result: Any) -> dict[str, str]:
        """Variables of play, role, group and host that are made of such names: each with the name that it comes to."""
        try:
            variables = self._play.get_variable_manager().get_vars(play=self._play, host=result.host, task=task)
        except Exception:
            variables = task.get_vars() or {}
        texts = {
            str(name): text
            for name, value in variables.items()
            if not str(name).startswith(('ansible_', 'hostvars', 'vars', 'groups')) and (text := _blocks(value))
        }
        made: dict[str, str] = {}
        for _ in range(_DEPTH):
            more = {}
            for name, text in texts.items():
                if name not in made and name not in names and (found := _mentioned(text, {**names, **made}, {})):
                    more[name] = made.get(found, found)
            if not more:
                break
            made.update(more)
        return made

    def _notified_by(self, host: str, task: Any) -> str | None:
        """Why a handler is uncertain: nothing but uncertain changes has notified it."""
        certain, uncertain = self._notified.get(host, (set(), set()))
        listen = getattr(task, 'listen', None)
        if listen is None or not uncertain:
            return None
        name = str(task.name or '')
        role = task._role.get_name() if task._role is not None else ''
        known = {name, f'{role} : {name}', task.get_name().strip(), *(str(word) for word in listen)}
        if known & certain or not known & uncertain:
            return None
        return 'only tasks whose own change is uncertain notify this handler, since check mode skips what they depend on'


def _because(what: str, name: str, by: str) -> str:
    task = f"the task '{by}'" if by else 'a task'
    return f'its {what} uses {name}, which {task} sets, and check mode skips what sets it'


def _is_skipped(task: Any, data: Mapping[str, Any]) -> bool:
    """Whether check mode, and no condition, kept the task or an item of its loop from running."""
    if not task.check_mode:
        return False
    items = data.get('results')
    results = items if isinstance(items, list) and items else [data]
    return any(isinstance(one, Mapping) and _was_not_run(one) for one in results)


def _was_not_run(data: Mapping[str, Any]) -> bool:
    if data.get('msg') == _NOT_RUN:
        return True
    return bool(data.get('skipped')) and not any(
        key in data for key in ('false_condition', 'skip_reason', 'skipped_reason')
    )


def _texts_of(task: Any) -> Iterable[tuple[str, str]]:
    """The texts of a task that may use names, each with what it is."""
    yield 'arguments', _blocks(task.args)
    for member in ('environment', 'delegate_to'):
        yield member, _blocks(getattr(task, member, None))
    yield 'loop', _plain(task.loop) if isinstance(task.loop, str) and '{' not in task.loop else _blocks(task.loop)
    yield 'condition', ' '.join(_plain(getattr(task, member, None)) for member in ('changed_when', 'failed_when', 'until'))
    at, depth = task, 0
    while at is not None and depth < _DEPTH:
        yield 'condition', _plain(getattr(at, 'when', None))
        yield 'variables', _blocks(getattr(at, 'vars', None))
        at, depth = getattr(at, '_parent', None), depth + 1


def _plain(value: Any) -> str:
    """Texts that are expressions as a whole."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return ' '.join(_plain(one) for one in value)
    return ''


def _blocks(value: Any, depth: int = 0) -> str:
    """What stands in blocks of Jinja in a value; all else is data."""
    if isinstance(value, str):
        return ' '.join(_BLOCK.findall(value)) if '{' in value else ''
    if depth > _DEPTH:
        return ''
    if isinstance(value, Mapping):
        return ' '.join(part for one in value.items() for each in one if (part := _blocks(each, depth + 1)))
    if isinstance(value, (list, tuple)):
        return ' '.join(part for one in value if (part := _blocks(one, depth + 1)))
    return ''


def _mentioned(text: str, names: Mapping[str, str], of_others: Mapping[str, str]) -> str | None:
    """The first of the names that a text uses; names of other hosts only where it reads the variables of hosts."""
    if not text:
        return None
    by_key = 'hostvars' in text or 'vars[' in text or 'lookup' in text
    for name in {**names, **of_others} if 'hostvars' in text else names:
        before = r'(?<!\w)' if by_key else r'(?<![\w.])'
        if re.search(f'{before}{re.escape(name)}(?!\\w)', text):
            return name
    return None


def _template_of(task: Any) -> str:
    """The blocks of the file that a task makes of a template; empty where it cannot be told which."""
    source = task.args.get('src')
    if not isinstance(source, str) or '{' in source:
        return ''
    try:
        path = task.get_loader().path_dwim_relative_stack(task.get_search_path(), 'templates', source)
        with open(path, encoding='utf-8', errors='replace') as file:
            return ' '.join(_BLOCK.findall(file.read(_TEMPLATE_MAX)))
    except Exception:
        return ''
