"""What a warm process works out ahead is what each run would have worked out, and is taken."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from runs import ANSIBLE
from warm_place import Place, colds, left_by

BEGIN = f"""
import io, json, sys, zipfile
from ansible import _internal
_internal.setup()
from ansible import constants as C
from ansible.executor import module_common
from ansible.plugins import loader
sys.path[:0] = [{str(ANSIBLE / 'launcher')!r}]
if sys.argv[1] == 'ahead':
    from warm_ahead import work_ahead
    list(work_ahead({str(ANSIBLE / 'plugins')!r}))
loader.init_plugin_loader()
from ansible.module_utils._internal._datatag import AnsibleTagHelper
"""

DEFINITIONS = """
import yaml
parsed = []
parse = yaml.load


def parse_and_count(stream, *args, **kwargs):
    if isinstance(stream, str):
        parsed.append(stream)
    return parse(stream, *args, **kwargs)

yaml.load = parse_and_count

def told(value):
    tags = sorted(map(repr, AnsibleTagHelper.tags(value)))
    if isinstance(value, dict):
        return [tags, [[told(key), told(each)] for key, each in value.items()]]
    return [tags, list(map(told, value)) if isinstance(value, list) else repr(value)]

def read():
    C.config._plugins.clear()
    for kind in ('connection', 'shell', 'become', 'callback'):
        list(getattr(loader, kind + '_loader').all(class_only=True))
    for kind, name in (('inventory', 'yaml'), ('inventory', 'auto'), ('cache', 'memory')):
        getattr(loader, kind + '_loader').get(name)
    return told(C.config._plugins)

first = read()
count = len(parsed)
print(json.dumps({'first': first, 'count': count, 'second': read() == first}))
"""

PACKED = """
import datetime
found = {}
compiled = []


def compile_and_count(*args):
    compiled.append(args[1])
    return compile(*args)

module_common.compile = compile_and_count
for name in ('command', 'copy', 'setup', 'stat', 'file', 'ping', 'dnf', 'async_wrapper', 'uri'):
    path = loader.module_loader.find_plugin(name)
    text = open(path, 'rb').read()
    if sys.argv[2] == 'other' and name == 'ping':
        text = text.replace(b'from ansible.module_utils.basic import AnsibleModule', b'def f():\\n    import ansible.module_utils.urls\\n\\nfrom ansible.module_utils.basic import AnsibleModule')
    made = io.BytesIO()
    extensions = module_common._builder.ExtensionManager.create(task_vars={})
    with zipfile.ZipFile(made, 'w') as file:
        module_common.recursive_finder(name, 'ansible.modules.' + name, text, file, datetime.datetime(2000, 1, 1), extensions)
    found[name] = [[info.filename, info.CRC, info.file_size] for info in zipfile.ZipFile(made).infolist()]
print(json.dumps({'files': found, 'compiled': len(compiled)}))
"""

def asked(program: str, *words: str) -> Any:
    done = subprocess.run([sys.executable, '-c', BEGIN + program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_settings_of_plugins_are_defined_as_by_their_documentation() -> None:
    ahead, before = asked(DEFINITIONS, 'ahead'), asked(DEFINITIONS, 'before')
    assert ahead['first'] == before['first']
    assert (ahead['second'], before['second']) == (True, True), 'a document that a run has changed is given again'
    assert (ahead['count'], before['count'] > 20) == (0, True), 'what was parsed ahead is not taken'


@pytest.mark.parametrize('text', ['same', 'other'])
def test_a_module_is_packed_with_the_same_files(text: str) -> None:
    ahead, before = asked(PACKED, 'ahead', text), asked(PACKED, 'before', text)
    assert ahead['files'] == before['files']
    assert ahead['compiled'] < before['compiled'] / 4, 'what was compiled ahead is not taken'
    assert (text == 'other') == ('ansible/module_utils/urls.py' in {name for name, *_ in ahead['files']['ping']})


def test_module_utils_of_a_repository_stand_in_for_those_of_ansible(place: Place) -> None:
    place.write(
        'module_utils/common/locale.py',
        'from ansible.module_utils.mine import WORD\n\n\ndef get_best_parsable_locale(*args, **kwargs):\n    return "C"\n',
    )
    place.write('module_utils/mine.py', 'WORD = "mine"\n')
    place.write(
        'library/said.py',
        '#!/usr/bin/python\nfrom ansible.module_utils.basic import AnsibleModule\nfrom ansible.module_utils.common.locale import WORD\n'
        'AnsibleModule({}).exit_json(msg=WORD)\n',
    )
    place.write('site.yml', '- hosts: h1\n  gather_facts: false\n  tasks:\n    - said:\n      register: it\n    - debug: msg="is {{ it.msg }}"\n')
    env = {'ANSIBLE_MODULE_UTILS': str(Path(place.repository) / 'module_utils'), 'ANSIBLE_DISPLAY_OK_HOSTS': 'true'}
    cold, warm = (place.run(name, name == 'warm', env=env) for name in ('cold', 'warm'))
    assert colds(warm) == []
    assert left_by(warm) == left_by(cold)
    assert 'is mine' in warm.output
