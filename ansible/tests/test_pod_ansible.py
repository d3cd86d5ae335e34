"""Step `ansible` of a pod: orders, real playbooks, what arrives of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from pod import RUN, SECOND_RUN, Pod
from pod_server import Muster, answers, cuts, delays
from runs import is_running, require_tmpfs, wait_until

PLAIN = '- hosts: all\n  gather_facts: false\n  tasks:\n    - debug:\n        msg: hello of {{ inventory_hostname }}\n'


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


def test_extra_variables_come_by_files_that_nobody_else_may_read(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    seen = pod.path('seen')
    pod.playbook(
        f'- hosts: all\n  gather_facts: false\n  tasks:\n    - copy: {{dest: "{seen}", content: "{{{{ pw }}}} {{{{ last }}}}"}}\n'
    )
    base = pod.path('muster/work/extra-vars-')
    files = {f'{base}0': '{"pw": "CANARY", "last": "first"}', f'{base}1': '{"last":"two"}'}
    pod.order(arguments=[f'--extra-vars=@{path}' for path in files], files=files)
    muster.finish(0)
    assert pod.run('ansible') == 0
    assert seen.read_text() == 'CANARY two'
    assert {os.stat(path).st_mode & 0o777 for path in files} == {0o600}
    assert 'CANARY' not in pod.path(f'muster/work/runs/{RUN}/spec.json').read_text()


@pytest.mark.parametrize('token', ['s.tenant-token', ''])
def test_a_playbook_has_the_login_of_its_tenant_and_no_other_variables_of_the_container(
    pod: Pod, muster: Muster, token: str
) -> None:
    pod.inventory_done('h1')
    seen = pod.path('seen')
    pod.playbook(f'- hosts: all\n  gather_facts: false\n  tasks:\n    - raw: env > {seen}\n')
    pod.order()
    muster.finish(0)
    store = 'https://vault.test'
    assert pod.run('ansible', VAULT_ADDR=store, VAULT_TOKEN=token, VCS_PASSWORD='of-git') == 0
    lines = seen.read_text().splitlines()
    login = [f'VAULT_ADDR={store}', f'VAULT_TOKEN={token}']
    assert [line for line in lines if line.startswith('VAULT_')] == (login if token else [])
    assert not any('of-git' in line for line in lines)
    files = [path for path in pod.path('muster/work').rglob('*') if path.is_file() and not path.is_symlink()]
    assert files and not any(b'tenant-token' in path.read_bytes() for path in files)


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
    assert process.wait(60) == 0
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
    assert process.wait(30) == 0


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


def test_a_token_that_is_not_taken_any_more_ends_playbook_and_container(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.playbook(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        f'    - raw: touch {pod.path("up")}; sleep 2\n    - shell: sleep 60\n'
    )
    pod.order()
    process = pod.start('ansible')
    wait_until(pod.path('up').exists, 'the playbook')
    muster.token = 'another'
    assert process.wait(30) == 1
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
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 128 + signal.SIGTERM
    assert time.monotonic() - began < 10
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
    assert process.wait(30) == 128 + signal.SIGTERM
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
    assert process.wait(30) == 128 + signal.SIGTERM
    assert time.monotonic() - began < 6
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
    assert process.wait(10) == 128 + signal.SIGTERM
    assert time.monotonic() - began < 2


def test_as_process_1_it_leaves_no_zombie_and_ends_on_term(pod: Pod, muster: Muster) -> None:
    unshare = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child']
    if subprocess.run([*unshare, 'true'], capture_output=True, check=False).returncode != 0:
        pytest.skip('a process table of its own needs root')
    pod.inventory_done('h1')
    gone = pod.path('gone')
    pod.playbook(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        f'    - raw: (setsid sh -c "sleep 3; touch {gone}" > /dev/null 2>&1 &)\n'
    )
    pod.order()
    outer = pod.start('ansible', unshare)
    wait_until(lambda: muster.runs.get(RUN) and muster.runs[RUN].exit, 'the end of the run')
    inner = children_of(outer.pid)[0]
    wait_until(lambda: len(children_of(inner)) == 1, 'the orphan at process 1')
    wait_until(gone.exists, 'the end of the orphan')
    wait_until(lambda: children_of(inner) == [], 'its status to be taken')
    os.kill(inner, signal.SIGTERM)
    assert outer.wait(10) == 128 + signal.SIGTERM


def children_of(pid: int) -> list[int]:
    """Zombies too."""
    return [int(child) for child in Path(f'/proc/{pid}/task/{pid}/children').read_text().split()]


def test_secrets_are_masked_the_token_too(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.mask('s3cr3t-of-the-vault')
    token = pod.path('muster/session/token')
    pod.playbook(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        f'    - shell: echo s3cr3t-of-the-vault; cat {token}\n      register: said\n'
        '    - debug: var=said.stdout\n    - fail: msg="{{ said.stdout }}"\n'
    )
    pod.order()
    muster.finish(2)
    assert pod.run('ansible') == 2
    everything = muster.everything() + pod.log('ansible')
    assert '********' in everything
    assert 's3cr3t-of-the-vault' not in everything and muster.token not in everything
    assert not pod.path(f'muster/work/runs/{RUN}/mask.json').exists()


def test_keys_are_put_into_place_for_us_alone_and_renewed_while_a_playbook_runs(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.write('muster/session/private', 'KEY 1\n')
    pod.write('muster/session/certificate', 'CERTIFICATE 1\n')
    go = pod.path('go')
    pod.playbook(f'- hosts: all\n  gather_facts: false\n  tasks:\n    - raw: until test -e {go}; do sleep 0.1; done\n')
    pod.order()
    muster.finish()
    process = pod.start('ansible')
    key, certificate = pod.path('inventory/ssh/id_ecdsa'), pod.path('inventory/ssh/id_ecdsa-cert.pub')
    wait_until(certificate.exists, 'the certificate')
    assert key.read_text() == 'KEY 1\n' and key.stat().st_mode & 0o777 == 0o600
    pod.write('muster/session/certificate', 'CERTIFICATE 2\n')
    wait_until(lambda: certificate.read_text() == 'CERTIFICATE 2\n', 'the renewed certificate')
    go.touch()
    assert process.wait(60) == 0


def test_a_layer_waits_until_the_renewed_certificate_is_mounted(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.write('muster/session/private', 'KEY\n')
    pod.write('muster/session/certificate', 'CERTIFICATE 1\n')
    pod.write('muster/session/certificate_until', '1000\n')
    used = pod.path('used')
    pod.playbook(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        f'    - raw: cat {pod.path("inventory/ssh/id_ecdsa-cert.pub")} >> {used}\n'
    )
    pod.order(certificate_until=900)
    pod.order(SECOND_RUN, certificate_until=2000)
    muster.finish()
    process = pod.start('ansible')
    asks = 'after=1&wait='
    wait_until(lambda: any(asks in path for _, path in muster.requests), 'the second order')
    pod.write('muster/session/certificate', 'CERTIFICATE 2\n')
    pod.write('muster/session/certificate_until', '2000\n')
    assert process.wait(60) == 0
    assert used.read_text() == 'CERTIFICATE 1\nCERTIFICATE 2\n'


def test_a_layer_has_a_password_and_masks_that_changed_with_the_time_that_it_waits_for(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.write('muster/session/vault_password', 'wrong-word')
    pod.write('muster/session/certificate_until', '1000\n')
    pod.mask('wrong-word')
    used = pod.path('used')
    pod.playbook(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        f'    - raw: cat {pod.path("muster/session/vault_password")} | tee {used}\n      register: said\n'
        '    - debug: var=said.stdout\n'
    )
    pod.order(certificate_until=1001)
    muster.finish()
    process = pod.start('ansible')
    wait_until(lambda: any('/next' in path for _, path in muster.requests), 'the order')
    pod.write('muster/session/vault_password', 'right-word')
    pod.mask('wrong-word', 'right-word')
    pod.write('muster/session/certificate_until', '1001\n')
    assert process.wait(60) == 0
    assert used.read_text() == 'right-word'
    assert '********' in muster.everything() and 'right-word' not in muster.everything()


def test_a_layer_that_waits_for_a_certificate_ends_with_its_pod(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.playbook(PLAIN)
    pod.order(certificate_until=2000)
    process = pod.start('ansible')
    wait_until(lambda: any('/next' in path for _, path in muster.requests), 'the order')
    process.terminate()
    assert process.wait(30) == 143


def test_a_launcher_that_is_killed_is_a_lost_run(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.playbook(f'- hosts: all\n  gather_facts: false\n  tasks:\n    - shell: echo $$ > {pod.path("up")}; sleep 60\n')
    pod.order()
    process = pod.start('ansible')
    pid = int(wait_until(lambda: pod.path('up').exists() and pod.read('up').strip(), 'the playbook'))
    os.kill(json.loads(pod.read(f'muster/work/runs/{RUN}/claim'))['pid'], signal.SIGKILL)
    assert process.wait(30) == 1
    assert muster.failure('ansible')['code'] == 'run_lost'
    assert muster.runs[RUN].exit is None
    assert not is_running(pid)


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
    began = time.monotonic()
    assert pod.run('ansible') == 2
    assert time.monotonic() - began < 60
    assert muster.failure('ansible')['code'] == 'disk_low'
    run = muster.runs[RUN]
    assert run.exit is not None and run.exit['code'] != 0


FILL = 'cat /dev/zero > {work}/big || true'
"""A command of a playbook that fills the disk and ends well."""
LOSE = ': > {work}/runs/{run}/.results.json; ' + FILL
"""It takes the room that was kept for the results too."""


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


def test_what_muster_does_not_want_any_more_is_ended(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.playbook(
        '- hosts: all\n  gather_facts: false\n  tasks:\n'
        f'    - raw: echo $$ > {pod.path("up")}; sleep 1\n    - shell: sleep 60\n'
    )
    pod.order()
    process = pod.start('ansible')
    wait_until(pod.path('up').exists, 'the playbook')
    muster.faults = [('/runs/', answers(404, {'code': 'not_found'}))] * 5
    muster.finish(4)
    assert process.wait(40) == 4
    assert pod.path(f'muster/work/runs/{RUN}/exit.json').exists()


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
    assert 'layer 7: collections/requirements.yml asks for the collection nosuch.other' in failed['message']
    assert not mark.exists()
