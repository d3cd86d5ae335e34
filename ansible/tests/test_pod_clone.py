"""Step `clone` of a pod, against a real git server."""

from __future__ import annotations

import getpass
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from git_server import PASSWORD, USER, GitServer, git
from muster_pod.clone_trouble import CloneTrouble
from muster_pod.failure import StepFailure
from muster_pod.git_address import parse_address
from muster_pod.git_failure import read_git_failure
from pod import POD, Pod
from pod_server import Muster, answers, cuts, delays
from runs import PATIENCE, is_running, require_tmpfs, wait_until
from ssh_git import SSHD, SshGit


def entry(url: str, commit: str, layer: int | str = 0, **more: Any) -> dict[str, Any]:
    dest = 'hosts' if layer == 'hosts' else f'layer{layer}'
    return {'layer': layer, 'url': url, 'commit': commit, 'dest': dest, 'username': USER, 'password': PASSWORD, **more}


def listed(pod: Pod, *entries: dict[str, Any]) -> None:
    pod.write('muster/credentials/credentials.json', json.dumps(entries))


def leftovers(pod: Pod) -> list[str]:
    return [path.name for path in pod.path('inventory').iterdir() if path.name.startswith('.')] + os.listdir(
        pod.path('dev/shm')
    )


def test_every_entry_is_a_full_clone_at_its_commit(pod: Pod, muster: Muster, repositories: GitServer) -> None:
    old = repositories.repository('a', {'site.yml': 'old\n'})
    new = repositories.repository('a', {'site.yml': 'new\n', 'roles/x/tasks/main.yml': '[]\n'})
    inventory = repositories.repository('b', {'02-more.yaml': 'all: {}\n'})
    url = f'{repositories.url}/a'
    more = [entry(url, new, layer) for layer in range(1, 7)]
    listed(pod, entry(url, old), *more, entry(f'{repositories.url}/b', inventory, 'hosts'))
    assert pod.run('clone') == 0
    assert pod.read('inventory/layer0/site.yml') == 'old\n'
    assert all(pod.read(f'inventory/layer{layer}/site.yml') == 'new\n' for layer in range(1, 7))
    assert pod.path('inventory/hosts/02-more.yaml').exists()
    assert git(pod.path('inventory/layer1'), 'rev-list', '--count', 'HEAD') == '2'
    assert git(pod.path('inventory/layer1'), 'config', 'remote.origin.url') == url
    assert muster.states('clone') == ['started', 'done']
    assert leftovers(pod) == []


def test_without_a_commit_it_is_the_default_branch(pod: Pod, repositories: GitServer) -> None:
    repositories.repository('a', {'site.yml': 'main\n'})
    listed(pod, entry(f'{repositories.url}/a', ''))
    assert pod.run('clone') == 0
    assert pod.read('inventory/layer0/site.yml') == 'main\n'


def test_a_commit_that_no_branch_reaches_is_asked_for_by_its_id(pod: Pod, repositories: GitServer) -> None:
    repositories.repository('a', {'site.yml': 'one\n'})
    lost = repositories.repository('a', {'site.yml': 'two\n'})
    git(repositories.root / 'a', 'reset', '--quiet', '--hard', 'HEAD~')
    git(repositories.root / 'a', 'config', 'uploadpack.allowAnySHA1InWant', 'true')
    listed(pod, entry(f'{repositories.url}/a', lost))
    assert pod.run('clone') == 0
    assert pod.read('inventory/layer0/site.yml') == 'two\n'


