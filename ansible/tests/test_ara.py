"""Runs that are reported to an ARA server, and runs whose server is away."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from ara_server import AraServer
from runs import Workbench

PLAYBOOK = """
- hosts: all
  gather_facts: false
  tasks:
    - name: say it
      ansible.builtin.command: echo hunter2secret
    - name: keep it
      ansible.builtin.command: echo hidden-by-no-log
      no_log: true
"""
LABELS = {'ARA_DEFAULT_LABELS': 'web', 'ARA_RECORD_CONTROLLER': 'false', 'ARA_RECORD_USER': 'false'}


@pytest.fixture(scope='module')
def ara(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AraServer]:
    """A server with no record yet."""
    server = AraServer(tmp_path_factory.mktemp('ara'))
    yield server
    server.close()


def test_run_is_reported_with_the_session_as_label(ara: AraServer, bench: Workbench) -> None:
    """Its hosts and results are there, what Muster masks is not, nor who ran it where."""
    env = {**LABELS, 'ARA_API_SERVER': ara.url}
    run = bench.play(PLAYBOOK, hosts=('h1', 'h2'), env=env, masks=['hunter2secret'])
    assert run.exit['code'] == 0
    assert run.events('warning') == []
    [playbook] = ara.records('playbooks', label='web')
    assert playbook['status'] == 'completed'
    assert playbook['controller'] in (None, '', 'localhost')
    assert playbook['user'] in (None, '', 'Not recorded')
    assert sorted(host['name'] for host in ara.records('hosts', playbook=playbook['id'])) == ['h1', 'h2']
    results = ara.records('results', playbook=playbook['id'])
    assert len(results) == 4
    everything = json.dumps(
        [ara.record('results', result['id']) for result in results]
        + [ara.record('files', file['id']) for file in ara.records('files', playbook=playbook['id'])]
        + [ara.record('playbooks', playbook['id'])]
    )
    assert 'say it' in everything
    assert 'hunter2secret' not in everything
    outputs = [ara.record('results', result['id'])['content'] for result in results]
    assert 'hidden-by-no-log' not in json.dumps(outputs)


def test_failure_is_reported_as_one(ara: AraServer, bench: Workbench) -> None:
    """A failed run is failed there too, and its exit status is Ansible's."""
    playbook = '- hosts: all\n  gather_facts: false\n  tasks: [{fail: {msg: no}}]\n'
    run = bench.play(playbook, env={**LABELS, 'ARA_DEFAULT_LABELS': 'failing', 'ARA_API_SERVER': ara.url})
    assert run.exit['code'] == 2
    assert [found['status'] for found in ara.records('playbooks', label='failing')] == ['failed']


def test_nothing_is_reported_without_a_server(ara: AraServer, bench: Workbench) -> None:
    """The label alone makes no report."""
    assert bench.play(PLAYBOOK, env={**LABELS, 'ARA_DEFAULT_LABELS': 'silent'}).exit['code'] == 0
    assert ara.records('playbooks', label='silent') == []


def test_server_that_is_away_costs_a_warning(bench: Workbench) -> None:
    """Nobody listens there."""
    run = bench.play(PLAYBOOK, env={**LABELS, 'ARA_API_SERVER': 'http://127.0.0.1:1'})
    assert run.exit['code'] == 0
    assert set(run.statuses.values()) == {'applied'}
    [warning] = run.events('warning')
    assert 'not reported to ARA any more' in warning['message']


def test_server_that_never_answers_is_waited_for_once(bench: Workbench) -> None:
    """Connections are taken, and that is all."""
    with socket.create_server(('127.0.0.1', 0)) as mute:
        url = f'http://127.0.0.1:{mute.getsockname()[1]}'
        run = bench.play(PLAYBOOK, env={**LABELS, 'ARA_API_SERVER': url})
        # Each request that waits for an answer has a connection of its own.
        mute.setblocking(False)
        made = 0
        with contextlib.suppress(BlockingIOError):
            while mute.accept():
                made += 1
    assert run.exit['code'] == 0
    assert len(run.events('warning')) == 1
    assert made == 1


class _Guarded(BaseHTTPRequestHandler):
    """Lets nobody in, and notes who asked."""

    asked: list[str] = []

    def do_POST(self) -> None:
        """Refuses."""
        self.asked.append(self.headers.get('Authorization', ''))
        self.send_response(401)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Keeps quiet."""


def test_credentials_come_from_their_file(bench: Workbench, tmp_path: Path) -> None:
    """They are shown to the server; a refusal is told by its number, without them."""
    credentials = tmp_path / 'ara.json'
    credentials.write_text(json.dumps({'username': 'muster', 'password': 'opensesame'}))
    server = HTTPServer(('127.0.0.1', 0), _Guarded)
    Thread(target=server.serve_forever, daemon=True).start()
    env = {'ARA_API_SERVER': f'http://127.0.0.1:{server.server_port}', 'MUSTER_ARA_CREDENTIALS': str(credentials)}
    run = bench.play(PLAYBOOK, env={**LABELS, **env})
    server.shutdown()
    assert run.exit['code'] == 0
    assert _Guarded.asked == ['Basic bXVzdGVyOm9wZW5zZXNhbWU=']
    [warning] = run.events('warning')
    assert '401' in warning['message']
    assert 'opensesame' not in run.everything()
