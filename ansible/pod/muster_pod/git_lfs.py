"""Files that git-lfs keeps outside of the repository, which has pointers in their place: the rules of domain/configurations/lfs.ts."""

from __future__ import annotations

import re

POINTER_MAX = 1024
"""No pointer is longer, bytes."""

_POINTER = re.compile(r'version https?://(?:git-lfs\.github\.com|hawser\.github\.com|git-media\.io)/[^\n]*\n')
_OBJECT = re.compile(r'^oid [a-z0-9]+:[0-9a-f]{40,128}$', re.MULTILINE)
_KINDS = (
    (
        'repository_auth_failed',
        r'authentication required|authorization error|\b40[13]\b|permission denied|bad credentials'
        r'|could not read (?:username|password)|askpass',
    ),
    ('repository_untrusted', r'x509|certificate'),
    (
        'lfs_object_missing',
        r'\b404\b|\b410\b|not found|does not exist|no such file|missing object|missing on the server|missing protocol',
    ),
)
_NOISE = re.compile(r'fetch:|Fetching|Downloading|error: failed to fetch some')


def is_pointer(text: str) -> bool:
    """Whether a file's beginning is that of a pointer."""
    return _POINTER.match(text) is not None and _OBJECT.search(text) is not None


def read_lfs_failure(stderr: str) -> tuple[str, str]:
    """The code of the catalogue for what a failed git-lfs said, and the line that says why; `clone_failed` may pass by itself."""
    code = next((code for code, words in _KINDS if re.search(words, stderr, re.IGNORECASE)), 'clone_failed')
    lines = [line.strip() for line in re.split(r'[\r\n]+', stderr) if line.strip()]
    useful = [line for line in lines if not _NOISE.match(line)]
    return code, (useful or lines or ['git-lfs gave no reason'])[-1][:400]
