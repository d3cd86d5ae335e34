"""Rules of a clone that Muster follows in TypeScript and pods in Python: one file of vectors for both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from muster_pod.complete_checkout import read_gitmodules, submodule_url
from muster_pod.failure import StepFailure
from muster_pod.git_lfs import is_pointer, read_lfs_failure

VECTORS = json.loads((Path(__file__).parents[2] / 'test' / 'git-vectors.json').read_text(encoding='utf-8'))
"""test/configurations/submodules.domain.test.ts reads it too."""


@pytest.mark.parametrize(('parent', 'url', 'expected'), VECTORS['submodule_urls'])
def test_the_address_of_a_submodule(parent: str, url: str, expected: str | None) -> None:
    if expected is not None:
        assert submodule_url(parent, url) == expected
        return
    with pytest.raises(StepFailure) as failure:
        submodule_url(parent, url)
    assert failure.value.code == 'repository_url_refused'


@pytest.mark.parametrize(('output', 'expected'), VECTORS['gitmodules'])
def test_of_gitmodules_only_paths_and_addresses_are_read(output: str, expected: dict[str, str]) -> None:
    assert read_gitmodules(output) == expected


@pytest.mark.parametrize(('text', 'expected'), VECTORS['lfs_pointers'])
def test_a_pointer_of_git_lfs_is_known(text: str, expected: bool) -> None:
    assert is_pointer(text) == expected


@pytest.mark.parametrize(('stderr', 'code', 'line'), VECTORS['lfs_failures'])
def test_why_git_lfs_failed(stderr: str, code: str, line: str) -> None:
    assert read_lfs_failure(stderr) == (code, line)
