"""What Muster wants of the `ansible` container."""

from __future__ import annotations

from typing import Any, NamedTuple

from .failure import StepFailure
from .ingest import Ingest
from .signals import Signals

_WAIT = 25.0
_SHORTEST = 0.2
"""Between two questions at least, should the server answer at once."""


class RunOrder(NamedTuple):
    """One layer's playbook, to be run once."""

    run_id: str
    layer: int
    playbook: str
    debug: bool
    arguments: list[str]
    limit: str | None
    """Content of the file that the limit is in, if it is in one."""
    files: dict[str, str]
    """Contents of the files of extra variables, by path."""
    environment: dict[str, str]
    cwd: str
    log_max: int
    certificate_until: int
    """The certificate has to be good until then, seconds since 1970; 0: any will do."""


class Order(NamedTuple):
    """The next thing to do; without a run it is to finish."""

    number: int
    run: RunOrder | None
    exit_code: int


def next_order(ingest: Ingest, signals: Signals, after: int) -> Order | None:
    """The order after the one with number `after`, however long it takes; None when this process is asked to end.

    Raises StepFailure when the order is none that this program knows, and TokenRefused.
    """
    while not signals.ending:
        answer = ingest.insist('GET', f'{ingest.job("next")}?after={after}&wait={_WAIT:.0f}&files=1', wait=_WAIT)
        if not answer.good or not isinstance(answer.body, dict):
            raise StepFailure('', f'Muster gave no order: {answer.status} {answer.said}')
        if answer.body.get('action') != 'wait':
            return _order_of(answer.body)
        signals.pause(_SHORTEST)
    return None


def _order_of(body: dict[str, Any]) -> Order:
    try:
        if body['action'] == 'finish':
            return Order(int(body['number']), None, int(body['exit_code']) & 0xFF)
        if body['action'] != 'run':
            raise StepFailure('', f"Muster gave an order that this image does not know: '{body['action']}'")
        run = body['run']
        order = RunOrder(
            run_id=str(run['id']),
            layer=int(run['layer']),
            playbook=str(run['playbook']),
            debug=run.get('debug') is True,
            arguments=[str(word) for word in run.get('arguments') or []],
            limit=run.get('limit_file'),
            files={str(path): str(text) for path, text in (run.get('files') or {}).items()},
            environment={str(name): str(value) for name, value in run['environment'].items()},
            cwd=str(run['cwd']),
            log_max=int(run['log_max']),
            certificate_until=int(run.get('certificate_until') or 0),
        )
        return Order(int(body['number']), order, 0)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StepFailure('', f'Muster gave an order that cannot be read: {type(error).__name__} {error}') from None
