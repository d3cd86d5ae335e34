"""How a pod speaks to an ingest port with TLS."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from pod import Pod
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


def _new_key(path: Path) -> list[str]:
    return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', str(path)]


def _openssl(*words: str) -> None:
    subprocess.run(['openssl', *words], check=True, capture_output=True)
