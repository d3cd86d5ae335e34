"""Who executes a run: exactly one process, and who that is can be read from the outside."""

from __future__ import annotations

import json
import os
import time


def take_claim(run: str, keeper: dict[str, object]) -> bool:
    """Claims the run for this process; False when somebody has claimed it before, however often and concurrently this
    is tried.

    The file `claim` names the process so that it is recognised after its number was given to another one or the
    machine was started again: `pid`, `start_time` (field 22 of /proc/<pid>/stat) and `boot_id`; and as `keeper` the
    process that what a killed launcher leaves falls to, by `pid` and `start_time`. It appears with its
    whole content, and it is on the disk before anything of the run happens: a run starts at most once, even across a
    loss of power. Raises OSError when the directory cannot be written.
    """
    draft = os.path.join(run, f'.claim.{os.getpid()}.{time.monotonic_ns()}')
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, 'w', encoding='ascii') as file:
            own = {'pid': os.getpid(), 'start_time': start_time(), 'boot_id': _boot_id()}
            json.dump({**own, 'keeper': keeper}, file)
            file.flush()
            os.fsync(fd)
        os.link(draft, os.path.join(run, 'claim'))
        _sync_directory(run)
    except FileExistsError:
        return False
    finally:
        os.unlink(draft)
    return True


def _sync_directory(path: str) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def start_time() -> str:
    """Start of this process in clock ticks after boot. The second field, the name, may hold blanks and parentheses."""
    with open('/proc/self/stat', encoding='utf-8', errors='replace') as file:
        return file.read().rpartition(')')[2].split()[19]


def _boot_id() -> str:
    with open('/proc/sys/kernel/random/boot_id', encoding='ascii') as file:
        return file.read().strip()
