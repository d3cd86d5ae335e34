"""Step `ansible` of a pod: orders, real playbooks, what arrives of them."""

from __future__ import annotations

import json

from pod import PLAIN, RUN, Pod
from pod_server import Muster, answers, cuts, delays
from runs import PATIENCE, wait_until

def kinds(muster: Muster, run_id: str = RUN) -> list[str]:
    return [json.loads(line)['type'] for line in muster.runs[run_id].lines]


def test_runs_what_is_ordered_and_hands_all_of_it_over(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1', 'h2')
    pod.playbook(PLAIN)
    pod.order()
    muster.finish(0)
    assert pod.run('ansible') == 0
    run = muster.runs[RUN]
    assert run.exit is not None and run.exit['code'] == 0
    assert run.results is not None and set(run.results['hosts']) == {'h1', 'h2'}
    assert 'PLAY RECAP' in run.output.decode()
    assert kinds(muster)[-1] == 'stats'
    assert run.lines == pod.read(f'muster/work/runs/{RUN}/events.jsonl').splitlines()
    assert run.output == pod.path(f'muster/work/runs/{RUN}/output.log').read_bytes()
    assert muster.states('ansible') == ['started']


def test_the_exit_status_is_the_one_that_muster_orders(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.playbook('- hosts: all\n  gather_facts: false\n  tasks:\n    - fail:\n')
    pod.order()
    muster.finish(2)
    assert pod.run('ansible') == 2
    assert muster.runs[RUN].exit['code'] == 2


def test_an_order_given_again_only_ships_again(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    count = pod.path('count')
    pod.playbook(f'- hosts: all\n  gather_facts: false\n  tasks:\n    - raw: echo x >> {count}\n')
    pod.order()
    process = pod.start('ansible')
    wait_until(lambda: muster.runs.get(RUN) and muster.runs[RUN].exit, 'the end of the first')
    first = muster.runs.pop(RUN)
    pod.order()
    muster.finish()
    assert process.wait(PATIENCE) == 0
    assert count.read_text() == 'x\n'
    assert muster.runs[RUN].lines == first.lines
    assert muster.runs[RUN].exit == first.exit


def test_nothing_runs_after_an_inventory_that_failed(pod: Pod, muster: Muster) -> None:
    pod.write('inventory/complete', '1')
    assert pod.run('ansible') == 1
    assert muster.states('ansible') == ['failed']
    assert not any('/next' in path for _, path in muster.requests)


def test_a_playbook_that_is_missing_is_said(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.playbook(PLAIN)
    pod.order(playbook='../../inventory/complete')
    muster.finish(1)
    assert pod.run('ansible') == 1
    assert muster.failure('ansible')['code'] == 'playbook_missing'
    run = muster.runs[RUN]
    assert run.exit['code'] == 127 and b'there is no playbook' in run.output


def test_a_debugging_playbook_is_that_of_the_image(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.order(playbook='fail.yaml', debug=True)
    muster.finish(2)
    assert pod.run('ansible') == 2
    assert muster.runs[RUN].exit['code'] == 2


def test_events_come_while_the_playbook_goes_on(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    # Each task lasts until Muster has heard that it began, and that the one before ended.
    pod.playbook(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        + ''.join(f'    - raw: until test -e {pod.path("heard")}{n}; do sleep 0.05; done\n' for n in range(3))
    )
    pod.order()
    muster.finish()
    process = pod.start('ansible')

    def heard() -> tuple[int, int]:
        told = kinds(muster) if RUN in muster.runs else []
        return told.count('task_start'), told.count('host_result')

    for n in range(3):
        wait_until(lambda now=(n + 1, n): heard() == now, f'the start of task {n}')
        pod.write(f'heard{n}', '')
    assert process.wait(PATIENCE) == 0


def test_trouble_on_the_way_loses_nothing_and_sends_nothing_twice(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1', 'h2', 'h3')
    pod.playbook(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        # Long enough that there are events to send after every one of the faults.
        + ''.join(f'    - debug:\n        msg: text {n} of {{{{ inventory_hostname }}}}\n' for n in range(40))
    )
    muster.fault('/next', answers(503), cuts, answers(429, None, Retry_After='1'))
    muster.fault('/steps', answers(500), cuts)
    muster.fault('/events', answers(503), cuts, delays(0.5), answers(409, {'code': 'run_position'}), cuts)
    muster.fault('/output', answers(502), cuts, answers(409, {'code': 'run_position'}))
    muster.fault('/results', cuts, answers(503, None, Retry_After='1'))
    muster.fault('/exit', cuts, answers(500))
    pod.order()
    muster.finish()
    assert pod.run('ansible') == 0
    run = muster.runs[RUN]
    assert run.lines == pod.read(f'muster/work/runs/{RUN}/events.jsonl').splitlines()
    assert run.output == pod.path(f'muster/work/runs/{RUN}/output.log').read_bytes()
    assert run.results is not None and run.exit['code'] == 0 and run.exits == 1
    assert not muster.faults


def test_large_output_and_events_arrive_whole_in_parts(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.playbook(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        "    - debug: msg=\"{{ 'äx' * 400000 }}\"\n      changed_when: true\n"
    )
    muster.fault('/output', answers(413, {'code': 'body_too_large'}))
    pod.order(log_max=8 << 20)
    muster.finish()
    assert pod.run('ansible') == 0
    run = muster.runs[RUN]
    assert len(run.output) > 800_000
    assert run.output == pod.path(f'muster/work/runs/{RUN}/output.log').read_bytes()
    assert run.lines == pod.read(f'muster/work/runs/{RUN}/events.jsonl').splitlines()


def test_a_collection_that_a_layer_requires_and_the_image_lacks_is_named_before_anything_runs(
    pod: Pod, muster: Muster
) -> None:
    pod.inventory_done('h1')
    mark = pod.path('mark')
    pod.playbook(f'- hosts: all\n  gather_facts: false\n  tasks:\n    - raw: touch {mark}\n')
    # Of a layer that comes later.
    required = pod.path('inventory/layer7/collections/requirements.yml')
    required.parent.mkdir(parents=True)
    required.write_text('collections: [nosuch.other]\n')
    pod.order()
    muster.finish(1)
    pod.run('ansible')
    failed = muster.failure('ansible')
    assert failed['code'] == 'collection_missing'
    assert 'layer 8: collections/requirements.yml asks for the collection nosuch.other' in failed['message']
    assert not mark.exists()
