"""The proxy of a service mesh, without which nothing in the pod reaches anything (cfs-flows 1.3)."""

from __future__ import annotations

import socket

from .ingest import Interrupted
from .signals import Signals
from .wording import log

PORT = 15000
_PAUSE = 3.0


def wait_for_sidecar(signals: Signals, port: int = PORT) -> None:
    """Returns when the proxy listens on this machine; raises Interrupted when this process is asked to end before."""
    while True:
        try:
            socket.create_connection(('localhost', port), timeout=_PAUSE).close()
            return
        except OSError:
            log('waiting for the sidecar')
        signals.pause(_PAUSE)
        if signals.ending:
            raise Interrupted
