"""Changes of a check that come of tasks which check mode skips are told as uncertain, and true ones are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from runs import Run, Workbench

CHECK = ('--check', '--diff')
ASK = """
    - name: Ask
      ansible.builtin.command: echo 1.2.3
      register: v
      changed_when: false
"""


def found(run: Run, host: str = 'h1') -> dict[str, str | None]:
    """Why each change of a host is uncertain, by task."""
    return {change['task']: change.get('uncertain') for change in run.results['hosts'][host]['changes']}


def play(bench: Workbench, tasks: str, before: str = '') -> tuple[Run, Run]:
    """The run and the check right after it."""
    text = f'- hosts: all\n  gather_facts: false\n{before}  tasks:{ASK}{tasks}'
    real = bench.play(text, hosts=('h1',))
    assert real.exit['code'] == 0, real.output
    return real, bench.play(text, *CHECK, hosts=('h1',))


USES = {
    'arguments': '    - name: Use\n      copy: {dest: "@P@/x", content: "{{ v.stdout }}"}\n',
    'condition': '    - name: Use\n      copy: {dest: "@P@/x", content: "{{ 999 | random }}"}\n      when: v.stdout != "9"\n',
    'condition of a block': '    - when: v.rc == 0\n      block:\n      - name: Use\n        copy: {dest: "@P@/x", content: "{{ 999 | random }}"}\n',
    'loop': '    - name: Use\n      copy: {dest: "@P@/x{{ item }}", content: "{{ 999 | random }}"}\n      loop: "{{ v.stdout_lines or [1] }}"\n',
    'set_fact': '    - set_fact: {version: "{{ v.stdout }}"}\n    - name: Use\n      copy: {dest: "@P@/x", content: "{{ version }}"}\n',
    'variable of the task': '    - name: Use\n      vars: {made: "{{ v.stdout }}"}\n      copy: {dest: "@P@/x", content: "{{ made }}"}\n',
    'hostvars': '    - name: Use\n      copy: {dest: "@P@/x", content: "{{ hostvars[inventory_hostname].v.stdout }}"}\n',
    'another register': '    - name: Between\n      command: "echo {{ v.stdout }}"\n      register: w\n    - name: Use\n      copy: {dest: "@P@/x", content: "{{ w.stdout }}"}\n',
}


@pytest.mark.parametrize('use', USES)
def test_a_change_that_uses_what_check_mode_skips_is_uncertain(bench: Workbench, tmp_path: Path, use: str) -> None:
    _, check = play(bench, USES[use].replace('@P@', str(tmp_path)))
    doubts = found(check)
    assert 'Use' in doubts and all(doubts.values()), doubts
    assert 'check mode skips' in str(doubts['Use'])
    assert check.results['hosts']['h1']['uncertain'] == len(doubts)


def test_variables_of_the_play_and_templates_are_followed(bench: Workbench, tmp_path: Path) -> None:
    tasks = (
        f'    - name: Use a variable\n      copy: {{dest: "{tmp_path}/a", content: "{{{{ deep }}}}"}}\n'
        f'    - name: Use a template\n      template: {{dest: "{tmp_path}/b", src: "{tmp_path}/b.j2"}}\n'
    )
    (tmp_path / 'b.j2').write_text('version {{ v.stdout }} of v\n')
    _, check = play(bench, tasks, before='  vars: {made: "{{ v.stdout }}", deep: "<{{ made }}>"}\n')
    assert set(found(check)) == {'Use a variable', 'Use a template'} and all(found(check).values())


def test_a_handler_is_as_certain_as_what_notifies_it(bench: Workbench, tmp_path: Path) -> None:
    tasks = (
        f'    - name: Use\n      copy: {{dest: "{tmp_path}/x", content: "{{{{ v.stdout }}}}"}}\n      notify: [One, Both]\n'
        f'    - name: True\n      copy: {{dest: "{tmp_path}/y", content: "a"}}\n      notify: Both\n'
    )
    handlers = '  handlers:\n' + ''.join(
        f'    - name: {name}\n      copy: {{dest: "{tmp_path}/{name}", content: "{{{{ 999999 | random }}}}"}}\n'
        for name in ('One', 'Both')
    )
    text = f'- hosts: all\n  gather_facts: false\n  tasks:{ASK}{tasks}{handlers}'
    assert bench.play(text, hosts=('h1',)).exit['code'] == 0
    (tmp_path / 'y').write_text('b')
    doubts = found(bench.play(text, *CHECK, hosts=('h1',)))
    assert doubts['True'] is None and doubts['Both'] is None
    assert doubts['Use'] and doubts['One']


def test_true_changes_beside_it_stay_certain(bench: Workbench, tmp_path: Path) -> None:
    tasks = (
        f'    - name: Plain\n      copy: {{dest: "{tmp_path}/v", content: "v is a word, v.stdout too"}}\n'
        f'    - name: Condition\n      copy: {{dest: "{tmp_path}/c", content: "a"}}\n      when: inventory_hostname is defined\n'
        '    - name: Ask really\n      ansible.builtin.command: echo 4\n      register: real\n      check_mode: false\n      changed_when: false\n'
        f'    - name: Known\n      copy: {{dest: "{tmp_path}/k", content: "{{{{ real.stdout }}}}"}}\n'
        '    - name: Not asked\n      ansible.builtin.command: echo 5\n      register: unasked\n      when: false\n'
        f'    - name: By condition\n      copy: {{dest: "{tmp_path}/d", content: "{{{{ unasked is skipped }}}}"}}\n'
    )
    play(bench, tasks)
    for name in 'vckd':
        (tmp_path / name).write_text('changed by hand')
    text = f'- hosts: all\n  gather_facts: false\n  tasks:{ASK}{tasks}'
    check = bench.play(text, *CHECK, hosts=('h1',))
    assert found(check) == dict.fromkeys(['Plain', 'Condition', 'Known', 'By condition'])
    assert check.results['hosts']['h1']['uncertain'] == 0
