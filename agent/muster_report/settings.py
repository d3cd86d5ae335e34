"""What the environment says about the report."""

import shlex
from ipaddress import ip_address
from typing import List, Mapping, NamedTuple, Optional
from urllib.parse import quote, urlsplit

from .identity import read_boot, read_identity
from .wording import one_line


class SettingsError(Exception):
    """The settings cannot be used; the text names the variable and what it needs."""


class TrustSettings(NamedTuple):
    """Where the keys of the certificate authority are, and what of sshd learns them."""

    url: str
    """Address that answers them."""
    keys_file: str
    sshd_config: str
    pid_file: str


class Settings(NamedTuple):
    """Settings that can be used."""

    node: str
    """Id of the component that this node is, fit to be logged."""
    component_url: str
    """Address of that component's record."""
    ca_file: Optional[str]
    """Certificates (PEM) that the server's must be signed by; None: those of the system."""
    token_command: Optional[List[str]]
    """Program and arguments that print a token."""
    token_file: Optional[str]
    """File with a token. At most one of the two is set; with neither no token is sent."""
    boot: Optional[str]
    """Which boot this is; None: it is not said."""
    trust: Optional[TrustSettings]
    """None: sshd is left alone."""


def read_settings(environ: Mapping[str, str]) -> Settings:
    """The settings in `environ`; an empty variable is as good as none. Raises SettingsError."""
    given = {name: value.strip() for name, value in environ.items() if value.strip()}
    node = read_identity(given.get('NODE_IDENTITY'), given.get('MUSTER_REPORT_KERNEL_CMDLINE', '/proc/cmdline'))
    if node is None:
        raise SettingsError('this node has no identity: set NODE_IDENTITY, or xname= on the kernel command line')
    url = _base_url(given)
    command, file = given.get('MUSTER_REPORT_TOKEN_COMMAND'), given.get('MUSTER_REPORT_TOKEN_FILE')
    if command and file:
        raise SettingsError('set MUSTER_REPORT_TOKEN_COMMAND or MUSTER_REPORT_TOKEN_FILE, not both')
    if (command or file) and url.scheme == 'http' and not _is_loopback(url.hostname):
        raise SettingsError('a token is sent over https only: MUSTER_REPORT_URL is http and not of this machine')
    return Settings(
        node=one_line(node.decode('utf-8', 'replace')),
        component_url='{}/v3/components/{}'.format(url.geturl().rstrip('/'), quote(node, safe='')),
        ca_file=given.get('MUSTER_REPORT_CA_FILE'),
        token_command=_words(command) if command else None,
        token_file=file,
        boot=read_boot(given.get('MUSTER_REPORT_BOOT_ID_FILE', '/proc/sys/kernel/random/boot_id')),
        trust=_trust(given),
    )


def _trust(given: Mapping[str, str]) -> Optional[TrustSettings]:
    url = given.get('MUSTER_TRUST_URL')
    if url is None:
        return None
    if not _is_address(url):
        raise _no_address('MUSTER_TRUST_URL')
    files = {
        'MUSTER_TRUST_KEYS_FILE': '/etc/ssh/trusted-user-ca-keys.pem',
        'MUSTER_TRUST_SSHD_CONFIG': '/etc/ssh/sshd_config',
        'MUSTER_TRUST_SSHD_PID_FILE': '/run/sshd.pid',
    }
    paths = [given.get(name, default) for name, default in files.items()]
    for name, path in zip(files, paths):
        # The name is written into sshd's configuration, where these would mean something.
        if not path.startswith('/') or not _is_plain(path) or '"' in path or '%' in path:
            raise SettingsError('{} needs to be an absolute path of plain characters'.format(name))
    return TrustSettings(url, *paths)


def _is_address(text: str) -> bool:
    try:
        url = urlsplit(text)
        usable = url.scheme in ('http', 'https') and url.hostname and url.port != 0
    except ValueError:
        return False
    return bool(usable) and url.username is None and not url.fragment and _is_plain(text)


def _base_url(given: Mapping[str, str]):
    """Address below which the versions of the API are, as parts."""
    name = 'MUSTER_REPORT_URL'
    text = given.get(name)
    if text is None:
        name = 'API_GATEWAY_HOST'
        if name not in given:
            raise SettingsError('nobody to report to: set API_GATEWAY_HOST, or MUSTER_REPORT_URL')
        if '/' in given[name]:
            raise _no_address(name)
        text = 'https://{}/{}'.format(given[name], given.get('MUSTER_REPORT_BASE_PATH', '/apis/cfs').lstrip('/'))
    if not _is_address(text) or urlsplit(text).query:
        raise _no_address(name)
    return urlsplit(text)


def _no_address(name: str) -> SettingsError:
    return SettingsError('{} makes no address: it needs to be like {}'.format(name, _EXAMPLES[name]))


_EXAMPLES = {
    'API_GATEWAY_HOST': 'api-gw.example.com, a port may follow',
    'MUSTER_REPORT_URL': 'https://muster.example.com:8100, without user, query and fragment',
    'MUSTER_TRUST_URL': 'https://muster.example.com:8100/api/v1/trust/ca, without user and fragment',
}


def _is_plain(text: str) -> bool:
    """Whether it can stand in a request line as it is."""
    return all('!' <= character <= '~' for character in text)


def _is_loopback(host: str) -> bool:
    if host == 'localhost':
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _words(command: str) -> List[str]:
    try:
        return shlex.split(command)
    except ValueError:
        raise SettingsError('MUSTER_REPORT_TOKEN_COMMAND has a quotation without end') from None
