#!/usr/bin/python3 -S
"""Stands in for ansible-runner: does what the spec of the resource says, and writes what ansible-runner would.

Members of the spec: `stats` (counts of localhost), `events` (further events before them), `stdout` (null: none), `rc`, `seconds`, `gate` (it goes on
when the file `gate-WORD` is beside the playbook), `stubborn` (it and a child in a session of its own trap TERM; their pids are in `pids-NAME` beside the playbook),
`reveals` (it fails with the password of its way to the cluster in message and output; for a core Secret with its values, whatever the spec says). It writes a line when it begins and a line when it ends into `calls.log` beside the playbook.
"""

import base64
import json
import os
import signal
import sys
import time

args = sys.argv[1:]
folder, playbook, ident = args[1], args[args.index('-p') + 1], args[args.index('-i') + 1]
with open(os.path.join(folder, 'env', 'extravars'), encoding='utf-8') as file:
    variables = json.load(file)


def plain(value):
    """The value without the marks of unsafe text."""
    if isinstance(value, dict):
        return value['__ansible_unsafe'] if '__ansible_unsafe' in value else {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


variables = plain(variables)
artifacts = os.path.join(folder, 'artifacts', ident)
os.makedirs(os.path.join(artifacts, 'job_events'))
events = []


def log(word):
    """One line of the log: when, begin or end, which resource, its size, its run, the process."""
    name = variables['ansible_operator_meta']['name']
    line = f'{time.time()} {word} {name} {variables.get("size", "-")} {ident} {os.getpid()}\n'
    descriptor = os.open(os.path.join(os.path.dirname(playbook), 'calls.log'), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, line.encode())
    os.close(descriptor)


def emit(event):
    """Writes an event as ansible-runner does: under another name first."""
    counter = len(events) + 1
    events.append(event)
    body = {'uuid': f'0-{counter}', 'counter': counter, 'stdout': '', 'created': '2026-01-02T03:04:05.678901+00:00', **event}
    path = os.path.join(artifacts, 'job_events', f'{counter}-abc{counter}.json')
    with open(f'{path}.tmp', 'w', encoding='utf-8') as file:
        json.dump(body, file)
    os.rename(f'{path}.tmp', path)



def be_stubborn():
    """What an `async` task and a task that traps TERM do: a child leaves the session, and neither goes at TERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = os.fork()
    if child == 0:
        os.setsid()
        time.sleep(600)
        os._exit(0)
    path = os.path.join(os.path.dirname(playbook), f'pids-{variables["ansible_operator_meta"]["name"]}')
    with open(f'{path}.new', 'w', encoding='utf-8') as file:
        file.write(f'{os.getpid()} {child}')
    os.rename(f'{path}.new', path)


def revealed():
    """What may not show: values of a core Secret, or the password of the way to the cluster."""
    secret = variables.get('__secret')
    if secret is not None:
        return ' '.join(base64.b64decode(value).decode() for value in secret['data'].values())
    with open(os.path.join(folder, 'env', 'envvars'), encoding='utf-8') as file:
        path = json.load(file)['KUBECONFIG']
    with open(path, encoding='utf-8') as file:
        return json.load(file)['users'][0]['user']['password']


if variables.get('stubborn'):
    be_stubborn()
log('begin')
emit({'event': 'playbook_on_start', 'event_data': {'playbook': playbook}})
time.sleep(float(variables.get('seconds', 0)))
gate = variables.get('gate')
# A test that is over has no folder any more.
while gate and os.path.exists(playbook) and not os.path.exists(os.path.join(os.path.dirname(playbook), f'gate-{gate}')):
    time.sleep(0.2)
reveals = revealed() if variables.get('reveals') or '__secret' in variables else None
for event in variables.get('events', []):
    emit(event)
if reveals is not None:
    res = {'msg': f'what was read: {reveals}'}
    emit({'event': 'runner_on_failed', 'stdout': reveals, 'event_data': {'host': 'localhost', 'res': res}})
stats = variables.get('stats', {'ok': 1} if reveals is None else {'failures': 1})
if stats is not None:
    counts = {name: {'localhost': number} for name, number in stats.items()}
    emit({'event': 'playbook_on_stats', 'event_data': {**counts, 'processed': {'localhost': 1}}})
stdout = variables.get('stdout', reveals or 'PLAY RECAP')
if stdout is not None:
    with open(os.path.join(artifacts, 'stdout'), 'w', encoding='utf-8') as file:
        file.write(stdout)
    print(stdout, flush=True)
log('end')
sys.exit(int(variables.get('rc', 0)))
