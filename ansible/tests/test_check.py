"""Check mode: what would change is told, nothing is changed, and no difference shows a secret."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from runs import PLAYBOOK, Run, Workbench, playbook_env

from muster_run.changes import HOST_DIFF_BYTES, HOST_TASKS, RUN_BYTES, ChangeBook
from muster_run.vaulted import VaultedValues

CHECK = ('--check', '--diff')


def changes_of(run: Run, host: str) -> dict[str, dict]:
    """What would change on a host, by task."""
    return {change['task']: change for change in run.results['hosts'][host]['changes']}


def tree(place: Path) -> dict[str, tuple[bytes, int, int]]:
    """Everything below a directory: content, mode, time of change."""
    return {
        str(path): (path.read_bytes() if path.is_file() else b'', path.stat().st_mode, path.stat().st_mtime_ns)
        for path in (place, *place.rglob('*'))
    }


def test_drift_made_by_hand_is_found_and_left_as_it_is(bench: Workbench, tmp_path: Path) -> None:
    for host in ('h1', 'h2'):
        (tmp_path / 'hosts' / host).mkdir(parents=True)
    role = tmp_path / 'roles' / 'web'
    for folder in ('tasks', 'templates', 'handlers'):
        (role / folder).mkdir(parents=True)
    (role / 'templates' / 'app.j2').write_text('name={{ inventory_hostname }}\nport=8080\n')
    (role / 'tasks' / 'main.yml').write_text(
        '- name: Write the settings\n  ansible.builtin.template: {src: app.j2, dest: "{{ place }}/app.conf"}\n'
        '  notify: Restart\n'
    )
    (role / 'handlers' / 'main.yml').write_text(
        '- name: Restart\n  ansible.builtin.copy: {content: "x", dest: "{{ place }}/restarted"}\n'
    )
    playbook = (
        '- name: Web\n  hosts: all\n  gather_facts: false\n'
        '  vars: {place: "%s/{{ inventory_hostname }}"}\n  roles: [web]\n  tasks:\n'
        '    - name: Copy a page\n      ansible.builtin.copy: {content: "hello\\nlast\\n", dest: "{{ place }}/page"}\n'
        '    - name: Keep the page private\n      ansible.builtin.file: {path: "{{ place }}/page", mode: "0600"}\n'
        '    - name: Keep a line\n      ansible.builtin.lineinfile: {path: "{{ place }}/page", line: last}\n'
    ) % (tmp_path / 'hosts')
    env = {'ANSIBLE_ROLES_PATH': str(tmp_path / 'roles')}
    assert bench.play(playbook, hosts=('h1', 'h2'), env=env).exit['code'] == 0

    clean = bench.play(playbook, *CHECK, hosts=('h1', 'h2'), env=env)
    assert clean.exit['code'] == 0
    assert [clean.results['hosts'][host]['changed'] for host in ('h1', 'h2')] == [0, 0]
    assert clean.results['hosts']['h1']['changes'] == [] and clean.results['hosts']['h1']['changes_left_out'] == 0

    drifted = tmp_path / 'hosts' / 'h2'
    (drifted / 'app.conf').write_text('name=h2\nport=9999\n')
    (drifted / 'page').write_text('hello\n')
    (drifted / 'page').chmod(0o644)
    before = tree(tmp_path / 'hosts')
    run = bench.play(playbook, *CHECK, hosts=('h1', 'h2'), env=env)
    assert run.exit['code'] == 0
    assert tree(tmp_path / 'hosts') == before
    assert changes_of(run, 'h1') == {}
    found = changes_of(run, 'h2')
    assert list(found) == ['web : Write the settings', 'Copy a page', 'Keep the page private', 'Keep a line']
    settings = found['web : Write the settings']
    assert (settings['action'], settings['role'], settings['play']) == ('template', 'web', 'Web')
    assert settings['file'] == 'main.yml:1'
    assert '-port=9999' in settings['diff'] and '+port=8080' in settings['diff']
    assert found['Copy a page']['file'].startswith('site.yml:') and '+last' in found['Copy a page']['diff']
    assert '0644' in found['Keep the page private']['diff'] and '0600' in found['Keep the page private']['diff']
    assert run.results['hosts']['h2']['changed'] == 4
    event = next(event for event in run.events('host_result') if event['changed'] and event['task'] == 'Copy a page')
    assert (event['action'], event['file'], event['diff']) == tuple(
        found['Copy a page'][key] for key in ('action', 'file', 'diff')
    )


def test_only_check_mode_tells_changes(bench: Workbench, tmp_path: Path) -> None:
    playbook = (
        '- hosts: all\n  gather_facts: false\n  tasks:\n    - name: Write\n'
        '      ansible.builtin.copy: {content: "a", dest: "%s/{{ inventory_hostname }}"}\n' % tmp_path
    )
    run = bench.play(playbook, hosts=('h1',))
    assert set(run.results['hosts']['h1']) == {
        'status', 'ok', 'failures', 'unreachable', 'changed', 'skipped', 'rescued', 'ignored',
    }  # fmt: skip
    event = next(event for event in run.events('host_result'))
    assert event['changed'] and 'action' not in event and 'file' not in event


def test_files_are_named_from_the_directory_of_the_run(bench: Workbench, tmp_path: Path) -> None:
    place = tmp_path / 'play1'
    tasks = '- name: Inside\n  ansible.builtin.copy: {content: "a", dest: "%s/x"}\n' % tmp_path
    run = bench.play(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        '    - name: Make\n      ansible.builtin.copy: {dest: "%s/tasks.yml", content: "x"}\n      check_mode: false\n'
        '      when: false\n'
        '    - ansible.builtin.include_tasks: "{{ lookup(\'env\', \'MORE\') }}"\n' % place,
        *CHECK,
        hosts=('h1',),
        env={'MORE': _written(tmp_path / 'more.yml', tasks)},
    )
    assert [change['file'] for change in run.results['hosts']['h1']['changes']] == ['more.yml:1']


def _written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_hosts_count_that_were_in_a_play_and_no_others(bench: Workbench) -> None:
    run = bench.play(
        '- hosts: h1,h2\n  gather_facts: false\n  tasks:\n    - ansible.builtin.debug:\n      run_once: true\n',
        *CHECK,
        hosts=('h1', 'h2', 'h3'),
    )
    hosts = run.results['hosts']
    assert {host: (entry['status'], entry['ok'], entry['changed']) for host, entry in hosts.items()} == {
        'h1': ('applied', 1, 0),
        'h2': ('applied', 0, 0),
    }
    broken = bench.play(
        '- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.fail:\n      run_once: true\n',
        *CHECK,
        hosts=('h1', 'h2'),
    )
    assert broken.statuses == {'h1': 'failed', 'h2': 'incomplete'}


def test_no_log_hides_what_would_change_in_everything_that_is_left(bench: Workbench, tmp_path: Path) -> None:
    secret = 'correct-horse-battery'
    target = tmp_path / 'secret'
    target.write_text('former-staple\n')
    run = bench.play(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        '    - name: Write a secret\n      no_log: true\n      ansible.builtin.copy: {content: "%(secret)s", dest: "%(target)s"}\n'
        '    - name: Write some\n      no_log: true\n      ansible.builtin.copy: {content: "{{ item }}", dest: "%(target)s"}\n'
        '      loop: [%(secret)s, %(secret)s-2]\n'
        '    - name: Write by template\n      no_log: "{{ 1 == 1 }}"\n'
        '      ansible.builtin.copy: {content: "%(secret)s", dest: "%(target)s"}\n' % {'secret': secret, 'target': target},
        *CHECK,
        '-vvv',
        hosts=('h1',),
    )
    found = changes_of(run, 'h1')
    assert list(found) == ['Write a secret', 'Write some', 'Write by template']
    assert all(change['censored'] is True and 'diff' not in change for change in found.values())
    assert secret not in run.everything() and 'former-staple' not in run.everything()
    assert target.read_text() == 'former-staple\n'


def vaulted(bench: Workbench, tmp_path: Path, text: str) -> str:
    """The text encrypted with the password of the tests."""
    (tmp_path / 'password').write_text('vault-password\n')
    return subprocess.run(
        [str(PLAYBOOK.parent / 'ansible-vault'), 'encrypt', '--vault-password-file', str(tmp_path / 'password')],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        env=playbook_env(bench.home),
    ).stdout


def test_vaulted_values_are_in_no_difference(bench: Workbench, tmp_path: Path) -> None:
    inline = vaulted(bench, tmp_path, 'inline-pa55word')
    variables = tmp_path / 'vars.yml'
    variables.write_text(vaulted(bench, tmp_path, 'db: {user: app, password: file-pa55word}\npin: 4711\n'))
    key = tmp_path / 'key.pem'
    key.write_text(vaulted(bench, tmp_path, 'BEGIN KEY\nabcdefgh12345678\nzz\nEND KEY\n'))
    target = tmp_path / 'target'
    target.write_text('port=1\nformer=rotated-out\nlisten=here\n')
    other = tmp_path / 'other'
    other.write_text('same\n')
    indented = ''.join(f'        {line}\n' for line in inline.splitlines())
    run = bench.play(
        '- hosts: all\n  gather_facts: false\n'
        f'  vars_files: ["{variables}"]\n  vars:\n    inline: !vault |\n{indented}'
        '  tasks:\n'
        '    - name: Settings\n      ansible.builtin.copy:\n'
        f'        dest: {target}\n'
        '        content: |\n          port=2\n          listen=here\n          former={{ inline }}\n'
        '          db={{ db.password }} {{ db.password | b64encode }} {{ pin }}\n'
        '    - name: Make a fact\n      ansible.builtin.set_fact: {address: "app:{{ inline }}@db"}\n'
        '    - name: Use the fact\n'
        f'      ansible.builtin.lineinfile: {{path: {other}, line: "address={{{{ address }}}}"}}\n'
        '    - name: In a loop\n'
        f'      ansible.builtin.copy: {{content: "{{{{ inline }}}} {{{{ item }}}}\\n", dest: "{other}"}}\n'
        '      loop: [one, two]\n'
        f'    - name: Key\n      ansible.builtin.copy: {{src: "{key}", dest: "{tmp_path}/key"}}\n',
        *CHECK,
        hosts=('h1', 'h2'),
        env={'ANSIBLE_VAULT_PASSWORD_FILE': str(tmp_path / 'password')},
    )
    assert run.exit['code'] == 0, run.output
    everything = run.everything()
    hidden = ('inline-pa55word', 'file-pa55word', 'ZmlsZS1wYTU1d29yZA', '4711', 'abcdefgh12345678', 'rotated-out', 'BEGIN KEY')
    assert [word for word in hidden if word in everything] == []
    settings = changes_of(run, 'h1')['Settings']['diff']
    assert '+port=2' in settings and '+former=********' in settings and ' listen=here' in settings
    assert '-********' in settings
    assert '+address=app:********@db' in changes_of(run, 'h2')['Use the fact']['diff']
    assert target.read_text().startswith('port=1\n') and not (tmp_path / 'key').exists()


def test_a_difference_without_vaulted_values_stays_as_it_is() -> None:
    values = VaultedValues()
    diff = {'before': 'a\nb\n', 'after': 'a\nc\n', 'before_header': '/x'}
    result = {'diff': [dict(diff)]}
    values.clean(result)
    assert result == {'diff': [diff]}
    values.add(b'vaulted')
    values.clean(result)
    assert result == {'diff': [diff]}
    prepared = {'prepared': '--- a\n-password=old\n+password=vaulted\n same\n'}
    assert values.hidden(prepared)['prepared'] == '--- a\n-********\n+password=********\n same\n'
    assert values.hidden({'before': {'password': 'vaulted', 'mode': '0600'}, 'after': {'mode': '0644'}}) == {
        'before': {'password': '********', 'mode': '0600'},
        'after': {'mode': '0644'},
    }


def test_another_process_knows_what_one_has_decrypted() -> None:
    code = (
        'import os, sys\nfrom muster_run.vaulted import VaultedValues\n'
        'values = VaultedValues()\npid = os.fork()\n'
        'if pid == 0:\n    values.add(b"from-the-child")\n    os._exit(0)\n'
        'os.waitpid(pid, 0)\nresult = {"diff": {"before": "", "after": "x from-the-child"}}\n'
        'values.clean(result)\nprint(result["diff"]["after"])\n'
        'print(os.get_inheritable(values._fd))\n'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True, cwd=Path(__file__).resolve().parents[1]
    )
    assert done.stdout == 'x ********\nFalse\n'


def test_what_is_kept_of_changes_is_bounded() -> None:
    book = ChangeBook()
    change = {'task': 't', 'action': 'copy', 'play': 'p', 'diff': 'd' * 4000}
    for _ in range(HOST_TASKS + 20):
        book.add('h', dict(change))
    fields = book.fields('h')
    kept = fields['changes']
    assert len(kept) == HOST_TASKS and fields['changes_left_out'] == 20
    assert 'diff' in kept[0] and 'diff' not in kept[-1]
    assert sum(len(change.get('diff', '')) for change in kept) <= HOST_DIFF_BYTES
    for number in range(2000):
        for _ in range(10):
            book.add(f'h{number}', dict(change))
    assert sum(len(json.dumps(book.fields(f'h{number}')['changes'])) for number in range(2000)) <= RUN_BYTES * 1.01
    last = book.fields('h1999')
    assert len(last['changes']) == 10 and 'diff' not in last['changes'][0] and last['changes_left_out'] == 0
    assert book.fields('nobody') == {'changes': [], 'changes_left_out': 0, 'uncertain': 0}
