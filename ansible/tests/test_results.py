"""What every host reached, by the rules and vectors of cfs-flows 4.4, on the real ansible-core."""

from __future__ import annotations

import pytest
from runs import Run, Workbench

FAIL_ON_H1 = """
  tasks:
    - name: Break
      ansible.builtin.fail:
      when: inventory_hostname == 'h1'
    - name: Go on
      ansible.builtin.debug:
"""
RESCUED = """
  tasks:
    - block:
        - ansible.builtin.fail:
          when: inventory_hostname.endswith('h1')
      rescue:
        - ansible.builtin.debug:
"""
UNREACHABLE = 'ansible_connection=ssh ansible_host=127.0.0.1 ansible_port=1'
ALL_APPLIED = {'h1': 'applied', 'h2': 'applied', 'h3': 'applied'}
H1_FAILED = {'h1': 'failed', 'h2': 'applied', 'h3': 'applied'}
BROKEN_OFF = {'h1': 'failed', 'h2': 'incomplete', 'h3': 'incomplete'}
ALL_FAILED = {'h1': 'failed', 'h2': 'failed', 'h3': 'failed'}


def play(body: str, *keywords: str, hosts: str = 'all') -> str:
    """A play without facts, with more keywords."""
    return '\n'.join([f'- hosts: {hosts}', '  gather_facts: false', *(f'  {keyword}' for keyword in keywords)]) + body


# Vector: play, hosts, arguments; then per kind of strategy the statuses, and the exit status.
VECTORS = {
    'A1 a task fails on one host': (play(FAIL_ON_H1), {}, (), H1_FAILED, H1_FAILED, 2),
    # Ansible's free strategy does not support any_errors_fatal: every host goes on.
    'A2 the same with any_errors_fatal': (
        play(FAIL_ON_H1, 'any_errors_fatal: true'),
        {},
        (),
        BROKEN_OFF,
        H1_FAILED,
        2,
    ),
    'A3 a task fails on all hosts': (
        play('\n  tasks:\n    - ansible.builtin.fail:\n'),
        {},
        (),
        ALL_FAILED,
        ALL_FAILED,
        2,
    ),
    'A4 a host is unreachable': (
        play('\n  tasks:\n    - ansible.builtin.raw: "true"\n'),
        {'h3': UNREACHABLE},
        (),
        {'h1': 'applied', 'h2': 'applied', 'h3': 'failed'},
        {'h1': 'applied', 'h2': 'applied', 'h3': 'failed'},
        4,
    ),
    'A8 the limit matches nothing': (play(FAIL_ON_H1), {}, ('--limit', 'h9'), {}, {}, 1),
}


@pytest.mark.parametrize('strategy', ['cfs_linear', 'cfs_free'])
@pytest.mark.parametrize('vector', VECTORS)
def test_vectors(bench: Workbench, vector: str, strategy: str) -> None:
    playbook, hosts, args, linear, free, code = VECTORS[vector]
    all_hosts = {**dict.fromkeys(('h1', 'h2', 'h3'), ''), **hosts}
    run = bench.play(playbook, *args, hosts=all_hosts, env={'ANSIBLE_STRATEGY': strategy})
    assert (run.statuses, run.exit['code']) == (linear if strategy == 'cfs_linear' else free, code), run.output


# What leaves no failure behind: plays of one run, each on three hosts of its own. An exit status that is not 0 or a
# broken-off play of any of them would show in all.
WELL = {
    'A5 a failure is rescued': (RESCUED, ALL_APPLIED),
    'A6 a play has no tasks': ('\n  tasks: []\n', {}),
    'a run_once task fails and is ignored': (
        '\n  tasks:\n    - ansible.builtin.fail:\n      run_once: true\n      ignore_errors: true\n    - ansible.builtin.debug:\n',
        ALL_APPLIED,
    ),
    'errors are cleared after a failure': (
        '\n  tasks:\n    - ansible.builtin.fail:\n      when: inventory_hostname.endswith("h1")\n'
        '    - ansible.builtin.meta: clear_host_errors\n    - ansible.builtin.debug:\n',
        H1_FAILED,
    ),
    'an ignored failure': ('\n  tasks:\n    - ansible.builtin.fail:\n      ignore_errors: true\n', ALL_APPLIED),
    'an ignored unreachable host': (
        '\n  tasks:\n    - ansible.builtin.raw: "true"\n      ignore_unreachable: true\n'
        '      vars: {ansible_connection: ssh, ansible_host: 127.0.0.1, ansible_port: 1}\n',
        ALL_APPLIED,
    ),
    'only skipped tasks': ('\n  tasks:\n    - ansible.builtin.fail:\n      when: false\n', ALL_APPLIED),
    'a host ends before any result': (
        '\n  tasks:\n    - ansible.builtin.meta: end_host\n      when: inventory_hostname.endswith("h1")\n'
        '    - ansible.builtin.debug:\n',
        {'h2': 'applied', 'h3': 'applied'},
    ),
    'the play is ended': (
        '\n  tasks:\n    - ansible.builtin.debug:\n    - ansible.builtin.meta: end_play\n    - ansible.builtin.fail:\n',
        ALL_APPLIED,
    ),
}
VECTORS_THAT_GO_WELL = [case for case in WELL if case.startswith('A')]


