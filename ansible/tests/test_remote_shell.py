"""Shell actions at a target: what they are given, that their exit status is their own, and that nothing of them outlives who asked."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from far_side import FarSide, Spoken
from runs import PATIENCE, is_running, wait_until

BEGUN = {'type': 'target_begun'}

STUBBORN = """
trap '' TERM
setsid env -i bash -c 'trap "" TERM; echo $$ > {directory}/shed; while :; do sleep 0.2; done' &
echo $$ > {directory}/own
while :; do sleep 0.2; done
"""


@pytest.fixture
def far(tmp_path: Path) -> Iterator[FarSide]:
    """An action at a target; what a test leaves running of it is ended."""
    made = FarSide(tmp_path)
    yield made
    made.close()


def stubborn(far: FarSide) -> FarSide:
    """An action that ignores TERM, with a process that has left its session and its environment behind."""
    return far.script(STUBBORN.format(directory=far.directory))


def is_gone(far: FarSide) -> bool:
    """Whether nothing is left of a stubborn action."""
    return not any(is_running(far.number(name)) for name in ('own', 'shed')) and not far.processes()


@pytest.mark.parametrize(
    ('script', 'status'),
    [('exit 0', 0), ('exit 3', 3), ('exit 255', 255), ('kill -KILL $$', 137), ('exec kill -TERM $$', 143)],
)
def test_the_exit_status_is_that_of_the_action(far: FarSide, script: str, status: int) -> None:
    assert far.script(script).finish() == (status, '')
    assert far.events() == [BEGUN, {'type': 'target_end', 'end': 'exited', 'status': status, 'left': False}]
    assert not far.folder.exists()


def test_an_action_finds_its_files_and_nothing_on_its_input(far: FarSide) -> None:
    (far.files / 'secrets').mkdir()
    for name, content, mode in (('secrets/key', 'value', 0o600), ('tool', '#!/bin/sh\necho tool "$@"', 0o700)):
        (far.files / name).write_text(content)
        (far.files / name).chmod(mode)
    far.script(
        'cat; pwd; stat -c %a . secrets secrets/key tool; cat secrets/key; echo\n'
        './tool 1 >&2; echo "$MUSTER_INPUTS"; umask; echo "$MUSTER_ATTEMPT"'
    )
    status, output = far.finish(before='umask 022')
    expected = [str(far.folder), '700', '700', '600', '700', 'value', 'tool 1', str(far.folder / 'inputs.json')]
    assert (status, output.splitlines()) == (0, [*expected, '0022', far.attempt])


def test_output_comes_as_it_is_made(far: FarSide) -> None:
    run = far.script(f'echo first; while ! test -e {far.directory}/go; do sleep 0.05; done; echo last').start()
    assert run.stdout is not None
    assert run.stdout.readline() == 'first\n'
    (far.directory / 'go').touch()
    assert run.stdout.read() == 'last\n'
    assert run.wait() == 0


def test_large_output_arrives_whole(far: FarSide) -> None:
    status, output = far.script('head -c 3000000 /dev/zero | tr "\\0" x; exit 4').finish()
    assert (status, output) == (4, 'x' * 3_000_000)


def test_what_the_shell_of_a_target_prints_is_not_part_of_it(far: FarSide) -> None:
    assert far.script('echo own').finish(before='echo welcome; echo muster') == (0, 'own\n')


def test_a_command_that_is_not_there_is_status_127(far: FarSide) -> None:
    status, output = far.script('exec missing-program').finish()
    assert status == 127
    assert 'missing-program' in output


@pytest.mark.parametrize(
    ('command', 'end', 'message'),
    [
        ('echo no route to host >&2; exit 255', 'unreachable', 'no route to host'),
        ('exit 255', 'unreachable', 'ssh ended with exit status 255'),
        ('echo sudo: a password is required >&2; exit 1', 'refused', 'sudo: a password is required'),
        ('echo this account is not available; exit 1', 'refused', 'this account is not available'),
        ('exec /missing/python3', 'refused', 'not found'),
        ('exit 0', 'refused', 'ssh ended with exit status 0'),
    ],
)
def test_a_target_that_does_not_begin_is_told_from_an_action_that_fails(
    far: FarSide, command: str, end: str, message: str
) -> None:
    status, output = far.script('exit 0').finish(ssh=['sh', '-c', command])
    assert status == 255
    [event] = far.events()
    assert (event['type'], event['end']) == ('target_end', end)
    assert message in event['message']
    assert event['message'] in output
    assert not far.folder.exists()


def test_a_folder_that_is_there_is_nobody_elses(far: FarSide) -> None:
    far.folder.mkdir()
    (far.folder / 'other').touch()
    status, _ = far.script('exit 0').finish()
    assert status == 255
    [event] = far.events()
    assert (event['end'], 'File exists' in event['message']) == ('refused', True)
    assert (far.folder / 'other').exists()


def test_a_message_shows_no_secret(far: FarSide) -> None:
    far.script('exit 0').finish(ssh=['sh', '-c', 'echo key is canary-4711 >&2; exit 255'], secrets=['canary-4711'])
    assert far.events() == [{'type': 'target_end', 'end': 'unreachable', 'message': 'key is ********'}]


def test_nothing_outlives_a_lost_connection(far: FarSide) -> None:
    run = stubborn(far).start()
    far.number('own')
    far.number('shed')
    run.kill()
    run.wait()
    wait_until(lambda: is_gone(far), 'the end of the action')
    assert not far.folder.exists()


def test_an_action_that_is_ended_over_another_connection_is_lost_for_who_follows_it(far: FarSide) -> None:
    run = stubborn(far).start()
    far.number('own')
    far.number('shed')
    assert far.end() == (0, {'gone': True, 'why': None})
    assert is_gone(far)
    assert not far.folder.exists()
    assert run.wait() == 255
    assert far.events()[1]['end'] == 'lost'


def test_what_was_never_there_is_gone(far: FarSide) -> None:
    assert far.end() == (0, {'gone': True, 'why': None})


def test_a_target_that_does_not_answer_confirms_nothing(far: FarSide) -> None:
    status, answer = far.end(ssh=['sh', '-c', 'echo timed out >&2; exit 255'])
    assert (status, answer) == (1, {'gone': False, 'why': 'timed out'})


def test_without_its_keeper_an_action_is_ended_and_in_doubt(far: FarSide) -> None:
    run = stubborn(far).start()
    far.number('shed')
    (far.folder / 'secret').write_text('value')
    os.kill(far.keeper(), signal.SIGKILL)
    for _ in range(2):
        status, answer = far.end()
        assert (status, answer['gone'], 'was killed' in answer['why']) == (0, False, True)
        # The note stays, so that the answer does.
        assert os.listdir(far.folder) == ['claim']
    assert not is_running(far.number('own'))
    assert run.wait() == 255
    assert not is_running(far.number('shed'))


def test_without_its_keeper_the_worker_ends_an_action_whose_connection_is_lost(far: FarSide) -> None:
    run = far.script(f'trap "" TERM; echo $$ > {far.directory}/own; while :; do sleep 0.2; done').start()
    own = far.number('own')
    keeper = far.keeper()
    os.kill(keeper, signal.SIGKILL)
    # A signal is not yet an end: a worker that loses its connection before the keeper has ended leaves the rest to the keeper.
    wait_until(lambda: not is_running(keeper), 'the end of the keeper')
    run.kill()
    run.wait()
    wait_until(lambda: not is_running(own), 'the end of the action')


def test_what_began_before_the_target_was_started_again_is_gone(far: FarSide) -> None:
    far.folder.mkdir()
    (far.folder / 'claim').write_text('another boot')
    assert far.end() == (0, {'gone': True, 'why': None})
    assert not far.folder.exists()


def test_what_an_action_leaves_at_work_lives_on(far: FarSide) -> None:
    script = f'setsid sh -c "echo \\$\\$ > {far.directory}/daemon; exec sleep 60" & \nuntil test -s {far.directory}/daemon; do sleep 0.05; done'
    status, _ = far.script(script).finish()
    assert status == 0
    assert is_running(far.number('daemon'))
    assert not far.folder.exists()


def test_the_other_side_may_leave_before_the_worker_of_an_action_that_has_ended(far: FarSide) -> None:
    spoken = Spoken(far, instead=('os._exit(0)', 'time.sleep(1); os._exit(0)'))
    spoken.order(far, f'setsid sleep 60 & echo $! > {far.directory}/daemon')
    assert spoken.hear() == (b'A', b'')
    spoken.say(b'.')
    assert spoken.hear()[0] == b'X'
    spoken.input.close()
    assert spoken.process.wait() == 0
    assert is_running(far.number('daemon'))


def test_a_file_that_the_target_cannot_have_begins_nothing(far: FarSide) -> None:
    spoken = Spoken(far)
    spoken.order(far, f'touch {far.directory}/begun', path='no\ud800name')
    kind, why = spoken.hear()
    assert (kind, b'encode' in why) == (b'F', True)
    assert spoken.process.wait() == 1
    assert not far.folder.exists()


def test_nothing_begins_before_the_word(far: FarSide) -> None:
    spoken = Spoken(far)
    spoken.order(far, f'touch {far.directory}/begun')
    assert spoken.hear() == (b'A', b'')
    assert far.folder.exists()
    spoken.input.close()
    spoken.process.wait()
    assert not far.folder.exists()
    assert not (far.directory / 'begun').exists()


def test_what_is_ended_before_the_word_leaves_nothing(far: FarSide) -> None:
    spoken = Spoken(far)
    spoken.order(far, f'touch {far.directory}/begun')
    assert spoken.hear() == (b'A', b'')
    spoken.process.terminate()
    spoken.process.wait()
    assert not far.folder.exists()
    assert not (far.directory / 'begun').exists()


def test_silence_ends_an_action(far: FarSide) -> None:
    spoken = Spoken(far, ('SILENCE = 60', 'SILENCE = 5'))
    spoken.order(far, f'trap "" TERM; echo $$ > {far.directory}/own; while :; do sleep 0.2; done')
    assert spoken.hear() == (b'A', b'')
    end = time.monotonic() + PATIENCE
    while not (far.directory / 'own').exists():
        assert time.monotonic() < end, 'the action does not begin'
        spoken.say(b'.')
        time.sleep(0.2)
    own = far.number('own')
    # The connection is open and says nothing from now on.
    wait_until(lambda: not is_running(own), 'the end of the action')
    assert spoken.process.wait() == 1
    assert not far.folder.exists()


def test_signs_of_life_keep_an_action(far: FarSide) -> None:
    spoken = Spoken(far, ('SILENCE = 60', 'SILENCE = 5'))
    spoken.order(far, f'until test -e {far.directory}/go; do sleep 0.1; done; exit 5')
    assert spoken.hear() == (b'A', b'')
    for _ in range(15):
        spoken.say(b'.')
        time.sleep(0.4)
    (far.directory / 'go').touch()
    kind, content = spoken.hear()
    assert (kind, b'"status": 5' in content) == (b'X', True)


def test_a_target_that_never_greets_is_given_up(far: FarSide) -> None:
    far.script('exit 0').finish(ssh=['sleep', '600'], patience=1)
    [event] = far.events()
    assert (event['end'], event['message']) == ('unreachable', 'the target did not answer within 1 s')
