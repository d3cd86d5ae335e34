"""Which component this node is, and which boot of it this is."""

import os
import re
from typing import Optional

_PARAMETER = b'xname='
_BOOT = re.compile('[ -~]{1,128}')


def read_identity(given: Optional[str], cmdline: str) -> Optional[bytes]:
    """`given` if there is one, else the value of `xname=` in the file `cmdline`; None where neither says it.

    Of several the last counts, as the kernel does it. Bytes, since nobody says how a boot loader encodes them.
    """
    if given:
        return os.fsencode(given)
    try:
        with open(cmdline, 'rb') as file:
            words = file.read().split()
    except OSError:
        return None
    names = [word.strip(b'"')[len(_PARAMETER) :] for word in words if word.strip(b'"').startswith(_PARAMETER)]
    return (names[-1].strip(b'"') or None) if names else None


def read_boot(file: str) -> Optional[str]:
    """What the file says of this boot: up to 128 printable characters that the next boot has others of; None where it says nothing such."""
    try:
        with open(file, 'rb') as opened:
            text = opened.read(256).decode('ascii', 'replace').strip()
    except OSError:
        return None
    return text if _BOOT.fullmatch(text) else None
