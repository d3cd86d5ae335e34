"""Git as a child process of a pod's step."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest
from muster_pod.git import GitFailed, Gits
from muster_pod.git_failure import read_git_failure
from runs import is_running, wait_until

MIB = 1024 * 1024


def gits(folder: Path, script: str, **more: float) -> Gits:
    """Gits whose git is a script."""
    program = folder / 'git'
    program.write_text(f'#!/bin/sh\n{script}\n')
    program.chmod(0o755)
    return Gits(str(folder), {'PATH': f'{folder}:/usr/bin:/bin'}, **more)


def test_of_what_git_says_the_end_alone_is_held(tmp_path: Path) -> None:
    talkative = gits(tmp_path, f"head -c {32 * MIB} /dev/zero >&2; echo 'fatal: the end' >&2; exit 128")
    tracemalloc.start()
    try:
        with pytest.raises(GitFailed) as failed:
            talkative.run('fetch')
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert failed.value.stderr.endswith('fatal: the end\n')
    assert len(failed.value.stderr) == 64 * 1024
    assert most < 2 * MIB


def test_what_git_prints_does_not_keep_it_waiting(tmp_path: Path) -> None:
    gits(tmp_path, f'head -c {MIB} /dev/zero; head -c {MIB} /dev/zero >&2').run('fetch')


def test_one_that_hangs_is_ended_with_all_that_it_has_started(tmp_path: Path) -> None:
    # As ssh does to a server that hangs, what git has started holds its stderr open.
    hung = gits(tmp_path, f'sleep 600 & echo $! > {tmp_path}/helper; wait', limit=5)
    began = time.monotonic()
    with pytest.raises(GitFailed) as failed:
        hung.run('clone')
    assert time.monotonic() - began < 50
    # It may pass by itself, so it counts as one try.
    assert read_git_failure(failed.value.stderr) == ('clone_failed', 'fatal: git did not end within 5 s')
    helper = int((tmp_path / 'helper').read_text())
    wait_until(lambda: not is_running(helper), 'the end of the helper')


def test_one_that_ends_in_time_is_left_alone(tmp_path: Path) -> None:
    gits(tmp_path, 'sleep 0.1', limit=120).run('clone')
