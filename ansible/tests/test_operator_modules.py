"""The collection operator_sdk.util: conditions, Events, and the modules that need no cluster as Ansible runs them."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest

COLLECTION = Path(__file__).parents[1] / 'operator_sdk'
NOW = '2026-02-03T04:05:06Z'


def part(name: str) -> ModuleType:
    path = COLLECTION / 'util' / 'plugins' / 'module_utils' / f'{name}.py'
    spec = importlib.util.spec_from_file_location(f'operator_sdk_{name}', path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


conditions = part('conditions')
event = part('event')


@pytest.mark.parametrize(
    ('given', 'written'),
    [
        ({'type': 'Ready', 'status': True}, {'type': 'Ready', 'status': 'True'}),
        ({'type': 'Ready', 'status': 'Unknown', 'reason': None}, {'type': 'Ready', 'status': 'Unknown'}),
        ({'type': 'Ready', 'status': 'False', 'reason': ''}, {'type': 'Ready', 'status': 'False', 'reason': ''}),
        (
            {'type': 'R', 'status': False, 'reason': 'NotYet', 'message': 'a b', 'lastTransitionTime': NOW},
            {'type': 'R', 'status': 'False', 'reason': 'NotYet', 'message': 'a b', 'lastTransitionTime': NOW},
        ),
    ],
)
def test_a_condition_is_written_as_kubernetes_has_it(given: dict[str, Any], written: dict[str, Any]) -> None:
    assert conditions.checked([given]) == [written]


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ({'status': 'True'}, r'conditions\[1\]: type is missing'),
        ({'type': '', 'status': 'True'}, 'type is missing'),
        ({'type': 'Ready'}, 'status is missing'),
        ({'type': 'Ready', 'status': 'yes'}, 'status is yes; it is one of True, False, Unknown'),
        ({'type': 'Ready', 'status': 'True', 'reason': 'two words'}, 'single word in CamelCase'),
        ({'type': 'Ready', 'status': 'True', 'reason': 5}, 'single word in CamelCase'),
        ({'type': 'Ready', 'status': 'True', 'message': {}}, 'message is no text'),
        ({'type': 'Ready', 'status': 'True', 'lastHeartbeatTime': 'now'}, 'lastHeartbeatTime is now; it is a time'),
        ({'type': 'Ready', 'status': 'True', 'lastTransitionTime': '2026-01-01'}, 'it is a time'),
    ],
)
def test_a_condition_of_another_form_is_refused_by_name(given: dict[str, Any], words: str) -> None:
    with pytest.raises(conditions.MistakeError, match=words):
        conditions.checked([{'type': 'Fine', 'status': 'True'}, given])


EARLIER = '2026-01-01T00:00:00Z'
READY = {'type': 'Ready', 'status': 'True', 'reason': 'Ok', 'message': 'm', 'lastTransitionTime': EARLIER}
OTHER = {'type': 'Other', 'status': 'True', 'observedGeneration': 3}


@pytest.mark.parametrize(
    ('given', 'there'),
    [
        ({'status': 'True'}, READY),
        ({'status': 'True', 'lastTransitionTime': NOW}, READY),
        ({'status': 'True', 'message': 'n'}, {**READY, 'message': 'n'}),
        ({'status': 'False'}, {**READY, 'status': 'False', 'lastTransitionTime': NOW}),
        (
            {'status': 'False', 'lastTransitionTime': '2026-02-02T00:00:00Z'},
            {**READY, 'status': 'False', 'lastTransitionTime': '2026-02-02T00:00:00Z'},
        ),
    ],
)
def test_a_condition_takes_the_place_of_its_type(given: dict[str, Any], there: dict[str, Any]) -> None:
    assert conditions.merged([OTHER, READY], [{'type': 'Ready', **given}], NOW) == [OTHER, there]


def test_a_new_condition_comes_last_and_what_is_no_condition_stays() -> None:
    new = {'type': 'New', 'status': 'Unknown'}
    assert conditions.merged(['junk', OTHER], [new], NOW) == ['junk', OTHER, {**new, 'lastTransitionTime': NOW}]


@pytest.mark.parametrize(
    ('given', 'there'),
    [
        ({}, True),
        ({'a': {'b': 1}}, True),
        ({'a': {'b': 2}}, False),
        ({'list': [1, 2]}, True),
        ({'list': [1]}, False),
        ({'gone': None}, True),
        ({'a': None}, False),
        ({'new': 1}, False),
    ],
)
def test_what_is_there_already_changes_nothing(given: dict[str, Any], there: bool) -> None:
    assert conditions.holds({'a': {'b': 1, 'c': 2}, 'list': [1, 2]}, given) is there


ARGUMENTS = {'namespace': 'ns', 'message': 'm', 'reason': 'R', 'type': 'Normal', 'source': None, 'reportingComponent': 'c'}


def test_an_event_of_the_same_reason_is_counted_up() -> None:
    now = datetime.fromisoformat(NOW)
    first = event.event_of(ARGUMENTS, 'e', {'namespace': 'ns'}, None, now)
    assert (first['count'], first['firstTimestamp'], first['lastTimestamp']) == (1, NOW, NOW)
    assert 'source' not in first
    later = datetime.fromisoformat('2026-02-03T05:00:00Z')
    second = event.event_of(ARGUMENTS, 'e', {'namespace': 'ns'}, first, later)
    assert (second['count'], second['firstTimestamp'], second['lastTimestamp']) == (2, NOW, '2026-02-03T05:00:00Z')
    other = event.event_of({**ARGUMENTS, 'reason': 'S'}, 'e', {'namespace': 'ns'}, second, later)
    assert (other['count'], other['firstTimestamp']) == (1, '2026-02-03T05:00:00Z')


def test_an_event_with_the_time_has_a_name_of_its_own() -> None:
    one, two = (datetime(2026, 1, 1, 0, 0, 0, micro, timezone.utc) for micro in (1, 2))
    names = {event.event_name('e', now, with_time=True) for now in (one, two)}
    assert len(names) == 2
    assert all(name.startswith('e.') and name.replace('.', '').isalnum() for name in names)
    assert event.event_name('e', one, with_time=False) == 'e'


Module = Callable[..., tuple[bool, dict[str, Any]]]


@pytest.fixture
def module(tmp_path: Path) -> Module:
    """Runs a module of the collection as Ansible does; tells whether it was well, and what it answered."""
    (tmp_path / 'ansible_collections').mkdir()
    (tmp_path / 'ansible_collections' / 'operator_sdk').symlink_to(COLLECTION)
    program = str(Path(sys.executable).parent / 'ansible')
    env = {**os.environ, 'ANSIBLE_COLLECTIONS_PATH': str(tmp_path), 'ANSIBLE_LOAD_CALLBACK_PLUGINS': '1'}
    env |= {'ANSIBLE_STDOUT_CALLBACK': 'ansible.builtin.oneline', 'ANSIBLE_LOCALHOST_WARNING': 'false', 'HOME': str(tmp_path)}

    def run(name: str, arguments: dict[str, Any], *options: str) -> tuple[bool, dict[str, Any]]:
        command = [program, 'localhost', '-c', 'local', '-e', f'ansible_python_interpreter={sys.executable}', *options]
        command += ['-m', f'operator_sdk.util.{name}', '-a', json.dumps(arguments)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        _, arrow, answer = done.stdout.partition(' => ')
        assert arrow, done.stdout + done.stderr
        return done.returncode == 0, json.loads(answer)

    return run


@pytest.mark.parametrize('time', ['3m', '1h2m3s', '0s', '30'])
def test_requeue_after_hands_the_time_on(module: Module, time: str) -> None:
    well, answer = module('requeue_after', {'time': time})
    assert well
    assert (answer['period'], answer['changed']) == (time, False)


def test_requeue_after_refuses_other_words(module: Module) -> None:
    well, answer = module('requeue_after', {'time': '5 days'})
    assert not well
    assert 'time is 5 days' in answer['msg']


class _Metrics(BaseHTTPRequestHandler):
    got: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        self.got.append(body)
        refused = body['name'] == 'refused'
        self.send_response(400 if refused else 200)
        self.end_headers()
        if refused:
            self.wfile.write(b'not this one')

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def metrics() -> Iterator[str]:
    """Address of a server that takes metrics."""
    _Metrics.got.clear()
    server = HTTPServer(('127.0.0.1', 0), _Metrics)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f'http://127.0.0.1:{server.server_port}/metrics'
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    'metric',
    [
        {'counter': {'increment': True}},
        {'counter': {'add': 3.5}},
        {'gauge': {'set': 0.0}},
        {'gauge': {'set_to_current_time': True}},
        {'histogram': {'observe': 2.0}},
        {'summary': {}},
    ],
)
def test_a_metric_is_posted_with_what_was_given(module: Module, metrics: str, metric: dict[str, Any]) -> None:
    named = {'name': 'm', 'description': 'd'}
    well, answer = module('osdk_metric', {**named, 'address': metrics, **metric})
    assert (well, answer.get('changed')) == (True, True)
    assert _Metrics.got == [{**named, **metric}]


def test_check_mode_posts_nothing(module: Module, metrics: str) -> None:
    arguments = {'name': 'm', 'description': 'd', 'address': metrics, 'counter': {'increment': True}}
    well, answer = module('osdk_metric', arguments, '--check')
    assert (well, answer['changed'], _Metrics.got) == (True, True, [])


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        ({'name': 'refused', 'counter': {'increment': True}}, 'The metric refused was refused: 400 not this one'),
        ({'name': 'm'}, 'one of the following is required'),
        ({'name': 'm', 'counter': {}, 'gauge': {}}, 'mutually exclusive'),
        ({'name': 'm', 'counter': {'increment': True}, 'address': 'http://127.0.0.1:9/metrics'}, 'does not take the metric m'),
    ],
)
def test_a_metric_that_is_not_taken_is_told(module: Module, metrics: str, arguments: dict[str, Any], words: str) -> None:
    well, answer = module('osdk_metric', {'description': 'd', 'address': metrics, **arguments})
    assert not well
    assert words in answer['msg']
