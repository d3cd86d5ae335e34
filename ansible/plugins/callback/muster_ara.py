"""Callback `muster_ara`: reports a run to an ARA server too (cfs-flows 1.9), by the callback of ARA itself.

Active when Muster names a server (`ARA_API_SERVER`) in the environment of a run; else it loads nothing. A run never fails
by it and waits for it once, for a few seconds: after the first request that does not work it reports no more, and a
warning of the run says so.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from ansible.plugins.callback import CallbackBase

from muster_run.own_run import DIRECTORY, MASKS, tell

DOCUMENTATION = """
    name: muster_ara
    type: notification
    short_description: Reports a run to an ARA server
    description:
        - Does nothing unless Muster started the run and E(ARA_API_SERVER) names a server.
    author: Muster
"""

# Taken out of the environment, so that an ansible-playbook that a task of the run starts reports nothing.
_SERVER = os.environ.pop('ARA_API_SERVER', '') if DIRECTORY else ''
_CREDENTIALS = os.environ.pop('MUSTER_ARA_CREDENTIALS', '') if DIRECTORY else ''
_NO_ARA = ''
_Reporter: type = CallbackBase

if _SERVER:
    try:
        from ara.plugins.callback.ara_default import CallbackModule as _Reporter
    except ImportError as error:
        _NO_ARA = f'it is not installed here ({error})'

_HOOKS = (
    'v2_playbook_on_start',
    'v2_playbook_on_play_start',
    'v2_playbook_on_handler_task_start',
    'v2_playbook_on_task_start',
    'v2_runner_on_start',
    'v2_runner_on_ok',
    'v2_runner_on_unreachable',
    'v2_runner_on_failed',
    'v2_runner_on_skipped',
    'v2_runner_item_on_ok',
    'v2_runner_item_on_failed',
    'v2_playbook_on_stats',
)


class CallbackModule(_Reporter):
    """One run's report."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = 'notification'
    CALLBACK_NAME = 'muster_ara'
    CALLBACK_NEEDS_ENABLED = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Ansible's own class says that every callback is enabled.
        self.disabled = not _SERVER or bool(_NO_ARA)
        if _NO_ARA:
            tell(f'the run is not reported to ARA: {_NO_ARA}')

    def set_handler(self, sig: int) -> None:
        """ARA would put itself between a signal and Ansible; a run that is ended has to end at once."""

    def set_options(self, task_keys: Any = None, var_options: Any = None, direct: Any = None) -> None:
        """Sets what ARA's callback reads from its options; how a run is reported is Muster's to say."""
        if self.disabled:
            return
        from muster_run.ara_client import AraClient
        from muster_run.masking import Masker

        # Options of every callback, which this one has none of: no diffs or details are shown by it.
        self._plugin_options = {}
        self.argument_labels = ['remote_user', 'check', 'tags', 'skip_tags', 'subset']
        self.default_labels = [label for label in os.environ.get('ARA_DEFAULT_LABELS', '').split(',') if label]
        self.ignored_facts = ['ansible_env']
        self.ignored_arguments = ['extra_vars']
        self.ignored_files = [os.environ.get('ANSIBLE_LOCAL_TEMP', '.ansible/tmp')]
        self.localhost_as_hostname = False
        self.localhost_as_hostname_format = 'fqdn'
        self.record_controller = False
        self.record_controller_name = None
        self.record_user = False
        self.record_user_name = None
        self.record_task_content = True
        self.callback_threads = 0
        self._compile_ignored_file_patterns()
        try:
            self.client = AraClient(_SERVER, _read_credentials(), Masker(MASKS))
        except (OSError, ValueError, KeyError) as error:
            self.give_up(f'its credentials cannot be read ({type(error).__name__})')

    def give_up(self, reason: str) -> None:
        """Reports no more; Ansible does not call a callback that is disabled."""
        self.disabled = True
        tell(f'the run is not reported to ARA any more: {reason}')


def _read_credentials() -> tuple[str, str] | None:
    if not _CREDENTIALS:
        return None
    with open(_CREDENTIALS, encoding='utf-8') as file:
        found = json.load(file)
    return found['username'], found['password']


def _careful(name: str) -> Callable[..., None]:
    """A hook of ARA's callback that ends the report, not the run."""
    reported: Callable[..., Any] = getattr(_Reporter, name)

    def hook(self: CallbackModule, *args: Any, **kwargs: Any) -> None:
        if self.disabled:
            return
        try:
            reported(self, *args, **kwargs)
        except Exception as error:
            self.give_up(str(error) if isinstance(error, RuntimeError) else f'{type(error).__name__}: {error}')

    return hook


if _SERVER and not _NO_ARA:
    for _name in _HOOKS:
        setattr(CallbackModule, _name, _careful(_name))