@pytest.mark.parametrize(
    ('change', 'code'),
    [
        ({'password': 'wrong'}, 'repository_auth_failed'),
        ({'commit': 'f' * 40}, 'commit_not_found'),
        ({'commit': 'main'}, 'commit_not_found'),
        ({'url': '/no-such'}, 'repository_not_found'),
        ({'url': 'file:///etc'}, 'repository_url_refused'),
    ],
)
def test_what_does_not_pass_by_itself_is_not_tried_again(
    pod: Pod, muster: Muster, repositories: GitServer, change: dict[str, str], code: str
) -> None:
    commit = repositories.repository('a', {'site.yml': 'x\n'})
    url = change.pop('url', '/a')
    url = url if '://' in url else repositories.url + url
    listed(pod, {**entry(url, commit), **change})
    assert pod.run('clone') == 1
    failure = muster.failure('clone')
    assert failure['code'] == code
    assert failure['message'].startswith('layer 1: ')
    assert len([path for path in repositories.requests if 'info/refs' in path]) <= 4
    assert PASSWORD not in json.dumps(muster.reports) + pod.log('clone') and 'wrong' not in json.dumps(muster.reports)
    assert leftovers(pod) == []


def test_what_may_pass_by_itself_is_tried_again(pod: Pod, repositories: GitServer) -> None:
    commit = repositories.repository('a', {'site.yml': 'x\n'})
    repositories.faults = [answers(503), cuts, answers(500)]
    listed(pod, entry(f'{repositories.url}/a', commit))
    assert pod.run('clone') == 0
    assert pod.path('inventory/layer0/site.yml').exists()


def test_why_it_is_tried_again_is_told_until_it_is_done(pod: Pod, muster: Muster, repositories: GitServer) -> None:
    commit = repositories.repository('a', {'site.yml': 'x\n'})
    repositories.faults = [answers(503)] * 3
    url = f'{repositories.url}/a'
    listed(pod, entry(url, commit))
    assert pod.run('clone', GIT_RETRY_DELAY='1') == 0
    started, trouble, *rest = [body for step, body in muster.reports if step == 'clone']
    assert started == {'state': 'started'}
    assert (trouble['state'], trouble['code']) == ('started', 'clone_failed')
    assert trouble['message'].startswith(f'layer 1: {url}: ') and '503' in trouble['message']
    assert rest == [{'state': 'started'}, {'state': 'done'}]


def test_why_it_is_tried_again_has_no_secret(pod: Pod, muster: Muster, repositories: GitServer) -> None:
    repositories.faults = [answers(503)] * 3
    listed(pod, {**entry(f'{repositories.url}/hidden-word', ''), 'password': 'hidden-word'})
    assert pod.run('clone', GIT_RETRY_DELAY='1', GIT_RETRY_MAX='3') == 1
    troubles = [body['message'] for _, body in muster.reports if body['state'] == 'started' and 'message' in body]
    assert troubles and all('********' in message for message in troubles)
    assert 'hidden-word' not in json.dumps(muster.reports)


def test_trouble_of_the_first_clone_is_told_once_and_again_when_it_was_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    class Port:
        takes = True

        def __init__(self) -> None:
            self.said: list[str | None] = []

        def report(self, _step: str, _state: str, failure: StepFailure | None) -> bool:
            self.said.append(None if failure is None else failure.message)
            return self.takes

    port = Port()
    trouble = CloneTrouble(port)  # type: ignore[arg-type]
    trouble.tell()
    assert port.said == []
    trouble.begins(2, StepFailure('clone_failed', 'two'))
    trouble.tell()
    trouble.begins(2, StepFailure('clone_failed', 'two'))
    trouble.tell()
    assert port.said == ['two']
    port.takes = False
    trouble.begins(1, StepFailure('clone_failed', 'one'))
    for _ in range(3):
        trouble.tell()
    assert port.said == ['two', 'one']
    later = time.monotonic() + 6
    monkeypatch.setattr('muster_pod.clone_trouble.time.monotonic', lambda: later)
    port.takes = True
    trouble.tell()
    trouble.ends(1)
    trouble.tell()
    trouble.ends(2)
    trouble.tell()
    assert port.said == ['two', 'one', 'one', 'two', None]


def test_tries_are_limited(pod: Pod, muster: Muster, repositories: GitServer) -> None:
    commit = repositories.repository('a', {'site.yml': 'x\n'})
    repositories.faults = [answers(503)] * 20
    listed(pod, entry(f'{repositories.url}/a', commit))
    assert pod.run('clone', GIT_RETRY_MAX='3') == 1
    assert len(repositories.requests) == 3
    assert muster.failure('clone')['code'] == 'clone_failed'


