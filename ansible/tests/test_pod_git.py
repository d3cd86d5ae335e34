"""Git as a child process of a pod's step."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from muster_pod.git import GitFailed, Gits

MIB = 1024 * 1024


def gits(folder: Path, script: str) -> Gits:
    """Gits whose git is a script."""
    program = folder / 'git'
    program.write_text(f'#!/bin/sh\n{script}\n')
    program.chmod(0o755)
    return Gits(str(folder), {'PATH': f'{folder}:/usr/bin:/bin'})


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
