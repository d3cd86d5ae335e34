"""What the events of a run say, and what they do not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from runs import ANSIBLE, PLAYBOOK, Run, Workbench

from muster_run.journal import LINE_LIMIT, STATS_LIMIT, Journal

ROLE_PLAY = """
- name: First play
  hosts: all
  gather_facts: false
  roles: [web]
"""


def results_of(run: Run, task: str) -> dict[str, dict]:
    """The results of a task by host."""
    return {event['host']: event for event in run.events('host_result') if event['task'].endswith(task)}


def test_a_run_is_told_from_its_plays_to_its_statistics(bench: Workbench, tmp_path: Path) -> None:
    role = tmp_path / 'roles' / 'web'
    (role / 'tasks').mkdir(parents=True)
    (role / 'handlers').mkdir()
    (role / 'tasks' / 'main.yml').write_text(
        '- name: Write\n  ansible.builtin.copy: {content: "a\\n", dest: "%s/{{ inventory_hostname }}"}\n'
        '  diff: true\n  notify: Restart\n'
        '- name: Look\n  ansible.builtin.command: echo seen\n  changed_when: false\n'
        '- name: Loop\n  ansible.builtin.command: "test {{ item }} != bad"\n  loop: [good, bad, worse]\n'
        '  ignore_errors: true\n'
        '- name: Never\n  ansible.builtin.fail:\n  when: false\n'
        '- name: Include\n  ansible.builtin.include_tasks: more.yml\n' % tmp_path
    )
    (role / 'tasks' / 'more.yml').write_text(
        '- name: Break\n  ansible.builtin.command: sh -c "echo out; echo err >&2; exit 7"\n'
    )
    (role / 'handlers' / 'main.yml').write_text('- name: Restart\n  ansible.builtin.debug: {msg: restarted}\n')
    run = bench.play(
        ROLE_PLAY + '  force_handlers: true\n',
        hosts=('h1', 'h2'),
        env={'ANSIBLE_ROLES_PATH': str(tmp_path / 'roles')},
    )
    assert run.exit['code'] == 2
    events = run.events()
    assert events[0] == {'time': events[0]['time'], 'type': 'targets', 'hosts': ['h1', 'h2']}
    assert events[1] == {'time': events[1]['time'], 'type': 'play_start', 'play': 'First play'}
    assert events[-1]['type'] == 'stats' and [event['time'] for event in events] == sorted(
        event['time'] for event in events
    )
    tasks = {event['task']: event for event in run.events('task_start')}
    assert list(tasks) == [
        f'web : {name}' for name in ('Write', 'Look', 'Loop', 'Never', 'Include', 'Break', 'Restart')
    ]
    assert {key: value for key, value in tasks['web : Write'].items() if key != 'time'} == {
        'type': 'task_start', 'play': 'First play', 'task': 'web : Write', 'role': 'web', 'action': 'copy', 'handler': False,
    }  # fmt: skip
    assert tasks['web : Restart']['handler'] is True
    write = results_of(run, 'Write')['h1']
    assert (write['result'], write['changed'], write['play']) == ('changed', True, 'First play')
    assert write['duration'] > 0 and '+a' in write['diff'] and '\x1b' not in write['diff']
    look = results_of(run, 'Look')['h2']
    assert (look['result'], look['changed'], look['stdout'], look['rc']) == ('ok', False, 'seen', 0)
    loop = results_of(run, 'Loop')['h1']
    assert (loop['result'], loop['item'], loop['rc']) == ('ignored', 'bad', 1)
    assert loop['message'] == '1 of 3 items failed; bad: non-zero return code'
    assert results_of(run, 'Never')['h1']['result'] == 'skipped'
    assert results_of(run, 'Include')['h1']['result'] == 'ok'
    broken = results_of(run, 'Break')['h1']
    assert (broken['result'], broken['stdout'], broken['stderr'], broken['rc']) == ('failed', 'out', 'err', 7)
    assert results_of(run, 'Restart')['h1']['message'] == 'restarted'
    counted = {
        'ok': ('ok', 'changed', 'ignored'),
        'changed': ('changed',),
        'failures': ('failed',),
        'skipped': ('skipped',),
    }
    for host in ('h1', 'h2'):
        words = [event['result'] for event in run.events('host_result') if event['host'] == host]
        stats = run.events('stats')[0]['hosts'][host]
        # The ignored loop has changed too, which only its own event says.
        told = {kind: sum(word in wanted for word in words) + (kind == 'changed') for kind, wanted in counted.items()}
        assert told == {kind: stats[kind] for kind in counted}


def test_free_strategies_tell_the_start_of_a_task_once(bench: Workbench) -> None:
    tasks = '  tasks:\n    - {name: One, ansible.builtin.debug: {}}\n    - {name: Two, ansible.builtin.debug: {}}\n'
    run = bench.play('- hosts: all\n  gather_facts: false\n  strategy: free\n' + tasks)
    assert [event['task'] for event in run.events('task_start')] == ['One', 'Two']
    assert len(run.events('host_result')) == 6


def test_unreachable_hosts_unmatched_plays_and_warnings_are_told(bench: Workbench, tmp_path: Path) -> None:
    (tmp_path / 'library').mkdir()
    (tmp_path / 'library' / 'warner.py').write_text(
        'from ansible.module_utils.basic import AnsibleModule\n'
        'module = AnsibleModule(argument_spec={})\n'
        'module.warn("be careful")\n'
        'module.exit_json(changed=False)\n'
    )
    playbook = (
        '- hosts: nobody\n  tasks: []\n'
        '- hosts: all\n  gather_facts: false\n  tasks:\n    - name: Reach\n      ansible.builtin.raw: "true"\n'
        '    - {name: Warn, warner: {}}\n    - {name: Again, warner: {}}\n    - {name: Hidden, warner: {}, no_log: true}\n'
    )
    far = 'ansible_connection=ssh ansible_host=127.0.0.1 ansible_port=1'
    env = {'ANSIBLE_LIBRARY': str(tmp_path / 'library')}
    run = bench.play(playbook, hosts={'h1': '', 'h3': far}, env=env)
    assert run.exit['code'] == 4
    lost = results_of(run, 'Reach')['h3']
    assert lost['result'] == 'unreachable' and 'Connection refused' in lost['message']
    assert [event['message'] for event in run.events('warning')] == ["no host matched play 'nobody'", 'be careful']


NO_LOG = """
- hosts: all
  gather_facts: false
  vars:
    secret: "{{ 'ses' ~ 'ame' }}"
    hide: true
  tasks:
    - name: Value
      ansible.builtin.debug: {msg: "{{ secret }}"}
      no_log: true
    - name: Templated
      ansible.builtin.command: echo {{ secret }}
      no_log: "{{ hide }}"
    - name: Loop
      ansible.builtin.command: echo {{ item }}
      loop: ["{{ secret }}1", "{{ secret }}2"]
      no_log: true
    - name: Some items
      ansible.builtin.command: sh -c "echo {{ item }}; false"
      loop: ["open", "{{ secret }}3"]
      no_log: "{{ item != 'open' }}"
      ignore_errors: true
    - name: Diff
      ansible.builtin.copy: {content: "{{ secret }}", dest: "%(place)s/{{ inventory_hostname }}"}
      no_log: true
      diff: true
    - name: Facts
      ansible.builtin.set_fact: {password: "{{ secret }}"}
      no_log: true
    - name: Assert
      ansible.builtin.assert: {that: false, fail_msg: "{{ secret }}"}
      no_log: true
      ignore_errors: true
    - name: Skipped
      ansible.builtin.command: echo {{ item }}
      loop: ["{{ secret }}4"]
      when: item == ''
      no_log: true
    - name: Raised
      ansible.builtin.debug: {msg: "{{ secret | from_json }}"}
      no_log: true
      ignore_errors: true
    - name: Unreachable
      ansible.builtin.raw: echo {{ secret }}
      vars: {ansible_connection: ssh, ansible_host: 127.0.0.1, ansible_port: 1}
      no_log: true
      ignore_unreachable: true
    - name: Raw
      ansible.builtin.raw: echo {{ secret }} $SECRET
      environment: {SECRET: "{{ secret }}"}
      no_log: true
    - name: Failed
      ansible.builtin.command: sh -c "echo {{ secret }} >&2; false"
      no_log: true
