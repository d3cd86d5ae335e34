"""The token is fresh with each attempt, waited for without end, and shown to nobody but the server."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from gateway import TAKEN, Gateway, answers, play

from muster_report import token_source

Start = Callable[..., Gateway]


def helper(directory: Path, text: str) -> str:
    """A command that runs this Python code."""
    path = directory / 'a helper.py'
    path.write_text(text)
    return f"{sys.executable} '{path}'"


def counting(directory: Path, good_from: int) -> str:
    """A helper whose n-th run prints token-n; it fails until run `good_from`."""
    return helper(
        directory,
        f'from pathlib import Path\ncount = Path({str(directory / "count")!r})\n'
        'n = int(count.read_text()) + 1 if count.exists() else 1\ncount.write_text(str(n))\n'
        f'print(f"token-{{n}}")\nraise SystemExit(0 if n >= {good_from} else 3)\n',
    )


def is_running(pid: int) -> bool:
    """Whether there is that process; one whose parent has not taken its status yet does not run."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] not in 'ZX'
    except OSError:
        return False


def sent(server: Gateway) -> list[str | None]:
    return [seen.headers.get('authorization') for seen in server.seen]


@pytest.mark.parametrize('status', [401, 403])
def test_a_refused_token_is_replaced_by_a_fresh_one(gateway: Start, tmp_path: Path, status: int) -> None:
    server = gateway(answers(status, {'detail': 'not this one'}), answers(500), TAKEN)
    told = play(
        {'MUSTER_REPORT_URL': f'http://{server.address}', 'MUSTER_REPORT_TOKEN_COMMAND': counting(tmp_path, 1)}
    )
    assert sent(server) == ['Bearer token-1', 'Bearer token-2', 'Bearer token-2']
    assert told.pauses == [0, 2, 0.5]


def test_a_helper_that_fails_is_run_every_two_seconds_for_ever(gateway: Start, tmp_path: Path) -> None:
    server = gateway(TAKEN)
    told = play(
        {'MUSTER_REPORT_URL': f'http://{server.address}', 'MUSTER_REPORT_TOKEN_COMMAND': counting(tmp_path, 33)}
    )
    assert sent(server) == ['Bearer token-33']
    assert told.pauses == [0, *[2] * 32]
    assert told.log == [*['no token yet: the helper ended with status 3'] * 2, 'reported'], 'logged once a minute'


@pytest.mark.parametrize(
    ('code', 'reason'),
    [
        ('pass', 'the helper printed nothing'),
        ('print("one two")', 'the helper printed something else than one token'),
        ('print("sécret")', 'the helper printed something else than one token'),
        ('print("se\\0cret")', 'the helper printed something else than one token'),
        ('import os; os.kill(os.getpid(), 9)', 'the helper ended with status -9'),
    ],
)
def test_what_is_no_token_is_not_sent(gateway: Start, tmp_path: Path, code: str, reason: str) -> None:
    server = gateway(TAKEN)
    good = tmp_path / 'good'
    command = helper(
        tmp_path,
        f'import os, sys\nif os.path.exists({str(good)!r}): print("fine"); sys.exit()\n'
        f'open({str(good)!r}, "w")\n{code}',
    )
    told = play({'MUSTER_REPORT_URL': f'http://{server.address}', 'MUSTER_REPORT_TOKEN_COMMAND': command})
    assert (sent(server), told.log) == (['Bearer fine'], [f'no token yet: {reason}', 'reported'])


def test_a_helper_that_hangs_is_ended_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_source, '_HELPER_SECONDS', 3)
    child = tmp_path / 'child'
    with pytest.raises(token_source.NoToken, match='did not end'):
        token_source._from_command(['/bin/sh', '-c', f'sleep 600 & echo $! > {child}; wait'])
    pid = int(child.read_text())
    end = time.monotonic() + 120
    while is_running(pid):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_helper_that_is_not_there_is_waited_for() -> None:
    with pytest.raises(token_source.NoToken, match='cannot be run: No such file'):
        token_source._from_command(['/nowhere/helper'])


def test_a_file_is_read_with_each_attempt(gateway: Start, tmp_path: Path) -> None:
    file = tmp_path / 'token'
    file.write_text(' first\n')
    server = gateway(lambda handler: (file.write_text('second'), answers(401)(handler)), TAKEN)
    play({'MUSTER_REPORT_URL': f'http://{server.address}', 'MUSTER_REPORT_TOKEN_FILE': str(file)})
    assert sent(server) == ['Bearer first', 'Bearer second']


@pytest.mark.parametrize(
    ('content', 'reason'), [(None, 'No such file'), ('', 'holds nothing'), ('a b', 'something else')]
)
def test_a_file_without_a_token_is_waited_for(tmp_path: Path, content: str | None, reason: str) -> None:
    file = tmp_path / 'token'
    if content is not None:
        file.write_text(content)
    with pytest.raises(token_source.NoToken, match=reason) as caught:
        token_source._from_file(str(file))
    assert content in (None, '') or content not in str(caught.value)


def test_a_server_that_repeats_the_token_brings_it_into_no_log(gateway: Start, tmp_path: Path) -> None:
    file = tmp_path / 'token'
    file.write_text('muster_secret')
    detail = 'x' * 490 + ' muster_secret'
    refused = answers(401, {'title': 'muster_secret', 'detail': detail})
    server = gateway(refused, answers(404, {'detail': detail}), TAKEN)
    told = play({'MUSTER_REPORT_URL': f'http://{server.address}', 'MUSTER_REPORT_TOKEN_FILE': str(file)})
    assert 'muster_s' not in '\n'.join(told.log)
    assert 'not reported: 401 ***: x' in told.log[0]
