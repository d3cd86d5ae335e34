"""Submodules and git-lfs in step `clone` of a pod, against a real git server."""

from __future__ import annotations

import json
from pathlib import Path

from git_server import PASSWORD, USER, GitServer, git
from pod import Pod
from pod_server import Muster

POINTER = f'version https://git-lfs.github.com/spec/v1\noid sha256:{"a" * 64}\nsize 12\n'


def listed(pod: Pod, url: str, commit: str) -> None:
    entry = {'layer': 0, 'url': url, 'commit': commit, 'dest': 'layer0', 'username': USER, 'password': PASSWORD}
    pod.write('muster/credentials/credentials.json', json.dumps([entry]))


def with_submodule(work: Path, server: GitServer, url: str, commit: str) -> str:
    """Repository `a` of the server with a submodule at `roles/shared`; answers its commit."""
    modules = f'[submodule "s"]\n\tpath = roles/shared\n\turl = {url}\n\tupdate = !touch {work}/ran\n'
    server.repository('a', {'site.yml': '[]\n', '.gitmodules': modules})
    git(server.root / 'a', 'update-index', '--add', '--cacheinfo', f'160000,{commit},roles/shared')
    git(server.root / 'a', 'commit', '--quiet', '-m', 'submodule')
    return git(server.root / 'a', 'rev-parse', 'HEAD')


def test_a_submodule_is_there_at_its_commit(pod: Pod, repositories: GitServer, tmp_path: Path) -> None:
    shared = repositories.repository('shared', {'tasks/main.yml': 'shared\n'})
    commit = with_submodule(tmp_path, repositories, '../shared', shared)
    listed(pod, f'{repositories.url}/a', commit)
    assert pod.run('clone') == 0
    assert pod.read('inventory/layer0/roles/shared/tasks/main.yml') == 'shared\n'
    assert not (tmp_path / 'ran').exists()


def test_a_submodule_whose_commit_is_gone_fails_by_path(pod: Pod, muster: Muster, repositories: GitServer, tmp_path: Path) -> None:
    repositories.repository('shared', {'tasks/main.yml': 'shared\n'})
    commit = with_submodule(tmp_path, repositories, '../shared', 'd' * 40)
    listed(pod, f'{repositories.url}/a', commit)
    assert pod.run('clone') == 1
    assert 'submodule roles/shared' in json.dumps(muster.failure('clone'))
    assert not pod.path('inventory/layer0').exists()


def test_a_submodule_on_another_host_gets_named_credentials_only(pod: Pod, muster: Muster, repositories: GitServer, tmp_path: Path) -> None:
    shared = repositories.repository('shared', {'tasks/main.yml': 'shared\n'})
    other = repositories.url.replace('127.0.0.1', 'localhost')
    commit = with_submodule(tmp_path, repositories, f'{other}/shared', shared)
    listed(pod, f'{repositories.url}/a', commit)
    assert pod.run('clone') == 1
    assert 'repository_auth_failed' in json.dumps(muster.failure('clone'))
    hosts = [other.removeprefix('http://')]
    pod.write('muster/credentials/vcs.json', json.dumps({'username': USER, 'password': PASSWORD, 'hosts': hosts}))
    assert pod.run('clone') == 0
    assert pod.read('inventory/layer0/roles/shared/tasks/main.yml') == 'shared\n'


def test_a_pointer_of_git_lfs_is_never_handed_on(pod: Pod, muster: Muster, repositories: GitServer) -> None:
    files = {'site.yml': '[]\n', '.gitattributes': '*.gz filter=lfs\n', 'files/app.gz': POINTER}
    listed(pod, f'{repositories.url}/a', repositories.repository('a', files))
    assert pod.run('clone', GIT_RETRY_MAX='1') == 1
    assert 'files/app.gz' in json.dumps(muster.failure('clone')) or 'lfs' in json.dumps(muster.failure('clone'))
    assert not pod.path('inventory/layer0').exists()
