"""Step `ansible` of a pod: a disk that is full before, or that a playbook fills."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pod import PLAIN, RUN, Pod
from pod_server import Muster
from runs import require_tmpfs

FILL = 'cat /dev/zero > {work}/big || true'
"""A command of a playbook that fills the disk and ends well."""
LOSE = ': > {work}/runs/{run}/.results.json; ' + FILL
"""It takes the room that was kept for the results too."""


@pytest.fixture
def small_work(pod: Pod) -> Iterator[Path]:
    """A pod whose `/muster/work` is a small volume in memory."""
    work = pod.path('muster/work')
    work.rmdir()
    reason = require_tmpfs(work, '3m')
    if reason:
        pytest.skip(reason)
    yield work
    subprocess.run(['umount', '-l', work], check=True)


def test_a_playbook_that_fills_the_disk_ends_with_the_reason(pod: Pod, muster: Muster, small_work: Path) -> None:
    pod.inventory_done('h1')
    pod.playbook(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        f'    - shell: head -c 50000000 /dev/zero > {small_work}/big\n    - debug: msg=never\n'
    )
    pod.order()
    muster.finish(2)
    assert pod.run('ansible') == 2
    assert muster.failure('ansible')['code'] == 'disk_low'
    run = muster.runs[RUN]
    assert run.exit is not None and run.exit['code'] != 0


def fill_with(pod: Pod, work: Path, *commands: str) -> None:
    """A playbook whose tasks are commands."""
    tasks = ''.join(f'    - raw: "{command.format(work=work, run=RUN)}"\n' for command in commands)
    pod.playbook(f'- hosts: all\n  gather_facts: false\n  tasks:\n{tasks}')


def test_a_playbook_that_fills_the_disk_and_ends_well_has_its_results(pod: Pod, muster: Muster, small_work: Path) -> None:
    pod.inventory_done('h1')
    fill_with(pod, small_work, FILL)
    pod.order()
    muster.finish(0)
    assert pod.run('ansible') == 0
    assert muster.states('ansible') == ['started']
    run = muster.runs[RUN]
    assert run.results['hosts']['h1']['status'] == 'applied' and run.exit['code'] == 0


@pytest.mark.parametrize(
    ('commands', 'message'),
    [
        ((LOSE,), 'is full'),
        # Something else of the machine has made room again by the end.
        ((LOSE, 'rm {work}/big; rm {work}/runs/{run}/.results.json; mkdir {work}/runs/{run}/.results.json'), 'results'),
    ],
    ids=['full', 'room again'],
)
def test_results_that_a_full_disk_has_cost_fail_their_layer(
    pod: Pod, muster: Muster, small_work: Path, commands: tuple[str, ...], message: str
) -> None:
    pod.inventory_done('h1')
    fill_with(pod, small_work, *commands)
    pod.order()
    muster.finish(2)
    assert pod.run('ansible') == 2
    failure = muster.failure('ansible')
    assert failure['code'] == 'disk_low' and message in failure['message']
    run = muster.runs[RUN]
    assert run.results is None and run.exit['code'] == 74


def test_a_disk_that_is_full_before_is_said_at_once(pod: Pod, muster: Muster, small_work: Path) -> None:
    pod.inventory_done('h1')
    pod.playbook(PLAIN)
    (small_work / 'big').write_bytes(b'x' * 2_500_000)
    pod.order()
    muster.finish(1)
    assert pod.run('ansible') == 1
    assert muster.failure('ansible')['code'] == 'disk_low'
    run = muster.runs[RUN]
    assert run.exit['code'] == 127 and b'is full' in run.output
