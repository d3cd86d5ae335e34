"""Step `teardown` of a pod, and what is common to all steps."""

from __future__ import annotations

import signal
import time
import subprocess
import sys

import pytest
from pod import Pod
from pod_server import Muster, answers, cuts
from runs import PATIENCE, wait_until


def test_it_waits_for_muster_and_takes_its_exit_status(pod: Pod, muster: Muster) -> None:
    muster.fault('/teardown?', answers(503), cuts, answers(200, {'done': False}))
    process = pod.start('teardown')
    wait_until(lambda: not muster.faults, 'the questions')
    assert process.poll() is None
    with muster.changed:
        muster.teardown = {'done': True, 'exit_code': 3}
        muster.changed.notify_all()
    assert process.wait(PATIENCE) == 3
    assert muster.states('teardown') == ['started', 'done']


def test_term_ends_it_at_once(pod: Pod, muster: Muster) -> None:
    process = pod.start('teardown')
    wait_until(lambda: any('/teardown?' in path for _, path in muster.requests), 'the question')
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 128 + signal.SIGTERM
    # Before the answer to the question, which takes 25 s.
    assert time.monotonic() - began < 20


def test_a_session_that_is_unknown_ends_it(pod: Pod, muster: Muster) -> None:
    muster.fault('/teardown?', answers(404))
    assert pod.run('teardown') == 1


@pytest.mark.parametrize('step', ['clone', 'inventory', 'ansible', 'teardown'])
def test_what_the_environment_lacks_is_named(pod: Pod, step: str) -> None:
    assert pod.run(step, MUSTER_INGEST_URL='') == 2
    assert 'MUSTER_INGEST_URL is not set' in pod.log(step)
    assert pod.run(step, MUSTER_INGEST_URL='ftp://x') == 2


def test_a_step_that_is_none_is_a_usage_error(pod: Pod) -> None:
    done = subprocess.run(
        [sys.executable, '-m', 'muster_pod', 'other'], env=pod.env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and 'usage' in done.stderr


OTHER_PROTOCOL = answers(400, {'code': 'runner_protocol_unsupported', 'title': 'Runner protocol is not known'})


def test_a_server_that_speaks_an_older_protocol_is_asked_again_since_another_may_stand_beside_it(
    pod: Pod, muster: Muster
) -> None:
    muster.fault('/steps/teardown', OTHER_PROTOCOL)
    muster.fault('/teardown?', OTHER_PROTOCOL, OTHER_PROTOCOL)
    muster.teardown = {'done': True, 'exit_code': 3}
    assert pod.run('teardown') == 3
    assert not muster.faults
    assert 'not reported: teardown started: 400 Runner protocol is not known' in pod.log('teardown')


def test_one_that_stays_so_ends_it(pod: Pod, muster: Muster) -> None:
    muster.fault('/teardown?', *[OTHER_PROTOCOL] * 50)
    muster.fault('/steps/', *[OTHER_PROTOCOL] * 50)
    code = 'import sys, muster_pod.ingest as i, muster_pod.__main__ as m; i._UPDATE_SECONDS = 8.0; sys.exit(m.main(sys.argv))'
    words = [sys.executable, '-c', code, 'teardown']
    done = subprocess.run(words, env=pod.env, cwd='/', capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 1, done.stderr
    assert 'Muster does not take this session: 400 Runner protocol is not known' in done.stderr
    assert 2 < len([path for _, path in muster.requests if '/teardown?' in path]) < 20
