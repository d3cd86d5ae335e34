"""Callback `muster_events`: writes down what a run does and what every host reached.

Active when the launcher started the run (`MUSTER_RUN_DIR`), whatever is enabled in ansible.cfg (see
launcher/plugin_paths.py). It takes its two variables out of the environment, so an ansible-playbook that a task of
the run starts writes nothing here. Into the run's directory it writes

    events.jsonl   one line per event: targets, play_start, task_start, host_result, warning, stats
    results.json   at the final statistics: what every processed host reached (cfs-flows 4.4); in check mode every host
                   of a play, with the tasks that would change it

Of a run whose events somebody else writes (`MUSTER_HIDE_NO_LOG`) it keeps none, and only hides what is left of `no_log`.

Nothing here may fail or delay a playbook: what cannot be written is dropped and counted.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from ansible import context
from ansible.playbook.task_include import TaskInclude
from ansible.plugins.callback import CallbackBase

from muster_run.break_off import BreakOffWatch
from muster_run.changes import ChangeBook, place_of
from muster_run.journal import Journal, fits_stats
from muster_run.masking import Masker
from muster_run.no_log import hide_no_log
from muster_run.own_run import DIRECTORY, MASKS, listen
from muster_run.reports import describe, diff_of, reason_of, short_action, warnings_of
from muster_run.targets import TargetWatch
from muster_run.uncertain import SkippedNames
from muster_run.vaulted import VaultedValues
from muster_run.wording import Wording, shorten

DOCUMENTATION = """
    name: muster_events
    type: notification
    short_description: Writes events and results of a run for Muster
    description:
        - Writes C(events.jsonl) and C(results.json) into the directory that E(MUSTER_RUN_DIR) names.
        - Does nothing without that variable.
    author: Muster