def test_the_first_failure_ends_all_others(pod: Pod, repositories: GitServer) -> None:
    commit = repositories.repository('a', {'site.yml': 'x\n'})
    slow = {**entry('https://192.0.2.1/never', commit, 1)}
    listed(pod, slow, entry(f'{repositories.url}/a', 'e' * 40))
    began = time.monotonic()
    assert pod.run('clone') == 1
    # A connection that is not taken is given up after two minutes.
    assert time.monotonic() - began < 90


def test_no_secret_is_in_a_command_line_or_an_environment(
    pod: Pod, muster: Muster, repositories: GitServer, tmp_path: Path
) -> None:
    commit = repositories.repository('a', {'site.yml': 'x\n'})
    seen = tmp_path / 'seen'
    wrapper = tmp_path / 'bin' / 'git'
    wrapper.parent.mkdir()
    real = shutil.which('git')
    wrapper.write_text(f'#!/bin/sh\n{{ env; echo "$@"; }} >> {seen}\nexec {real} "$@"\n')
    wrapper.chmod(0o755)
    host = repositories.url.partition('://')[2]
    plain = {**entry(f'http://{USER}:pass%20word%2Fof%2Bgit%40%25@{host}/a', commit, 1), 'username': None, 'password': None}
    listed(pod, entry(f'{repositories.url}/a', commit), plain)
    assert pod.run('clone', PATH=f'{wrapper.parent}:{pod.env["PATH"]}') == 0
    text = seen.read_text()
    assert text.count('MUSTER_CLONES') >= 2
    assert 'pass word' not in text and 'pass%20' not in text
    for folder in ('layer0', 'layer1'):
        assert 'pass' not in pod.read(f'inventory/{folder}/.git/config')
    assert 'pass%20' not in json.dumps(muster.reports) + pod.log('clone')


def make_certificate(folder: Path) -> tuple[str, Path]:
    """A certificate for this machine that is its own authority, and the file with it and its key."""
    folder.mkdir()
    certificate = folder / 'certificate.pem'
    subprocess.run(
        ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=git', '-addext']
        + ['subjectAltName=IP:127.0.0.1', '-keyout', folder / 'key.pem', '-out', certificate],
        check=True,
        capture_output=True,
    )
    authority = certificate.read_text()
    certificate.write_text((folder / 'key.pem').read_text() + authority)
    return authority, certificate


def test_the_authority_of_the_platform_is_trusted_besides_the_public_ones(
    pod: Pod, muster: Muster, tmp_path: Path
) -> None:
    authority, certificate = make_certificate(tmp_path / 'public')
    pod.write('etc/ssl/certs/ca-certificates.crt', authority)
    pod.write('etc/cray/ca/certificate_authority.crt', make_certificate(tmp_path / 'platform')[0].rstrip())
    server = GitServer(tmp_path / 'secure', certificate)
    try:
        commit = server.repository('a', {'site.yml': 'x\n'})
        listed(pod, entry(f'{server.url}/a', commit))
        assert pod.run('clone') == 0
        listed(pod, entry(f'{server.url}/a', commit, 1, ca_alone=True))
        assert pod.run('clone') == 1
        assert muster.failure('clone')['code'] == 'repository_untrusted'
    finally:
        server.close()


def test_an_entry_brings_certificates_of_its_own(pod: Pod, muster: Muster, tmp_path: Path) -> None:
    authority, certificate = make_certificate(tmp_path / 'own')
    server = GitServer(tmp_path / 'secure', certificate)
    try:
        commit = server.repository('a', {'site.yml': 'x\n'})
        listed(pod, entry(f'{server.url}/a', commit))
        assert pod.run('clone') == 1
        assert muster.failure('clone')['code'] == 'repository_untrusted'
        listed(pod, entry(f'{server.url}/a', commit, ca=authority))
        assert pod.run('clone') == 0
    finally:
        server.close()


