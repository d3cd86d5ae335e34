"""A run that a warm process starts is, in all that can be seen, the run that it would have been."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from runs import ANSIBLE, PLAYBOOK, Run, wait_until
from warm_place import Place, colds, left_by
from warm_process import WarmProcess

HELLO = '- hosts: all\n  gather_facts: false\n  tasks:\n    - debug: msg="hello {{ 1 + 1 }}"\n'
SECRET = 'sesame-' + 'opens'


PLAYS = {
    'works': (HELLO, ()),
    'fails': ('- hosts: all\n  gather_facts: false\n  tasks:\n    - fail: msg=no\n      when: inventory_hostname == "h1"\n', ()),
    'is checked': (HELLO, ('--check', '--diff')),
    'is no playbook': ('- hosts: [\n', ()),
    'has an unknown module': ('- hosts: all\n  tasks:\n    - nothing_like_that:\n', ()),
    'matches no host': (HELLO, ('--limit', 'h9')),
    'has wrong words': (HELLO, ('--no-such-word',)),
    'is only listed': (HELLO, ('--list-tasks',)),
    'uses filters, tests and lookups': (
        '- hosts: h1\n  gather_facts: false\n  tasks:\n'
        '    - assert:\n        that: ["[3, 1] | sort == [1, 3]", "\'/a\' is abs", "lookup(\'env\', \'HOME\') != \'\'"]\n',
        (),
    ),
    'is ended by a signal': ('- hosts: h1\n  gather_facts: false\n  tasks:\n    - shell: kill -KILL {{ lookup("pipe", "echo $PPID") }}\n', ()),
}


@pytest.mark.parametrize('name', PLAYS)
def test_what_a_playbook_leaves_is_the_same(place: Place, name: str) -> None:
    playbook, words = PLAYS[name]
    place.write('site.yml', playbook)
    cold = left_by(place.run('cold', warm=False, words=words))
    found = place.run('warm', warm=True, words=words)
    assert left_by(found) == cold
    assert colds(found) == []


LOOK = """
import json, os, sys

def field(pid, name):
    return dict(line.split(':', 1) for line in open(f'/proc/{pid}/status'))[name].strip()

pid, found = os.getppid(), []
while pid > 1:
    words = open(f'/proc/{pid}/cmdline').read().split('\\0')
    stat = open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()
    if any(word.endswith('/ansible-playbook') for word in words) or 'launch.py' in ' '.join(words):
        launcher = 'launch.py' in ' '.join(words)
        fds = sorted(os.path.basename(os.readlink(f'/proc/{pid}/fd/{fd}')).partition(':')[0].lstrip('#0123456789') for fd in os.listdir(f'/proc/{pid}/fd'))
        found.append({
            'words': words[1:] if launcher else words,
            'name': None if launcher else field(pid, 'Name'),
            'umask': field(pid, 'Umask'),
            'cwd': os.readlink(f'/proc/{pid}/cwd'),
            'exe': os.path.realpath(f'/proc/{pid}/exe'),
            'leader': os.getsid(pid) == pid,
            'signals': None if launcher else [field(pid, name) for name in ('SigBlk', 'SigIgn', 'SigCgt')],
            'fds': fds,
            'env': None if launcher else sorted(open(f'/proc/{pid}/environ').read().split('\\0')),
            'subreaper child': stat[1] == '1',
        })
    pid = int(stat[1])
