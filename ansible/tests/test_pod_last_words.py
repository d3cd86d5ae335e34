"""What a step that failed leaves for Kubernetes, where Muster cannot be told."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest
from git_server import PASSWORD, USER, GitServer
from muster_pod.last_words import leave_words
from pod import SECOND_RUN, Pod
from pod_server import Muster, answers, cuts
from runs import PATIENCE, wait_until

OTHER_PROTOCOL = answers(400, {'code': 'runner_protocol_unsupported', 'title': 'Runner protocol is not known'})


def clones(pod: Pod, repositories: GitServer, **more: str) -> None:
    commit = repositories.repository('a', {'site.yml': 'x\n'})
    entry = {'layer': 0, 'url': f'{repositories.url}/a', 'commit': commit, 'dest': 'layer0', 'username': USER, **more}
    pod.write('muster/credentials/credentials.json', json.dumps([entry]))


def test_a_reason_that_muster_does_not_take(pod: Pod, muster: Muster, repositories: GitServer) -> None:
    muster.token = 'another'
    clones(pod, repositories, password='not-the-password')
    assert pod.run('clone') == 1
    assert muster.reports == []
    assert pod.last_words().startswith('layer 1: http://') and 'Authentication failed' in pod.last_words()
    assert 'not-the-password' not in pod.last_words()


def test_a_reason_that_muster_is_away_for_is_there_before_it_is_given_up(
    pod: Pod, muster: Muster, repositories: GitServer
) -> None:
    muster.fault('/steps/', *[cuts] * 200)
    clones(pod, repositories, password='not-the-password')
    process = pod.start('clone')
    wait_until(pod.last_words, 'the words')
    process.send_signal(signal.SIGTERM)
    process.wait(PATIENCE)
    assert 'Authentication failed' in pod.last_words()


def test_nothing_of_a_step_that_has_done_its_work(pod: Pod, repositories: GitServer) -> None:
    pod.write('dev/termination-log', 'of another try')
    clones(pod, repositories, password=PASSWORD)
    assert pod.run('clone') == 0
    assert pod.last_words() == ''


def test_nothing_of_a_layer_that_failed_when_another_has_begun(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.playbook('- hosts: all\n  gather_facts: false\n')
    pod.order(playbook='none.yml')
    pod.order(SECOND_RUN)
    muster.finish(2)
    assert pod.run('ansible') == 2
    assert muster.states('ansible') == ['started', 'failed', 'started']
    assert pod.last_words() == ''


@pytest.mark.parametrize('step', ['inventory', 'ansible', 'teardown'])
def test_a_token_that_is_not_taken(pod: Pod, muster: Muster, step: str) -> None:
    muster.token = 'another'
    pod.inventory_done('h1')
    assert pod.run(step) == 1
    assert pod.last_words() == 'Muster does not take this session: 401 Unauthorized: not this one'


def test_a_protocol_that_is_not_spoken(pod: Pod, muster: Muster) -> None:
    muster.fault('/jobs/', *[OTHER_PROTOCOL] * 200)
    code = 'import sys, muster_pod.ingest as i, muster_pod.__main__ as m; i._UPDATE_SECONDS = 1.0; sys.exit(m.main(sys.argv))'
    words = [sys.executable, '-c', code, 'inventory']
    done = subprocess.run(words, env=pod.env, cwd='/', capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 1, done.stderr
    assert pod.last_words() == 'Muster does not take this session: 400 Runner protocol is not known'


@pytest.mark.parametrize('step', ['clone', 'inventory', 'ansible', 'teardown'])
def test_a_setting_that_is_wrong(pod: Pod, step: str) -> None:
    assert pod.run(step, MUSTER_INGEST_URL='http://x/?a=b') == 2
    assert pod.last_words().startswith('MUSTER_INGEST_URL is no address')


def test_a_teardown_that_nobody_knows(pod: Pod, muster: Muster) -> None:
    muster.fault('/teardown?', answers(404, {'title': 'Not Found'}))
    assert pod.run('teardown') == 1
    assert pod.last_words() == 'Muster knows nothing of the teardown: 404 Not Found'


def test_they_are_one_line_that_kubernetes_keeps_whole(pod: Pod) -> None:
    path = str(pod.path('dev/termination-log'))
    leave_words(path, 'first')
    leave_words(path, 'a\nb' + 'ü' * 3000)
    assert pod.last_words().startswith('a b') and '\n' not in pod.last_words()
    assert len(pod.last_words().encode()) <= 2048


def test_where_nobody_reads_them_no_file_is_made(pod: Pod) -> None:
    pod.path('dev/termination-log').unlink()
    leave_words(str(pod.path('dev/termination-log')), 'words')
    assert not pod.path('dev/termination-log').exists()
