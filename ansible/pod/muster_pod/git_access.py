"""How git reaches a repository: by environment and files, in which no secret is but in a place that is no disk."""

from __future__ import annotations

import os
import shlex

from .clone_list import Clone
from .git_address import Address
from .other_server import same_server
from .places import Places

_HERE = os.path.dirname(os.path.abspath(__file__))


def access_of(clone: Clone, where: Places, scratch: str, memory: str) -> dict[str, str]:
    """Environment of a git that clones this. `scratch` and `memory` are folders of this step alone."""
    env = {'GIT_ASKPASS': os.path.join(_HERE, 'askpass')}
    env.update(MUSTER_CLONES=where.credentials, MUSTER_CLONE=str(clone.number))
    if clone.address.scheme == 'ssh':
        env.update(GIT_SSH_COMMAND=_ssh_command(where, memory), GIT_SSH_VARIANT='ssh')
    trusted = _trusted(clone, where)
    if trusted:
        env['GIT_SSL_CAINFO'] = os.path.join(scratch, f'ca{clone.number}{"" if clone.ca or clone.ca_alone else "p"}.pem')
        with open(env['GIT_SSL_CAINFO'], 'wb') as file:
            file.write(trusted)
    return env


def access_to(clone: Clone, where: Places, scratch: str, memory: str, address: Address) -> dict[str, str]:
    """The same for another address that the repository names: a source's credentials and certificates stay with its own server."""
    if same_server(clone.address, address):
        return access_of(clone, where, scratch, memory)
    env = access_of(clone._replace(address=address, ca='', ca_alone=False), where, scratch, memory)
    return {**env, 'MUSTER_CLONE_OTHER': address.url, 'MUSTER_VCS': where.common}


def _trusted(clone: Clone, where: Places) -> bytes:
    """Certificates to trust: its own alone, or the platform's besides the public ones; b'' where git knows them itself."""
    if clone.ca:
        return clone.ca.encode()
    platform = _content(where.platform_ca)
    if not platform or clone.ca_alone:
        return platform
    return platform + b'\n' + _content(where.public_ca)


def _content(path: str) -> bytes:
    if not os.path.isfile(path):
        return b''
    with open(path, 'rb') as file:
        return file.read()


def copy_ssh_key(where: Places, memory: str) -> None:
    """Puts the key for ssh where it is private to us: ssh refuses one that others may read."""
    for name in ('plain_key', 'private'):
        source = os.path.join(where.session, name)
        if os.path.isfile(source):
            with open(source, 'rb') as file, open(os.path.join(memory, 'key'), 'wb', opener=_private) as copy:
                copy.write(file.read())
            return


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _ssh_command(where: Places, memory: str) -> str:
    """The command for git, which hands it to a shell."""
    options = ['BatchMode=yes', 'LogLevel=ERROR', 'ConnectTimeout=15', 'ServerAliveInterval=15', 'ServerAliveCountMax=4']
    known_hosts = os.path.join(where.session, 'known_hosts')
    options.append(f'GlobalKnownHostsFile={_file_name(known_hosts)}')
    # Hosts that are met for the first time are remembered for this step.
    options.append(f'UserKnownHostsFile={_file_name(os.path.join(memory, "known_hosts"))}')
    options.append('StrictHostKeyChecking=accept-new')
    key = os.path.join(memory, 'key')
    if os.path.isfile(key):
        options += [f'IdentityFile={_file_name(key)}', 'IdentitiesOnly=yes', 'IdentityAgent=none']
    return shlex.join(['ssh', '-F', '/dev/null', *(word for option in options for word in ('-o', option))])


def _file_name(path: str) -> str:
    """As ssh reads a name in an option: it splits at blanks and expands `%`."""
    return '"' + path.replace('%', '%%') + '"'
