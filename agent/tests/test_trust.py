"""The node trusts the certificates of sessions, and its sshd goes on whatever happens (cfs-flows 6.3)."""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import random
import shutil
import socket
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from gateway import KEY, Gateway, answers, cuts

from muster_report.authority_keys import NoKeys, read_keys
from muster_report.request import get
from muster_report.settings import TrustSettings
from muster_report.sshd_config import with_trusted_keys
from muster_report.trust import set_up_trust

OTHER = 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7'


@pytest.mark.parametrize(
    ('answer', 'keys'),
    [
        (KEY, [KEY]),
        (f'{KEY} muster CA\n', [KEY]),
        (f'# two\n{KEY}\n\n{OTHER} old\r\n', [KEY, OTHER]),
        (json.dumps(f'{KEY}\n'), [KEY]),
        (json.dumps({'Global': {'cfs_public_key': KEY}}), [KEY]),
        (json.dumps({'Global.cfs_public_key': KEY}), [KEY]),
    ],
)
def test_keys_are_read_in_whatever_form_they_come(answer: str, keys: list[str]) -> None:
    assert read_keys(answer.encode()) == keys


@pytest.mark.parametrize(
    'answer',
    [
        '',
        '# nothing yet',
        '<html>not here</html>',
        f'{KEY}\nno key',
        'ssh-ed25519 !!!!',
        'ssh-ed25519 AAAA',
        KEY.replace('ssh-ed25519', 'ssh-rsa'),
        f'cert-authority {KEY}',
        f'command="id" {KEY}',
        '{',
        '{}',
        '{"Global": null}',
        '{"Global": {"cfs_public_key": 7}}',
        '"' + '[' * 60000,
    ],
)
def test_what_is_no_key_is_never_trusted(answer: str) -> None:
    with pytest.raises(NoKeys):
        read_keys(answer.encode())


FILE = '/etc/ssh/keys.pem'
LINE = f'TrustedUserCAKeys {FILE}\n'


@pytest.mark.parametrize(
    ('before', 'after'),
    [
        ('', LINE),
        ('Port 22\n', f'Port 22\n{LINE}'),
        ('Port 22', f'Port 22\n{LINE}'),
        ('#TrustedUserCAKeys none\n', f'#TrustedUserCAKeys none\n{LINE}'),
        ('Port 22\n\nMatch User a\n  X11Forwarding no\n', f'Port 22\n\n{LINE}Match User a\n  X11Forwarding no\n'),
        (f'match all\n{LINE}', f'{LINE}match all\n{LINE}'),
        (LINE, LINE),
        (f'  trustedusercakeys="{FILE}"  # ours\n', None),
        (f'TrustedUserCAKeys\t{FILE}\nPort 22\n', None),
    ],
)
def test_the_line_is_there_once_and_for_all_connections(before: str, after: str | None) -> None:
    made, other = with_trusted_keys(before, FILE)
    assert (made, other) == (before if after is None else after, None)
    assert with_trusted_keys(made, FILE) == (made, None)


@pytest.mark.parametrize('named', ['/etc/ssh/site.pem', 'none'])
def test_what_the_site_trusts_is_left_to_it(named: str) -> None:
    config = f'Port 22\nTrustedUserCAKeys {named}\n'
    assert with_trusted_keys(config, FILE) == (config, named)


class Node(NamedTuple):
    """Files of a node, and what the set-up did there."""

    settings: TrustSettings
    pauses: list[float]
    log: list[str]

    def set_up(self) -> None:
        def sleep(seconds: float) -> None:
            self.pauses.append(seconds)
            assert len(self.pauses) < 100

        set_up_trust(self.settings, lambda url: get(url, None), sleep, self.log.append)

    @property
    def keys(self) -> Path:
        return Path(self.settings.keys_file)

    @property
    def config(self) -> Path:
        return Path(self.settings.sshd_config)


@pytest.fixture
def node(tmp_path: Path) -> Callable[[str], Node]:
    (tmp_path / 'sshd_config').write_text('Port 1\n')

    def make(address: str) -> Node:
        files = [str(tmp_path / name) for name in ('keys.pem', 'sshd_config', 'sshd.pid')]
        return Node(TrustSettings(f'http://{address}/meta-data?key=Global.cfs_public_key', *files), [], [])

    return make


Start = Callable[..., Gateway]


def test_it_waits_for_the_keys_and_writes_them_for_all(gateway: Start, node: Callable[[str], Node]) -> None:
    server = gateway(*[answers(404)] * 12, cuts, answers(200, 'no key'), answers(200, {'Global.cfs_public_key': KEY}))
    one = node(server.address)
    mask = os.umask(0o077)
    try:
        one.set_up()
    finally:
        os.umask(mask)
    assert one.pauses == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 11, 11]
    assert server.seen[0].path == '/meta-data?key=Global.cfs_public_key'
    assert (one.keys.read_text(), stat.S_IMODE(one.keys.stat().st_mode)) == (f'{KEY}\n', 0o644)
    assert one.log[0].endswith('yet: 404 Not Found; again in 1 s')
    assert sorted(file.name for file in one.keys.parent.iterdir()) == ['keys.pem', 'sshd_config']


def test_keys_that_are_there_are_not_asked_for_and_the_line_comes_back(
    gateway: Start, node: Callable[[str], Node]
) -> None:
    server = gateway(answers(404))
    one = node(server.address)
    one.keys.write_text('kept\n')
    one.set_up()
    assert (server.seen, one.keys.read_text()) == ([], 'kept\n')
    assert f'TrustedUserCAKeys {one.keys}' in one.config.read_text()


