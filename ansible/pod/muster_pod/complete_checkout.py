"""What a checkout needs from other repositories and servers: submodules, and content that git-lfs keeps."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from .escaping_links import remove_escaping_links
from .failure import StepFailure
from .git import GitFailed, Gits
from .git_address import Address, parse_address
from .git_failure import read_git_failure
from .git_lfs import POINTER_MAX, is_pointer, read_lfs_failure

_DEPTH_MAX = 20
_SETTINGS = (
    'lfs.transfer.maxretries=2',
    'lfs.skipdownloaderrors=false',
    'filter.lfs.clean=git-lfs clean -- %f',
    'filter.lfs.smudge=git-lfs smudge -- %f',
    'filter.lfs.process=git-lfs filter-process',
    'filter.lfs.required=true',
)

EnvOf = Callable[[Address], Mapping[str, str]]


class Completion:
    """One checkout that is completed. `env_of` is the environment of a git that reaches an address."""

    def __init__(self, gits: Gits, root: str, env_of: EnvOf) -> None:
        self._gits = gits
        self._root = root
        self._env_of = env_of
        self.warnings: list[str] = []

    def complete(self, folder: str, address: Address, depth: int = 0) -> None:
        """Brings in all that the commit has elsewhere; raises StepFailure that names what cannot be had."""
        modules, attributes, lfs_config = self._contents(folder)
        if not modules and not attributes:
            return
        self.warnings += remove_escaping_links(self._root)
        pointers = self._pointers(folder) if attributes else []
        if pointers:
            self._fetch_lfs(folder, address, pointers, lfs_config)
        if not modules:
            return
        urls = self._named_urls(folder)
        for path, commit in modules:
            try:
                self._bring_in(folder, address, path, commit, urls.get(path), depth)
            except StepFailure as failure:
                raise StepFailure(failure.code, f'submodule {path}: {failure.message}') from None

    def _contents(self, folder: str) -> tuple[list[tuple[str, str]], bool, bool]:
        entries = self._gits.output('-C', folder, 'ls-tree', '-r', '-z', 'HEAD').split('\0')
        modules = []
        for entry in entries:
            if entry.startswith('160000 '):
                head, _, path = entry.partition('\t')
                modules.append((path, head.split(' ')[2]))
        return modules, any(e.endswith('.gitattributes') for e in entries), any(e.endswith('\t.lfsconfig') for e in entries)

    def _named_urls(self, folder: str) -> dict[str, str]:
        """Only path and address are read, out of the commit itself."""
        pattern = r'^submodule\..*\.(path|url)$'
        command = ('-C', folder, 'config', '--blob', 'HEAD:.gitmodules', '-z', '--get-regexp', pattern)
        return read_gitmodules(self._output_or_none(*command))

    def _bring_in(self, folder: str, parent: Address, path: str, commit: str, named: str | None, depth: int) -> None:
        if named is None:
            raise StepFailure('submodule_unknown', f'{parent.url} has no address for it in .gitmodules')
        if depth >= _DEPTH_MAX:
            raise StepFailure('repository_unsafe', f'{parent.url} has more than {_DEPTH_MAX} levels of submodules')
        address = parse_address(submodule_url(parent.url, named))
        dest = _real_folder(folder, path, parent.url)
        env = self._env_of(address)
        try:
            self._gits.run('clone', '--quiet', '--no-checkout', '--template=', '--', address.url, dest, env=env)
            if not self._has(dest, commit):
                self._gits.run('-C', dest, 'fetch', '--quiet', '--no-tags', '--', address.url, commit, env=env)
            self._gits.run('-C', dest, 'checkout', '--quiet', '--force', '--detach', commit, '--')
        except GitFailed as failed:
            if self._gits.stopped:
                raise
            code, line = read_git_failure(failed.stderr)
            if code == 'clone_failed':
                raise
            raise StepFailure(code, f'{address.url}: {line}') from None
        self.complete(dest, address, depth + 1)

    def _has(self, folder: str, commit: str) -> bool:
        try:
            self._gits.run('-C', folder, 'rev-parse', '--verify', '--quiet', f'{commit}^{{commit}}')
        except GitFailed:
            return False
        return True

    def _pointers(self, folder: str) -> list[str]:
        paths = self._gits.output('-C', folder, 'ls-files', '-z', '--', ':(attr:filter=lfs)').split('\0')
        return [path for path in paths if path and _is_pointer_file(os.path.join(folder, path))]

    def _fetch_lfs(self, folder: str, address: Address, pointers: list[str], has_config: bool) -> None:
        more = f' and {len(pointers) - 1} more files' if len(pointers) > 1 else ''
        what = f'{address.url}: {pointers[0]}{more}'
        try:
            self._gits.run('lfs', 'version')
        except GitFailed:
            if self._gits.stopped:
                raise
            reason = 'its content is kept by git-lfs, which is not installed in this image'
            raise StepFailure('lfs_unavailable', f'{what}: {reason}') from None
        named = ''
        for key in ('lfs.url', 'remote.origin.lfsurl') if has_config else ():
            named = named or self._output_or_none('-C', folder, 'config', '--blob', 'HEAD:.lfsconfig', '--get', key).strip()
        server = parse_address(named) if named else address
        settings = [*_SETTINGS, *([f'lfs.url={server.url}'] if named else [])]
        command = ['-C', folder, *(word for setting in settings for word in ('-c', setting)), 'lfs']
        env = self._env_of(server)
        try:
            self._gits.run(*command, 'fetch', '--include=', '--exclude=', 'origin', 'HEAD', env=env)
            self._gits.run(*command, 'checkout', env=env)
        except GitFailed as failed:
            if self._gits.stopped:
                raise
            code, line = read_lfs_failure(failed.stderr)
            if code == 'clone_failed':
                raise
            raise StepFailure(code, f'{what}: git-lfs: {line}') from None
        left = self._pointers(folder)
        if left:
            raise StepFailure('lfs_object_missing', f'{address.url}: git-lfs did not bring {left[0]}')

    def _output_or_none(self, *args: str) -> str:
        try:
            return self._gits.output(*args)
        except GitFailed:
            if self._gits.stopped:
                raise
            return ''


def read_gitmodules(output: str) -> dict[str, str]:
    """Addresses by path, from `git config -z` over `.gitmodules`."""
    named: dict[str, dict[str, str]] = {}
    for entry in output.split('\0'):
        key, end, value = entry.partition('\n')
        found = re.fullmatch(r'submodule\.(.*)\.(path|url)', key, re.DOTALL)
        if found and end:
            named.setdefault(found[1], {})[found[2]] = value
    return {m['path'].rstrip('/'): m['url'] for m in named.values() if 'path' in m and 'url' in m}


def submodule_url(parent: str, url: str) -> str:
    """The address of a submodule: a relative one is beside that of the repository it stands in."""
    if not url.startswith(('./', '../')):
        return url
    scheme = re.match(r'[A-Za-z][A-Za-z0-9+.-]*://[^/]*', parent)
    head = scheme[0] if scheme else ''
    path = parent[len(head) :].rstrip('/')
    separator = '/'
    while url.startswith(('./', '../')):
        if url.startswith('./'):
            url = url[2:]
            continue
        url = url[3:]
        cut = path.rfind('/')
        if cut < 0 and not head:
            cut, separator = path.rfind(':'), ':'
        if cut < 0:
            raise StepFailure('repository_url_refused', f'its address leads above {parent}')
        path = path[:cut]
    return f'{head}{path}{separator}{url}'.rstrip('/')


def _real_folder(folder: str, path: str, url: str) -> str:
    here = folder
    for step in path.split('/'):
        here = os.path.join(here, step)
        unsafe = step in ('', '.', '..') or step.lower() == '.git'
        if unsafe or (os.path.lexists(here) and (os.path.islink(here) or not os.path.isdir(here))):
            raise StepFailure('repository_unsafe', f'{url} has something else in the place of a folder on the way to it')
        if not os.path.lexists(here):
            os.mkdir(here)
    return here


def _is_pointer_file(path: str) -> bool:
    if os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path) > POINTER_MAX:
        return False
    with open(path, encoding='latin-1', newline='') as file:
        return is_pointer(file.read(POINTER_MAX))