"""


@pytest.mark.parametrize('args', [(), ('--diff', '-vvvv')])
def test_nothing_of_a_no_log_task_is_told(bench: Workbench, tmp_path: Path, args: tuple[str, ...]) -> None:
    run = bench.play(NO_LOG % {'place': tmp_path}, *args, hosts=('h1',))
    results = run.events('host_result')
    words = {event['task']: event['result'] for event in results}
    assert words == {
        'Value': 'ok', 'Templated': 'changed', 'Loop': 'changed', 'Some items': 'ignored', 'Diff': 'changed', 'Facts': 'ok',
        'Assert': 'ignored', 'Skipped': 'skipped', 'Raised': 'ignored', 'Unreachable': 'ignored', 'Raw': 'changed',
        'Failed': 'failed',
    }  # fmt: skip
    allowed = {'time', 'type', 'host', 'task', 'play', 'result', 'changed', 'duration', 'censored'}
    for event in results:
        assert event['censored'] is True and set(event) - {'file'} == allowed, event
    left = '\n'.join(run.read(name) for name in ('output.log', 'events.jsonl', 'results.json', 'launcher.log'))
    assert 'sesame' not in left


NEIGHBOURS = """
- hosts: all
  gather_facts: false
  tasks:
    - name: Quiet
      no_log: true
      ansible.builtin.debug: {msg: sesame-literal}
    - ansible.builtin.debug: {msg: "{{ nothing_of_that_name }}"}
