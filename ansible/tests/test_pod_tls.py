"""How a pod speaks to an ingest port with TLS."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pod import RUN, Pod
from pod_server import Muster
from runs import wait_until

pytestmark = pytest.mark.skipif(shutil.which('openssl') is None, reason='openssl is not installed')


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    """The file of an authority that nobody knows, with its key beside it."""
    ca = tmp_path / 'ca.pem'
    _openssl('req', '-x509', *_new_key(tmp_path / 'ca.key'), '-subj', '/CN=site', '-days', '2', '-out', str(ca))
    return ca


def certify(muster: Muster, authority: Path, name: str) -> None:
    """Gives the server a certificate of the authority for one name."""
    folder = authority.parent
    key, request, certificate = (folder / f'server.{end}' for end in ('key', 'csr', 'pem'))
    _openssl('req', *_new_key(key), '-subj', '/CN=server', '-addext', f'subjectAltName=DNS:{name}', '-out', str(request))
    signed = ['x509', '-req', '-in', str(request), '-CA', str(authority), '-CAkey', str(folder / 'ca.key')]
    _openssl(*signed, '-CAcreateserial', '-days', '2', '-copy_extensions', 'copy', '-out', str(certificate))
    muster.secure(certificate, key)


def test_it_trusts_the_authority_of_the_platform(pod: Pod, muster: Muster, authority: Path) -> None:
    certify(muster, authority, 'localhost')
    muster.teardown = {'done': True, 'exit_code': 3}
    assert pod.run('teardown', MUSTER_INGEST_URL=muster.url, SSL_CAINFO=str(authority)) == 3
    assert muster.states('teardown') == ['started', 'done']


@pytest.mark.parametrize(
    ('name', 'trusts', 'reason'),
    [('localhost', False, 'unable to get local issuer'), ('muster-ingest', True, "not valid for 'localhost'")],
)
def test_it_says_whom_it_does_not_trust_and_asks_again(
    pod: Pod, muster: Muster, authority: Path, name: str, trusts: bool, reason: str
) -> None:
    certify(muster, authority, name)
    ca = authority if trusts else authority.parent / 'none.pem'
    process = pod.start('teardown', MUSTER_INGEST_URL=muster.url, SSL_CAINFO=str(ca))
    wait_until(lambda: pod.log('teardown').count('; again in ') > 1, 'another try')
    assert process.poll() is None and muster.requests == []
    assert 'CERTIFICATE_VERIFY_FAILED' in pod.log('teardown') and reason in pod.log('teardown')


PLAYBOOK = """
- hosts: all
  gather_facts: false
  tasks:
    - uri: {{url: "{url}/", status_code: 401}}
    - command:
        argv: ["{python}", -c, "import requests; assert requests.get('{url}/').status_code == 401"]
    - raw: env > {seen}
"""


@pytest.mark.parametrize('given', [{}, {'SSL_CERT_FILE': '/site/own.pem'}])
def test_a_playbook_trusts_the_authority_of_the_platform_besides_the_public_ones(
    pod: Pod, muster: Muster, authority: Path, given: dict[str, str]
) -> None:
    certify(muster, authority, 'localhost')
    public = pod.write('etc/ssl/certs/ca-certificates.crt', 'PUBLIC\n')
    seen = pod.path('seen')
    pod.inventory_done('h1')
    playbook = PLAYBOOK.format(url=muster.url, python=sys.executable, seen=seen)
    pod.playbook(playbook if not given else f'- hosts: all\n  gather_facts: false\n  tasks:\n    - raw: env > {seen}\n')
    pod.order()
    muster.orders[-1]['run']['environment'].update(given)
    muster.finish()
    assert pod.run('ansible', MUSTER_INGEST_URL=muster.url, SSL_CAINFO=str(authority)) == 0
    assert muster.runs[RUN].exit['code'] == 0, muster.runs[RUN].output.decode()
    bundle = pod.path('muster/work/ca-bundle.pem')
    assert bundle.read_text() == public.read_text() + '\n' + authority.read_text()
    variables = dict(line.partition('=')[::2] for line in seen.read_text().splitlines())
    of_trust = {name: variables[name] for name in ('SSL_CAINFO', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE')}
    named = {'SSL_CAINFO': str(authority), 'SSL_CERT_FILE': str(bundle), 'REQUESTS_CA_BUNDLE': str(bundle)}
    assert of_trust == {**named, **given}


def test_a_playbook_is_told_of_no_authority_where_there_is_none(pod: Pod, muster: Muster) -> None:
    seen = pod.path('seen')
    empty = pod.write('etc/cray/ca/certificate_authority.crt', '')
    pod.inventory_done('h1')
    pod.playbook(f'- hosts: all\n  gather_facts: false\n  tasks:\n    - raw: env > {seen}\n')
    pod.order()
    muster.finish()
    assert pod.run('ansible', SSL_CAINFO=str(empty)) == 0
    assert 'SSL_C' not in seen.read_text() and 'CA_BUNDLE' not in seen.read_text()


def _new_key(path: Path) -> list[str]:
    return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', str(path)]


def _openssl(*words: str) -> None:
    subprocess.run(['openssl', *words], check=True, capture_output=True)
