"""One repository: cloned whole, checked out, cleared of links that lead out of it."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Callable, Mapping

from .back_off import BackOff
from .clone_list import Clone
from .complete_checkout import Completion, EnvOf
from .escaping_links import remove_escaping_links
from .failure import StepFailure
from .git import GitFailed, Gits
from .git_failure import is_full_disk, read_git_failure
from .wording import log, reason_of


def clone_one(
    gits: Gits,
    clone: Clone,
    env: Mapping[str, str],
    env_of: EnvOf,
    tries: int,
    longest_pause: float,
    stop: threading.Event,
    fails: Callable[[StepFailure], None],
) -> list[str]:
    """Makes `clone.dest` a full clone with the commit checked out, answers the warnings; raises StepFailure.

    What may pass by itself is tried again with growing pauses; wrong credentials, an unknown repository or commit and a full
    disk are not (cfs-flows 2). `fails` hears of each try that is followed by another one.
    """
    if clone.commit and not re.fullmatch(r'[0-9a-f]{40}', clone.commit):
        raise StepFailure('commit_not_found', f"{clone.label}: '{clone.commit}' is not a full commit id.")
    pauses = BackOff(longest=longest_pause)
    tried = 0
    while True:
        tried += 1
        try:
            return _try(gits, clone, env, env_of)
        except GitFailed as failed:
            code, line = read_git_failure(failed.stderr)
            if is_full_disk(failed.stderr):
                raise StepFailure('clone_failed', _sentence(clone, 'No space left on device')) from None
            if code == 'repository_auth_failed' and clone.withheld is not None:
                raise StepFailure(clone.withheld.code, _sentence(clone, f'{line}. {clone.withheld.message}')) from None
            if code != 'clone_failed' or tried >= tries or stop.is_set():
                raise StepFailure(code, _sentence(clone, line)) from None
            pause = pauses.next()
            failure = StepFailure(code, _sentence(clone, line))
            fails(failure)
            log(f'{failure.message}; again in {pause:.1f} s')
            stop.wait(pause)
        except OSError as error:
            raise StepFailure('clone_failed', _sentence(clone, reason_of(error))) from None


def _sentence(clone: Clone, reason: str) -> str:
    return _masked(clone, f'{clone.label}: {clone.address.url}: {reason}')


def _masked(clone: Clone, text: str) -> str:
    for secret in clone.secrets:
        text = text.replace(secret, '********')
    return text


def _try(gits: Gits, clone: Clone, env: Mapping[str, str], env_of: EnvOf) -> list[str]:
    folder, name = os.path.split(clone.dest)
    part = os.path.join(folder, f'.{name}.part')
    shutil.rmtree(part, ignore_errors=True)
    try:
        url = clone.address.url
        gits.run('clone', '--quiet', '--no-checkout', '--template=', '--', url, part, env=env)
        if not clone.commit:
            if not _has(gits, part, 'HEAD'):
                raise StepFailure('commit_not_found', f'{clone.label}: {url} has no commit on its default branch.')
        elif not _has(gits, part, clone.commit):
            _fetch_commit(gits, part, clone, env)
        gits.run('-C', part, 'checkout', '--quiet', '--force', '--detach', clone.commit or 'HEAD', '--')
        completion = Completion(gits, part, env_of)
        try:
            completion.complete(part, clone.address)
        except StepFailure as failure:
            raise StepFailure(failure.code, _masked(clone, f'{clone.label}: {failure.message}')) from None
        warnings = sorted(completion.warnings + remove_escaping_links(part))
        _remove(clone.dest)
        os.rename(part, clone.dest)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return [f'{clone.label}: {warning}' for warning in warnings]


def _has(gits: Gits, part: str, commit: str) -> bool:
    try:
        gits.run('-C', part, 'rev-parse', '--verify', '--quiet', f'{commit}^{{commit}}')
    except GitFailed as failed:
        if gits.stopped:
            raise
        # Without a word: it is not there.
        if failed.stderr:
            raise
        return False
    return True


def _fetch_commit(gits: Gits, part: str, clone: Clone, env: Mapping[str, str]) -> None:
    """Brings a commit that no branch or tag reaches, where the server gives it out."""
    try:
        gits.run('-C', part, 'fetch', '--quiet', '--no-tags', '--', clone.address.url, clone.commit, env=env)
    except GitFailed as failed:
        if read_git_failure(failed.stderr)[0] != 'commit_not_found':
            raise
    if not _has(gits, part, clone.commit):
        raise StepFailure(
            'commit_not_found',
            f'{clone.label}: {clone.address.url} has no commit {clone.commit} that can be fetched.',
        )


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)