"""


def test_a_failure_does_not_show_the_lines_of_the_task_before(bench: Workbench) -> None:
    run = bench.play(NEIGHBOURS, hosts=('h1',))
    left = '\n'.join(run.read(name) for name in ('output.log', 'events.jsonl'))
    assert 'nothing_of_that_name' in left
    assert 'sesame' not in left


def test_known_secrets_are_masked_in_output_and_events(bench: Workbench) -> None:
    secrets = ['sesame', 'two\nlines of it', 'a "quoted" \\ one']
    playbook = """
- name: Play with sesame
  hosts: all
  gather_facts: false
  tasks:
    - name: Say sesame
      ansible.builtin.command: {argv: [echo, "{{ item }}"]}
      loop: ["sesame", "two\\nlines of it", 'a "quoted" \\ one']
    - name: Break
      ansible.builtin.fail: {msg: 'open sesame, a "quoted" \\ one'}
    """
    run = bench.play(playbook, '-vvv', hosts=('h1',), masks=secrets)
    left = '\n'.join(run.read(name) for name in ('output.log', 'events.jsonl', 'results.json', 'launcher.log'))
    assert '********' in run.output and '********' in run.read('events.jsonl')
    for piece in ('sesame', 'lines of it', 'quoted', '\\\\ one'):
        assert piece not in left
    assert [event['task'] for event in run.events('task_start')] == ['Say ********', 'Break']
    assert not (run.directory / 'mask.json').exists()


def test_hostile_texts_stay_inside_their_lines(bench: Workbench) -> None:
    playbook = """