@pytest.fixture(scope='module')
def well(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Per strategy the run of its cases; the hosts of a case have its name in theirs."""
    bench = Workbench(tmp_path_factory.mktemp('well'))
    runs = {}
    for strategy, cases in (('cfs_linear', list(WELL)), ('cfs_free', VECTORS_THAT_GO_WELL)):
        playbook = '\n'.join(play(WELL[case][0], hosts=f'{named(case)}*') for case in cases)
        hosts = [named(case) + host for case in cases for host in ('h1', 'h2', 'h3')]
        runs[strategy] = bench.play(playbook, hosts=hosts, env={'ANSIBLE_STRATEGY': strategy})
    return runs


def named(case: str) -> str:
    return case.replace(' ', '_') + '-'


@pytest.mark.parametrize(
    ('case', 'strategy'),
    [(case, 'cfs_linear') for case in WELL] + [(case, 'cfs_free') for case in VECTORS_THAT_GO_WELL],
)
def test_what_leaves_no_failure_behind(well: dict[str, Run], case: str, strategy: str) -> None:
    run = well[strategy]
    own = {host.removeprefix(named(case)): status for host, status in run.statuses.items() if host.startswith(named(case))}
    assert (own, run.exit['code']) == (WELL[case][1], 0), run.output


@pytest.mark.parametrize('strategy', ['linear', 'ansible.builtin.linear', 'ansible.legacy.linear', 'cfs_linear'])
def test_a_play_that_names_its_linear_strategy_itself_is_watched(bench: Workbench, strategy: str) -> None:
    run = bench.play(play(FAIL_ON_H1, 'any_errors_fatal: true', f'strategy: {strategy}'))
    assert (run.statuses, run.exit['code']) == (BROKEN_OFF, 2), run.output


@pytest.mark.parametrize('strategy', ['free', 'ansible.builtin.free', 'host_pinned', 'cfs_free'])
def test_a_play_that_names_its_free_strategy_itself_is_watched(bench: Workbench, strategy: str) -> None:
    """A failing run_once task fails every host of the play in the free strategies too."""
    body = '\n  tasks:\n    - ansible.builtin.fail:\n      when: inventory_hostname == "h1"\n      run_once: true\n'
    run = bench.play(play(body, f'strategy: {strategy}'), hosts=('h1', 'h2'))
    assert run.statuses == {'h1': 'failed', 'h2': 'incomplete'}, run.output


CASES = {
    'max_fail_percentage exceeded': (play(FAIL_ON_H1, 'max_fail_percentage: 20'), BROKEN_OFF, 2),
    'max_fail_percentage not exceeded': (play(FAIL_ON_H1, 'max_fail_percentage: 50'), H1_FAILED, 2),
    'max_fail_percentage of zero and every host fails': (
        play('\n  tasks:\n    - ansible.builtin.fail:\n', 'max_fail_percentage: 0'),
        ALL_FAILED,
        2,
    ),
    'a run_once task fails after a task of all hosts': (
        play('\n  tasks:\n    - ansible.builtin.debug:\n    - ansible.builtin.fail:\n      run_once: true\n'),
        BROKEN_OFF,
        2,
    ),
    # The other hosts had no task result, so there is nothing to say about them.
    'the first task is run_once and fails': (
        play('\n  tasks:\n    - ansible.builtin.fail:\n      run_once: true\n'),
        {'h1': 'failed'},
        2,
    ),
    'a host is unreachable under any_errors_fatal': (
        play(
            '\n  tasks:\n    - ansible.builtin.debug:\n    - ansible.builtin.raw: "true"\n'
            f"      vars: {{ansible_connection: \"{{{{ 'ssh' if inventory_hostname == 'h1' else 'local' }}}}\", ansible_host: 127.0.0.1, ansible_port: 1}}\n",
            'any_errors_fatal: true',
        ),
        BROKEN_OFF,
        4,
    ),
    'a fine host of an earlier play': (
        play('\n  tasks:\n    - ansible.builtin.debug:\n')
        + '\n- hosts: h1,h2\n  gather_facts: false\n  any_errors_fatal: true'
        + FAIL_ON_H1,
        BROKEN_OFF,
        2,
    ),
    'all hosts of a play fail, another host was fine before': (
        play('\n  tasks:\n    - ansible.builtin.debug:\n')
        + '\n- hosts: h1,h2\n  gather_facts: false\n  tasks:\n    - ansible.builtin.fail:\n',
        {'h1': 'failed', 'h2': 'failed', 'h3': 'applied'},
        2,
    ),
    'a host that failed misses the later plays, the others do not': (
        play(FAIL_ON_H1) + '\n- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.debug:\n',
        H1_FAILED,
        2,
    ),
    'a batch fails entirely and later batches are not reached': (
        play('\n  tasks:\n    - ansible.builtin.fail:\n', 'serial: 1'),
        {'h1': 'failed'},
        2,
    ),
    'a batch is broken off': (
        play(FAIL_ON_H1, 'serial: 2', 'any_errors_fatal: true'),
        {'h1': 'failed', 'h2': 'incomplete'},
        2,
    ),
    'a batch has a failure and the next one is fine': (play(FAIL_ON_H1, 'serial: 2'), H1_FAILED, 2),
    'an included file is missing on one host': (
        play(
            '\n  tasks:\n    - ansible.builtin.debug:\n    - ansible.builtin.include_tasks: none.yml\n'
            '      when: inventory_hostname == "h1"\n'
        ),
        H1_FAILED,
        2,
    ),
    # Every host goes on after the rescue, to the end: nothing was broken off.
    'a failure under any_errors_fatal is rescued': (play(RESCUED, 'any_errors_fatal: true'), ALL_APPLIED, 0),
    # ansible-core leaves the hosts that did not fail out of the plays that follow: now something was.
    'a failure under any_errors_fatal is rescued and another play follows': (
        play(RESCUED, 'any_errors_fatal: true')
        + '\n- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.debug:\n',
        {'h1': 'incomplete', 'h2': 'incomplete', 'h3': 'incomplete'},
        2,
    ),
    # Here it was not, though ansible-core's exit status counts the old marks.
    'a failure under any_errors_fatal is rescued and a play of another host follows': (
        '- hosts: h1,h2\n  gather_facts: false\n  any_errors_fatal: true'
        + RESCUED
        + '\n- hosts: h3\n  gather_facts: false\n  tasks:\n    - ansible.builtin.debug:\n',
        ALL_APPLIED,
        2,
    ),
}


@pytest.mark.parametrize('case', CASES)
def test_every_host_gets_what_it_reached(bench: Workbench, case: str) -> None:
    playbook, statuses, code = CASES[case]
    run = bench.play(playbook)
    assert (run.statuses, run.exit['code']) == (statuses, code), run.output


def test_results_hold_the_counts_and_the_break_off(bench: Workbench) -> None:
    run = bench.play(play(FAIL_ON_H1, 'any_errors_fatal: true'), hosts=('h1', 'h2'))
    none = {'changed': 0, 'unreachable': 0, 'rescued': 0, 'ignored': 0}
    assert run.results == {
        'broken_off': True,
        'hosts': {
            'h1': {'status': 'failed', 'ok': 0, 'failures': 1, 'skipped': 0, **none},
            'h2': {'status': 'incomplete', 'ok': 0, 'failures': 0, 'skipped': 1, **none},
        },
    }
    assert run.events('stats')[0]['broken_off'] is True
    assert run.events('stats')[0]['hosts']['h1']['failures'] == 1


def test_a_playbook_that_dies_has_no_results(bench: Workbench) -> None:
    run = bench.play(
        play(
            '\n  tasks:\n    - ansible.builtin.debug:\n    - ansible.builtin.debug:\n      run_once: "{{ nothing }}"\n'
        )
    )
    assert run.exit['code'] != 0 and run.statuses == {}
