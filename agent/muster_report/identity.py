"""Which component this node is."""

import os
from typing import Optional

_PARAMETER = b'xname='


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
