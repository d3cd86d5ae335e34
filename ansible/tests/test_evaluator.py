"""The evaluator of templates: what it renders, what it refuses, and that a template reaches nothing."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EVALUATOR = Path(__file__).resolve().parents[1] / 'evaluator' / 'evaluate.py'


def ask(tmp_path: Path, *requests: dict, before: Callable[[], None] | None = None) -> list[dict]:
    lines = ''.join(json.dumps(request) + '\n' for request in requests)
    done = subprocess.run(
        [sys.executable, '-I', str(EVALUATOR)],
        input=lines,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={},
        timeout=300,
        preexec_fn=before,
    )
    assert done.returncode == 0, done.stderr
    ready, *answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert ready == {'ready': True}
    return answers


def render(tmp_path: Path, text: str, **variables: object) -> dict:
    return ask(tmp_path, {'templates': [{'name': 'x', 'text': text}], 'variables': variables})[0]


@pytest.mark.parametrize(
    ('text', 'variables', 'rendered'),
    [
        ('echo {{ v }}\n', {'v': 'a'}, 'echo a\n'),
        ('echo {{ v | quote }}', {'v': "it's; rm -rf /"}, "echo 'it'\"'\"'s; rm -rf /'"),
        ('{{ v | quote }}', {'v': None}, "''"),
        ('{{ v | quote }}', {'v': [1, 'b c']}, "'[1, \"b c\"]'"),
        ('{{ v | tojson }}', {'v': {'a': [1, None]}}, '{"a": [1, null]}'),
        ('{% for x in v %}{{ x }},{% endfor %}', {'v': [1, 2]}, '1,2,'),
        ('{{ v }}', {'v': '{{ 7 * 7 }}'}, '{{ 7 * 7 }}'),
        ('{% raw %}${#a[@]}{% endraw %}', {}, '${#a[@]}'),
    ],
)
def test_renders(tmp_path: Path, text: str, variables: dict, rendered: str) -> None:
    assert render(tmp_path, text, **variables) == {'texts': [rendered]}


@pytest.mark.parametrize(
    ('text', 'says'),
    [
        ('{{ missing }}', "'missing' is undefined"),
        ('one\n{{ v', 'line 2'),
        ('{{ 1 / 0 }}', 'ZeroDivisionError'),
        ("{{ ''.__class__.__mro__ }}", 'unsafe'),
        ('{{ v.append(1) }}', 'unsafe'),
        ("{% include '/etc/passwd' %}", 'no loader'),
        ("{{ 'a' * 2000000 }}", 'more than 1048576 bytes'),
        ("{{ ('a' * 1000000000) | length }}", 'bytes of memory'),
        ('{{ range(1000000) | list }}', 'OverflowError'),
    ],
)
def test_refuses(tmp_path: Path, text: str, says: str) -> None:
    answer = render(tmp_path, text, v=[])
    assert says in answer['error']
    assert answer['name'] == 'x'


def test_goes_on_after_a_refusal(tmp_path: Path) -> None:
    bad = {'templates': [{'name': 'ok', 'text': 'a'}, {'name': 'bad', 'text': '{{ no }}'}], 'variables': {}}
    good = {'templates': [{'name': 'ok', 'text': 'a'}, {'name': 'two', 'text': '{{ v }}'}], 'variables': {'v': 'ü'}}
    assert [answer.get('name') for answer in ask(tmp_path, bad, good)] == ['bad', None]
    assert ask(tmp_path, good)[0] == {'texts': ['a', 'ü']}


def test_lives_with_limits_that_are_lower_than_its_own(tmp_path: Path) -> None:
    memory = 192 * 1024 * 1024

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    good = {'templates': [{'name': 'x', 'text': '{{ v }}'}], 'variables': {'v': 1}}
    large = {'templates': [{'name': 'x', 'text': "{{ ('a' * 230000000) | length }}"}], 'variables': {}}
    answers = ask(tmp_path, good, large, good, before=limited)
    assert answers == [{'texts': ['1']}, {'error': f'it takes more than {memory} bytes of memory', 'name': 'x'}, {'texts': ['1']}]
