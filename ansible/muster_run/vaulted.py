"""Values that came out of an Ansible vault, taken out of every difference (`--diff`, `diff: true`) before it is shown, and out of
what the output says of a task that failed: its command line, its messages and what its program said.

Ansible decrypts in the process of ansible-playbook (files of variables) and in the workers that it starts for every task
(single values, files to copy), and prints what a task changes as it is. So each of these processes writes what it
decrypts into one file in memory that all of them share and no other program gets, and takes it out of the results of its
tasks. A fact that a task makes of a vaulted value is thereby hidden in the differences of later tasks too.

Where one side of a difference holds such a value, the other may hold the one before it, which no vault knows: lines that
are taken away are then hidden as a whole. Values are known as they are, in JSON, percent-encoded and in base64; those of
less than 4 characters are words of everyday and stay, as does what a template makes of a value otherwise.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import yaml
from ansible.executor.task_executor import TaskExecutor
from ansible.parsing.vault import VaultLib
from ansible.plugins.callback import CallbackBase
from ansible.utils.display import Display

from muster_run.masking import MASK, Masker

MIN_VALUE = 4
"""Shortest value (characters) that is hidden."""

_MASK = MASK.decode()

_TELLS_OF_A_FAILURE = re.compile(r'^\[ERROR\]: |^(?:fatal|failed): \[|\b(?:FAILED|UNREACHABLE)!')
"""Output about a task that failed, as the callbacks of Ansible print it, and ansible-core once more in its own words."""


class VaultedValues:
    """What the processes of one playbook have decrypted; made before they are started."""

    def __init__(self) -> None:
        self._fd = os.memfd_create('muster-vaulted')
        fcntl.fcntl(self._fd, fcntl.F_SETFL, os.O_APPEND)
        self._read = 0
        self._values: set[str] = set()
        self._masker = Masker(())

    def install(self) -> None:
        """Listens to every decryption and cleans every result from now on; once per process."""
        decrypt: Callable[..., Any] = VaultLib.decrypt_and_get_vault_id
        execute: Callable[..., Any] = TaskExecutor._execute

        def decrypt_and_note(vault: Any, *args: Any, **kwargs: Any) -> Any:
            decrypted = decrypt(vault, *args, **kwargs)
            self.add(bytes(decrypted[0]))
            return decrypted

        def execute_and_hide(executor: Any, *args: Any, **kwargs: Any) -> Any:
            result = execute(executor, *args, **kwargs)
            self.clean(result)
            return result

        dump: Callable[..., str] = CallbackBase._dump_results
        display: Callable[..., Any] = Display.display

        def dump_and_hide(callback: Any, result: Any, *args: Any, **kwargs: Any) -> str:
            # What failed is masked as a whole: here where it has an exit status, in any case when it is shown.
            if result.get('rc') not in (None, 0):
                return self.masked(dump(callback, result, *args, **kwargs))
            if 'cmd' in result:
                result = {**result, 'cmd': self.masked(result['cmd'])}
            return dump(callback, result, *args, **kwargs)

        def display_and_hide(own: Any, message: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(message, str) and _TELLS_OF_A_FAILURE.search(message):
                message = self.masked(message)
            return display(own, message, *args, **kwargs)

        CallbackBase._dump_results = dump_and_hide
        Display.display = display_and_hide
        VaultLib.decrypt_and_get_vault_id = decrypt_and_note
        # Once per item of a loop, before the item is shown.
        TaskExecutor._execute = execute_and_hide

    def add(self, plaintext: bytes) -> None:
        """Takes in what was decrypted."""
        self._catch_up()
        new = sorted(_values_in(plaintext) - self._values)
        if new:
            os.write(self._fd, b''.join(json.dumps(value).encode() + b'\n' for value in new))

    def clean(self, result: Any) -> None:
        """Takes the values out of the difference of a result, in place."""
        self._catch_up()
        if not self._values or not isinstance(result, dict):
            return
        if result.get('diff'):
            result['diff'] = self.hidden(result['diff'])

    def hidden(self, diff: Any) -> Any:
        """A difference, of one file or a list of several, without the values."""
        if isinstance(diff, list):
            return [self.hidden(part) for part in diff]
        if not isinstance(diff, Mapping):
            return self._masked(diff)
        masked = {key: self._masked(value) for key, value in diff.items()}
        before, after = diff.get('before'), diff.get('after')
        if isinstance(before, str) and isinstance(after, str):
            if masked['before'] != before or masked['after'] != after:
                kept = set(after.splitlines())
                masked['before'] = _by_line(before, lambda line: self._line(line) if line in kept else _MASK)
        if isinstance(diff.get('prepared'), str) and masked['prepared'] != diff['prepared']:
            masked['prepared'] = _by_line(
                masked['prepared'],
                lambda line: f'-{_MASK}' if line.startswith('-') and not line.startswith('---') else line,
            )
        return masked

    def masked(self, value: Any) -> Any:
        """A text, a list of texts or what else a result holds, without the values."""
        self._catch_up()
        return self._masked(value) if self._values else value

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str):
            return _by_line(value, self._line)
        if isinstance(value, Mapping):
            return {key: self._masked(item) for key, item in value.items()}
        return [self._masked(item) for item in value] if isinstance(value, list) else value

    def _line(self, line: str) -> str:
        raw = line.encode('utf-8', 'surrogatepass')
        masked = self._masker.mask(raw)
        return line if masked == raw else masked.decode('utf-8', 'replace')

    def _catch_up(self) -> None:
        """Reads what other processes have decrypted since the last time."""
        size = os.fstat(self._fd).st_size
        if size <= self._read:
            return
        lines = os.pread(self._fd, size - self._read, self._read)
        whole = lines.rfind(b'\n') + 1
        self._read += whole
        self._values.update(json.loads(line) for line in lines[:whole].splitlines())
        self._masker = Masker(_spelled(self._values))


def _values_in(plaintext: bytes) -> set[str]:
    """What must not be shown of a decrypted text: its lines, and as YAML its values."""
    try:
        text = plaintext.decode()
    except UnicodeDecodeError:
        return {base64.b64encode(plaintext).decode()}
    found = {text.strip(), *(line.strip() for line in text.splitlines())}
    if '\n' in text or ':' in text:
        try:
            found.update(_scalars(yaml.load(text, Loader=yaml.SafeLoader)))
        except Exception:  # a key, a page of text: not everything in a vault is YAML
            pass
    return {value for value in found if len(value) >= MIN_VALUE}


def _scalars(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    elif isinstance(value, str):
        yield value.strip()
        yield from (line.strip() for line in value.splitlines())
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def _spelled(values: set[str]) -> Iterator[str]:
    for value in values:
        raw = value.encode('utf-8', 'surrogatepass')
        yield value
        yield base64.b64encode(raw).decode()
        yield base64.b64encode(raw + b'\n').decode()


def _by_line(text: str, of: Callable[[str], str]) -> str:
    """The text with every line replaced, line ends kept."""
    return ''.join(of(line.rstrip('\r\n')) + line[len(line.rstrip('\r\n')) :] for line in text.splitlines(True))