def test_the_configuration_keeps_its_mode_its_link_and_its_bytes(gateway: Start, node: Callable[[str], Node]) -> None:
    one = node(gateway(answers(200, KEY)).address)
    real = one.config.parent / 'real_config'
    real.write_bytes(b'# \xff\xfe\nPort 1\n')
    real.chmod(0o600)
    one.config.unlink()
    one.config.symlink_to(real)
    one.set_up()
    assert one.config.is_symlink()
    assert real.read_bytes() == b'# \xff\xfe\nPort 1\nTrustedUserCAKeys ' + os.fsencode(one.keys) + b'\n'
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


def test_files_that_cannot_be_written_are_named_and_nothing_is_left_half_done(
    gateway: Start, node: Callable[[str], Node]
) -> None:
    one = node(gateway(answers(200, KEY)).address)
    one.config.unlink()
    one.set_up()
    assert one.log[-1].startswith('trust is not set up: ') and str(one.config) in one.log[-1]
    assert [file.name for file in one.keys.parent.iterdir()] == ['keys.pem']


def test_a_process_that_is_no_sshd_is_left_alone(gateway: Start, node: Callable[[str], Node]) -> None:
    one = node(gateway(answers(200, KEY)).address)
    with subprocess.Popen(['sleep', '60']) as other:
        Path(one.settings.pid_file).write_text(f'{other.pid}\n')
        one.set_up()
        assert other.poll() is None
        other.kill()
    assert 'sshd told to read its configuration' not in one.log


class Sshd(NamedTuple):
    """A real sshd on a port of its own that accepts no key."""

    process: subprocess.Popen[bytes]
    port: int

    def lets_in(self, key: Path) -> bool:
        command = ['ssh', '-F', '/dev/null', '-i', str(key), '-p', str(self.port), '-o', 'BatchMode=yes']
        command += ['-o', 'StrictHostKeyChecking=no', '-o', f'UserKnownHostsFile={key.parent / "known"}']
        done = subprocess.run([*command, f'{getpass.getuser()}@127.0.0.1', 'true'], capture_output=True, timeout=120)
        return done.returncode == 0


@pytest.fixture
def sshd(tmp_path: Path, node: Callable[[str], Node]) -> Iterator[Sshd]:
    path = f'{os.environ["PATH"]}:/usr/sbin:/sbin'
    program = shutil.which('sshd', path=path)
    if program is None:
        pytest.skip('sshd is not installed (Debian: openssh-server)')
    if os.geteuid() == 0:
        Path('/run/sshd').mkdir(exist_ok=True)
    keygen(tmp_path / 'host_key')
    port = free_port()
    config = tmp_path / 'sshd_config'
    lines = ['ListenAddress 127.0.0.1', f'Port {port}', f'HostKey {tmp_path / "host_key"}', 'UsePAM no']
    lines += [f'PidFile {tmp_path / "sshd.pid"}', 'AuthorizedKeysFile none', 'StrictModes no']
    config.write_text('\n'.join([*lines, 'PasswordAuthentication no', 'Match User nobody', '  X11Forwarding no', '']))
    process = subprocess.Popen([program, '-D', '-e', '-f', str(config)], stderr=subprocess.DEVNULL)
    until(lambda: (tmp_path / 'sshd.pid').exists())
    yield Sshd(process, port)
    process.terminate()
    process.wait(timeout=120)


def test_a_real_sshd_lets_in_who_has_a_certificate_from_then_on(
    gateway: Start, node: Callable[[str], Node], sshd: Sshd, tmp_path: Path
) -> None:
    for name in ('ca', 'user', 'stranger_ca', 'stranger'):
        keygen(tmp_path / name)
    for authority, key in (('ca', 'user'), ('stranger_ca', 'stranger')):
        sign = ['ssh-keygen', '-q', '-s', str(tmp_path / authority), '-I', 'test', '-n', getpass.getuser(), '-V', '+1h']
        subprocess.run([*sign, f'{tmp_path / key}.pub'], check=True)
    assert not sshd.lets_in(tmp_path / 'user')
    one = node(gateway(answers(200, (tmp_path / 'ca.pub').read_bytes())).address)
    one.set_up()
    assert one.log[-1] == 'sshd told to read its configuration'
    until(lambda: sshd.lets_in(tmp_path / 'user'))
    assert not sshd.lets_in(tmp_path / 'stranger')
    assert sshd.process.poll() is None


def test_an_sshd_that_would_not_come_back_is_not_told(gateway: Start, node: Callable[[str], Node], sshd: Sshd) -> None:
    one = node(gateway(answers(200, KEY)).address)
    one.config.write_text(one.config.read_text() + 'Nonsense yes\n')
    one.set_up()
    assert one.log[-1].startswith(f'sshd is not told, since it refuses {one.config}: ')
    with socket.create_connection(('127.0.0.1', sshd.port), timeout=60) as connection:
        assert connection.recv(4) == b'SSH-'


def free_port() -> int:
    """A port for a server that starts later: of no outgoing connection, and of no test of another suite."""
    while True:
        port = random.randrange(32_000, 32_700)
        with contextlib.suppress(OSError), socket.socket() as free:
            free.bind(('127.0.0.1', port))
            return port


def keygen(file: Path) -> None:
    subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', str(file)], check=True)


def until(there: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not there():
        assert time.monotonic() < end
        time.sleep(0.05)
