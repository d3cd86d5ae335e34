"""Whose certificates playbooks trust: the platform's authority besides the public ones (cfs-flows 4.1)."""

from __future__ import annotations

import os
import ssl

from .files import put_file, read_file
from .places import Places

_READERS = ('SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE')
"""Variables by which OpenSSL, and so Ansible's own modules, and the Python package requests are told of a bundle; it is their only one."""


def trust_environment(where: Places, ca_file: str) -> dict[str, str]:
    """Variables for a playbook, with the file that they name put into place; none where the platform has no authority. Raises OSError."""
    authority = read_file(ca_file)
    if not authority:
        return {}
    bundle = os.path.join(where.work, 'ca-bundle.pem')
    put_file(bundle, _public(where) + b'\n' + authority)
    return {'SSL_CAINFO': ca_file, **dict.fromkeys(_READERS, bundle)}


def _public(where: Places) -> bytes:
    """The public certificates of the image, which may have them elsewhere than Debian."""
    return read_file(where.public_ca) or read_file(ssl.get_default_verify_paths().cafile or where.public_ca) or b''
