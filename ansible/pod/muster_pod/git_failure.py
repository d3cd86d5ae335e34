"""What a failed git said, in the words of Muster's catalogue."""

from __future__ import annotations

import re

_KINDS = (
    ('repository_unsafe', r'invalid path|beyond a symbolic link'),
    (
        'repository_url_refused',
        r"transport '[^']*' not allowed|strange (?:host|path)name .* blocked|credential url cannot be",
    ),
    (
        'repository_untrusted',
        r'SSL certificate problem|certificate verif(?:y|ication) (?:failed|locations)'
        r'|no alternative certificate subject name|certificate subject name .* does not match'
        r'|does not match (?:the )?(?:target )?host|problem with the (?:SSL CA|local SSL) cert|error setting certificate',
    ),
    (
        'commit_not_found',
        r"not our ref|unadvertised object|couldn't find remote ref|no such remote ref|reference is not a tree",
    ),
    (
        'repository_not_found',
        r"returned error: 404|repository '[^']*' not found|does not appear to be a git repository|repository not found"
        r'|repository .*does not exist|repository not exported|no such repository'
        r"|could not be found or you don't have permission|could not find repository|project .*not found"
        r'|not found: did you run git update-server-info',
    ),
    (
        'repository_auth_failed',
        r'authentication failed|could not read (?:username|password)|returned error: 40[13]|permission denied'
        r'|host key verification failed|remote host identification has changed|access denied'
        r'|invalid (?:username|credentials)|too many authentication failures',
    ),
)
"""The first that fits wins; what fits none may pass by itself and is `clone_failed`."""

_NOISE = re.compile(
    r'hint:|warning:|remote: (?:Enumerating|Counting|Compressing|Total)|Receiving|Resolving|Updating files|Cloning into'
    r'|From |POST git|Please make sure you have|and the repository exists'
    r'|fatal: Could not read from remote repository|fatal: the remote end hung up|\s*$',
    re.IGNORECASE,
)
_SAYS_WHY = re.compile(r'fatal|error|remote: (?:fatal|error)|ssh|[A-Za-z0-9_.@[\]:-]+: Permission denied', re.IGNORECASE)


def read_git_failure(stderr: str) -> tuple[str, str]:
    """The code of the catalogue and the last line that tells the reason, without credentials."""
    code = next((code for code, words in _KINDS if re.search(words, stderr, re.IGNORECASE)), 'clone_failed')
    return code, mask_url_credentials(_last_useful_line(stderr))


def is_full_disk(stderr: str) -> bool:
    """Whether the reason is this disk, which trying again does not change."""
    return re.search(r'no space left|quota exceeded', stderr, re.IGNORECASE) is not None


def mask_url_credentials(text: str) -> str:
    """The text with the passwords of addresses hidden, and the users of http and https."""

    def masked(found: re.Match[str]) -> str:
        scheme, info = found[1], found[2]
        if ':' in info:
            return f'{scheme}{info.partition(":")[0]}:***@'
        return f'{scheme}***@' if scheme.lower().startswith('http') else found[0]

    return re.sub(r"([A-Za-z][A-Za-z0-9+.-]*://)([^\s/'\"]*)@", masked, text)


def _last_useful_line(stderr: str) -> str:
    lines = [line.rstrip() for line in re.split(r'[\r\n]+', stderr)]
    useful = [line for line in lines if not _NOISE.match(line)]
    why = [line for line in useful if _SAYS_WHY.match(line)]
    found = (why or useful or [line for line in lines if line] or ['git gave no reason'])[-1]
    return found[:400]
