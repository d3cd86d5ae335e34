"""Step `ansible` of a pod: keys, passwords and other secrets of a playbook."""

from __future__ import annotations

import os

import pytest
from pod import PLAIN, RUN, SECOND_RUN, Pod
from pod_server import Muster
from runs import PATIENCE, wait_until

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
    assert process.wait(PATIENCE) == 0


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
    assert process.wait(PATIENCE) == 0
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
    assert process.wait(PATIENCE) == 0
    assert used.read_text() == 'right-word'
    assert '********' in muster.everything() and 'right-word' not in muster.everything()


def test_a_layer_that_waits_for_a_certificate_ends_with_its_pod(pod: Pod, muster: Muster) -> None:
    pod.inventory_done('h1')
    pod.playbook(PLAIN)
    pod.order(certificate_until=2000)
    process = pod.start('ansible')
    wait_until(lambda: any('/next' in path for _, path in muster.requests), 'the order')
    process.terminate()
    assert process.wait(PATIENCE) == 143
