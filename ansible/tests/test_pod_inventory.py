"""Step `inventory` of a pod."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path

import pytest
from muster_pod.environment_vars import add_environment_variables
from muster_pod.failure import StepFailure
from pod import Pod
from pod_server import Fault, Muster, answers, cuts
from runs import PATIENCE, require_tmpfs, wait_until

LINE = 'cray_cfs_image: false\n'


def test_writes_what_playbooks_need(pod: Pod, muster: Muster) -> None:
    muster.files = {
        'hosts/01-cfs-generated.yaml': 'all: {}\n',
        'image_to_job.yaml': 'x: {}\n',
        'hosts/group_vars/web': 'a: ü\n',
    }
    pod.write('muster/session/plain_key', 'PLAIN\n')
    assert pod.run('inventory') == 0
    assert pod.read('inventory/complete') == '0'
    assert pod.read('inventory/hosts/01-cfs-generated.yaml') == 'all: {}\n'
    assert pod.read('inventory/image_to_job.yaml') == 'x: {}\n'
    assert pod.read('inventory/hosts/group_vars/web') == 'a: ü\n'
    assert pod.read('inventory/hosts/group_vars/all') == LINE
    assert pod.read('inventory/ansible.cfg') == '[defaults]\nforks = 5\n'
    modes = {path.name: path.stat().st_mode & 0o777 for path in pod.path('inventory/ssh').iterdir()}
    assert modes == {'id_ecdsa': 0o600, 'id_ecdsa.pub': 0o644, 'id_ecdsa-cert.pub': 0o644, 'plain_key': 0o600}
    assert muster.states('inventory') == ['started', 'done']
    assert not [path for path in pod.path('inventory').iterdir() if path.name.startswith('.')]


def test_a_file_called_hosts_gives_way_to_a_folder(pod: Pod, muster: Muster) -> None:
    pod.write('inventory/hosts', 'not a folder\n')
    muster.files = {'hosts/01-cfs-generated.yaml': 'all: {}\n'}
    assert pod.run('inventory') == 0
    assert pod.path('inventory/hosts/01-cfs-generated.yaml').exists()


@pytest.mark.parametrize('path', ['../x', '/etc/x', 'hosts/../../x', 'hosts//x', './x', ''])
def test_paths_that_lead_elsewhere_are_refused(pod: Pod, muster: Muster, path: str) -> None:
    muster.files = {path: 'x'}
    assert pod.run('inventory') == 1
    assert pod.read('inventory/complete') == '1'
    assert muster.failure('inventory')['code'] == 'inventory_invalid'


def test_links_of_a_repository_are_not_written_through(pod: Pod, muster: Muster) -> None:
    victim = pod.write('victim/01-cfs-generated.yaml', 'safe\n')
    pod.path('inventory/hosts').mkdir()
    pod.path('inventory/hosts/01-cfs-generated.yaml').symlink_to(victim)
    pod.path('inventory/hosts/sub').symlink_to(victim.parent)
    muster.files = {'hosts/01-cfs-generated.yaml': 'all: {}\n', 'hosts/sub/01-cfs-generated.yaml': 'all: {}\n'}
    assert pod.run('inventory') == 0
    assert victim.read_text() == 'safe\n'


@pytest.mark.parametrize('missing', ['secret-keys/id_ecdsa', 'tmp/ansible/ansible.cfg'])
def test_what_is_missing_is_said(pod: Pod, muster: Muster, missing: str) -> None:
    pod.path(missing).unlink()
    assert pod.run('inventory') == 1
    assert pod.read('inventory/complete') == '1'
    assert muster.failure('inventory')['code'] == 'config_missing'


def test_a_target_of_a_repository_needs_its_inventory(pod: Pod, muster: Muster) -> None:
    assert pod.run('inventory', INVENTORY_TYPE='repo') == 1
    assert muster.failure('inventory')['code'] == 'inventory_empty'
    pod.path('inventory/complete').unlink()
    pod.write('inventory/hosts/hosts.yaml', 'all: {}\n')
    assert pod.run('inventory', INVENTORY_TYPE='repo') == 0


def test_trouble_on_the_way_is_waited_out(pod: Pod, muster: Muster) -> None:
    muster.fault('6f6b7c8d9e0f/inventory', answers(503), cuts, answers(429, None, Retry_After='1'))
    assert pod.run('inventory') == 0
    assert pod.read('inventory/complete') == '0'


@pytest.mark.parametrize(
    'fault', [answers(404, {'title': 'Not Found'}), answers(200, {'files': {'hosts/x': 1}}), answers(200, 7)]
)
def test_an_answer_that_is_no_inventory_is_a_failure(pod: Pod, muster: Muster, fault: Fault) -> None:
    muster.fault('6f6b7c8d9e0f/inventory', fault)
    assert pod.run('inventory') == 1
    assert muster.failure('inventory')['code'] in ('inventory_failed', 'inventory_invalid')


def test_a_wrong_token_ends_it_with_the_file_written(pod: Pod, muster: Muster) -> None:
    muster.token = 'another'
    assert pod.run('inventory') == 1
    assert pod.read('inventory/complete') == '1'


@pytest.mark.parametrize('moment', ['/steps/inventory', '6f6b7c8d9e0f/inventory'])
def test_term_leaves_the_file_too(pod: Pod, muster: Muster, moment: str) -> None:
    muster.faults = [('6f6b7c8d9e0f/inventory', answers(503))] * 200
    process = pod.start('inventory')
    wait_until(lambda: any(path.endswith(moment) for _, path in muster.requests), 'the request')
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 128 + signal.SIGTERM
    assert pod.read('inventory/complete') == '143'


def test_a_full_disk_does_not_keep_the_others_waiting(pod: Pod, muster: Muster) -> None:
    pod.path('inventory/ssh').rmdir()
    pod.path('inventory').rmdir()
    reason = require_tmpfs(pod.path('inventory'), '64k')
    if reason:
        pytest.skip(reason)
    try:
        muster.files = {'hosts/01-cfs-generated.yaml': 'x' * 200_000}
        assert pod.run('inventory') == 1
        assert pod.read('inventory/complete') == '1'
        assert 'No space left' in muster.failure('inventory')['message']
    finally:
        subprocess.run(['umount', '-l', pod.path('inventory')], check=True)


def test_a_disk_that_clones_have_filled_is_the_reason(pod: Pod, muster: Muster) -> None:
    pod.path('inventory/ssh').rmdir()
    pod.path('inventory').rmdir()
    reason = require_tmpfs(pod.path('inventory'), '64k')
    if reason:
        pytest.skip(reason)
    try:
        pod.write('inventory/layer0/site.yml', 'x')
        with pytest.raises(OSError):
            pod.path('inventory/layer0/big').write_bytes(b'x' * 100_000)
        assert pod.run('inventory') == 1
        assert pod.read('inventory/complete') == '1'
        assert muster.failure('inventory')['code'] == 'disk_low'
    finally:
        subprocess.run(['umount', '-l', pod.path('inventory')], check=True)


def test_the_sidecar_is_waited_for_when_that_is_wanted(pod: Pod) -> None:
    with socket.socket() as listener:
        try:
            listener.bind(('127.0.0.1', 15000))
        except OSError:
            pytest.skip('port 15000 of this machine is taken')
        process = pod.start('inventory', MUSTER_RUNNER_SIDECAR_WAIT='true')
        wait_until(lambda: 'waiting for the sidecar' in pod.log('inventory'), 'the wait')
        assert not pod.path('inventory/complete').exists()
        listener.listen()
        assert process.wait(PATIENCE) == 0


class TestVariables:
    """Of all hosts."""

    def add(self, tmp_path: Path, name: str | None = None, text: str = '') -> Path:
        hosts = tmp_path / 'hosts'
        hosts.mkdir()
        if name is not None:
            (hosts / 'group_vars').mkdir()
            (hosts / 'group_vars' / name).write_text(text)
        add_environment_variables(str(hosts))
        return hosts / 'group_vars'

    def test_a_new_file(self, tmp_path: Path) -> None:
        assert (self.add(tmp_path) / 'all').read_text() == LINE

    def test_a_folder_gets_a_file(self, tmp_path: Path) -> None:
        (tmp_path / 'hosts/group_vars/all').mkdir(parents=True)
        add_environment_variables(str(tmp_path / 'hosts'))
        assert (tmp_path / 'hosts/group_vars/all/cray_cfs_environment.yaml').read_text() == LINE

    @pytest.mark.parametrize(
        'text',
        [
            '',
            'a: 1\n',
            'a: 1',
            '---\na: 1\n# comment\nb:\n  - x\n',
            'b:\n- x\n- y\n',
            'a: |\n  text\n  more\n',
            'cray_cfs_image: true\n',
        ],
    )
    @pytest.mark.parametrize('name', ['all', 'all.yml', 'all.yaml'])
    def test_a_file_of_variables_gets_a_line(self, tmp_path: Path, name: str, text: str) -> None:
        after = (self.add(tmp_path, name, text) / name).read_text()
        assert after.startswith(text) and after.endswith(LINE)
        assert after == text + ('' if text == '' or text.endswith('\n') else '\n') + LINE

    def test_a_file_that_says_it_stays_as_it_is(self, tmp_path: Path) -> None:
        assert (self.add(tmp_path, 'all', f'a: 1\n{LINE}') / 'all').read_text() == f'a: 1\n{LINE}'

    @pytest.mark.parametrize(
        ('name', 'text'),
        [
            ('all', '$ANSIBLE_VAULT;1.1;AES256\n3132\n'),
            ('all.json', '{"a": 1}\n'),
            ('all.yml', 'a: 1\n---\nb: 2\n'),
            ('all.yml', 'a: 1\n...\n'),
            ('all', '{a: 1}\n'),
            ('all', 'a: {\n  b: 1\n}\n'),
            ('all', '- x\n'),
            ('all', '"quoted": 1\n'),
        ],
    )
    def test_any_other_file_moves_into_a_folder(self, tmp_path: Path, name: str, text: str) -> None:
        folder = self.add(tmp_path, name, text) / 'all'
        assert (folder / name).read_text() == text
        assert (folder / 'cray_cfs_environment.yaml').read_text() == LINE
        assert [path.name for path in folder.parent.iterdir()] == ['all']

    @pytest.mark.parametrize('link', ['group_vars', 'group_vars/all'])
    def test_what_leads_out_is_refused(self, tmp_path: Path, link: str) -> None:
        outside = tmp_path / 'outside'
        outside.mkdir()
        place = tmp_path / 'hosts' / link
        place.parent.mkdir(parents=True)
        place.symlink_to(outside)
        with pytest.raises(StepFailure) as failure:
            add_environment_variables(str(tmp_path / 'hosts'))
        assert failure.value.code == 'repository_unsafe'
        assert not list(outside.iterdir())

    def test_a_group_vars_that_is_a_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / 'hosts').mkdir()
        (tmp_path / 'hosts/group_vars').write_text('')
        with pytest.raises(StepFailure) as failure:
            add_environment_variables(str(tmp_path / 'hosts'))
        assert failure.value.code == 'inventory_invalid'