- name: "Play \\u001b[31m\\u202e {\\"type\\":\\"stats\\"}"
  hosts: all
  gather_facts: false
  tasks:
    - name: "Task\\n{\\"type\\":\\"stats\\",\\"hosts\\":{}}\\r\\u2028"
      ansible.builtin.command: {argv: [printf, '\\303\\244\\033]0;title\\007 \\000\\n{"type":"stats"}\\n%s', "{{ 'x' * 100000 }}"]}
    - name: "Loop"
      ansible.builtin.command: {argv: ["false", "{{ item }}"]}
      loop: "{{ range(0, 400) | map('string') | map('regex_replace', '$', '\\u00e4\\"' * 100) | list }}"
      ignore_errors: true
      when: inventory_hostname == 'never'
    - name: "Long"
      ansible.builtin.fail: {msg: "{{ '\\"\\\\\\u0001' * 40000 }}"}
"""
    run = bench.play(playbook, hosts=('h1',))
    raw = (run.directory / 'events.jsonl').read_bytes()
    events = [json.loads(line) for line in raw.split(b'\n')[:-1]]
    assert [event['type'] for event in events if event['type'] == 'stats'] == ['stats']
    assert len(run.events('host_result')) == 3
    for line in raw.split(b'\n'):
        assert len(line) <= LINE_LIMIT
    for event in events:
        for text in (value for value in event.values() if isinstance(value, str)):
            assert len(text.encode()) <= 4096
            assert not any(ord(char) < 32 and char not in '\n\t\r' or 0xD800 <= ord(char) <= 0xDFFF for char in text), (
                text
            )
    assert '\x1b' not in raw.decode()


def test_an_ansible_playbook_inside_a_task_writes_nothing_here(bench: Workbench, tmp_path: Path) -> None:
    inner = tmp_path / 'inner.yml'
    inner.write_text(
        '- name: Inner\n  hosts: localhost\n  gather_facts: false\n  tasks: [{ansible.builtin.debug: {}}]\n'
    )
    seen = tmp_path / 'seen'
    playbook = f"""
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: {PLAYBOOK} {inner}
    - ansible.builtin.shell: env > {seen}
"""
    run = bench.play(playbook, hosts=('h1',), masks=['sesame'])
    assert run.exit['code'] == 0, run.output
    assert [event['play'] for event in run.events('play_start')] == ['all'] and list(run.statuses) == ['h1']
    variables = {line.partition('=')[0] for line in seen.read_text().splitlines()}
    assert 'MUSTER_RUN_ID' in variables, 'processes of the run are found by it'
    assert not variables & {'MUSTER_RUN_DIR', 'MUSTER_MASK_FD'}


CONFIGS = {
    'that enables nothing': '[defaults]\nstrategy = linear\n',
    'that names what CFS ships': '[defaults]\ncallbacks_enabled = cfs_aggregator\nstrategy = cfs_free\ndeprecation_warnings = False\n',
    'with callbacks of its own': '[defaults]\ncallbacks_enabled = shout\ncallback_plugins = mine\n',
    'that names the callback itself': '[defaults]\ncallbacks_enabled = muster_events, cfs_aggregator\n',
}


@pytest.mark.parametrize('config', CONFIGS)
def test_a_run_is_recorded_under_any_ansible_cfg(bench: Workbench, tmp_path: Path, config: str) -> None:
    (tmp_path / 'ansible.cfg').write_text(CONFIGS[config])
    (tmp_path / 'mine').mkdir()
    (tmp_path / 'mine' / 'shout.py').write_text(
        'from ansible.plugins.callback import CallbackBase\n'
        'class CallbackModule(CallbackBase):\n'
        '    CALLBACK_VERSION = 2.0\n    CALLBACK_NEEDS_ENABLED = True\n'
        '    def v2_playbook_on_stats(self, stats):\n        print("SHOUT")\n'
    )
    playbook = '- hosts: all\n  gather_facts: false\n  tasks: [{ansible.builtin.debug: {}}]\n'
    run = bench.play(playbook, env={'ANSIBLE_CONFIG': str(tmp_path / 'ansible.cfg')})
    assert run.statuses == {'h1': 'applied', 'h2': 'applied', 'h3': 'applied'}
    assert len(run.events('host_result')) == 3
    assert ('SHOUT' in run.output) == ('own' in config)
    assert 'WARNING' not in run.output


def test_without_the_launcher_the_callback_does_nothing(tmp_path: Path, bench: Workbench) -> None:
    playbook = '- hosts: all\n  gather_facts: false\n  tasks: [{ansible.builtin.debug: {}}]\n'
    command = 'unset MUSTER_RUN_DIR; exec "$@"'
    wrapped = bench.play(playbook)
    spec = json.loads(wrapped.read('spec.json'))
    run = (
        Run(tmp_path / 'bare')
        .specify(['/bin/sh', '-c', command, 'sh', *spec['argv']], spec['env'], spec['cwd'])
        .launch()
        .finish()
    )
    assert run.exit['code'] == 0
    assert not (run.directory / 'events.jsonl').exists() and not (run.directory / 'results.json').exists()


def test_statistics_of_a_large_fleet_are_totals(bench: Workbench) -> None:
    hosts = [f'node-with-a-rather-long-name-{number:04d}.example.org' for number in range(700)]
    run = bench.play('- hosts: all\n  gather_facts: false\n  strategy: linear\n  tasks: []\n', hosts=hosts)
    assert run.events('stats')[0]['hosts'] == {}
    # A task for 700 hosts takes half a minute, so the record itself is asked.
    program = (
        'import os, sys; os.environ["MUSTER_RUN_DIR"] = sys.argv[1]\n'
        'from ansible.executor.stats import AggregateStats\n'
        'import muster_events\n'
        'stats = AggregateStats()\n'
        'for host in sys.argv[2:]: stats.increment("ok", host)\n'
        'muster_events.CallbackModule().v2_playbook_on_stats(stats)\n'
    )
    large = Run(run.directory.parent / 'large')
    large.directory.mkdir()
    subprocess.run(
        [sys.executable, '-c', program, str(large.directory), *hosts],
        check=True,
        env={
            'PYTHONPATH': str(ANSIBLE / 'plugins' / 'callback'),
            'HOME': str(bench.home),
            'PYTHONDONTWRITEBYTECODE': '1',
            'LANG': 'C.UTF-8',
        },
    )
    [stats] = large.events('stats')
    assert stats['totals']['hosts'] == 700 and stats['totals']['ok'] == 700 and 'hosts' not in stats
    assert len(large.read('events.jsonl')) < STATS_LIMIT and len(large.statuses) == 700


def test_on_a_full_disk_lines_are_dropped_whole_and_counted(small_disk: Path) -> None:
    ballast = small_disk / 'ballast'
    ballast.write_bytes(b'x' * 200_000)
    journal = Journal(str(small_disk))
    for number in range(1000):
        journal.write('warning', {'message': f'{number} ' + 'y' * 1000})
    assert journal.dropped > 0
    assert journal.write_results({'hosts': {'h' * 50_000: {}}}, attempts=2, pause=0) is False
    assert not (small_disk / 'results.json').exists()
    ballast.unlink()
    journal.write('warning', {'message': 'after'})
    lines = (small_disk / 'events.jsonl').read_text().splitlines()
    assert len(lines) == 1000 - journal.dropped + 1
    assert [json.loads(line)['message'].split()[0] for line in lines][-2:] == [str(999 - journal.dropped), 'after']
    assert journal.write_results({'hosts': {}}) and (small_disk / 'results.json').read_text() == '{"hosts": {}}'


def test_a_full_disk_does_not_fail_a_playbook(bench: Workbench, small_disk: Path) -> None:
    playbook = '- hosts: all\n  gather_facts: false\n  tasks: [{ansible.builtin.debug: {msg: "{{ \'x\' * 1000 }}"}}]\n'
    (small_disk / 'run').mkdir()
    (small_disk / 'ballast').write_bytes(b'x' * 240_000)
    run = bench.play(playbook, hosts=[f'h{number}' for number in range(30)], run=small_disk / 'run')
    assert (run.exit['code'], run.statuses) == (0, {})
    # By this file it is known that there were results.
    assert (run.directory / '.results.json').stat().st_size == 0


def test_a_run_that_fills_its_disk_has_its_results_and_says_what_is_missing(bench: Workbench, disk: Path) -> None:
    hosts = [f'h{number:03}' for number in range(120)]
    fill = f'{{raw: "cat /dev/zero > {disk}/ballast || true", run_once: true}}'
    tell = '{ansible.builtin.debug: {msg: "{{ \'x\' * 1000 }}"}}'
    (disk / 'run').mkdir()
    run = bench.play(f'- hosts: all\n  gather_facts: false\n  tasks: [{fill}, {tell}]\n', hosts=hosts, run=disk / 'run')
    assert (run.exit['code'], run.statuses) == (0, dict.fromkeys(hosts, 'applied'))
    assert [event['message'] for event in run.events('warning')] == [
        f'{121 - len(run.events("host_result"))} events could not be written: No space left on device'
    ]
    assert run.events()[-1]['type'] == 'stats'


def test_results_for_which_there_is_no_room_are_said_to_be_lost(disk: Path) -> None:
    journal = Journal(str(disk))
    draft = disk / '.results.json'
    assert draft.stat().st_blocks * 512 == 256 * 1024
    (disk / 'ballast').write_bytes(b'x' * (os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize))
    assert journal.write_results({'hosts': {'h' * 300_000: {}}}, attempts=2, pause=0) is False
    assert (draft.stat().st_size, journal.trouble) == (0, 'No space left on device')
    journal.write('stats', {'hosts': {}})
    assert json.loads((disk / 'events.jsonl').read_text())['type'] == 'stats'
    assert journal.write_results({'hosts': {}}) and (disk / 'results.json').read_text() == '{"hosts": {}}'
    assert not draft.exists()


def test_a_run_without_hosts_has_results_of_nobody(bench: Workbench) -> None:
    run = bench.play('- hosts: none_of_these\n  gather_facts: false\n  tasks: [{ansible.builtin.debug: {}}]\n')
    assert (run.exit['code'], run.results) == (0, {'hosts': {}, 'broken_off': False})
    assert not (run.directory / '.results.json').exists()
