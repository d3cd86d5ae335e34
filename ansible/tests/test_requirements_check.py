"""What requirements files ask for, against what is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from runs import ANSIBLE

SCRIPT = ANSIBLE / 'muster_run' / 'requirements_check.py'


def installed(place: Path, name: str, version: str, repository: str | None = None, file: str = 'MANIFEST.json') -> None:
    """A collection as galaxy installs it, or as its repository has it."""
    folder = place / 'ansible_collections' / name.replace('.', '/')
    folder.mkdir(parents=True)
    about = {'version': version, 'repository': repository}
    text = json.dumps({'collection_info': about}) if file == 'MANIFEST.json' else json.dumps(about)
    (folder / file).write_text(text)


def check(tmp_path: Path, text: str, file: str = 'collections/requirements.yml', playbook: str = 'site.yml') -> list[str]:
    """What is missing of a layer with such a file."""
    layer = tmp_path / 'layer'
    (layer / file).parent.mkdir(parents=True, exist_ok=True)
    (layer / file).write_text(text)
    env = {'ANSIBLE_COLLECTIONS_PATH': str(tmp_path / 'here'), 'ANSIBLE_HOME': str(tmp_path), 'LANG': 'C.UTF-8'}
    result = subprocess.run(
        [sys.executable, str(SCRIPT), '-', '3', str(layer), playbook], env=env, cwd='/', check=True, capture_output=True
    )
    return json.loads(result.stdout)


@pytest.fixture(autouse=True)
def _some_collections(tmp_path: Path) -> None:
    installed(tmp_path / 'here', 'acme.one', '1.4.2', 'https://git.test/acme/one.git')
    installed(tmp_path / 'here', 'acme.early', '2.0.0-beta.1')
    installed(tmp_path / 'layer' / 'collections', 'acme.own', '0.1.0', file='galaxy.yml')


FINE = [
    'acme.one',
    'acme.own',
    '{name: acme.one}',
    '{name: acme.one, version: "*"}',
    '{name: acme.one, version: 1.4.2}',
    '{name: acme.one, version: "==1.4.2"}',
    '{name: acme.one, version: ">=1.0,<2"}',
    '{name: acme.one, version: ">1.4.1,!=1.4.3"}',
    'acme.one:1.4.2',
    '{name: acme.early, version: ">=2.0.0-alpha,<2.0.0"}',
    '{name: acme.one, version: 1.4.2, type: galaxy, source: https://galaxy.test}',
    '{name: https://git.test/acme/one.git, type: git, version: devel}',
    '{source: "git@git.test:acme/one.git", type: git, version: v9}',
    'git+https://git.test/acme/one,main',
    '{name: acme.one, type: git, version: main}',
]


@pytest.mark.parametrize('entry', FINE)
def test_what_is_installed_is_enough(tmp_path: Path, entry: str) -> None:
    assert check(tmp_path, f'collections:\n  - {entry}\n') == []


MISSING = {
    'nosuch.other': 'the collection nosuch.other, which is not installed',
    '{name: nosuch.other, version: ">=1"}': 'the collection nosuch.other, which is not installed',
    '{name: acme.one, version: ">=2"}': 'the collection acme.one >=2, but 1.4.2 is installed',
    '{name: acme.one, version: ">=1.0,<1.4"}': 'the collection acme.one >=1.0,<1.4, but 1.4.2 is installed',
    '{name: acme.one, version: 1.4}': 'the collection acme.one 1.4, but 1.4.2 is installed',
    '{name: acme.early, version: ">=2.0.0"}': 'the collection acme.early >=2.0.0, but 2.0.0-beta.1 is installed',
    'acme.one:2.0.0': 'the collection acme.one 2.0.0, but 1.4.2 is installed',
    '{name: acme.one, version: newest}': 'the collection acme.one in a version that cannot be read: newest',
    '{name: https://git.test/acme/two.git, type: git}': 'the collection https://git.test/acme/two.git, which is not installed',
    '{version: 1.0.0}': 'a collection without a name: {"version": "1.0.0"}',
    '[acme.one]': 'a collection without a name: ["acme.one"]',
}


@pytest.mark.parametrize('entry', MISSING)
def test_what_is_missing_is_named(tmp_path: Path, entry: str) -> None:
    [said] = check(tmp_path, f'collections:\n  - {entry}\n')
    assert said == f'layer 4: collections/requirements.yml asks for {MISSING[entry]}'


@pytest.mark.parametrize(
    ('text', 'why'),
    [
        ('collections: [', 'it is no YAML in line 2'),
        ('a: b: secret\n', 'it is no YAML in line 1'),
        ('!!python/object/apply:os.system [touch x]', 'it is no YAML in line 1'),
        ('just words', 'it holds neither collections nor roles'),
        ('collections: acme.one', 'collections is no list'),
    ],
)
def test_a_broken_file_is_named_and_nothing_of_it_shows(tmp_path: Path, text: str, why: str) -> None:
    assert check(tmp_path, text) == [f'layer 4: collections/requirements.yml cannot be read: {why}']


@pytest.mark.parametrize('text', ['', '---\n', 'collections:\n', 'collections: []\nroles: []\n'])
def test_an_empty_file_asks_for_nothing(tmp_path: Path, text: str) -> None:
    assert check(tmp_path, text) == []


def test_a_file_that_leads_out_of_its_repository_is_not_read(tmp_path: Path) -> None:
    (tmp_path / 'outside.yml').write_text('collections: [nosuch.other]\n')
    target = tmp_path / 'layer' / 'collections' / 'requirements.yml'
    os.symlink(tmp_path / 'outside.yml', target)
    env = {'ANSIBLE_HOME': str(tmp_path), 'LANG': 'C.UTF-8'}
    words = [sys.executable, str(SCRIPT), '-', '0', str(tmp_path / 'layer'), 'site.yml']
    result = subprocess.run(words, env=env, check=True, capture_output=True)
    assert json.loads(result.stdout) == ['layer 1: collections/requirements.yml cannot be read: it leads out of its repository']


def test_roles_are_looked_for_in_the_repository(tmp_path: Path) -> None:
    (tmp_path / 'layer' / 'roles' / 'there').mkdir(parents=True)
    text = '- there\n- src: https://git.test/x/there.git\n- {src: acme.gone, version: 1.0.0}\n- {name: lost, src: "https://x.test/y.tar.gz"}\n'
    assert check(tmp_path, text, 'roles/requirements.yml') == [
        'layer 4: roles/requirements.yml asks for the role acme.gone, which is not installed',
        'layer 4: roles/requirements.yml asks for the role lost, which is not installed',
    ]


def test_a_playbook_in_a_folder_has_the_collections_beside_it(tmp_path: Path) -> None:
    installed(tmp_path / 'layer' / 'plays' / 'collections', 'acme.beside', '1.0.0')
    text = 'collections: [acme.beside]\n'
    assert check(tmp_path, text, playbook='plays/site.yml') == []
    assert len(check(tmp_path, text)) == 1
