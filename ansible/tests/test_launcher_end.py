"""How runs end, and that every end is written down."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from runs import Run, processes_of, wait_until


@pytest.mark.parametrize(
    ('script', 'code', 'signal_name'),
    [
        ('exit 0', 0, None),
        ('exit 4', 4, None),
        ('exit 250', 250, None),
        ('kill -KILL $$', 137, 'SIGKILL'),
        ('kill -TERM $$', 143, 'SIGTERM'),
    ],
)
def test_the_exit_status_is_written(
    new_run: Callable[..., Run], script: str, code: int, signal_name: str | None
) -> None:
    end = new_run().specify(['/bin/sh', '-c', script]).launch().finish().exit
    assert (end['code'], end['signal']) == (code, signal_name)
    assert re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z', end['ended_at'])


def test_a_real_time_signal_is_named_by_its_number(new_run: Callable[..., Run]) -> None:
    end = new_run().specify(['/bin/sh', '-c', f'kill -{signal.SIGRTMIN + 2} $$']).launch().finish().exit
    assert (end['code'], end['signal']) == (128 + signal.SIGRTMIN + 2, f'SIG{signal.SIGRTMIN + 2}')


@pytest.mark.parametrize(
    ('spec', 'says'),
    [
        (
            {'argv': ['/nowhere/ansible-playbook']},
            "cannot run ['/nowhere/ansible-playbook'] in '/': No such file or directory",
        ),
        ({'argv': ['/etc/passwd']}, 'Permission denied'),
        ({'argv': ['/bin/true'], 'cwd': '/nowhere'}, 'No such file or directory'),
        ({'argv': ['/bin/true', 'a\0b']}, 'null byte'),
        ({'argv': []}, 'cannot run []'),
        ({'argv': ['/bin/true'], 'env': None}, 'the run cannot be started'),
        ({'argv': ['/bin/true'], 'log_max_bytes': 'much'}, 'the run cannot be started'),
    ],
)
def test_what_cannot_be_executed_ends_with_127_and_says_why(new_run: Callable[..., Run], spec: dict, says: str) -> None:
    run = new_run().specify([])
    run.specify(**{'argv': [], **{key: value for key, value in spec.items() if key != 'env'}})
    if 'env' in spec:
        (run.directory / 'spec.json').write_text(run.read('spec.json').replace('"env": {}', '"env": null'))
    run.launch().finish()
    assert run.exit['code'] == 127 and run.exit['signal'] is None
    assert says in run.output


@pytest.mark.parametrize('name', ['spec.json', 'mask.json', 'environment.json'])
def test_a_broken_input_file_ends_the_run_before_its_start(
    new_run: Callable[..., Run], tmp_path: Path, name: str
) -> None:
    run = new_run().specify(['/bin/sh', '-c', f'touch {tmp_path}/ran'])
    (run.directory / name).write_text('["sesame')
    run.launch().finish()
    assert run.exit['code'] == 127 and not (tmp_path / 'ran').exists()
    assert 'sesame' not in run.output + run.read('launcher.log')
    assert not any((run.directory / secret).exists() for secret in ('mask.json', 'environment.json'))


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_launcher_outlives_signals_that_its_child_does_not(
    new_run: Callable[..., Run], tmp_path: Path, number: int
) -> None:
    os.mkfifo(tmp_path / 'go')
    run = new_run().specify(['/bin/sh', '-c', f'echo $$; read x < {tmp_path}/go']).launch()
    child = int(wait_until(lambda: (run.directory / 'output.log').exists() and run.output, 'the child'))
    os.kill(run.launcher_pid, number)
    os.kill(child, number)
    assert run.finish().exit['signal'] == signal.Signals(number).name


def test_a_background_process_that_holds_the_output_delays_nothing_and_lives(
    new_run: Callable[..., Run], tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / 'go')
    script = f'echo before; (read x < {tmp_path}/go; touch {tmp_path}/late) & exec 1>&- 2>&-; exit 3'
    run = new_run().specify(['/bin/sh', '-c', script]).launch().finish()
    assert run.exit['code'] == 3 and run.output == 'before\n'
    wait_until(lambda: not processes_of(run.directory), 'the end of the launcher')
    (tmp_path / 'go').write_text('\n')
    wait_until((tmp_path / 'late').exists, 'the background process')


def test_a_background_process_that_floods_the_output_delays_nothing(
    new_run: Callable[..., Run], tmp_path: Path
) -> None:
    run = new_run().specify(['/bin/sh', '-c', f'yes flood & echo $! > {tmp_path}/pid; sleep 0.2']).launch().finish()
    assert run.exit['code'] == 0
    flooder = int((tmp_path / 'pid').read_text())
    wait_until(lambda: not Path(f'/proc/{flooder}').exists(), 'the end of the flood by SIGPIPE')


def test_all_output_is_there_when_the_end_is(new_run: Callable[..., Run]) -> None:
    run = new_run().specify(['/bin/sh', '-c', 'seq 1 20000; echo error >&2']).launch().finish()
    assert run.output == ''.join(f'{number}\n' for number in range(1, 20001)) + 'error\n'


def test_output_that_the_child_closes_does_not_end_the_run(new_run: Callable[..., Run], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / 'go')
    run = (
        new_run()
        .specify(['/bin/sh', '-c', f'exec 1>&- 2>&-; touch {tmp_path}/closed; read x < {tmp_path}/go; exit 5'])
        .launch()
    )
    wait_until((tmp_path / 'closed').exists, 'the child')
    (tmp_path / 'go').write_text('\n')
    assert run.finish().exit['code'] == 5


def test_orphans_are_adopted_and_reaped(new_run: Callable[..., Run], tmp_path: Path) -> None:
    for name in ('orphan-go', 'go'):
        os.mkfifo(tmp_path / name)
    orphan = f"setsid sh -c 'echo $$ > {tmp_path}/orphan; read x < {tmp_path}/orphan-go'"
    run = new_run().specify(['/bin/sh', '-c', f'({orphan} &) ; read x < {tmp_path}/go']).launch()
    pid = int(wait_until(lambda: (tmp_path / 'orphan').exists() and (tmp_path / 'orphan').read_text(), 'the orphan'))
    status = Path(f'/proc/{pid}/stat')
    wait_until(lambda: status.read_text().rpartition(')')[2].split()[1] == str(run.launcher_pid), 'the adoption')
    (tmp_path / 'orphan-go').write_text('\n')
    wait_until(lambda: not status.exists(), 'the orphan to be reaped (a zombie would stay)')
    assert not (run.directory / 'exit.json').exists(), 'an orphan was taken for the child'
    (tmp_path / 'go').write_text('\n')
    assert run.finish().exit['code'] == 0
