"""Module `shasta_s3_creds`, against a server that answers as the API server of a cluster does."""

from __future__ import annotations

import importlib.util
import json
import ssl
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import pytest
from runs import ANSIBLE, Workbench

TOKEN = 'the-token-of-the-pod'


def encoded(**values: str) -> dict[str, Any]:
    """A Secret with these values."""
    return {'data': {key: b64encode(value.encode()).decode() for key, value in values.items()}}


class Cluster:
    """Answers with the Secrets it was given; each has a path of its own."""

    def __init__(self, account: Path) -> None:
        self.secrets: dict[str, tuple[int, dict[str, Any]]] = {}
        self.tokens: list[str | None] = []
        self.silent = 0
        account.mkdir()
        (account / 'token').write_text(f'{TOKEN}\n')
        key, certificate = account / 'key.pem', account / 'ca.crt'
        subprocess.run(
            ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=cluster']
            + ['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate],
            check=True,
            capture_output=True,
        )
        cluster = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                cluster.tokens.append(self.headers['Authorization'])
                if cluster.silent > 0:
                    cluster.silent -= 1
                    # Until whoever asks has given up.
                    self.rfile.read(1)
                    return
                status, body = cluster.secrets.get(self.path, (404, {}))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *args: Any) -> None:
                """Says nothing."""

        self._server = HTTPServer(('127.0.0.1', 0), Answers)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = str(self._server.server_port)
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster with no Secret yet."""
    made = Cluster(tmp_path / 'account')
    yield made
    made.close()


@pytest.fixture
def creds(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module, as in a pod of that cluster; a proxy of the environment is not for the cluster."""
    spec = importlib.util.spec_from_file_location('creds', ANSIBLE / 'plugins' / 'modules' / 'shasta_s3_creds.py')
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, 'ACCOUNT', str(tmp_path / 'account'))
    monkeypatch.setenv('KUBERNETES_SERVICE_HOST', '127.0.0.1')
    monkeypatch.setenv('KUBERNETES_SERVICE_PORT', cluster.port)
    monkeypatch.setenv('HTTPS_PROXY', 'http://127.0.0.1:9')
    return module


def test_reads_the_two_keys_as_the_account_of_the_pod(cluster: Cluster, creds: ModuleType) -> None:
    keys = {'access_key': 'AKIA', 'secret_key': 'schlüssel/+='}
    cluster.secrets['/api/v1/namespaces/ims/secrets/s3'] = (200, encoded(**keys, s3_endpoint='https://s3'))
    assert creds.read_credentials('ims', 's3') == keys
    assert cluster.tokens == [f'Bearer {TOKEN}']


CASES = {
    'no such Secret': ((404, {}), 'does not exist'),
    'no right to it': ((403, {'reason': 'Forbidden'}), 'may not be read: give the service account of the pod `get` on it'),
    'a cluster in trouble': ((500, {}), 'could not be read: the cluster answered 500'),
    'an empty Secret': ((200, {}), 'has no access_key and no secret_key'),
    'half a Secret': ((200, encoded(access_key='a')), 'has no secret_key'),
    'no text': (
        (200, {'data': {'access_key': 'YQ==', 'secret_key': '/////w=='}}),
        'holds no text in access_key or secret_key',
    ),
}


@pytest.mark.parametrize('case', CASES)
def test_says_why_there_are_none(cluster: Cluster, creds: ModuleType, case: str) -> None:
    answer, words = CASES[case]
    cluster.secrets['/api/v1/namespaces/default/secrets/s3'] = answer
    with pytest.raises(creds.NotReadError) as caught:
        creds.read_credentials('default', 's3')
    assert str(caught.value) == f'Secret s3 of namespace default {words}'


def test_asks_again_where_nobody_answers_in_time(
    cluster: Cluster, creds: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(creds, '_TIMEOUT_S', 5)
    cluster.secrets['/api/v1/namespaces/team/secrets/s3'] = (200, encoded(access_key='a', secret_key='b'))
    cluster.silent = 2
    assert creds.read_credentials('team', 's3') == {'access_key': 'a', 'secret_key': 'b'}
    cluster.silent = 3
    with pytest.raises(creds.NotReadError, match='could not be read: .*timed out'):
        creds.read_credentials('team', 's3')
    assert len(cluster.tokens) == 6


def test_a_name_stays_a_name(cluster: Cluster, creds: ModuleType) -> None:
    cluster.secrets['/api/v1/namespaces/default/secrets/..%2F..%2Fother'] = (
        200,
        encoded(access_key='a', secret_key='b'),
    )
    assert creds.read_credentials('default', '../../other') == {'access_key': 'a', 'secret_key': 'b'}


def test_a_server_that_nobody_vouches_for_gets_no_token(
    cluster: Cluster, creds: ModuleType, tmp_path: Path
) -> None:
    other = Cluster(tmp_path / 'other')
    (tmp_path / 'account' / 'ca.crt').write_bytes((tmp_path / 'other' / 'ca.crt').read_bytes())
    with pytest.raises(creds.NotReadError, match='could not be read: URLError'):
        creds.read_credentials('default', 's3')
    assert cluster.tokens == []
    other.close()


def test_a_playbook_finds_it_and_hears_that_it_has_no_account(bench: Workbench) -> None:
    """By its name alone, as playbooks of CFS call it."""
    playbook = """
- hosts: all
  gather_facts: false
  tasks:
    - shasta_s3_creds:
        k8s_secret: s3
      delegate_to: localhost
      run_once: true
"""
    run = bench.play(playbook)
    [result] = run.events('host_result')
    assert result['result'] == 'failed'
    assert result['message'].startswith('there is no service account here: delegate the task to localhost')
