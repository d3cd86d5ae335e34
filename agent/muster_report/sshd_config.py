"""The line of sshd's configuration that names the keys to trust."""

import re
from typing import Optional, Tuple

_KEYWORD = re.compile(r'\s*(\w+)(?:\s*=\s*|\s+)(.*)')


def with_trusted_keys(config: str, keys_file: str) -> Tuple[str, Optional[str]]:
    """The configuration with `TrustedUserCAKeys <keys_file>`, and None; or as it is, with what it trusts instead.

    The first value counts in sshd, and what follows a `Match` is for some connections only: the line goes before it.
    """
    lines = config.split('\n')
    if lines[-1] == '':
        lines.pop()
    at = len(lines)
    for number, line in enumerate(lines):
        found = _KEYWORD.match(line)
        keyword = found.group(1).lower() if found else ''
        if keyword == 'match':
            at = number
            break
        if found and keyword == 'trustedusercakeys':
            named = found.group(2).split('#')[0].strip().strip('"')
            return config, None if named == keys_file else named
    lines.insert(at, 'TrustedUserCAKeys ' + keys_file)
    return '\n'.join(lines) + '\n', None
