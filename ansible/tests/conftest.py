"""Fixtures: runs, playbooks, small disks. Everything a test writes is below its own tmp_path."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from git_server import GitServer
from pod import Pod
from pod_server import Muster
from runs import Run, Workbench, processes_of, require_tmpfs
from warm_place import Place


@pytest.fixture
def new_run(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    """Makes runs; launchers that a test leaves behind are ended."""
    made: list[Run] = []

    def make(name: str = 'run') -> Run:
        made.append(Run(tmp_path / name))
        return made[-1]

    yield make
    for run in made:
        for pid in processes_of(run.directory):
            # It may have ended since it was seen.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    """Plays playbooks."""
    return Workbench(tmp_path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 KiB."""
    yield from _disk(tmp_path, '256k')


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MiB."""
    yield from _disk(tmp_path, '1m')


def _disk(tmp_path: Path, size: str) -> Iterator[Path]:
    place = tmp_path / 'disk'
    reason = require_tmpfs(place, size)
    if reason:
        pytest.skip(reason)
    yield place
    subprocess.run(['umount', '-l', str(place)], check=True)


@pytest.fixture
def muster() -> Iterator[Muster]:
    """A server for pods."""
    server = Muster()
    yield server
    server.close()


@pytest.fixture
def pod(tmp_path: Path, muster: Muster) -> Iterator[Pod]:
    """A session's pod; what it leaves running is ended."""
    made = Pod(tmp_path / 'pod', muster)
    yield made
    made.close()


@pytest.fixture
def repositories(tmp_path: Path) -> Iterator[GitServer]:
    """A git server that asks for a password."""
    server = GitServer(tmp_path / 'repositories')
    yield server
    server.close()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A repository for runs by a warm process."""
    made = Place(tmp_path)
    yield made
    if made.process is not None:
        made.process.process.kill()
        made.process.close()
