"""The report and its tries, without end until it is taken (cfs-flows 6.1)."""

import json
import time
from typing import Callable, Optional

from .pauses import RETRIED_STATUSES, RETRIES, asked_for, before_attempt, before_retry
from .request import Answer


def report_body() -> bytes:
    """What the node says about itself: nothing is configured on it, and it is there to be configured.

    The same again says nothing new, so that a report whose answer was lost is simply sent again.
    """
    return json.dumps({'state': [], 'enabled': True}).encode()


def report(
    send: Callable[[bytes, Optional[str]], Answer],
    take_token: Callable[[], Optional[str]],
    sleep: Callable[[float], None],
    log: Callable[[str], None],
    clock: Callable[[], float] = time.time,
) -> None:
    """Ends when the server has taken the report. Each attempt has a fresh token."""
    number = 0
    asked = 0.0
    while True:
        pause = max(before_attempt(number), asked)
        if number > 0:
            log('attempt {} in {:g} s'.format(number + 1, pause))
        sleep(pause)
        answer = _attempt(send, take_token(), sleep, log, clock)
        if answer.status is not None and 200 <= answer.status < 300:
            log('reported')
            return
        asked = _asked(answer, clock)
        number += 1


def _attempt(
    send: Callable[[bytes, Optional[str]], Answer],
    token: Optional[str],
    sleep: Callable[[float], None],
    log: Callable[[str], None],
    clock: Callable[[], float],
) -> Answer:
    """The last answer to a request that is made again while another try may help."""
    retry = 0
    while True:
        answer = send(report_body(), token)
        if answer.status is not None and 200 <= answer.status < 300:
            return answer
        log('not reported: {}'.format(_words(answer)))
        may_help = answer.status is None or answer.status in RETRIED_STATUSES
        if not may_help or retry == RETRIES:
            return answer
        sleep(max(before_retry(retry), _asked(answer, clock)))
        retry += 1


def _asked(answer: Answer, clock: Callable[[], float]) -> float:
    """The pause that an overloaded or guarded server asks for (429, 503)."""
    return asked_for(answer.retry_after, clock()) if answer.status in (429, 503) else 0


def _words(answer: Answer) -> str:
    return answer.said if answer.status is None else '{} {}'.format(answer.status, answer.said).rstrip()
