"""What ansible-core 2.19 still shows of a task with `no_log`, taken away.

- Of a censored result it keeps the exception and the warnings, and the callback of the output prints them: the whole text
  of the failure, with every value in it. Without them the output says that the task failed and its result is hidden.
- From -vvv on it prints the command that goes to a host: with `raw` and `environment` that is the values themselves.
- Around the line that a failure points to it prints the two lines before: they may be another task's, one with `no_log`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from ansible._internal._errors._error_utils import SourceContext
from ansible.executor import task_result
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

_TELLTALE = ('exception', 'warnings', 'deprecations')
_VERBOSITY_WITHOUT_COMMANDS = 2
_LINES_BEFORE = 2
"""How many lines ansible-core shows before the one that a failure points to."""


def hide_no_log() -> None:
    """Hides all of it, in this process and the workers that it starts; once per process."""
    task_result._PRESERVE.difference_update(_TELLTALE)
    execute: Callable[..., Any] = ActionBase._low_level_execute_command

    def execute_quietly(self: Any, *args: Any, **kwargs: Any) -> Any:
        display = Display()
        if not self._task.no_log or display.verbosity <= _VERBOSITY_WITHOUT_COMMANDS:
            return execute(self, *args, **kwargs)
        verbosity, display.verbosity = display.verbosity, _VERBOSITY_WITHOUT_COMMANDS
        try:
            return execute(self, *args, **kwargs)
        finally:
            display.verbosity = verbosity

    ActionBase._low_level_execute_command = execute_quietly

    from_origin: Callable[..., Any] = SourceContext.from_origin

    def from_origin_alone(origin: Any) -> Any:
        context = from_origin(origin)
        if context.target_line is None:
            return context
        before = min(_LINES_BEFORE, origin.line_num - 1)
        return dataclasses.replace(context, annotated_source_lines=context.annotated_source_lines[before:])

    SourceContext.from_origin = from_origin_alone
