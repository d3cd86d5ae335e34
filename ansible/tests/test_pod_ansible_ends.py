"""Step `ansible` of a pod: what ends a playbook before its end, and what arrives of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from pod import RUN, Pod
from pod_server import Muster, answers, cuts
from runs import PATIENCE, is_running, wait_until

def test_a_token_that_is_not_taken_any_more_ends_playbook_and_container(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.playbook(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        f'    - raw: touch {pod.path("up")}; sleep 2\n    - shell: sleep 600\n'
    )
    pod.order()
    process = pod.start('ansible')
    wait_until(pod.path('up').exists, 'the playbook')
    muster.token = 'another'
    assert process.wait(PATIENCE) == 1
    assert pod.path(f'muster/work/runs/{RUN}/exit.json').exists()


def test_term_ends_the_playbook_and_ships_what_there_is(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.playbook(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        f'    - shell: |\n        trap "" TERM\n        echo $$ > {pod.path("up")}\n        while true; do sleep 1; done\n'
    )
    pod.order()
    process = pod.start('ansible')
    pid = int(wait_until(lambda: pod.path('up').exists() and pod.read('up').strip(), 'the playbook'))
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 128 + signal.SIGTERM
    assert not is_running(pid)
    run = muster.runs[RUN]
    assert run.exit is not None and run.exit['code'] == 143
    assert run.lines == pod.read(f'muster/work/runs/{RUN}/events.jsonl').splitlines()


@pytest.mark.parametrize(
    ('by_itself', 'told'), [(1, (143, 'SIGTERM')), (0, (0, None))], ids=['fails', 'ends well all the same']
)
def test_an_ansible_that_ends_by_itself_on_term(
    pod: Pod, muster: Muster, by_itself: int, told: tuple[int, str | None]
) -> None:
    pod.inventory_done('h1')
    pod.playbook('- hosts: "{{ \'all\' | waits }}"\n  gather_facts: false\n')
    pod.playbook(
        'import os, signal, time\n\n\ndef waits(hosts):\n'
        f'    signal.signal(signal.SIGTERM, lambda *_: os._exit({by_itself}))\n'
        f'    open({str(pod.path("up"))!r}, "w").close()\n    time.sleep(60)\n    return hosts\n\n\n'
        'class FilterModule:\n    def filters(self):\n        return {"waits": waits}\n',
        'filter_plugins/waits.py',
    )
    pod.order()
    process = pod.start('ansible')
    wait_until(pod.path('up').exists, 'the playbook')
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 128 + signal.SIGTERM
    assert json.loads(pod.read(f'muster/work/runs/{RUN}/exit.json'))['code'] == by_itself
    end = muster.runs[RUN].exit
    assert end is not None and (end['code'], end['signal']) == told


def test_after_term_what_waits_for_a_muster_that_was_away_is_sent_at_once(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.playbook(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        f'    - raw: touch {pod.path("up")}\n    - shell: sleep 60\n'
    )
    # It asks for a pause that its container does not live to see the end of, then it is away once more.
    asked = threading.Event()

    def busy(request: BaseHTTPRequestHandler) -> bool:
        asked.set()
        return answers(503, None, Retry_After='60')(request)

    muster.fault('/events', busy, cuts)
    pod.order()
    process = pod.start('ansible')
    wait_until(pod.path('up').exists, 'the playbook')
    wait_until(asked.is_set, 'the trouble')
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 128 + signal.SIGTERM
    # It does not wait for the end of that pause.
    assert time.monotonic() - began < 50
    assert not muster.faults
    run = muster.runs[RUN]
    assert run.exit is not None
    assert run.lines == pod.read(f'muster/work/runs/{RUN}/events.jsonl').splitlines()
    assert run.output == pod.path(f'muster/work/runs/{RUN}/output.log').read_bytes()


def test_term_while_it_waits_for_orders_ends_it_at_once(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    process = pod.start('ansible')
    wait_until(lambda: any('/next' in path for _, path in muster.requests), 'the question')
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 128 + signal.SIGTERM
    # Before the answer to its question, which takes 25 s.
    assert time.monotonic() - began < 20


def test_as_process_1_it_leaves_no_zombie_and_ends_on_term(pod: Pod, muster: Muster) -> None:
    unshare = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child']
    if subprocess.run([*unshare, 'true'], capture_output=True, check=False).returncode != 0:
        pytest.skip('a process table of its own needs root')
    pod.inventory_done('h1')
    left, go, gone = pod.path('left'), pod.path('go'), pod.path('gone')
    # Until it has left the session of the run, the end of the run ends it too.
    orphan = f'(setsid sh -c "touch {left}; until [ -e {go} ]; do sleep 0.1; done; touch {gone}" > /dev/null 2>&1 &)'
    pod.playbook(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        f'    - raw: {orphan}; until [ -e {left} ]; do sleep 0.1; done\n'
    )
    pod.order()
    outer = pod.start('ansible', unshare)
    wait_until(lambda: muster.runs.get(RUN) and muster.runs[RUN].exit, 'the end of the run')
    inner = children_of(outer.pid)[0]
    wait_until(lambda: len(children_of(inner)) == 1, 'the orphan at process 1')
    go.touch()
    wait_until(gone.exists, 'the end of the orphan')
    wait_until(lambda: children_of(inner) == [], 'its status to be taken')
    os.kill(inner, signal.SIGTERM)
    assert outer.wait(PATIENCE) == 128 + signal.SIGTERM


def children_of(pid: int) -> list[int]:
    """Zombies too; without the warm process of the pod, which stays."""
    children = Path(f'/proc/{pid}/task/{pid}/children').read_text().split()
    return [int(child) for child in children if not is_warm(child)]


def is_warm(pid: str) -> bool:
    try:
        return Path(f'/proc/{pid}/comm').read_text() == 'muster-warm\n'
    except OSError:
        return False


def test_a_launcher_that_is_killed_is_a_lost_run(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.playbook(f'- hosts: all\n  gather_facts: false\n  tasks:\n    - shell: echo $$ > {pod.path("up")}; sleep 600\n')
    pod.order()
    process = pod.start('ansible')
    pid = int(wait_until(lambda: pod.path('up').exists() and pod.read('up').strip(), 'the playbook'))
    os.kill(json.loads(pod.read(f'muster/work/runs/{RUN}/claim'))['pid'], signal.SIGKILL)
    assert process.wait(PATIENCE) == 1
    assert muster.failure('ansible')['code'] == 'run_lost'
    assert muster.runs[RUN].exit is None
    assert not is_running(pid)


def test_what_muster_does_not_want_any_more_is_ended(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.playbook(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        f'    - raw: echo $$ > {pod.path("up")}; sleep 1\n    - shell: sleep 600\n'
    )
    pod.order()
    process = pod.start('ansible')
    wait_until(pod.path('up').exists, 'the playbook')
    muster.faults = [('/runs/', answers(404, {'code': 'not_found'}))] * 5
    muster.finish(4)
    assert process.wait(PATIENCE) == 4
    assert pod.path(f'muster/work/runs/{RUN}/exit.json').exists()
