"""The report and its tries, without end until it is taken (cfs-flows 6.1)."""

import json
import time
from typing import Callable, Optional

from .pauses import RETRIED_STATUSES, RETRIES, asked_for, before_attempt, before_retry
from .request import Answer


def report_body(boot: Optional[str] = None) -> bytes:
    """What the node says about itself: nothing is configured on it since this boot, and it is there to be configured.

    With the boot the same again says nothing new, so that a report whose answer was lost is simply sent again.
    """
    body = {'state': [], 'enabled': True}
    return json.dumps(body if boot is None else {**body, 'muster': {'boot': boot}}).encode()


def report(
    send: Callable[[bytes, Optional[str]], Answer],
    take_token: Callable[[], Optional[str]],
    sleep: Callable[[float], None],
    log: Callable[[str], None],
    boot: Optional[str] = None,
    clock: Callable[[], float] = time.time,
) -> None:
    """Ends when the server has taken the report. Each attempt has a fresh token.

    A server that refuses the report with the boot (400) gets it without from then on: it is a CFS that knows no boots.
    """
    number = 0
    asked = 0.0
    while True:
        pause = max(before_attempt(number), asked)
        if number > 0:
            log('attempt {} in {:g} s'.format(number + 1, pause))
        sleep(pause)
        answer = _attempt(send, report_body(boot), take_token(), sleep, log, clock)
        if answer.status == 400 and boot is not None:
            log('reporting without the boot from now on')
            boot = None
            answer = _attempt(send, report_body(), take_token(), sleep, log, clock)
        if answer.status is not None and 200 <= answer.status < 300:
            log('reported')
            return
        asked = _asked(answer, clock)
        number += 1


def _attempt(
    send: Callable[[bytes, Optional[str]], Answer],
    body: bytes,
    token: Optional[str],
    sleep: Callable[[float], None],
    log: Callable[[str], None],
    clock: Callable[[], float],
) -> Answer:
    """The last answer to a request that is made again while another try may help."""
    retry = 0
    while True:
        answer = send(body, token)
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
