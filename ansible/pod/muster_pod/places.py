"""Where things are inside a session's pod (cfs-flows 1.3)."""

from __future__ import annotations

import os
from typing import NamedTuple


class Places(NamedTuple):
    """Paths that containers of one pod share, and those of one container."""

    inventory: str
    """What the steps hand on to each other: `layer<k>/`, `hosts/`, `ansible.cfg`, `complete`."""
    ssh: str
    """Keys; a volume of its own."""
    session: str
    """Secret values of the session for this container; the files are replaced when the Secret changes."""
    credentials: str
    """What to clone, with what it takes to reach it."""
    common: str
    """The credentials that repositories have in common, and the hosts that they may go to."""
    ansible_config: str
    keys: str
    certificates: str
    platform_ca: str
    public_ca: str
    """The public certificates that git trusts by itself."""
    work: str
    """What the playbooks write: home, temporary folders, run directories."""
    memory: str
    """A place for short-lived private files that is no disk."""
    last_words: str
    """What Kubernetes tells of a container that has ended."""

    @property
    def hosts(self) -> str:
        return os.path.join(self.inventory, 'hosts')

    @property
    def complete(self) -> str:
        """Exit status of the inventory step, as text."""
        return os.path.join(self.inventory, 'complete')

    @property
    def runs(self) -> str:
        return os.path.join(self.work, 'runs')


def places(root: str) -> Places:
    """The places below `root`, which is `/` in a pod."""
    below = lambda path: os.path.join(root, path)  # noqa: E731
    return Places(
        inventory=below('inventory'),
        ssh=below('inventory/ssh'),
        session=below('muster/session'),
        credentials=below('muster/credentials/credentials.json'),
        common=below('muster/credentials/vcs.json'),
        ansible_config=below('tmp/ansible/ansible.cfg'),
        keys=below('secret-keys'),
        certificates=below('secret-certs'),
        platform_ca=below('etc/cray/ca/certificate_authority.crt'),
        public_ca=below('etc/ssl/certs/ca-certificates.crt'),
        work=below('muster/work'),
        memory=below('dev/shm'),
        last_words=below('dev/termination-log'),
    )
