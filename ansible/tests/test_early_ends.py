"""What the events of a run say of a playbook that ends early: its hosts, why a task failed, and what is taken back."""

from __future__ import annotations

from pathlib import Path

import pytest
from runs import Run, Workbench
from test_check import vaulted

from muster_run.masking import Masker
from muster_run.reports import reason_of
from muster_run.targets import CHUNK_BYTES, TargetWatch
from muster_run.wording import Wording

PLAIN = '  gather_facts: false\n  tasks:\n    - ansible.builtin.command: "test {{ inventory_hostname }} != h1"\n'
HOSTS = {'h1': '', 'h2': '', 'h3': '', 'far': ''}


def targets_of(run: Run) -> list[str]:
    return [host for event in run.events('targets') for host in event['hosts']]


def play(hosts: str, more: str = '') -> str:
    return f'- hosts: {hosts}\n{more}{PLAIN}'


@pytest.mark.parametrize(
    ('playbook', 'limit', 'hosts'),
    [
        (play('all', '  serial: 1\n  max_fail_percentage: 0\n'), 'h1,h2,h3', ['h1', 'h2', 'h3']),
        (play('h1', '  any_errors_fatal: true\n') + play('h2:far'), 'all', ['h2', 'far', 'h1']),
        (play('h1') + play('"{{ undefined_group }}"') + play('h3'), 'all', ['h3', 'h1']),
        (play('h1') + play('"{{ second }}"', '  vars: {second: h2}\n'), 'all', ['h2', 'h1']),
        (play('h1') + play('"{{ lookup(\'pipe\', \'echo h2\') }}"'), 'all', ['h1']),
        (play('h1:h2') + play('made_later:h2'), '!far', ['h2', 'h1']),
    ],
)
def test_the_hosts_of_every_play_within_the_limit_are_told(
    bench: Workbench, playbook: str, limit: str, hosts: list[str]
) -> None:
    run = bench.play(playbook, '-l', limit, hosts=HOSTS)
    told = targets_of(run)
    assert sorted(told) == sorted(hosts) and len(told) == len(set(told))
    kinds = [event['type'] for event in run.events()]
    assert kinds.index('targets') < kinds.index('play_start')


def test_a_group_that_a_play_makes_is_warned_of_only_where_it_is_missing(bench: Workbench) -> None:
    making = '- hosts: h2\n  gather_facts: false\n  tasks:\n    - ansible.builtin.group_by: {key: made}\n'
    run = bench.play(making + play('made') + play('nosuch'), hosts=HOSTS)
    assert run.exit['code'] == 0 and targets_of(run) == ['h2']
    assert 'ignoring: made' not in run.output and 'ignoring: nosuch' in run.output


def test_many_hosts_come_in_events_of_bounded_size() -> None:
    told: list[list[str]] = []
    watch = TargetWatch(told.append)
    names = [f'node{number:06}' for number in range(3000)]
    watch._add(names)
    watch._add([*names, 'one-more'])
    assert [name for chunk in told for name in chunk] == [*names, 'one-more']
    assert all(sum(len(name) + 8 for name in chunk) <= CHUNK_BYTES for chunk in told) and len(told) > 2


def test_a_failure_that_is_rescued_is_told_so(bench: Workbench) -> None:
    run = bench.play(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        '    - block:\n        - {name: First, ansible.builtin.command: "false"}\n'
        '      rescue:\n        - {name: Mend, ansible.builtin.command: "test {{ inventory_hostname }} != h1"}\n'
        '    - {name: After, ansible.builtin.debug: {}}\n',
        hosts=('h1', 'h2'),
    )
    words = {(event['host'], event['task']): event['result'] for event in run.events('host_result')}
    assert words == {
        ('h1', 'First'): 'rescued', ('h2', 'First'): 'rescued', ('h1', 'Mend'): 'failed',
        ('h2', 'Mend'): 'changed', ('h2', 'After'): 'ok',
    }  # fmt: skip
    for host in ('h1', 'h2'):
        stats = run.events('stats')[0]['hosts'][host]
        assert stats['rescued'] == 1 and stats['failures'] == (host == 'h1')


