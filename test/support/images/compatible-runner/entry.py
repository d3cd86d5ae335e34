"""The entry point of a runner image that knows nothing of Muster (cfs-flows 4.1): `entry.py LAYERS`."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time

INVENTORY = '/inventory'
ANSIBLE = '/etc/ansible'
PAUSE = 3


def main(argv):
    """Runs the layers of the argument one after the other; answers the exit status of the last one that ran."""
    layers = json.loads(argv[1])
    trust_authority()
    while not os.path.exists(f'{INVENTORY}/complete'):
        print('Waiting for the inventory', flush=True)
        time.sleep(PAUSE)
    with open(f'{INVENTORY}/complete') as file:
        if file.read().strip() not in ('', '0'):
            print('The inventory was not made', flush=True)
            return 1
    take_over()
    for layer in layers:
        status = run_layer(layer)
        if status != 0:
            wait_for_debugging()
            return status
    return 0


def trust_authority():
    """Adds the platform's certificate authority to those that are trusted."""
    found = os.environ.get('SSL_CAINFO', '')
    if os.path.isfile(found):
        shutil.copy(found, '/usr/local/share/ca-certificates/platform.crt')
        subprocess.run(['update-ca-certificates'], check=False, stdout=subprocess.DEVNULL)


def take_over():
    """Puts keys and inventory where ssh and Ansible look for them by default."""
    keys = os.path.expanduser('~/.ssh')
    os.makedirs(keys, mode=0o700, exist_ok=True)
    for name in os.listdir(f'{INVENTORY}/ssh'):
        shutil.copy(f'{INVENTORY}/ssh/{name}', keys)
        os.chmod(f'{keys}/{name}', 0o644 if name.endswith('.pub') else 0o600)
    shutil.copytree(INVENTORY, ANSIBLE, symlinks=True, dirs_exist_ok=True)
    add_variables(f'{ANSIBLE}/hosts/group_vars')


def add_variables(folder):
    """Says for all hosts that they are no images (cfs-flows 3.5)."""
    os.makedirs(folder, exist_ok=True)
    place = f'{folder}/all'
    if os.path.isdir(place):
        place += '/cray_cfs_environment.yaml'
    text = ''
    if os.path.exists(place):
        with open(place) as file:
            text = file.read()
    if 'cray_cfs_image:' not in text:
        with open(place, 'a') as file:
            file.write('cray_cfs_image: false\n')


def run_layer(layer):
    """Plays one layer; answers the exit status."""
    place = f'{ANSIBLE}/layer{layer["layer"]}'
    playbook = str(layer.get('playbook'))
    environment = {
        **os.environ,
        'SESSION_CLONE_URL': str(layer.get('clone_url') or 'null'),
        'SESSION_PLAYBOOK': playbook,
        'LAYER_CURRENT': str(layer['layer']),
        'ANSIBLE_ROLES_PATH': f'{place}/roles',
    }
    print(f'Running {playbook} of layer {layer["layer"]}', flush=True)
    words = shlex.split(os.environ.get('ANSIBLE_ARGS', ''))
    return subprocess.run(['ansible-playbook', f'{place}/{playbook}', *words], env=environment, check=False).returncode


def wait_for_debugging():
    """Stays for DEBUG_WAIT_TIME seconds, or until /tmp/complete is there."""
    end = time.monotonic() + float(os.environ.get('DEBUG_WAIT_TIME') or 0)
    while time.monotonic() < end and not os.path.exists('/tmp/complete'):
        time.sleep(1)


if __name__ == '__main__':
    sys.exit(main(sys.argv))