print(json.dumps(found))
"""


def test_the_processes_of_the_run_look_the_same(place: Place) -> None:
    place.write('look.py', LOOK)
    place.write(
        'site.yml',
        '- hosts: h1\n  gather_facts: false\n  tasks:\n'
        f'    - command: {sys.executable} {place.repository}/look.py\n      register: seen\n'
        '    - copy: {content: "{{ seen.stdout }}", dest: "{{ lookup(\'env\', \'SEEN\') }}"}\n',
    )
    seen = []
    old = os.umask(0o027)
    try:
        for number, warm in enumerate((False, True)):
            path = place.directory / f'seen{number}.json'
            run = place.run(f'run{number}', warm, env={'SEEN': str(path)}, masks=[SECRET])
            assert run.exit['code'] == 0 and colds(run) == []
            seen.append(json.loads(path.read_text().replace(f'seen{number}', 'SEEN').replace(f'run{number}', 'RUN')))
    finally:
        os.umask(old)
    assert len(seen[0]) >= 3, 'the worker of Ansible, ansible-playbook, the launcher and what keeps it'
    for cold, warm in zip(*seen, strict=True):
        assert {name: value for name, value in warm.items() if value != cold[name]} == {}, cold


def test_a_process_of_a_warm_run_is_found_by_its_id(place: Place) -> None:
    os.mkfifo(place.directory / 'go')
    place.write('site.yml', f'- hosts: h1\n  gather_facts: false\n  tasks:\n    - shell: read x < {place.directory}/go\n')
    run = Run(place.directory / 'run').specify(
        [str(PLAYBOOK), '-i', 'hosts', 'site.yml'], place.env, str(place.repository)
    )
    assert place.warm.start(run.directory) == {'started': True}

    def playbook() -> bool:
        children = Path(f'/proc/{run.launcher_pid}/task/{run.launcher_pid}/children').read_text().split()
        return any('MUSTER_RUN_ID=r-1-0' in Path(f'/proc/{pid}/environ').read_text() for pid in children)

    wait_until((run.directory / 'claim').exists, 'the claim')
    wait_until(playbook, 'the process by its environment')
    # What kept it goes; the run does not.
    place.warm.process.kill()
    (place.directory / 'go').write_text('\n')
    assert run.finish().exit['code'] == 0


def test_nothing_of_a_run_stays_in_the_warm_process_or_comes_to_another_run(place: Place) -> None:
    place.write(
        'site.yml',
        '- hosts: h1\n  gather_facts: false\n  tasks:\n'
        '    - set_fact: {kept: "{{ given }}", cacheable: true}\n      when: given is defined\n'
        '    - debug: msg="{{ vars | string }}{{ hostvars | string }}{{ ansible_facts | string }}"\n'
        '    - debug: msg="sees {{ kept | default(\'nothing\') }} {{ lookup(\'env\', \'MINE\') | default(\'none\', true) }}"\n',
    )
    env = {'ANSIBLE_DISPLAY_OK_HOSTS': 'true'}
    first = Run(place.directory / 'first')
    argv = [str(PLAYBOOK), '-i', 'hosts', 'site.yml', '-e', f'given={SECRET}', '--limit', 'h1']
    first.specify(argv, {**place.env, **env}, str(place.repository), [SECRET])
    (first.directory / 'environment.json').write_text(json.dumps({'MINE': SECRET}))
    place.warm.finish(first)
    assert (first.exit['code'], colds(first)) == (0, [])
    assert 'sees ******** ********' in first.output and SECRET not in first.everything()
    second = place.run('second', warm=True, env=env)
    assert 'sees nothing none' in second.output and SECRET not in second.everything()
    assert SECRET.encode() not in place.warm.memory()
    assert SECRET.encode() not in Path(f'/proc/{place.warm.process.pid}/environ').read_bytes()


MINE = '#!/usr/bin/python\nprint(\'{"changed": false, "msg": "WORD"}\')\n'
BESIDE = """
- hosts: h1
  gather_facts: false
  tasks:
    - shell: touch HERE; until test -e THERE; do sleep 0.1; done
    - mine:
      register: said
    - set_fact: {kept: "{{ said.msg }}", cacheable: true}
    - shell: touch HERE.2; until test -e THERE.2; do sleep 0.1; done
    - debug: msg="{{ said.msg }} {{ word }} {{ kept }} {{ lookup('env', 'MINE') }} {{ lookup('config', 'DEFAULT_TIMEOUT') }}"
