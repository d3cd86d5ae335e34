"""`python3 -m muster_pod clone|inventory|ansible|teardown`: one step of a session's pod.

Exit status: that of the step (0 done, 1 failed, of `ansible` and `teardown` the session's), 2 when the settings are wrong,
128 + the number of the signal that ended it.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

from .failure import TokenRefused
from .ingest import Ingest, Interrupted
from .last_words import say_last
from .settings import SettingsError, read_places, read_settings
from .signals import Signals
from .wording import log

STEPS = {'clone': 'clone_step', 'inventory': 'inventory_step', 'ansible': 'ansible_step', 'teardown': 'teardown_step'}
"""Each in a module of its own, so that a container loads only what it needs."""


def main(argv: list[str]) -> int:
    """Runs the step that is named first, further words are for other runners; answers the exit status."""
    if len(argv) < 2 or argv[1] not in STEPS:
        print(f'usage: python3 -m muster_pod {"|".join(STEPS)}', file=sys.stderr)
        return 2
    signals = Signals()
    try:
        settings = read_settings(os.environ)
    except SettingsError as error:
        say_last(read_places(os.environ).last_words, str(error))
        return 2
    step = import_module(f'.{STEPS[argv[1]]}', __package__)
    ingest = Ingest(settings, signals)
    try:
        return step.run(settings, signals, ingest)
    except Interrupted:
        log(f'ended by signal {signals.ending}')
        return signals.exit_status
    except TokenRefused as error:
        say_last(settings.places.last_words, f'Muster does not take this session: {error}')
        return 1


if __name__ == '__main__':
    sys.exit(main(sys.argv))
