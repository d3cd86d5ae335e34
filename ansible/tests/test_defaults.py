"""What is shipped: the default ansible.cfg, the debug playbooks, the pinned requirements."""

from __future__ import annotations

import configparser
import re
import sys
from importlib import metadata

import pytest
from runs import ANSIBLE, PLAYBOOK, Run, Workbench, playbook_env


def test_the_default_configuration_is_that_of_the_specification() -> None:
    config = configparser.ConfigParser(inline_comment_prefixes=(';',))
    config.read(ANSIBLE / 'ansible.cfg')
    assert {section: dict(config.items(section, raw=True)) for section in config.sections()} == {
        'defaults': {
            'gathering': 'smart',
            'forks': '500',
            'callbacks_enabled': 'cfs_aggregator',
            'host_key_checking': 'False',
            'strategy': 'cfs_linear',
            'any_errors_fatal': 'False',
            'deprecation_warnings': 'False',
            'display_ok_hosts': 'False',
            'display_skipped_hosts': 'False',
            'vars_plugins_enabled': 'host_group_vars',
            'interpreter_python': '/usr/bin/python3',
        },
        'ssh_connection': {
            'pipelining': 'True',
            'ssh_args': '-o ServerAliveInterval=30 -o ControlMaster=auto -o ControlPersist=60s',
        },
    }


def debug_playbook(bench: Workbench, name: str, *args: str, hosts: str = '[all]\nh1\nh2\n') -> Run:
    """Plays a shipped debug playbook, with the interpreter of the tests."""
    inventory = bench.directory / 'hosts'
    inventory.write_text(
        f'{hosts}\n[all:vars]\nansible_connection=local\nansible_python_interpreter={sys.executable}\n'
    )
    argv = [str(PLAYBOOK), '-i', str(inventory), str(ANSIBLE / 'debug' / f'{name}.yaml'), *args]
    return Run(bench.directory / 'run').specify(argv, playbook_env(bench.home)).launch().finish()


@pytest.mark.parametrize(
    ('hosts', 'args', 'failed'),
    [('[all]\nh1\nh2\n', (), 'localhost'), ('', (), 'localhost'), ('[all]\nh1\nh2\n', ('--limit', 'h2'), 'h2')],
)
def test_debug_fail_fails_once_and_on_localhost(
    bench: Workbench, hosts: str, args: tuple[str, ...], failed: str
) -> None:
    run = debug_playbook(bench, 'fail', *args, hosts=hosts)
    assert run.exit['code'] == 2
    [result] = run.events('host_result')
    assert (result['host'], result['result']) == (failed, 'failed')
    assert 'always fails' in result['message']


def test_debug_facts_gathers_and_prints(bench: Workbench) -> None:
    run = debug_playbook(bench, 'facts', '-v')
    assert run.exit['code'] == 0 and run.statuses == {'h1': 'applied', 'h2': 'applied'}
    assert run.events('task_start')[0]['task'] == 'Gathering Facts'
    assert 'python_version' in run.output
    assert 'WARNING' not in run.output


def test_debug_noop_does_nothing(bench: Workbench) -> None:
    run = debug_playbook(bench, 'noop')
    assert (run.exit['code'], run.statuses) == (0, {})
    assert 'WARNING' not in run.output


def pins(name: str) -> dict[str, str]:
    """Pinned versions of a requirements file by normalised name, without extras."""
    lines = (ANSIBLE / name).read_text().splitlines()
    pairs = (line.split('==') for line in lines if line and not line.startswith(('#', '-r')))
    return {normalised(package.partition('[')[0]): version for package, version in pairs}


def normalised(name: str) -> str:
    return re.sub(r'[-_.]+', '-', name).lower()


def needs(package: str) -> set[str]:
    """What an installed package needs, directly, on this machine, without extras."""
    from packaging.requirements import Requirement

    requirements = [Requirement(text) for text in metadata.requires(package) or ()]
    return {
        normalised(item.name) for item in requirements if item.marker is None or item.marker.evaluate({'extra': ''})
    }


@pytest.mark.parametrize('name', ['requirements.txt', 'requirements-test.txt'])
def test_requirements_are_pinned_complete_and_what_is_tested(name: str) -> None:
    pinned = pins(name)
    everything = pins('requirements.txt') | pinned
    assert everything['ansible-core'] == '2.19.14'
    for package, version in pinned.items():
        assert metadata.version(package) == version
        assert needs(package) <= set(everything), f'{package} needs a package that is not pinned'
    assert ('pytest' in pinned) == (name == 'requirements-test.txt')
