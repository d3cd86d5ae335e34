"""Who the node is, where it reports to, and settings that are refused."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from muster_report.settings import SettingsError, read_settings

AGENT = Path(__file__).parent.parent
GIVEN = {'NODE_IDENTITY': 'x1', 'API_GATEWAY_HOST': 'gw.example.com'}


@pytest.mark.parametrize(
    ('line', 'node'),
    [
        (b'console=ttyS0 xname=x3000c0s1b0n0 quiet\n', 'x3000c0s1b0n0'),
        (b'xname=first xname=last', 'last'),
        (b'"xname=quoted" a', 'quoted'),
        (b'xname="quoted" a', 'quoted'),
        (b'notxname=x1 xname', None),
        (b'xname=', None),
        (b'', None),
        (None, None),
    ],
)
def test_the_kernel_command_line_names_the_node(tmp_path: Path, line: bytes | None, node: str | None) -> None:
    file = tmp_path / 'cmdline'
    if line is not None:
        file.write_bytes(line)
    environ = {'API_GATEWAY_HOST': 'gw', 'MUSTER_REPORT_KERNEL_CMDLINE': str(file)}
    if node is None:
        with pytest.raises(SettingsError, match='no identity: set NODE_IDENTITY'):
            read_settings(environ)
    else:
        assert read_settings(environ).node == node
        assert read_settings({**environ, 'NODE_IDENTITY': ' '}).node == node
        assert read_settings({**environ, 'NODE_IDENTITY': 'own'}).node == 'own'


@pytest.mark.parametrize(
    ('environ', 'url'),
    [
        ({}, 'https://gw.example.com/apis/cfs/v3/components/x1'),
        ({'API_GATEWAY_HOST': 'gw:8443'}, 'https://gw:8443/apis/cfs/v3/components/x1'),
        ({'MUSTER_REPORT_BASE_PATH': 'own/path/'}, 'https://gw.example.com/own/path/v3/components/x1'),
        ({'MUSTER_REPORT_BASE_PATH': '/'}, 'https://gw.example.com/v3/components/x1'),
        ({'MUSTER_REPORT_URL': 'http://muster:8100'}, 'http://muster:8100/v3/components/x1'),
        ({'MUSTER_REPORT_URL': 'https://[fd00::1]:8100/m/'}, 'https://[fd00::1]:8100/m/v3/components/x1'),
    ],
)
def test_the_address(environ: dict[str, str], url: str) -> None:
    assert read_settings({**GIVEN, **environ}).component_url == url


TOKEN = {'MUSTER_REPORT_TOKEN_FILE': '/t'}


@pytest.mark.parametrize(
    ('environ', 'words'),
    [
        ({'API_GATEWAY_HOST': ''}, 'set API_GATEWAY_HOST, or MUSTER_REPORT_URL'),
        ({'API_GATEWAY_HOST': 'https://gw'}, 'API_GATEWAY_HOST makes no address'),
        ({'API_GATEWAY_HOST': 'gw:port'}, 'API_GATEWAY_HOST makes no address'),
        ({'API_GATEWAY_HOST': 'user@gw'}, 'API_GATEWAY_HOST makes no address'),
        ({'API_GATEWAY_HOST': 'g\nw'}, 'API_GATEWAY_HOST makes no address'),
        ({'MUSTER_REPORT_URL': 'muster:8100'}, 'MUSTER_REPORT_URL makes no address'),
        ({'MUSTER_REPORT_URL': 'ftp://muster'}, 'MUSTER_REPORT_URL makes no address'),
        ({'MUSTER_REPORT_URL': 'https://'}, 'MUSTER_REPORT_URL makes no address'),
        ({'MUSTER_REPORT_URL': 'https://[::1'}, 'MUSTER_REPORT_URL makes no address'),
        ({'MUSTER_REPORT_URL': 'https://muster?a=1'}, 'MUSTER_REPORT_URL makes no address'),
        ({'MUSTER_REPORT_URL': 'https://muster/a b'}, 'MUSTER_REPORT_URL makes no address'),
        ({**TOKEN, 'MUSTER_REPORT_TOKEN_COMMAND': 'print'}, 'not both'),
        ({'MUSTER_REPORT_TOKEN_COMMAND': "print 'x"}, 'a quotation without end'),
        ({**TOKEN, 'MUSTER_REPORT_URL': 'http://muster:8100'}, 'a token is sent over https only'),
        ({'MUSTER_TRUST_URL': '/trust'}, 'MUSTER_TRUST_URL makes no address'),
        ({'MUSTER_TRUST_URL': 'http://a@muster/trust'}, 'MUSTER_TRUST_URL makes no address'),
        ({'MUSTER_TRUST_URL': 'http://m/t', 'MUSTER_TRUST_KEYS_FILE': 'keys'}, 'MUSTER_TRUST_KEYS_FILE needs to be'),
        ({'MUSTER_TRUST_URL': 'http://m/t', 'MUSTER_TRUST_KEYS_FILE': '/a b'}, 'MUSTER_TRUST_KEYS_FILE needs to be'),
        ({'MUSTER_TRUST_URL': 'http://m/t', 'MUSTER_TRUST_KEYS_FILE': '/%u'}, 'MUSTER_TRUST_KEYS_FILE needs to be'),
    ],
)
def test_settings_that_cannot_be_used_are_named(environ: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        read_settings({**GIVEN, **environ})


@pytest.mark.parametrize('host', ['127.0.0.1', 'localhost', '[::1]'])
def test_to_this_machine_a_token_may_go_without_tls(host: str) -> None:
    assert read_settings({**GIVEN, **TOKEN, 'MUSTER_REPORT_URL': f'http://{host}:8100'}).token_file == '/t'


@pytest.mark.parametrize(
    ('content', 'boot'),
    [
        (b'0b5e1f3c-5a35-4c39-9f0e-0f0e7d4a1c11\n', '0b5e1f3c-5a35-4c39-9f0e-0f0e7d4a1c11'),
        (b' boot 7 ', 'boot 7'),
        (b'b' * 128, 'b' * 128),
        (b'b' * 129, None),
        (b'b' * 1000, None),
        (b'', None),
        (b'\n', None),
        (b'a\nb', None),
        ('bööt'.encode(), None),
        (None, None),
    ],
)
def test_the_boot_is_what_the_file_says(tmp_path: Path, content: bytes | None, boot: str | None) -> None:
    file = tmp_path / 'boot_id'
    if content is not None:
        file.write_bytes(content)
    assert read_settings({**GIVEN, 'MUSTER_REPORT_BOOT_ID_FILE': str(file)}).boot == boot


def test_by_default_the_boot_is_the_kernels() -> None:
    assert read_settings(GIVEN).boot == Path('/proc/sys/kernel/random/boot_id').read_text().strip()


def test_sshd_is_left_alone_unless_there_is_an_address() -> None:
    assert read_settings({**GIVEN, 'MUSTER_TRUST_KEYS_FILE': '/keys'}).trust is None
    trust = read_settings({**GIVEN, 'MUSTER_TRUST_URL': 'http://m/meta-data?key=Global.cfs_public_key'}).trust
    assert trust == (
        'http://m/meta-data?key=Global.cfs_public_key',
        '/etc/ssh/trusted-user-ca-keys.pem',
        '/etc/ssh/sshd_config',
        '/run/sshd.pid',
    )


def test_the_example_and_the_page_name_every_setting_and_no_other() -> None:
    code = (AGENT / 'muster_report/settings.py').read_text()
    read = set(re.findall(r"'(NODE_IDENTITY|API_[A-Z_]+|MUSTER_[A-Z_]+)'", code))
    example = set(re.findall(r'^#?([A-Z_]+)=', (AGENT / 'systemd/report.env').read_text(), re.M))
    page = set(re.findall(r'^\| `([A-Z_]+)`', (AGENT.parent / 'docs/lanes/components-node-agent.md').read_text(), re.M))
    assert page == read
    assert read - example == {'MUSTER_REPORT_KERNEL_CMDLINE', 'MUSTER_REPORT_BOOT_ID_FILE'} and example <= read


@pytest.mark.parametrize('file', sorted((AGENT / 'muster_report').glob('*.py')), ids=lambda file: file.name)
def test_the_code_is_python_3_6(file: Path) -> None:
    tree = ast.parse(file.read_text(), feature_version=(3, 6))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == '__future__']
