"""Lets sshd trust the certificates of sessions (cfs-flows 6.3, node side)."""

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from typing import Callable, List, Optional

from .authority_keys import NoKeys, read_keys
from .request import NotThere
from .settings import TrustSettings
from .sshd_config import with_trusted_keys
from .wording import one_line

_LONGEST = 11
_CHECK_SECONDS = 30


def set_up_trust(
    settings: TrustSettings,
    get: Callable[[str], bytes],
    sleep: Callable[[float], None],
    log: Callable[[str], None],
) -> None:
    """Ends when sshd has been told. Waits for the keys for ever; a file that cannot be written is logged and left.

    Keys that are there already are not asked for again. sshd is told in any case: whoever wrote them may have been cut off.
    """
    keys = None if os.path.exists(settings.keys_file) else _until_there(settings.url, get, sleep, log)
    try:
        if keys is not None:
            _replace(settings.keys_file, ''.join(key + '\n' for key in keys), None)
            log('{} written with {} key(s)'.format(settings.keys_file, len(keys)))
        _configure(settings, log)
        _tell_sshd(settings, sleep, log)
    except OSError as error:
        log('trust is not set up: {}'.format(one_line(str(error))))


def _until_there(
    url: str, get: Callable[[str], bytes], sleep: Callable[[float], None], log: Callable[[str], None]
) -> List[str]:
    """The keys; the pause after try n (from 1) is n seconds, 11 at most."""
    tries = 0
    while True:
        try:
            return read_keys(get(url))
        except (NotThere, NoKeys) as error:
            tries += 1
            pause = min(_LONGEST, tries)
            log('no keys to trust from {} yet: {}; again in {} s'.format(one_line(url), error, pause))
        sleep(pause)


def _configure(settings: TrustSettings, log: Callable[[str], None]) -> None:
    # A link stays one: the file that it leads to is replaced.
    path = os.path.realpath(settings.sshd_config)
    with open(path, 'rb') as file:
        before = file.read().decode('utf-8', 'surrogateescape')
    after, other = with_trusted_keys(before, settings.keys_file)
    if other is not None:
        log('{} trusts {} instead; left as it is'.format(settings.sshd_config, one_line(other)))
    elif after != before:
        _replace(path, after, os.stat(path))
        log('{} names {}'.format(settings.sshd_config, settings.keys_file))


def _replace(path: str, content: str, like: Optional[os.stat_result]) -> None:
    """Puts a new file there at once, as an old one was, or readable for all (0644)."""
    new = '{}.muster-{}'.format(path, os.getpid())
    try:
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), 'wb') as file:
            file.write(content.encode('utf-8', 'surrogateescape'))
            if like is not None and (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(file.fileno(), like.st_uid, like.st_gid)
            os.fchmod(file.fileno(), 0o644 if like is None else like.st_mode & 0o7777)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except OSError:
        with suppress(OSError):
            os.unlink(new)
        raise


def _tell_sshd(settings: TrustSettings, sleep: Callable[[float], None], log: Callable[[str], None]) -> None:
    """Makes a running sshd read its configuration, unless that would end it."""
    refusal = _refusal(settings.sshd_config)
    if refusal is not None:
        log('sshd is not told, since it refuses {}: {}'.format(settings.sshd_config, refusal))
        return
    pid = _sshd(settings.pid_file)
    if pid is None:
        log('no sshd is running by {}: it will read its configuration when it starts'.format(settings.pid_file))
        return
    os.kill(pid, signal.SIGHUP)
    # The first may come while sshd is still starting, and be lost. While it starts anew it has the same number and ignores it.
    sleep(1)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGHUP)
    log('sshd told to read its configuration')


def _refusal(config: str) -> Optional[str]:
    """What sshd has against its configuration; with a wrong one it would end instead of reading it. None: nothing, or no sshd."""
    program = shutil.which('sshd', path=os.environ.get('PATH', os.defpath) + ':/usr/local/sbin:/usr/sbin:/sbin')
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, '-t', '-f', config],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_CHECK_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return 'it did not say so within {} s'.format(_CHECK_SECONDS)
    if done.returncode == 0:
        return None
    return one_line(done.stderr.decode('utf-8', 'replace')) or 'status {}'.format(done.returncode)


def _sshd(pid_file: str) -> Optional[int]:
    """The process that the file names, if it is an sshd: after a crash the number may be somebody else's."""
    try:
        with open(pid_file) as file:
            pid = int(file.read(32))
        with open('/proc/{}/comm'.format(pid)) as file:
            return pid if pid > 1 and file.read().strip() == 'sshd' else None
    except (OSError, ValueError):
        return None