"""


_NAME_LIMIT = 512
"""Most bytes of a name among the changes of a host."""

_FAILURES = ('failed', 'unreachable', 'ignored', 'rescued')
"""Results of a task that went wrong, whatever came of that."""

_NO_RESULT = dict.fromkeys(('ok', 'failures', 'unreachable', 'changed', 'skipped', 'rescued', 'ignored'), 0)


class CallbackModule(CallbackBase):
    """One run's record. Ansible calls the methods one after the other, never two at once."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = 'notification'
    CALLBACK_NAME = 'muster_events'
    CALLBACK_NEEDS_ENABLED = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.disabled = not DIRECTORY
        if self.disabled:
            if os.environ.pop('MUSTER_HIDE_NO_LOG', ''):
                hide_no_log()
            return
        # Into a pipe Python writes 8 KiB at a time: the log would come late, and without its end when the run is killed.
        sys.stdout.reconfigure(line_buffering=True)
        self._journal = Journal(DIRECTORY)
        self._wording = Wording(Masker(MASKS))
        self._watch = BreakOffWatch()
        self._watch.install()
        hide_no_log()
        self._vaulted = VaultedValues()
        self._vaulted.install()
        self._targets = TargetWatch(lambda hosts: self._journal.write('targets', {'hosts': hosts}))
        self._targets.install()
        self._changes = ChangeBook() if context.CLIARGS.get('check') else None
        self._skipped = SkippedNames()
        self._directory = os.path.realpath(os.getcwd())
        self._play = ''
        self._tasks: dict[str, str] = {}
        self._started: dict[tuple[str, str], float] = {}
        self._diffs: dict[tuple[str, str], str] = {}
        self._warned: set[str] = set()
        listen(lambda text: self._warn(self._wording.text(text)))

    def v2_playbook_on_start(self, playbook: Any) -> None:
        """The playbook begins."""
        self._targets.foresee(playbook)

    def v2_playbook_on_play_start(self, play: Any) -> None:
        """A play, or the next batch of a play with `serial`, begins."""
        self._play = self._wording.text(play.get_name().strip())
        self._tasks.clear()
        self._skipped.play_starts(play)
        self._journal.write('play_start', {'play': self._play})

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:
        """A task begins; free strategies say so for every host, the journal says it once per play."""
        self._task_start(task, handler=False)

    def v2_playbook_on_handler_task_start(self, task: Any) -> None:
        """A handler begins."""
        self._task_start(task, handler=True)

    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        """A host begins with a task."""
        self._started[(host.get_name(), task._uuid)] = time.monotonic()

    def v2_on_file_diff(self, result: Any) -> None:
        """In diff mode, before the result itself (for loops once per item): what the task changes."""
        if diff := diff_of(result, self):
            key = (result.host.get_name(), result.task._uuid)
            self._diffs[key] = self._wording.text(self._diffs.get(key, '') + diff)

    def v2_runner_on_ok(self, result: Any) -> None:
        """A task is done on a host. Including a file counts only when the file could be read, see below."""
        if not isinstance(result.task, TaskInclude):
            self._result(result, 'changed' if result.is_changed() else 'ok')

    def v2_playbook_on_include(self, included_file: Any) -> None:
        """A file was included for some hosts; for each it counts as one more task that is ok."""
        task = included_file._task
        for host in included_file._hosts:
            self._host_result(host.get_name(), task, 'ok', False, {})

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """A task has failed on a host, or is taken back by the rescue of its block."""
        rescued = self._watch.was_rescued(result.host.get_name())
        self._result(result, 'ignored' if ignore_errors else 'rescued' if rescued else 'failed')

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """A host could not be reached."""
        self._result(result, 'ignored' if result.task.ignore_unreachable else 'unreachable')

    def v2_runner_on_skipped(self, result: Any) -> None:
        """A task was skipped on a host."""
        self._result(result, 'skipped')

    def v2_playbook_on_no_hosts_matched(self) -> None:
        """A play has no hosts."""
        self._warn(f'no host matched play {self._play!r}')

    def v2_playbook_on_no_hosts_remaining(self) -> None:
        """A play ends because it has no hosts left."""
        self._warn(f'no host is left in play {self._play!r}')

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """The end of the playbook: the final counts and what every processed host reached."""
        broken_off = self._watch.broken_off
        counts = {str(host): stats.summarize(host) for host in sorted(stats.processed)}
        results = self._results(counts, broken_off)
        # First of all: on a full disk the rest of the room that is kept for them is what the last events have.
        if not self._journal.write_results({'hosts': results, 'broken_off': broken_off}):
            lost = f'the results of this run could not be written and are not recorded: {self._journal.trouble}'
            self._warn(lost)
            self._display.warning(f'Muster: {lost}')
        if self._journal.dropped:
            self._warn(f'{self._journal.dropped} events could not be written: {self._journal.trouble}')
        fields: dict[str, object] = {'hosts': counts, 'broken_off': broken_off}
        if not fits_stats(fields):
            fields = {'totals': _totals(counts), 'broken_off': broken_off}
        self._journal.write('stats', fields)

    def _results(self, counts: dict[str, dict[str, int]], broken_off: bool) -> dict[str, dict[str, object]]:
        if self._changes is None:
            return {host: {'status': _status(count, broken_off), **count} for host, count in counts.items()}
        # A host of a play that no task touched has nothing to change.
        found = {host: counts.get(host, _NO_RESULT) for host in sorted({*counts, *self._watch.played})}
        return {
            host: {'status': _status(count, broken_off), **count, **self._changes.fields(host)}
            for host, count in found.items()
        }

    def _task_start(self, task: Any, handler: bool) -> None:
        if self._changes is not None:
            self._skipped.task_starts(task)
        if task._uuid in self._tasks:
            return
        name = self._task_name(task)
        fields: dict[str, object] = {'play': self._play, 'task': name}
        if task._role is not None:
            fields['role'] = self._wording.text(task._role.get_name())
        self._journal.write(
            'task_start', {**fields, 'action': self._wording.text(short_action(task), 256), 'handler': handler}
        )

    def _task_name(self, task: Any) -> str:
        """The name that the task had at its start in this play; later it may be templated for another host."""
        name = self._tasks.get(task._uuid)
        if name is None:
            name = self._tasks[task._uuid] = self._wording.text(task.get_name().strip())
        return name

    def _result(self, result: Any, word: str) -> None:
        host = result.host.get_name()
        for warning in warnings_of(result, self._wording):
            self._warn(warning)
        failed = word in _FAILURES
        fields = describe(result, self._wording, failed)
        if failed:
            if not fields.get('censored'):
                fields['reason'] = reason_of(fields, word == 'unreachable', self._wording)
                fields = {key: self._vaulted.masked(value) for key, value in fields.items()}
            if file := place_of(result.task, self._directory):
                fields['file'] = self._wording.text(file, _NAME_LIMIT)
        diff = self._diffs.pop((host, result.task._uuid), '')
        if diff and not fields.get('censored'):
            fields['diff'] = diff
        why = None if self._changes is None else self._doubt(result, word == 'changed')
        if self._changes is not None and word == 'changed':
            fields = {**fields, **self._place(result.task)}
            if why is not None:
                fields['uncertain'] = why
            self._note_change(self._changes, host, result.task, fields)
        self._host_result(host, result.task, word, result.is_changed(), fields)

    def _doubt(self, result: Any, changed: bool) -> str | None:
        """Why a change may be none outside of check mode; what cannot be told is believed."""
        try:
            why = self._skipped.judge(result, self._task_name(result.task), changed)
        except Exception as error:
            self._warn(f'whether a change is certain could not be told: {type(error).__name__}')
            return None
        return None if why is None else self._wording.text(why, 2 * _NAME_LIMIT)

    def _place(self, task: Any) -> dict[str, object]:
        """Which task it is, for somebody who looks at one result alone."""
        place: dict[str, object] = {'action': self._wording.text(short_action(task), 256)}
        if task._role is not None:
            place['role'] = self._wording.text(task._role.get_name(), _NAME_LIMIT)
        if file := place_of(task, self._directory):
            place['file'] = self._wording.text(file, _NAME_LIMIT)
        return place

    def _note_change(self, changes: ChangeBook, host: str, task: Any, fields: dict[str, object]) -> None:
        name = shorten(self._task_name(task), _NAME_LIMIT)
        told = {key: fields[key] for key in ('action', 'role', 'file', 'diff', 'censored', 'uncertain') if key in fields}
        changes.add(str(host), {'task': name, 'play': shorten(self._play, _NAME_LIMIT), **told})

    def _host_result(self, host: str, task: Any, word: str, changed: bool, fields: dict[str, object]) -> None:
        started = self._started.pop((host, task._uuid), None)
        duration = 0.0 if started is None else round(time.monotonic() - started, 3)
        event = {'host': str(host), 'task': self._task_name(task), 'play': self._play, 'result': word}
        self._journal.write('host_result', {**event, 'changed': changed, 'duration': duration, **fields})

    def _warn(self, message: str) -> None:
        """Writes a warning, each text once per run."""
        if message not in self._warned:
            self._warned.add(message)
            self._journal.write('warning', {'message': message})


def _status(count: dict[str, int], broken_off: bool) -> str:
    """What a processed host reached, by the rules of cfs-flows 4.4 in their order."""
    if count['failures'] or count['unreachable']:
        return 'failed'
    return 'incomplete' if broken_off else 'applied'


def _totals(counts: dict[str, dict[str, int]]) -> dict[str, int]:
    """The sums over all hosts, for a fleet that does not fit into a line."""
    totals = {'hosts': len(counts)}
    for count in counts.values():
        for key, number in count.items():
            totals[key] = totals.get(key, 0) + number
    return totals
