"""Step `ansible` of a pod with a process that has imported Ansible: its layers are those of a cold start."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import pytest
from pod import RUN, SECOND_RUN, Pod
from pod_server import Muster
from runs import PATIENCE, is_running, wait_until

FORKED_ONLY = 0x40
"""Flag of a process that was forked and has not executed a program since (PF_FORKNOEXEC)."""
PLAY = """
- hosts: h1
  gather_facts: false
  tasks:
    - debug:
        msg: >-
          flags={{ lookup('pipe', 'cut -d" " -f9 /proc/$(cut -d" " -f4 /proc/$PPID/stat)/stat') }}.
    - set_fact: {kept: "{{ lookup('env', 'LAYER_CURRENT') }}", cacheable: true}
    - debug: msg="layer {{ kept }} {{ before | default('nothing before') }}"
    - set_fact: {before: something, cacheable: true}
"""


def warm_of(step: int) -> list[int]:
    children = Path(f'/proc/{step}/task/{step}/children').read_text().split()
    return [int(pid) for pid in children if 'muster-warm' in Path(f'/proc/{pid}/status').read_text()]


def is_warm(muster: Muster, run_id: str) -> bool:
    [flags] = re.findall(r'flags=(\d+)\.', muster.runs[run_id].output.decode())
    return bool(int(flags) & FORKED_ONLY)


def said(muster: Muster, run_id: str) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in muster.runs[run_id].lines]
    return [{key: value for key, value in line.items() if key not in ('time', 'duration')} for line in lines]


def layers(pod: Pod) -> None:
    pod.inventory_done('h1')
    for layer in range(2):
        pod.playbook(PLAY, layer=layer)


def order(pod: Pod, layer: int) -> None:
    env = {'LAYER_CURRENT': str(layer), 'ANSIBLE_DISPLAY_OK_HOSTS': 'true'}
    pod.order((RUN, SECOND_RUN)[layer], layer=layer, env=env)


@pytest.mark.parametrize('way', ['on', 'off'])
def test_each_layer_is_forked_or_executed(pod: Pod, muster: Muster, way: str) -> None:
    layers(pod)
    order(pod, 0)
    process = pod.start('ansible', MUSTER_ANSIBLE_WARM=way, VAULT_TOKEN='a-token', VAULT_ADDR='http://127.0.0.1:1')
    wait_until(lambda: muster.runs.get(RUN) and muster.runs[RUN].exit, 'the end of the first')
    kept = warm_of(process.pid)
    assert len(kept) == (1 if way == 'on' else 0)
    for pid in kept:
        environment = Path(f'/proc/{pid}/environ').read_text()
        assert 'a-token' not in environment and muster.token not in environment
    order(pod, 1)
    muster.finish(0)
    assert process.wait(PATIENCE) == 0
    for layer, run_id in enumerate((RUN, SECOND_RUN)):
        run = muster.runs[run_id]
        assert run.exit['code'] == 0
        assert f'layer {layer} nothing before' in run.output.decode()
        assert is_warm(muster, run_id) == (way == 'on')
        assert not any(line['type'] == 'cold_start' for line in said(muster, run_id))
    wait_until(lambda: not any(is_running(pid) for pid in kept), 'the end of the warm process')


def test_a_process_that_is_killed_costs_a_cold_start(pod: Pod, muster: Muster) -> None:
    layers(pod)
    order(pod, 0)
    process = pod.start('ansible', MUSTER_ANSIBLE_WARM='on')
    wait_until(lambda: muster.runs.get(RUN) and muster.runs[RUN].exit, 'the end of the first')
    [pid] = warm_of(process.pid)
    os.kill(pid, signal.SIGKILL)
    order(pod, 1)
    muster.finish(0)
    assert process.wait(PATIENCE) == 0
    assert is_warm(muster, RUN) and not is_warm(muster, SECOND_RUN)
    assert muster.runs[SECOND_RUN].exit['code'] == 0


def test_a_process_that_answers_nothing_is_not_waited_for(pod: Pod, muster: Muster) -> None:
    layers(pod)
    order(pod, 0)
    process = pod.start('ansible', MUSTER_ANSIBLE_WARM='on')
    wait_until(lambda: muster.runs.get(RUN) and muster.runs[RUN].exit, 'the end of the first')
    [pid] = warm_of(process.pid)
    os.kill(pid, signal.SIGSTOP)
    order(pod, 1)
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(PATIENCE) == 128 + signal.SIGTERM
    wait_until(lambda: not is_running(pid), 'the end of the process')
