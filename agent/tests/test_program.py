"""The program as a process: exit status, TLS, its end, and what others can see of the token."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from gateway import KEY, TAKEN, Gateway, answers, make_certificate

AGENT = Path(__file__).parent.parent
Start = Callable[..., Gateway]
PATIENCE = 120


def start(**environ: str) -> subprocess.Popen[str]:
    env = {'PATH': os.environ['PATH'], 'PYTHONPATH': str(AGENT), 'PYTHONDONTWRITEBYTECODE': '1', **environ}
    return subprocess.Popen(
        [sys.executable, '-m', 'muster_report'], env={'NODE_IDENTITY': 'x1', **env}, stderr=subprocess.PIPE, text=True
    )


def test_it_ends_with_0_when_the_report_is_taken_over_https(gateway: Start, tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path, 'IP:127.0.0.1')
    server = gateway(TAKEN, certificate=certificate)
    (tmp_path / 'token').write_text('muster_secret')
    program = start(
        API_GATEWAY_HOST=server.address,
        MUSTER_REPORT_CA_FILE=str(certificate),
        MUSTER_REPORT_TOKEN_FILE=str(tmp_path / 'token'),
    )
    _, log = program.communicate(timeout=PATIENCE)
    assert program.returncode == 0, log
    assert log == (
        f'muster-report: reporting x1 to https://{server.address}/apis/cfs/v3/components/x1\nmuster-report: reported\n'
    )
    assert server.seen[0].headers['authorization'] == 'Bearer muster_secret'


@pytest.mark.parametrize(('name', 'trusted'), [('IP:127.0.0.1', False), ('DNS:other.example.com', True)])
def test_a_server_that_is_not_the_right_one_gets_nothing(
    gateway: Start, tmp_path: Path, name: str, trusted: bool
) -> None:
    certificate = make_certificate(tmp_path, name)
    server = gateway(TAKEN, certificate=certificate)
    program = start(API_GATEWAY_HOST=server.address, **({'MUSTER_REPORT_CA_FILE': str(certificate)} if trusted else {}))
    program.stderr.readline()
    assert 'certificate' in program.stderr.readline()
    program.terminate()
    program.communicate(timeout=PATIENCE)
    assert server.seen == []


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_at_once(gateway: Start, number: int) -> None:
    server = gateway(answers(404, {'detail': 'unknown'}))
    program = start(MUSTER_REPORT_URL=f'http://{server.address}')
    for line in program.stderr:
        if 'attempt 2' in line:
            break
    program.send_signal(number)
    assert program.wait(timeout=PATIENCE) == -number
    assert 'Traceback' not in program.communicate()[1]


def test_the_token_is_in_no_argument_and_no_environment(gateway: Start, tmp_path: Path) -> None:
    (tmp_path / 'token').write_text('muster_secret')
    server = gateway(answers(404))
    program = start(
        MUSTER_REPORT_URL=f'http://{server.address}', MUSTER_REPORT_TOKEN_COMMAND=f'/bin/cat {tmp_path / "token"}'
    )
    for line in program.stderr:
        if 'attempt 2' in line:
            break
    visible = Path(f'/proc/{program.pid}/cmdline').read_bytes() + Path(f'/proc/{program.pid}/environ').read_bytes()
    program.terminate()
    assert server.seen[0].headers['authorization'] == 'Bearer muster_secret'
    assert b'muster_secret' not in visible
    assert 'muster_secret' not in program.communicate()[1]


def test_it_sets_up_trust_before_it_reports(gateway: Start, tmp_path: Path) -> None:
    keys, config = tmp_path / 'keys', tmp_path / 'sshd_config'
    config.write_text('Port 1\n')
    server = gateway(answers(404), answers(200, f'{KEY}\n'.encode()), TAKEN)
    program = start(
        MUSTER_REPORT_URL=f'http://{server.address}',
        MUSTER_TRUST_URL=f'http://{server.address}/api/v1/trust/ca',
        MUSTER_TRUST_KEYS_FILE=str(keys),
        MUSTER_TRUST_SSHD_CONFIG=str(config),
        MUSTER_TRUST_SSHD_PID_FILE=str(tmp_path / 'pid'),
    )
    _, log = program.communicate(timeout=PATIENCE)
    assert program.returncode == 0, log
    assert [(seen.method, seen.path) for seen in server.seen] == [
        ('GET', '/api/v1/trust/ca'),
        ('GET', '/api/v1/trust/ca'),
        ('PATCH', '/v3/components/x1'),
    ]
    assert keys.read_text() == f'{KEY}\n'
    assert f'TrustedUserCAKeys {keys}' in config.read_text()


def test_it_ends_with_2_where_waiting_does_not_help(tmp_path: Path) -> None:
    program = start(NODE_IDENTITY='', MUSTER_REPORT_KERNEL_CMDLINE=str(tmp_path / 'none'), API_GATEWAY_HOST='gw')
    _, log = program.communicate(timeout=PATIENCE)
    assert (program.returncode, log) == (
        2,
        'muster-report: this node has no identity: set NODE_IDENTITY, or xname= on the kernel command line\n',
    )
