"""The runs of one session, with an inventory that is read once: each as if it had read it by itself, and none knows of another one."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from runs import PLAYBOOK, Run, wait_until
from warm_place import Place, colds, launch_cold, left_by

HOSTS = 2_000
SECRET = 'open-' + 'sesame'
SEEN = """
- hosts: n1,n2,extra
  gather_facts: false
  tasks:
    - debug: msg="{{ groups | string }} {{ hostvars['n1999'] | string }} {{ group_names }}"
    - debug: msg="{{ role | default('none') }} {{ more | default('none') }} {{ inventory_file }} {{ inventory_dir }}"
    - debug: msg="{{ kept | default('nothing kept') }} {{ groups['made'] | default('no group') }} {{ hostvars['late'] | default('no host') }}"
"""
CHANGED = """
- hosts: n1,n2
  gather_facts: false
  tasks:
    - set_fact: {kept: "WORD", cacheable: true}
    - add_host: {name: late, groups: made, kept: "WORD", ansible_connection: local}
    - group_by: {key: "made_{{ role }}"}
    - set_fact: {role: "WORD"}
    - debug: msg="{{ kept }} {{ hostvars['late'].kept }} {{ groups['made'] }}"
"""


def data(word: str = 'compute', hosts: int = HOSTS) -> dict[str, Any]:
    """An inventory as Muster generates it."""
    names = [f'n{number}' for number in range(hosts)]
    unsafe = lambda text: {'__ansible_unsafe': text}  # noqa: E731
    return {
        'all': {
            'children': {
                f'role_{word}': {'hosts': {name: {} for name in names[::2]}},
                'rack-1': {'hosts': {}},
                'rack_2': {'hosts': {name: {} for name in names[1::3]}},
            },
            'hosts': {
                name: {'ansible_connection': unsafe('local'), 'role': unsafe(f'{word} {{{{ 1 + 1 }}}}')} for name in names
            },
        }
    }


def fill(folder: Path, tree: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / '01-cfs-generated.yaml').write_text(json.dumps(tree))
    return folder


def plain(word: str = 'compute', hosts: int = HOSTS) -> dict[str, Any]:
    tree = data(word, hosts)
    del tree['all']['children']['rack-1']
    return tree


def keepers(place: Place) -> list[int]:
    pid = place.warm.process.pid
    return [int(child) for child in Path(f'/proc/{pid}/task/{pid}/children').read_text().split()]


@pytest.fixture
def folder(place: Place) -> Path:
    """The inventory of a session."""
    return fill(place.directory / 'inventory', plain())


def play(place: Place, folder: Path, name: str, *words: str, warm: bool = True, **order: Any) -> Run:
    more = {'inventory': str(folder), 'last': False, **order} if warm else {}
    run = Run(place.directory / name)
    argv = [str(PLAYBOOK), '-i', str(folder), '--forks', '1', 'site.yml', *words]
    run.specify(argv, {**place.env, 'ANSIBLE_DISPLAY_OK_HOSTS': 'true'}, str(place.repository))
    if not warm:
        return launch_cold(run).finish()
    return place.warm.finish(run, **more)


ADDED = {
    'nothing': {},
    'hosts and groups': {'02-more': 'extra ansible_connection=local\n[role_compute]\nextra\nn1\n[rack_2:vars]\nmore=of the group\n'},
    'variables': {'group_vars/all.yml': 'more: of all\n', 'host_vars/n2.yml': 'role: mine\n', '02-more': 'extra ansible_connection=local\n'},
    'what is no inventory': {'LICENSE': 'free\n', 'README.md': 'read me\n'},
    'files before it': {'00-first': 'extra ansible_connection=local\nn2 role=first\n'},
}


@pytest.mark.parametrize('added', ADDED)
def test_runs_of_a_session_are_as_cold_ones_and_the_inventory_is_read_once(place: Place, folder: Path, added: str) -> None:
    place.write('site.yml', SEEN)
    for name, text in ADDED[added].items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    cold = left_by(play(place, folder, 'cold', warm=False))
    assert cold['exit'] == {'code': 0, 'signal': None}
    held = set()
    for number, last in enumerate((False, False, True)):
        run = play(place, folder, f'warm{number}', last=last)
        if added == 'files before it':
            assert colds(run) == ['The inventory was read anew: other files come before its own']
            continue
        assert colds(run) == []
        assert left_by(run) == cold
        held |= {keepers(place)[0]} if not last else set()
    if added != 'files before it':
        assert len(held) == 1, 'more than one process has read it'
    wait_until(lambda: not keepers(place), 'the end of the process after the last run')


def test_a_run_sees_nothing_of_another_run_of_its_session(place: Place, folder: Path) -> None:
    place.write('site.yml', SEEN)
    cold = left_by(play(place, folder, 'cold', warm=False))
    place.write('site.yml', CHANGED.replace('WORD', SECRET))
    changing = play(place, folder, 'changing')
    assert changing.exit['code'] == 0 and SECRET in changing.output
    place.write('site.yml', SEEN)
    assert left_by(play(place, folder, 'seeing')) == cold
    [keeper] = keepers(place)
    assert SECRET.encode() not in place.warm.memory(keeper)


def test_sessions_have_each_its_own_inventory_and_process(place: Place) -> None:
    place.write('site.yml', SEEN)
    folders = [fill(place.directory / word, plain(word)) for word in ('one', 'other', 'third')]
    for number in range(2):
        for folder in folders:
            run = play(place, folder, f'{folder.name}{number}')
            assert colds(run) == [] and f'role_{folder.name}' in run.output
            assert not any(f'role_{other.name}' in run.output for other in folders if other != folder)
    assert len(keepers(place)) == 2, 'there are no more than two'


def test_orders_are_answered_by_number_while_an_inventory_is_read(place: Place) -> None:
    place.write('site.yml', '- hosts: n0\n  gather_facts: false\n  tasks:\n    - debug: msg=hello\n')
    large = fill(place.directory / 'large', plain('large', 40_000))
    small = fill(place.directory / 'small', plain('small', 3))
    runs = {}
    for number, folder in enumerate((large, small), 1):
        argv = [str(PLAYBOOK), '-i', str(folder), 'site.yml']
        runs[number] = Run(place.directory / folder.name / 'run').specify(argv, place.env, str(place.repository))
        place.warm.order(runs[number].directory, inventory=str(folder), last=False, number=number)
    assert [place.warm.answer() for _ in range(3)] == [
        {'reading': True, 'number': 1},
        {'started': True, 'number': 2},
        {'started': True, 'number': 1},
    ]
    for run in runs.values():
        assert (run.finish().exit['code'], colds(run)) == (0, [])
    assert len(keepers(place)) == 1, 'a small inventory needs no process of its own'


def test_a_changed_inventory_is_read_anew(place: Place, folder: Path) -> None:
    place.write('site.yml', SEEN)
    play(place, folder, 'first')
    [before] = keepers(place)
    fill(folder, plain('storage'))
    second = play(place, folder, 'second')
    assert colds(second) == ['The inventory was read anew: its file is another one']
    assert 'role_storage' in second.output and 'role_compute' not in second.output
    third = play(place, folder, 'third')
    assert (colds(third), 'role_storage' in third.output) == ([], True)
    assert keepers(place) != [before]


UNUSUAL = {
    'Ansible is to tell how it reads the inventory': (plain(), ('-vvv',)),
    'something in it is to be warned of': (data(), ()),
    'it has this machine as a host': ({**plain(), 'own': {'hosts': {'localhost': {}}}}, ()),
}


@pytest.mark.parametrize('why', UNUSUAL)
def test_what_is_unusual_is_read_anew_and_says_so(place: Place, why: str) -> None:
    tree, words = UNUSUAL[why]
    place.write('site.yml', '- hosts: n0\n  gather_facts: false\n  tasks:\n    - debug: msg="{{ groups | string }}"\n')
    folder = fill(place.directory / 'inventory', tree)
    cold = play(place, folder, 'cold', *words, warm=False)
    warm = play(place, folder, 'warm', *words)
    assert colds(warm) == [f'The inventory was read anew: {why}']
    assert left_by(warm)['exit'] == left_by(cold)['exit'] == {'code': 0, 'signal': None}
    if not words:
        assert left_by(warm)['output.log'] == left_by(cold)['output.log']


def test_a_broken_inventory_fails_the_run_as_ever(place: Place, folder: Path) -> None:
    place.write('site.yml', SEEN)
    (folder / '01-cfs-generated.yaml').write_text('{"all": [' + ' ' * 200_000)
    cold = play(place, folder, 'cold', warm=False)
    warm = play(place, folder, 'warm')
    assert colds(warm) == ['The inventory was read anew: its file is broken (AnsibleParserError)']
    assert left_by(warm)['output.log'] == left_by(cold)['output.log']
    assert left_by(warm)['exit'] == left_by(cold)['exit']


def test_a_process_that_is_killed_costs_the_reading(place: Place, folder: Path) -> None:
    place.write('site.yml', SEEN)
    play(place, folder, 'first')
    [keeper] = keepers(place)
    os.kill(keeper, signal.SIGKILL)
    wait_until(lambda: keeper not in keepers(place), 'the end of the process')
    run = play(place, folder, 'second')
    assert (run.exit['code'], colds(run)) == (0, [])


def test_a_process_ends_with_the_warm_process(place: Place, folder: Path) -> None:
    place.write('site.yml', SEEN)
    play(place, folder, 'first')
    [keeper] = keepers(place)
    place.warm.process.kill()
    wait_until(lambda: not Path(f'/proc/{keeper}').exists() or 'Z' in Path(f'/proc/{keeper}/stat').read_text(), 'its end')
