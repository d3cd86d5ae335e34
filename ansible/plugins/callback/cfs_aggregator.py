"""Callback `cfs_aggregator`: a name that existing ansible.cfg files enable.

In CFS it reports the state of components. In Muster `muster_events` writes what every host reached, whether or not
anything is enabled, and Muster's server records it. So this one does nothing; it exists so that an ansible.cfg with
`callbacks_enabled = cfs_aggregator` is no warning.
"""

from __future__ import annotations

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
    name: cfs_aggregator
    type: notification
    short_description: Does nothing
    description:
        - The state of components is recorded from what the callback C(muster_events) writes, which is always active.
    author: Muster
"""


class CallbackModule(CallbackBase):
    """A callback without any method of its own."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = 'notification'
    CALLBACK_NAME = 'cfs_aggregator'
    CALLBACK_NEEDS_ENABLED = True