@pytest.mark.parametrize(
    ('fields', 'unreachable', 'reason'),
    [
        ({'rc': 100, 'stderr': 'E: Unable to locate package slurmd\n', 'stdout': 'Reading ...', 'message': 'x failed'},
         False, 'rc 100: E: Unable to locate package slurmd'),
        ({'rc': 1, 'message': 'non-zero return code'}, False, 'rc 1: non-zero return code'),
        ({'rc': 2, 'stdout': 'one\nlast words\n\n', 'message': 'm'}, False, 'rc 2: last words'),
        ({'rc': 1, 'stderr': 'ImportError: no x\nShared connection to n1 closed.\r\n', 'message': 'm'},
         False, 'rc 1: ImportError: no x'),
        ({'rc': 1, 'stderr': 'ERROR: gone\nWARNING: You are using an old pip\n', 'message': 'm'}, False, 'rc 1: ERROR: gone'),
        ({'rc': 0, 'stdout': 'fine', 'message': 'as asked\nsecond'}, False, 'as asked'),
        ({'message': 'Failed to connect:\nssh: connect to host n1 port 22: Connection refused'},
         True, 'ssh: connect to host n1 port 22: Connection refused'),
        ({}, False, 'it did not say why'),
    ],
)  # fmt: skip
def test_a_reason_is_the_last_useful_line(fields: dict, unreachable: bool, reason: str) -> None:
    assert reason_of(fields, unreachable, Wording(Masker(()))) == reason


def test_a_failure_says_why_and_where_and_no_log_hides_why(bench: Workbench) -> None:
    run = bench.play(
        '- hosts: h1\n  gather_facts: false\n  tasks:\n'
        '    - {name: Loud, ansible.builtin.shell: "echo gone >&2; exit 3", ignore_errors: true}\n'
        '    - {name: Quiet, ansible.builtin.shell: "echo correct-horse >&2; exit 3", no_log: true}\n'
    )
    loud, quiet = run.events('host_result')
    assert (loud['reason'], loud['file']) == ('rc 3: gone', 'site.yml:4')
    assert quiet['censored'] is True and 'reason' not in quiet and quiet['file'] == 'site.yml:5'
    assert 'correct-horse' not in run.everything()


def test_vaulted_values_are_in_nothing_that_a_failed_task_leaves(bench: Workbench, tmp_path: Path) -> None:
    secret = 'vault-pa55word'
    variables = tmp_path / 'vars.yml'
    variables.write_text(vaulted(bench, tmp_path, f'secret: {secret}\n'))
    run = bench.play(
        f'- hosts: h1\n  gather_facts: false\n  vars_files: ["{variables}"]\n  ignore_errors: true\n  tasks:\n'
        '    - ansible.builtin.command: "false --password {{ secret }}"\n'
        '    - ansible.builtin.shell: "echo {{ secret }}; echo {{ secret }} >&2; exit 3"\n'
        '    - ansible.builtin.command: "test {{ item }} = {{ secret }}"\n      loop: [a, b]\n'
        '    - ansible.builtin.fail: {msg: "no {{ secret }}"}\n'
        '    - ansible.builtin.command: "true {{ secret }}"\n'
        '    - ansible.builtin.command: "echo {{ secret }}"\n      register: said\n'
        '    - ansible.builtin.assert: {that: "said.stdout == secret"}\n',
        '-v',
        env={'ANSIBLE_VAULT_PASSWORD_FILE': str(tmp_path / 'password')},
    )
    assert run.exit['code'] == 0 and run.events('stats')[0]['hosts']['h1']['ignored'] == 4
    assert '********' in run.output
    said = 'echo said, as it was asked to'
    left = run.everything().replace(f'"stdout": "{secret}"', said).replace(f'"stdout_lines": ["{secret}"]', said)
    left = left.replace(f'"stdout":"{secret}"', said)
    assert secret not in left
