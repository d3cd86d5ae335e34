"""The output of a run: masked, bounded, and never in the way of the run."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from output_log import OutputLog
from runs import PLAYBOOK, Run, playbook_env, wait_until

from muster_run.masking import Masker


def written(path: Path, limit: int, pieces: list[bytes], secrets: tuple[str, ...] = ()) -> bytes:
    log = OutputLog(str(path / 'output.log'), limit, Masker(secrets))
    for piece in pieces:
        log.write(piece)
    log.close()
    return (path / 'output.log').read_bytes()


def test_output_up_to_the_limit_is_kept_as_it_is(tmp_path: Path) -> None:
    lines = [b'%09d\n' % number for number in range(100)]
    assert written(tmp_path, 1000, lines) == b''.join(lines)


@pytest.mark.parametrize('at_once', [1, 7, 1000])
def test_of_more_output_head_and_tail_are_kept_and_the_gap_is_told(tmp_path: Path, at_once: int) -> None:
    lines = [b'%09d\n' % number for number in range(1000)]
    pieces = [b''.join(lines[start : start + at_once]) for start in range(0, 1000, at_once)]
    kept = written(tmp_path, 1000, pieces)
    head, note, tail = kept.partition(b'\n[muster] 900 lines, 9000 bytes of output were left out here\n')
    assert note and head == b''.join(lines[:50]) and tail == b''.join(lines[950:])


def test_a_tail_begins_with_a_whole_line(tmp_path: Path) -> None:
    kept = written(tmp_path, 105, [b'%09d\n' % number for number in range(1000)])
    head, _, rest = kept.partition(b'\n[muster] ')
    note, _, tail = rest.partition(b'here\n')
    assert head == b''.join(b'%09d\n' % number for number in range(5))
    assert tail == b''.join(b'%09d\n' % number for number in range(995, 1000))
    assert note == b'990 lines, 9900 bytes of output were left out '


def test_output_without_line_ends_is_cut_anywhere(tmp_path: Path) -> None:
    kept = written(tmp_path, 20, [b'a' * 10 + b'b' * 10 + b'c' * 10])
    assert kept == b'a' * 10 + b'\n[muster] 0 lines, 10 bytes of output were left out here\n' + b'c' * 10


def test_a_line_that_begins_in_the_head_is_not_counted_as_left_out(tmp_path: Path) -> None:
    kept = written(tmp_path, 20, [b'a' * 15 + b'\n', *[b'%02d\n' % number for number in range(2, 20)]])
    # The lines 17 to 19 are kept; line 1 begins in the head.
    assert kept == b'a' * 10 + b'\n[muster] 15 lines, 51 bytes of output were left out here\n17\n18\n19\n'


def test_a_secret_is_masked_across_the_cut_between_head_and_tail(tmp_path: Path) -> None:
    kept = written(tmp_path, 40, [b'x' * 17, b'hun', b'ter2', b'y' * 100], ('hunter2',))
    assert b'hun' not in kept and b'ter2' not in kept


def test_the_launcher_keeps_head_and_tail_of_a_flood(new_run: Callable[..., Run]) -> None:
    run = new_run().specify(['/usr/bin/seq', '1', '200000'], log_max_bytes=65536).launch().finish()
    assert run.exit['code'] == 0
    assert run.output.startswith('1\n2\n3\n') and run.output.endswith('\n199999\n200000\n')
    assert 'bytes of output were left out here' in run.output
    assert 60000 < len(run.output) < 66000


def test_output_is_shown_as_it_comes(new_run: Callable[..., Run]) -> None:
    script = 'printf "no newline"; while [ ! -e "$MUSTER_RUN_DIR/seen" ]; do sleep 0.01; done'
    run = new_run().specify(['/bin/sh', '-c', script]).launch()
    wait_until(lambda: (run.directory / 'output.log').exists() and run.output == 'no newline', 'the output')
    (run.directory / 'seen').touch()
    run.finish()


def test_what_ansible_says_is_there_at_once_and_not_lost_when_it_is_killed(
    new_run: Callable[..., Run], tmp_path: Path
) -> None:
    (tmp_path / 'site.yml').write_text(
        '- hosts: localhost\n  connection: local\n  gather_facts: false\n  tasks:\n'
        '    - ansible.builtin.shell: test {{ item }} = first || until test -e over; do sleep 0.05; done\n'
        '      loop: [first, second]\n'
    )
    argv = [str(PLAYBOOK), str(tmp_path / 'site.yml')]
    run = new_run().specify(argv, playbook_env(tmp_path), str(tmp_path)).launch()
    # No other process is begun before the end of the task: what the first item came to has to show without that.
    wait_until((run.directory / 'output.log').exists, 'the output')
    wait_until(lambda: '(item=first)' in run.output, 'the first item')
    for process in Path('/proc').iterdir():
        if process.name.isdigit() and is_ansible(process, tmp_path):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process.name), signal.SIGKILL)
    run.finish()
    (tmp_path / 'over').touch()
    assert '(item=first)' in run.output and '(item=second)' not in run.output


def is_ansible(process: Path, tmp_path: Path) -> bool:
    """Whether it is ansible-playbook with this test's playbook."""
    try:
        words = (process / 'cmdline').read_bytes().split(b'\0')
    except OSError:
        return False
    return str(tmp_path / 'site.yml').encode() in words


def test_a_secret_split_over_two_reads_is_masked(new_run: Callable[..., Run]) -> None:
    program = (
        'import os, time\n'
        'os.write(1, b"login hun")\n'
        'path = os.environ["MUSTER_RUN_DIR"] + "/output.log"\n'
        'while not (os.path.exists(path) and open(path).read()): time.sleep(0.01)\n'
        'os.write(1, b"ter2 done")\n'
    )
    run = new_run().specify([sys.executable, '-c', program], masks=['hunter2']).launch().finish()
    assert run.output == 'login ******** done'


def test_a_full_disk_neither_stops_nor_fails_the_run(new_run: Callable[..., Run], small_disk: Path) -> None:
    run = new_run('disk/run').specify(['/usr/bin/seq', '1', '200000'], log_max_bytes=1 << 24).launch().finish()
    assert os.statvfs(small_disk).f_bavail == 0
    assert (run.exit['code'], run.exit['signal']) == (0, None)
    assert run.output.startswith('1\n2\n')


def test_a_run_on_a_disk_that_was_full_before_waits_for_room_to_write_its_end(
    new_run: Callable[..., Run], small_disk: Path
) -> None:
    fill = 'cd "$MUSTER_RUN_DIR"; rm .exit.json; cat /dev/zero > ballast; touch filled; exit 3'
    run = new_run('disk/run').specify(['/bin/sh', '-c', fill]).launch()
    draft = run.directory / '.exit.json'
    wait_until(lambda: (run.directory / 'filled').exists() and draft.exists(), 'the first attempt')
    assert not (run.directory / 'exit.json').exists() and draft.stat().st_size == 0
    (run.directory / 'ballast').unlink()
    assert run.finish().exit['code'] == 3


def test_what_a_full_disk_refused_is_counted(small_disk: Path) -> None:
    (small_disk / 'ballast').write_bytes(b'x' * 200_000)
    log = OutputLog(str(small_disk / 'output.log'), 1 << 24, Masker(()))
    log.write(b'y' * 100_000)
    (small_disk / 'ballast').unlink()
    log.write(b'after\n')
    log.close()
    kept = (small_disk / 'output.log').read_bytes()
    fitted = kept.index(b'after')
    assert kept.endswith(
        b'after\n\n[muster] %d bytes of output could not be written: No space left on device\n' % (100_000 - fitted)
    )
