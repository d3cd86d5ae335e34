"""What a session clones: the list in its Secret."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from .failure import StepFailure
from .git_address import Address, parse_address
from .places import Places


class Clone(NamedTuple):
    """One repository."""

    number: int
    """Its place in the list, by which the helper finds its credentials."""
    label: str
    address: Address
    commit: str
    """Full id, or '' for the default branch."""
    dest: str
    """Folder that becomes the checkout."""
    ca: str
    """Certificates (PEM) to trust and no others, or ''."""
    ca_alone: bool
    """Trusts the platform's certificates without the public ones."""
    secrets: tuple[str, ...]
    withheld: StepFailure | None = None
    """Why no credentials go along; said when the server asks for them."""


def read_clones(where: Places) -> list[Clone]:
    """The list; raises StepFailure when it cannot be used."""
    try:
        with open(where.credentials, encoding='utf-8') as file:
            entries = json.load(file)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else 'it is no JSON'
        raise StepFailure('config_missing', f'{where.credentials} cannot be read: {reason}') from None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise StepFailure('config_missing', f'{where.credentials} is no list of clones')
    return [_clone_of(number, entry, where) for number, entry in enumerate(entries)]


def _clone_of(number: int, entry: dict[str, Any], where: Places) -> Clone:
    layer = entry.get('layer')
    label = 'additional inventory' if layer == 'hosts' else f'layer {layer + 1}' if isinstance(layer, int) else f'layer {layer}'
    dest = str(entry.get('dest') or '')
    if not dest or os.path.basename(dest) != dest or dest.startswith('.'):
        raise StepFailure('config_missing', f'{label}: {where.credentials} names no folder for it')
    try:
        address = parse_address(str(entry.get('url') or ''))
    except StepFailure as failure:
        raise StepFailure(failure.code, f'{label}: {failure.message}') from None
    secrets = tuple({str(entry.get('password') or ''), address.password} - {''})
    commit = str(entry.get('commit') or '').lower()
    folder = os.path.join(where.inventory, dest)
    ca_alone = entry.get('ca_alone') is True
    withheld = _withheld_of(entry)
    return Clone(number, label, address, commit, folder, str(entry.get('ca') or ''), ca_alone, secrets, withheld)


def _withheld_of(entry: dict[str, Any]) -> StepFailure | None:
    withheld = entry.get('withheld')
    if not isinstance(withheld, dict):
        return None
    return StepFailure(str(withheld.get('code') or 'repository_auth_failed'), str(withheld.get('detail') or ''))
