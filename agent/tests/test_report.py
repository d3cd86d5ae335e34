"""The report is sent until it is taken, whatever the server does meanwhile."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from gateway import TAKEN, Gateway, answers, cuts, play

from muster_report import request

Start = Callable[..., Gateway]


def problem(status: int, **members: object) -> dict[str, object]:
    return {'status': status, 'title': 'Refused', 'detail': 'because of this', **members}


def test_it_says_that_nothing_is_configured_and_the_node_is_there(gateway: Start) -> None:
    server = gateway(TAKEN)
    told = play({'MUSTER_REPORT_URL': f'http://{server.address}/apis/cfs/'})
    [seen] = server.seen
    assert (seen.method, seen.path) == ('PATCH', '/apis/cfs/v3/components/x1')
    assert json.loads(seen.body) == {'state': [], 'enabled': True}
    assert seen.headers['content-type'] == 'application/json'
    assert 'authorization' not in seen.headers
    assert (told.pauses, told.log) == ([0], ['reported'])


BOOT = {'state': [], 'enabled': True, 'muster': {'boot': 'b1'}}
PLAIN = {'state': [], 'enabled': True}


@pytest.fixture
def booted(tmp_path: Path) -> dict[str, str]:
    (tmp_path / 'boot_id').write_text('b1\n')
    return {'MUSTER_REPORT_BOOT_ID_FILE': str(tmp_path / 'boot_id')}


def test_it_says_which_boot_this_is_each_time(gateway: Start, booted: dict[str, str]) -> None:
    server = gateway(cuts, answers(404), answers(503), TAKEN)
    play({'MUSTER_REPORT_URL': f'http://{server.address}', **booted})
    assert [json.loads(seen.body) for seen in server.seen] == [BOOT] * 4


def test_a_server_that_knows_no_boots_gets_the_plain_report_from_then_on(
    gateway: Start, booted: dict[str, str]
) -> None:
    server = gateway(answers(404), answers(400, problem(400)), answers(404), cuts, TAKEN)
    told = play({'MUSTER_REPORT_URL': f'http://{server.address}', **booted})
    assert [json.loads(seen.body) for seen in server.seen] == [BOOT, BOOT, PLAIN, PLAIN, PLAIN]
    assert told.pauses == [0, 2, 4, 0.5]
    assert told.log[2:4] == ['not reported: 400 Refused: because of this', 'reporting without the boot from now on']


def test_a_server_that_refuses_that_too_is_asked_again_as_any_other(gateway: Start, booted: dict[str, str]) -> None:
    server = gateway(*[answers(400)] * 3, TAKEN)
    told = play({'MUSTER_REPORT_URL': f'http://{server.address}', **booted})
    assert [json.loads(seen.body) for seen in server.seen] == [BOOT, PLAIN, PLAIN, PLAIN]
    assert told.pauses == [0, 2, 4]


def test_an_id_is_one_part_of_the_path_whatever_is_in_it(gateway: Start) -> None:
    server = gateway(TAKEN)
    play({'MUSTER_REPORT_URL': f'http://{server.address}', 'NODE_IDENTITY': 'a/b?c#d e%ü'})
    assert server.seen[0].path == '/v3/components/a%2Fb%3Fc%23d%20e%25%C3%BC'


def test_a_component_that_is_not_known_yet_is_reported_again(gateway: Start) -> None:
    server = gateway(*[answers(404, problem(404))] * 20, TAKEN)
    told = play({'MUSTER_REPORT_URL': f'http://{server.address}'})
    assert len(server.seen) == 21
    assert told.pauses == [min(30, 2 * attempt) for attempt in range(21)]
    assert told.log[:2] == ['not reported: 404 Refused: because of this', 'attempt 2 in 2 s']
    assert {seen.body for seen in server.seen} == {server.seen[0].body}


@pytest.mark.parametrize('status', [500, 502, 503, 504])
def test_a_server_in_trouble_is_asked_ten_times_more_in_each_attempt(gateway: Start, status: int) -> None:
    server = gateway(*[answers(status)] * 11, TAKEN)
    told = play({'MUSTER_REPORT_URL': f'http://{server.address}'})
    assert len(server.seen) == 12
    assert told.pauses == [0, 0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30, 2]


def test_so_is_one_that_cuts_the_connection_after_it_took_the_report(gateway: Start) -> None:
    server = gateway(cuts, cuts, TAKEN)
    told = play({'MUSTER_REPORT_URL': f'http://{server.address}'})
    assert [seen.body for seen in server.seen] == [server.seen[0].body] * 3
    assert told.pauses == [0, 0.5, 1]
    assert 'not reported: RemoteDisconnected' in told.log[0]


def test_and_nobody_at_all(gateway: Start) -> None:
    server = gateway(TAKEN)
    server.close()
    with pytest.raises(AssertionError, match='it does not end.*ConnectionRefused'):
        play({'MUSTER_REPORT_URL': f'http://{server.address}'})


@pytest.mark.parametrize('status', [301, 302, 307, 308])
def test_a_redirect_is_not_followed(gateway: Start, status: int) -> None:
    other = gateway(TAKEN)
    server = gateway(answers(status, Location=f'http://{other.address}/v3/components/x1'), TAKEN)
    told = play({'MUSTER_REPORT_URL': f'http://{server.address}'})
    assert (len(server.seen), other.seen, told.pauses) == (2, [], [0, 2])
    assert told.log[0] == f'not reported: {status} redirects are not followed'


@pytest.mark.parametrize(
    ('status', 'header', 'pauses'),
    [
        (503, '7', [0, 7]),
        (503, '0', [0, 0.5]),
        (503, '100000000000000000000', [0, 120]),
        (503, 'Thu, 01 Jan 1970 00:01:00 GMT', [0, 60]),
        (503, 'Thu, 01 Jan 2070 00:00:00 GMT', [0, 120]),
        (503, 'Thu, 99 Foo', [0, 0.5]),
        (503, '-5', [0, 0.5]),
        (429, '40', [0, 40]),
        (429, '1', [0, 2]),
        (404, '40', [0, 2]),
        (500, '40', [0, 0.5]),
    ],
)
def test_the_pause_that_is_asked_for_is_kept_within_bounds(
    gateway: Start, status: int, header: str, pauses: list[float]
) -> None:
    server = gateway(answers(status, Retry_After=header), TAKEN)
    assert play({'MUSTER_REPORT_URL': f'http://{server.address}'}).pauses == pauses


@pytest.mark.parametrize(
    ('body', 'words'),
    [
        (problem(400), '400 Refused: because of this'),
        ({'detail': 'alone'}, '400 alone'),
        (problem(400, detail='two\nlines\x1b[31m'), '400 Refused: two lines [31m'),
        (problem(400, title='t', detail='y' * 2000), '400 t: ' + 'y' * 497 + '...'),
        (problem(400, title=3, detail=['x']), '400 Bad Request'),
        (['no object'], '400 Bad Request'),
        (b'<html>', '400 Bad Request'),
        (b'[' * 60000, '400 Bad Request'),
        (b'\xff\x00', '400 Bad Request'),
    ],
)
def test_the_reason_of_a_refusal_is_in_the_log(gateway: Start, body: object, words: str) -> None:
    server = gateway(answers(400, body), TAKEN)
    told = play({'MUSTER_REPORT_URL': f'http://{server.address}'})
    assert told.log == [f'not reported: {words}', 'attempt 2 in 2 s', 'reported']


def test_a_silent_server_is_left(gateway: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request, 'READ_SECONDS', 0.1)
    server = gateway(lambda _: time.sleep(1), TAKEN)
    told = play({'MUSTER_REPORT_URL': f'http://{server.address}'})
    assert 'timed out' in told.log[0] and told.log[-1] == 'reported'


def test_so_is_one_whose_answer_drips(gateway: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request, 'WHOLE_SECONDS', 0.3)

    def drips(handler: object) -> None:
        for _ in range(100):
            handler.wfile.write(b'H')
            time.sleep(0.02)

    told = play({'MUSTER_REPORT_URL': f'http://{gateway(drips, TAKEN).address}'})
    assert told.log[0].endswith(': not answered within 0.3 s')


def test_a_taken_report_is_taken_though_its_answer_never_ends(gateway: Start) -> None:
    over = threading.Event()

    def begins(handler: object) -> None:
        handler.send_response(200)
        handler.send_header('Content-Length', '1000')
        handler.end_headers()
        over.wait(60)

    assert play({'MUSTER_REPORT_URL': f'http://{gateway(begins).address}'}).log == ['reported']
    over.set()


def test_what_is_no_http_is_no_answer(gateway: Start) -> None:
    server = gateway(lambda handler: handler.wfile.write(b'SSH-2.0-OpenSSH_9.2\r\n'), TAKEN)
    assert 'BadStatusLine' in play({'MUSTER_REPORT_URL': f'http://{server.address}'}).log[0]
