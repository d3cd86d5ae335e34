"""What a run's command gets, and what it does not get."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from plugin_paths import ENABLED_BY_DEFAULT, callback_environment, inventory_environment, plugin_environment
from runs import ANSIBLE, LAUNCHER, Run

PLUGINS = str(ANSIBLE / 'plugins')
BUILTIN_CALLBACKS = '~/.ansible/plugins/callback:/usr/share/ansible/plugins/callback'


def test_the_environment_is_the_specified_one_and_ours(new_run: Callable[..., Run]) -> None:
    run = new_run().specify(['/usr/bin/env', '-0'], {'GREETING': 'with = and\nnewline', 'MUSTER_RUN_ID': 'forged'})
    subprocess.run(
        [sys.executable, str(LAUNCHER), str(run.directory)], check=True, env={**os.environ, 'LEAKED': 'by the caller'}
    )
    run.finish()
    assert dict(item.split('=', 1) for item in run.output.rstrip('\0').split('\0')) == {
        'GREETING': 'with = and\nnewline',
        'MUSTER_RUN_ID': 'r-1-0',
        'MUSTER_RUN_DIR': str(run.directory),
        'ANSIBLE_CALLBACK_PLUGINS': f'{PLUGINS}/callback:{BUILTIN_CALLBACKS}',
        'ANSIBLE_STRATEGY_PLUGINS': f'{PLUGINS}/strategy:{BUILTIN_CALLBACKS.replace("callback", "strategy")}',
        'ANSIBLE_LIBRARY': f'{PLUGINS}/modules:{BUILTIN_CALLBACKS.replace("callback", "modules")}',
        'ANSIBLE_INVENTORY_PLUGINS': f'{PLUGINS}/inventory:{BUILTIN_CALLBACKS.replace("callback", "inventory")}',
        'ANSIBLE_INVENTORY_ENABLED': f'muster_fleet,{ENABLED_BY_DEFAULT}',
    }


def test_nothing_else_is_inherited(new_run: Callable[..., Run]) -> None:
    program = (
        'import json, os, signal\n'
        'fds = {fd: os.readlink(f"/proc/self/fd/{fd}") for fd in sorted(map(int, os.listdir("/proc/self/fd")[:-1]))}\n'
        'status = dict(line.split(":", 1) for line in open("/proc/self/status"))\n'
        'print(json.dumps({"fds": fds, "cwd": os.getcwd(), "leader": os.getsid(0) == os.getpid(),\n'
        '    "blocked": int(status["SigBlk"], 16), "ignored": int(status["SigIgn"], 16)}))\n'
    )
    run = new_run().specify([sys.executable, '-S', '-c', program], cwd='/usr')
    read_end, write_end = os.pipe()
    old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        subprocess.run([sys.executable, str(LAUNCHER), str(run.directory)], check=True, pass_fds=(read_end, write_end))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)
        os.close(read_end)
        os.close(write_end)
    seen = json.loads(run.finish().output)
    pipe = seen['fds']['1']
    assert pipe.startswith('pipe:')
    assert {fd: target for fd, target in seen['fds'].items() if os.path.basename(target) != 'fd'} == {
        '0': '/dev/null',
        '1': pipe,
        '2': pipe,
    }
    assert (seen['cwd'], seen['leader'], seen['blocked']) == ('/usr', True, 0)
    # Python itself ignores these two at its start.
    assert seen['ignored'] & ~(1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1) == 0


def test_secrets_come_by_a_descriptor_and_their_file_is_gone_before(
    new_run: Callable[..., Run], tmp_path: Path
) -> None:
    secrets = ['sesame', 'x' * 200_000]
    program = (
        'import json, os, sys\n'
        'run = os.environ["MUSTER_RUN_DIR"]\n'
        'assert not os.path.exists(run + "/mask.json")\n'
        'assert "ses" + "ame" not in str(os.environ) + open("/proc/self/cmdline").read()\n'
        'masks = json.load(os.fdopen(int(os.environ["MUSTER_MASK_FD"])))\n'
        'print(len(masks), masks[0], len(masks[1]))\n'
    )
    run = new_run().specify([sys.executable, '-c', program], masks=secrets).launch().finish()
    assert (run.exit['code'], run.output) == (0, '2 ******** 200000\n')


def test_variables_that_are_secrets_come_by_a_file_that_is_gone_before(new_run: Callable[..., Run]) -> None:
    run = new_run().specify(['/bin/sh', '-c', 'echo "$A $B"; ls "$MUSTER_RUN_DIR"'], env={'A': 'plain', 'B': 'plain'})
    (run.directory / 'environment.json').write_text('{"B": "hidden"}')
    run.launch().finish()
    assert run.output.splitlines()[0] == 'plain hidden'
    assert 'environment.json' not in run.output
    assert 'hidden' not in run.read('spec.json')


def test_without_secrets_there_is_no_descriptor(new_run: Callable[..., Run]) -> None:
    run = new_run().specify(['/usr/bin/env'], masks=[]).launch().finish()
    assert 'MUSTER_MASK_FD' not in run.output


CASES = {
    'no ansible.cfg': (None, {}, BUILTIN_CALLBACKS),
    'an ansible.cfg that names none': ('[defaults]\nforks = 3\n', {}, BUILTIN_CALLBACKS),
    'an ansible.cfg without section': ('[ara]\nx = 1\n', {}, BUILTIN_CALLBACKS),
    'an ansible.cfg that is broken': ('callback_plugins = /x\n', {}, BUILTIN_CALLBACKS),
    'absolute paths': ('[defaults]\ncallback_plugins = /a:/b ; both\n', {}, '/a:/b'),
    'relative and special paths': (
        '[defaults]\ncallback_plugins = plugins:~/c:$HOME/d:{{CWD}}/e\n',
        {},
        '{dir}/plugins:~/c:$HOME/d:{{CWD}}/e',
    ),
    'percent signs': ('[defaults]\ncallback_plugins = /a%(x)s\n', {}, '/a%(x)s'),
    'an own home': ('[defaults]\nhome = /h\n', {}, '/h/plugins/callback:/usr/share/ansible/plugins/callback'),
    'the environment wins': ('[defaults]\ncallback_plugins = /a\n', {'ANSIBLE_CALLBACK_PLUGINS': '/env'}, '/env'),
    'an empty variable': ('[defaults]\ncallback_plugins = /a\n', {'ANSIBLE_CALLBACK_PLUGINS': ''}, ''),
}


@pytest.mark.parametrize('case', CASES)
def test_our_plugins_come_first_and_those_of_the_user_stay(tmp_path: Path, case: str) -> None:
    text, env, rest = CASES[case]
    if text is not None:
        (tmp_path / 'ansible.cfg').write_text(text)
    env = {**env, 'ANSIBLE_CONFIG': str(tmp_path / 'ansible.cfg')}
    expected = ':'.join(part for part in ('/p/callback', rest.replace('{dir}', str(tmp_path))) if part)
    assert plugin_environment(env, '/p')['ANSIBLE_CALLBACK_PLUGINS'] == expected
    assert plugin_environment({**env, 'ANSIBLE_CONFIG': str(tmp_path)}, '/p')['ANSIBLE_CALLBACK_PLUGINS'] == expected


def test_modules_come_by_the_key_library(tmp_path: Path) -> None:
    (tmp_path / 'ansible.cfg').write_text('[defaults]\nlibrary = mine\n')
    env = {'ANSIBLE_CONFIG': str(tmp_path / 'ansible.cfg')}
    assert plugin_environment(env, '/p')['ANSIBLE_LIBRARY'] == f'/p/modules:{tmp_path}/mine'


ENABLED = {
    'nothing': ('[defaults]\nforks = 3\n', {}, ENABLED_BY_DEFAULT),
    'an ansible.cfg': ('[inventory]\nenable_plugins = yaml, ini\n', {}, 'yaml, ini'),
    'the environment': ('[inventory]\nenable_plugins = yaml\n', {'ANSIBLE_INVENTORY_ENABLED': 'toml'}, 'toml'),
}


@pytest.mark.parametrize('case', ENABLED)
def test_our_inventory_plugin_is_enabled_besides_those_of(tmp_path: Path, case: str) -> None:
    text, env, rest = ENABLED[case]
    (tmp_path / 'ansible.cfg').write_text(text)
    env = {**env, 'ANSIBLE_CONFIG': str(tmp_path / 'ansible.cfg')}
    assert plugin_environment(env, '/p')['ANSIBLE_INVENTORY_ENABLED'] == f'muster_fleet,{rest}'
    assert set(inventory_environment(env, '/p')) == {'ANSIBLE_INVENTORY_PLUGINS', 'ANSIBLE_INVENTORY_ENABLED'}


def test_what_ansible_enables_by_default_is_known() -> None:
    from ansible.constants import config

    assert config.get_config_default('INVENTORY_ENABLED') == ENABLED_BY_DEFAULT.split(',')


def test_a_run_whose_events_others_write_has_no_directory_and_no_secrets(new_run: Callable[..., Run]) -> None:
    program = 'import json, os; print(json.dumps(dict(os.environ)), os.environ["GREETING"])'
    env = {'GREETING': 'says hunter22', 'HOME': '/nowhere'}
    run = new_run().specify([sys.executable, '-c', program], env, masks=['hunter22'], trace='job_events')
    environment = json.loads(run.launch().finish().output.rsplit('} ', 1)[0] + '}')
    assert {name: value for name, value in environment.items() if name.startswith(('MUSTER_', 'ANSIBLE_'))} == {
        'MUSTER_RUN_ID': 'r-1-0',
        'MUSTER_HIDE_NO_LOG': '1',
        'ANSIBLE_CALLBACK_PLUGINS': f'{PLUGINS}/callback:{BUILTIN_CALLBACKS}',
    }
    assert 'hunter22' not in run.output
    # The reader of the events masks them with the file.
    assert json.loads(run.read('mask.json')) == ['hunter22']


def test_callbacks_of_the_configuration_that_ansible_finds_by_itself_stay(tmp_path: Path) -> None:
    (tmp_path / '.ansible.cfg').write_text('[defaults]\ncallback_plugins = own\n')
    found = callback_environment({'HOME': str(tmp_path)}, PLUGINS)
    assert found == {'ANSIBLE_CALLBACK_PLUGINS': f'{PLUGINS}/callback:{tmp_path}/own'}