@pytest.mark.skipif(SSHD is None, reason='sshd is not installed (Debian: openssh-server)')
def test_an_address_of_ssh_takes_the_key_and_the_known_hosts(
    pod: Pod, muster: Muster, repositories: GitServer, tmp_path: Path
) -> None:
    commit = repositories.repository('a', {'site.yml': 'x\n'})
    server = SshGit(tmp_path / 'ssh')
    try:
        url = f'ssh://{getpass.getuser()}@127.0.0.1:{server.port}{repositories.root}/a'
        listed(pod, {'layer': 0, 'url': url, 'commit': commit, 'dest': 'layer0'})
        assert pod.run('clone') == 1
        assert muster.failure('clone')['code'] == 'repository_auth_failed'
        # As a mounted Secret has it: others may read it, which ssh refuses of a key.
        pod.write('muster/session/plain_key', server.key).chmod(0o644)
        pod.write('muster/session/known_hosts', server.known_hosts)
        assert pod.run('clone') == 0
        assert pod.read('inventory/layer0/site.yml') == 'x\n'
        assert leftovers(pod) == []
        other = server.known_hosts.split()
        pod.write('muster/session/known_hosts', f'{other[0]} ssh-ed25519 {other[2][:-8]}AAAAAAAA\n')
        muster.reports.clear()
        assert pod.run('clone') == 1
        assert muster.failure('clone')['code'] == 'repository_auth_failed'
    finally:
        server.close()


def test_links_that_lead_out_are_removed_and_told(pod: Pod, muster: Muster, repositories: GitServer) -> None:
    links = {
        'inside': 'site.yml',
        'dangling': 'nothing',
        'out': '../layer1',
        'absolute': '/etc/passwd',
        'git': '.git/config',
        'through': 'out/x',
        'round': 'round',
        'up': 'folder/../../x',
    }
    commit = repositories.repository('a', {'site.yml': 'x\n', 'folder/y': ''}, links)
    listed(pod, entry(f'{repositories.url}/a', commit))
    assert pod.run('clone') == 0
    kept = {path.name for path in pod.path('inventory/layer0').iterdir() if path.is_symlink()}
    assert kept == {'inside', 'dangling'}
    warnings = next(body['warnings'] for step, body in muster.reports if body['state'] == 'done')
    assert len(warnings) == 6
    assert warnings[0] == "layer 1: Symbolic link 'absolute' leads out of the repository and was removed."


def test_term_ends_git_too(pod: Pod, repositories: GitServer) -> None:
    commit = repositories.repository('a', {'site.yml': 'x\n'})
    repositories.faults = [delays(30)]
    listed(pod, entry(f'{repositories.url}/a', commit))
    process = pod.start('clone')
    wait_until(lambda: repositories.requests, 'git')
    gits = [int(name) for name in os.listdir('/proc') if name.isdigit() and _is_git_of(name, pod)]
    assert gits
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 128 + signal.SIGTERM
    wait_until(lambda: not any(is_running(pid) for pid in gits), 'the end of git')
    # Before the answer to git, which takes 30 s.
    assert time.monotonic() - began < 25
    assert leftovers(pod) == []


def _is_git_of(name: str, pod: Pod) -> bool:
    try:
        return f'MUSTER_CLONES={pod.root}'.encode() in Path(f'/proc/{name}/environ').read_bytes()
    except OSError:
        return False


def test_a_full_disk_is_said_at_once(pod: Pod, muster: Muster, repositories: GitServer) -> None:
    pod.path('inventory/ssh').rmdir()
    pod.path('inventory').rmdir()
    reason = require_tmpfs(pod.path('inventory'), '300k')
    if reason:
        pytest.skip(reason)
    try:
        commit = repositories.repository('a', {'big': os.urandom(600_000).hex()})
        listed(pod, entry(f'{repositories.url}/a', commit))
        assert pod.run('clone') == 1
        assert muster.failure('clone')['code'] == 'clone_failed'
        assert 'No space left' in muster.failure('clone')['message']
        assert len([path for path in repositories.requests if 'info/refs' in path]) <= 2
    finally:
        subprocess.run(['umount', '-l', pod.path('inventory')], check=True)


