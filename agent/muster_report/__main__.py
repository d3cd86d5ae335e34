"""`python3 -m muster_report`: reports until the report is taken.

Exit status: 0 reported, 2 the settings are wrong or the node has no identity. Everything else is tried again for ever.
"""

import os
import signal
import sys
import time

from .report import report
from .request import get, send
from .settings import SettingsError, read_settings
from .token_source import token_source
from .trust import set_up_trust


def main():
    """Sets up trust where that is wanted, then reports this node as its environment says; answers the exit status."""
    for number in (signal.SIGTERM, signal.SIGINT):
        # Nothing is left half-done, so that the end comes at once, also in the middle of a look-up of a name.
        signal.signal(number, signal.SIG_DFL)
    try:
        settings = read_settings(os.environ)
    except SettingsError as error:
        _log(str(error))
        return 2
    if settings.trust is not None:
        set_up_trust(settings.trust, lambda url: get(url, settings.ca_file), time.sleep, _log)
    _log('reporting {} to {}'.format(settings.node, settings.component_url))
    take_token = token_source(settings, time.sleep, _log)
    report(lambda body, token: send(settings, body, token), take_token, time.sleep, _log, settings.boot)
    return 0


def _log(line):
    print('muster-report: ' + line, file=sys.stderr, flush=True)


if __name__ == '__main__':
    sys.exit(main())