"""


def test_two_runs_at_once_have_each_its_own_modules_variables_facts_and_settings(place: Place) -> None:
    words = {'one': '31', 'other': '32'}
    runs = {}
    for name, timeout in words.items():
        here, there = (str(place.directory / f'{word}.here') for word in (name, *(set(words) - {name})))
        folder = place.directory / f'repository-{name}'
        (folder / 'library').mkdir(parents=True)
        (folder / 'library' / 'mine.py').write_text(MINE.replace('WORD', name))
        (folder / 'hosts').write_text(f'h1 ansible_connection=local word={name}\n')
        (folder / 'site.yml').write_text(BESIDE.replace('THERE', there).replace('HERE', here))
        env = {**place.env, 'MINE': name, 'ANSIBLE_TIMEOUT': timeout, 'ANSIBLE_DISPLAY_OK_HOSTS': 'true'}
        runs[name] = Run(place.directory / name).specify([str(PLAYBOOK), '-i', 'hosts', 'site.yml'], env, str(folder))
        assert place.warm.start(runs[name].directory) == {'started': True}
    for name, run in runs.items():
        assert (run.finish().exit['code'], colds(run)) == (0, [])
        assert f'{name} {name} {name} {name} {words[name]}' in run.output


SETTINGS = (
    *('DEFAULT_TIMEOUT', 'DEFAULT_STRATEGY', 'ANSIBLE_PIPELINING', 'DEFAULT_FORKS', 'DEFAULT_PRIVATE_KEY_FILE'),
    *('DEFAULT_ROLES_PATH', 'DEFAULT_FILTER_PLUGIN_PATH', 'COLLECTIONS_PATHS', 'DEFAULT_GATHERING', 'CONFIG_FILE'),
    *('TASK_TIMEOUT', 'ANY_ERRORS_FATAL', 'DEFAULT_BECOME_METHOD', 'ANSIBLE_HOME', 'HOST_KEY_CHECKING'),
)


def test_an_ordinary_ansible_cfg_is_obeyed(place: Place) -> None:
    place.write(
        'ansible.cfg',
        '[defaults]\ntimeout = 33\nstrategy = free\nforks = 3\nroles_path = own-roles\ntask_timeout = 20\n'
        'any_errors_fatal = true\ndisplay_ok_hosts = true\n[ssh_connection]\npipelining = true\n',
    )
    lookups = ', '.join(f"'{name}'" for name in SETTINGS)
    place.write(
        'site.yml',
        f'- hosts: h1\n  gather_facts: false\n  tasks:\n    - debug: msg="{{{{ lookup(\'config\', {lookups}, wantlist=true) }}}}"\n'
        '    - command: sleep 21\n',
    )
    env = {'ANSIBLE_CONFIG': str(place.repository / 'ansible.cfg'), 'ANSIBLE_PRIVATE_KEY_FILE': '/a/key'}
    cold, warm = (place.run(name, name == 'warm', env=env) for name in ('cold', 'warm'))
    assert colds(warm) == []
    assert cold.exit['code'] == 2, 'the time limit of tasks is not obeyed'
    assert left_by(warm) == left_by(cold)


COLD = {
    'filter_plugins/mine.py': (
        'class FilterModule:\n    def filters(self):\n        return {}\n',
        'it brings plugins of its own: filter_plugins',
    ),
    'roles/web/action_plugins/copy.py': ('', 'it brings plugins of its own: roles/web/action_plugins'),
    'collections/ansible_collections/a/b/plugins/lookup/c.py': (
        '',
        'it brings plugins of its own: collections/ansible_collections/a/b/plugins',
    ),
    'ansible.cfg': ('[defaults]\nlog_path = ansible.log\n', 'its setting DEFAULT_LOG_PATH is unusual'),
}


@pytest.mark.parametrize('name', COLD)
def test_what_is_unusual_is_executed_cold_and_says_so(place: Place, name: str) -> None:
    text, why = COLD[name]
    place.write('site.yml', HELLO)
    place.write(name, text)
    env = {'ANSIBLE_CONFIG': str(place.repository / 'ansible.cfg')} if name == 'ansible.cfg' else {}
    warm = place.run('warm', warm=True, env=env)
    assert colds(warm) == [f'Ansible was started cold: {why}']
    cold = left_by(place.run('cold', warm=False, env=env))
    found = left_by(warm)
    found['events.jsonl'] = re.sub('^.*"cold_start".*\n', '', found['events.jsonl'], flags=re.MULTILINE)
    assert found == cold
    left = [path.name for path in (place.home / '.ansible' / 'tmp').glob('ansible-local-*')]
    assert left == [], 'what was made for a warm run is left'


def test_a_variable_that_python_reads_at_its_start_is_obeyed(place: Place) -> None:
    place.write('site.yml', HELLO)
    run = place.run('warm', warm=True, env={'PYTHONPATH': '/nowhere'})
    assert run.exit['code'] == 0
    assert colds(run) == [
        'Ansible was started cold: the variable PYTHONPATH is another one than the warm process was started with'
    ]


def test_modules_of_a_repository_are_no_reason_to_be_cold(place: Place) -> None:
    place.write('library/mine.py', '#!/usr/bin/python\nprint(\'{"changed": true}\')\n')
    place.write('site.yml', '- hosts: h1\n  gather_facts: false\n  tasks:\n    - mine:\n')
    run = place.run('warm', warm=True)
    assert colds(run) == [] and run.events('host_result')[0]['result'] == 'changed'


def test_a_plugin_of_a_role_path_that_hides_behind_a_name_of_ansible_is_the_one_that_is_loaded(place: Place) -> None:
    """Its folder is named by the playbook itself, so that nothing says before that it is there."""
    place.write('elsewhere/role/action_plugins/debug.py', 'from ansible.plugins.action import ActionBase\n\n\n'
        'class ActionModule(ActionBase):\n    def run(self, tmp=None, task_vars=None):\n        return {"changed": True}\n')
    place.write('elsewhere/role/tasks/main.yml', '- debug: msg=hello\n')
    place.write('site.yml', '- hosts: h1\n  gather_facts: false\n  roles:\n    - "{{ playbook_dir }}/elsewhere/role"\n')
    cold, warm = (place.run(name, name == 'warm') for name in ('cold', 'warm'))
    assert colds(warm) == []
    assert left_by(warm) == left_by(cold)
    assert warm.events('host_result')[0]['result'] == 'changed'


def test_names_by_chance_are_not_those_of_another_run() -> None:
    program = (
        'import os, sys\n'
        f'sys.path[:0] = [{str(ANSIBLE / "launcher")!r}]\n'
        'import warm_configure, multiprocessing.process, logging\n'
        'from ansible.utils import vars as names\n'
        'def seen():\n'
        '    return names.random_int, bytes(multiprocessing.process.current_process().authkey)\n'
        'before = seen()\n'
        'warm_configure._be_another_process()\n'
        'after = seen()\n'
        'print(all(one != other for one, other in zip(before, after)), len(before[0]) == len(after[0]))\n'
    )
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, check=True)
    assert done.stdout == 'True True\n'


def test_it_ends_with_its_worker(place: Place) -> None:
    assert place.warm.close() == 0
    place.process = None


def test_it_ends_when_what_it_loaded_has_changed(place: Place, tmp_path: Path) -> None:
    script = tmp_path / 'bin' / 'ansible-playbook'
    script.parent.mkdir()
    shutil.copy(PLAYBOOK, script)
    warm = WarmProcess(place.env, script)
    try:
        assert warm.first == {'ready': True}
        script.write_text(script.read_text() + '\n')
        run = Run(tmp_path / 'run').specify([str(script), '--version'], place.env)
        assert warm.start(run.directory) == {'started': False, 'why': f'{script} has changed'}
        assert not (run.directory / 'claim').exists()
    finally:
        assert warm.close() == 0


def test_it_ends_when_it_is_asked_for_nothing(place: Place) -> None:
    program = (
        'import sys\n'
        f'sys.argv = ["warm.py", {str(PLAYBOOK)!r}]\n'
        f'sys.path[:0] = [{str(ANSIBLE / "launcher")!r}]\n'
        'import warm\nwarm.IDLE_S = 0.1\nwarm.main()\n'
    )
    warm = WarmProcess(place.env, words=['-c', program])
    assert warm.first == {'ready': True}
    assert warm.process.wait(60) == 0
    warm.close()


def test_another_program_is_not_kept(place: Place, tmp_path: Path) -> None:
    script = tmp_path / 'ansible-playbook'
    script.write_text(PLAYBOOK.read_text().splitlines()[0] + '\nprint("mine")\n')
    warm = WarmProcess(place.env, script)
    assert warm.first == {'ready': False, 'why': 'the program is not the one that Ansible installs'}
    assert warm.close() == 0


def test_a_run_whose_launcher_is_killed_is_lost_and_what_is_left_is_kept(place: Place) -> None:
    os.mkfifo(place.directory / 'go')
    place.write('site.yml', f'- hosts: h1\n  gather_facts: false\n  tasks:\n    - shell: read x < {place.directory}/go\n')
    run = Run(place.directory / 'run').specify(
        [str(PLAYBOOK), '-i', 'hosts', 'site.yml'], place.env, str(place.repository)
    )
    assert place.warm.start(run.directory) == {'started': True}
    wait_until(lambda: (run.directory / 'events.jsonl').exists() and run.events('task_start'), 'the task')
    keeper = json.loads(run.read('claim'))['keeper']['pid']
    os.kill(run.launcher_pid, signal.SIGKILL)

    def left() -> list[str]:
        return Path(f'/proc/{keeper}/task/{keeper}/children').read_text().split()

    wait_until(lambda: left() and str(run.launcher_pid) not in left(), 'what falls to the keeper')
    for pid in left():
        os.killpg(int(pid), signal.SIGKILL)
    (place.directory / 'go').unlink()
    wait_until((run.directory / 'kept').exists, 'the note of the keeper')
    assert not (run.directory / 'exit.json').exists()