@pytest.mark.parametrize(
    'url',
    [
        '',
        '-o',
        'ext::sh -c id',
        'file:///inventory',
        '/inventory',
        'https://',
        'https://ho st/x',
        'https://h/%00',
        'ftp://h/x',
        'ssh://-oProxyCommand=x/y',
        'ssh://u:p@h/x',
        'git://u@h/x',
        'ssh://h',
        'h:-x',
        'https://host:99999999/x',
    ],
)
def test_addresses_that_are_refused(url: str) -> None:
    with pytest.raises(StepFailure) as failure:
        parse_address(url)
    assert failure.value.code == 'repository_url_refused'
    assert 'u:p' not in failure.value.message


@pytest.mark.parametrize(
    ('text', 'scheme', 'url', 'host', 'username', 'password'),
    [
        ('https://h/x', 'https', 'https://h/x', 'h', '', ''),
        ('HTTPS://u:p%40@h:8443/x', 'https', 'https://h:8443/x', 'h:8443', 'u', 'p@'),
        ('http://u@[::1]:80/x', 'http', 'http://[::1]:80/x', '[::1]:80', 'u', ''),
        ('ssh://git@h:22/x', 'ssh', 'ssh://git@h:22/x', 'h:22', 'git', ''),
        ('git@h:x/y.git', 'ssh', 'git@h:x/y.git', 'h', 'git', ''),
        ('git://h/x', 'git', 'git://h/x', 'h', '', ''),
    ],
)
def test_addresses_that_may_be_used(
    text: str, scheme: str, url: str, host: str, username: str, password: str
) -> None:
    assert parse_address(text) == (scheme, url, host, username, password)


@pytest.mark.parametrize(
    ('question', 'value'),
    [
        ("Username for 'http://h:1': ", USER),
        ("Password for 'http://robot@h:1': ", PASSWORD),
        ("Password for 'https://robot@h:1': ", PASSWORD),
        ("Password for 'http://robot@other:1': ", None),
        ("Username for 'http://h': ", None),
        ("Are you sure you want to continue connecting (yes/no)? ", None),
    ],
)
def test_the_helper_answers_for_its_host_alone(pod: Pod, question: str, value: str | None) -> None:
    listed(pod, entry('http://elsewhere/a', ''), entry('http://h:1/a', '', 1))
    done = subprocess.run(
        [POD / 'muster_pod' / 'askpass', question],
        env={**pod.env, 'MUSTER_CLONES': str(pod.path('muster/credentials/credentials.json')), 'MUSTER_CLONE': '1'},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == ((1, '') if value is None else (0, f'{value}\n'))


@pytest.mark.parametrize(
    ('stderr', 'code'),
    [
        ("fatal: Authentication failed for 'https://u:p@h/x/'", 'repository_auth_failed'),
        ("fatal: could not read Username for 'https://h': terminal prompts disabled", 'repository_auth_failed'),
        ('fatal: unable to access: The requested URL returned error: 403', 'repository_auth_failed'),
        ("fatal: repository 'https://h/x/' not found", 'repository_not_found'),
        ('fatal: unable to access: SSL certificate problem: self-signed certificate', 'repository_untrusted'),
        ('fatal: remote error: upload-pack: not our ref ' + 'f' * 40, 'commit_not_found'),
        ("fatal: transport 'file' not allowed", 'repository_url_refused'),
        ("error: invalid path '.git/x'", 'repository_unsafe'),
        ('git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.', 'repository_auth_failed'),
        ('fatal: unable to access: Could not resolve host: h', 'clone_failed'),
        ('', 'clone_failed'),
    ],
)
def test_the_words_of_git_become_codes(stderr: str, code: str) -> None:
    found, line = read_git_failure(stderr)
    assert found == code
    assert line and 'u:p' not in line
