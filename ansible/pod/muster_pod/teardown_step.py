"""Step `teardown` of a session on images: Muster ends the images itself; the container waits for it and its result."""

from __future__ import annotations

from .ingest import Ingest
from .last_words import say_last
from .settings import Settings
from .signals import Signals

_WAIT = 25.0
_SHORTEST = 1.0
"""Between two looks at least, should the server answer at once."""


def run(settings: Settings, signals: Signals, ingest: Ingest) -> int:
    """Answers the exit status that Muster gives."""
    ingest.report('teardown', 'started')
    while True:
        answer = ingest.insist('GET', f'{ingest.job("teardown")}?wait={_WAIT:.0f}', wait=_WAIT)
        if not answer.good or not isinstance(answer.body, dict):
            words = f'Muster knows nothing of the teardown: {answer.status} {answer.said}'
            say_last(settings.places.last_words, words)
            return 1
        if answer.body.get('done') is True:
            status = answer.body.get('exit_code')
            ingest.report('teardown', 'done')
            return status if isinstance(status, int) and 0 <= status <= 255 else 1
        signals.pause(_SHORTEST)
        if signals.ending:
            return signals.exit_status
