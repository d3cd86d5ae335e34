"""A run is executed once, by the process that the claim names."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from runs import LAUNCHER, Run, processes_of, wait_until


def test_ten_launchers_at_once_run_it_once(new_run: Callable[..., Run], tmp_path: Path) -> None:
    run = new_run().specify(['/bin/sh', '-c', f'echo ran >> {tmp_path}/count'])
    started = [subprocess.Popen([sys.executable, str(LAUNCHER), str(run.directory)]) for _ in range(10)]
    assert [process.wait() for process in started] == [0] * 10
    wait_until(lambda: not processes_of(run.directory), 'the end of all launchers')
    assert run.exit['code'] == 0
    assert (tmp_path / 'count').read_text() == 'ran\n'
    assert sorted(path.name for path in run.directory.iterdir()) == [
        'claim',
        'exit.json',
        'launcher.log',
        'output.log',
        'spec.json',
    ]
    assert run.read('launcher.log') == ''


def test_a_claimed_run_is_left_alone(new_run: Callable[..., Run], tmp_path: Path) -> None:
    run = new_run().specify(['/bin/sh', '-c', f'touch {tmp_path}/ran'])
    (run.directory / 'mask.json').write_text('["kept"]')
    (run.directory / 'claim').write_text('{}')
    run.launch()
    wait_until(lambda: not processes_of(run.directory), 'the end of the launcher')
    assert not (tmp_path / 'ran').exists()
    assert run.read('claim') == '{}'
    assert (run.directory / 'mask.json').exists() and not (run.directory / 'exit.json').exists()


def start_of(pid: str) -> str:
    return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[19]


def test_the_claim_names_the_process_for_good(new_run: Callable[..., Run], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / 'go')
    run = new_run().specify(['/bin/sh', '-c', f'read x < {tmp_path}/go']).launch()
    claim = json.loads(wait_until(lambda: (run.directory / 'claim').exists() and run.read('claim'), 'the claim'))
    stat = Path(f'/proc/{claim["pid"]}/stat').read_text().rpartition(')')[2].split()
    assert claim == {
        'pid': claim['pid'],
        'start_time': stat[19],
        'boot_id': Path('/proc/sys/kernel/random/boot_id').read_text().strip(),
        'keeper': {'pid': int(stat[1]), 'start_time': start_of(stat[1])},
    }
    keeper = Path(f'/proc/{stat[1]}/stat').read_text().rpartition(')')[2].split()
    assert str(os.getpid()) not in (stat[1], keeper[1]), 'the launcher is still a child of its caller'
    assert os.getsid(claim['pid']) != os.getsid(0)
    assert os.readlink(f'/proc/{claim["pid"]}/cwd') == '/'
    (tmp_path / 'go').write_text('\n')
    assert run.finish().exit['code'] == 0


def test_a_killed_launcher_leaves_its_claim_and_no_exit(new_run: Callable[..., Run], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / 'go')
    run = new_run().specify(['/bin/sh', '-c', f'echo $$ > {tmp_path}/pid; read x < {tmp_path}/go']).launch()
    child = int(wait_until(lambda: (tmp_path / 'pid').exists() and (tmp_path / 'pid').read_text(), 'the child'))
    launcher = Path(f'/proc/{run.launcher_pid}')
    os.kill(run.launcher_pid, signal.SIGKILL)
    wait_until(lambda: not launcher.exists(), 'the end of the launcher')
    run.launch()
    assert not (run.directory / 'kept').exists(), 'something of the run is left'
    os.kill(child, signal.SIGKILL)
    wait_until(lambda: not processes_of(run.directory), 'the end of its keeper')
    assert (run.directory / 'claim').exists() and not (run.directory / 'exit.json').exists()
    assert (run.directory / 'kept').exists()
    run.launch()
    wait_until(lambda: not processes_of(run.directory), 'the end of the second launcher')
    assert not (run.directory / 'exit.json').exists(), 'a lost run was started again'


def test_a_directory_that_does_not_exist_is_an_error_of_the_call(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(LAUNCHER), str(tmp_path / 'none')], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (2, 'usage: launch.py RUN_DIRECTORY\n')
