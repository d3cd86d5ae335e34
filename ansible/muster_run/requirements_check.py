"""What the requirements files of layers ask for and what is installed: nothing is downloaded during a session.

    python requirements_check.py ANSWER LAYER FOLDER PLAYBOOK [LAYER FOLDER PLAYBOOK ...]

writes a JSON array of sentences into the file ANSWER (`-`: prints it), one for each thing that is missing: of `collections/requirements.yml` and
`roles/requirements.yml` of each layer. What Ansible's own settings name as places counts, read from the environment.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator

FILES = ('collections/requirements.yml', 'roles/requirements.yml')
_SIZE_MAX = 1024 * 1024
_NAME = re.compile(r'[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*')
_VERSION = re.compile(r'\d+(?:\.\d+)*')


def has_requirements(folder: str) -> bool:
    """Whether there is anything to check; else Ansible need not be loaded."""
    return any(os.path.lexists(os.path.join(folder, file)) for file in FILES)


def missing_of(layers: list[tuple[str, str, str]]) -> list[str]:
    """What these layers (index, folder, playbook in it) ask for and is not here, each as a sentence."""
    return [
        f'layer {int(number) + 1}: {problem}'
        for number, folder, playbook in layers
        if has_requirements(folder)
        for problem in _problems(folder, os.path.dirname(os.path.join(folder, playbook)))
    ]


def _problems(folder: str, beside: str) -> Iterator[str]:
    collections = None
    roles = [os.path.join(folder, 'roles'), os.path.join(beside, 'roles')]
    for file in FILES:
        if not os.path.lexists(os.path.join(folder, file)):
            continue
        try:
            asked = _read(folder, file)
        except ValueError as error:
            yield f'{file} cannot be read: {error}'
            continue
        is_roles = file.startswith('roles/')
        if isinstance(asked, list):
            # The older form, which knows roles alone.
            asked = {'roles' if is_roles else 'collections': asked}
        collections = collections if collections is not None else _installed(beside)
        for part, check in (('collections', _collection), ('roles', _role)):
            entries = asked.get(part)
            if entries is not None and not isinstance(entries, list):
                yield f'{file} cannot be read: {part} is no list'
                continue
            for entry in entries or []:
                problem = check(entry, collections if part == 'collections' else roles)
                if problem is not None:
                    yield f'{file} asks for {problem}'


def _read(folder: str, file: str) -> dict | list:
    """The file as YAML. Raises ValueError, which says nothing of what is in the file."""
    import yaml

    root = os.path.realpath(folder)
    path = os.path.realpath(os.path.join(folder, file))
    if not path.startswith(root + os.sep):
        raise ValueError('it leads out of its repository')
    try:
        with open(path, 'rb') as stream:
            text = stream.read(_SIZE_MAX + 1)
        if len(text) > _SIZE_MAX:
            raise ValueError('it is larger than 1 MiB')
        content = yaml.load(text, Loader=getattr(yaml, 'CSafeLoader', yaml.SafeLoader))
    except OSError as error:
        raise ValueError(error.strerror) from None
    except yaml.YAMLError as error:
        mark = getattr(error, 'problem_mark', None)
        place = '' if mark is None else f' in line {mark.line + 1}'
        raise ValueError(f'it is no YAML{place}') from None
    except RecursionError:
        raise ValueError('it is nested too deeply') from None
    if content is None:
        return {}
    if not isinstance(content, (dict, list)):
        raise ValueError('it holds neither collections nor roles')
    return content


class _Installed:
    """Collections by their names, and by the repository that they come from."""

    def __init__(self, places: list[str]) -> None:
        self.versions: dict[str, str | None] = {}
        self.repositories: dict[str, str] = {}
        for place in places:
            root = os.path.join(place, 'ansible_collections')
            for namespace in _folders(root):
                for name in _folders(os.path.join(root, namespace)):
                    self._add(f'{namespace}.{name}', os.path.join(root, namespace, name))

    def _add(self, full_name: str, folder: str) -> None:
        # The first place wins, as in Ansible.
        if full_name in self.versions or not _NAME.fullmatch(full_name):
            return
        about = _about(folder)
        self.versions[full_name] = str(about['version']) if about.get('version') else None
        if about.get('repository'):
            self.repositories.setdefault(_address(str(about['repository'])), full_name)


def _about(folder: str) -> dict:
    try:
        with open(os.path.join(folder, 'MANIFEST.json'), encoding='utf-8') as file:
            return json.load(file)['collection_info']
    except (OSError, ValueError, KeyError, TypeError):
        pass
    try:
        import yaml

        with open(os.path.join(folder, 'galaxy.yml'), encoding='utf-8') as file:
            about = yaml.safe_load(file)
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    return about if isinstance(about, dict) else {}


def _installed(beside: str) -> _Installed:
    from ansible import constants

    configured = [str(path) for path in constants.COLLECTIONS_PATHS]
    places = [path[: -len('/ansible_collections')] if path.endswith('/ansible_collections') else path for path in configured]
    own = [os.path.join(beside, 'collections')]
    return _Installed([*own, *places, *(sys.path if constants.COLLECTIONS_SCAN_SYS_PATH else [])])


def _collection(entry: object, installed: _Installed) -> str | None:
    """Why a collection that is asked for is not here; None when it is."""
    name, version, kind = _asked(entry)
    if name is None:
        return f'a collection without a name: {json.dumps(entry, default=str)[:100]}'
    full_name = name if _NAME.fullmatch(name) else installed.repositories.get(_address(name))
    by_address = full_name != name
    shown = name if full_name is None or not by_address else f'{full_name} ({name})'
    if full_name not in installed.versions:
        return f'the collection {shown}, which is not installed'
    has = installed.versions[full_name]
    # A version in a repository is a branch, a tag or a commit.
    if by_address or kind in ('git', 'file', 'url', 'dir', 'subdirs') or version in ('', '*') or has is None:
        return None
    try:
        fits = _fits(has, version)
    except ValueError as error:
        return f'the collection {full_name} in a version that cannot be read: {error}'
    return None if fits else f'the collection {full_name} {version}, but {has} is installed'


def _asked(entry: object) -> tuple[str | None, str, str]:
    if isinstance(entry, str):
        if _NAME.match(entry) and ':' in entry and '/' not in entry:
            name, _, version = entry.partition(':')
            return name.strip(), version.strip(), 'galaxy'
        return entry.strip() or None, '*', 'galaxy'
    if not isinstance(entry, dict):
        return None, '*', 'galaxy'
    name = entry.get('name') or entry.get('source')
    version = entry.get('version')
    return (
        str(name).strip() if name else None,
        '*' if version is None else str(version).strip(),
        str(entry.get('type') or 'galaxy'),
    )


def _address(text: str) -> str:
    """An address of a repository without what differs between two ways to write it."""
    text = text.strip().removeprefix('git+').partition('#')[0].partition(',')[0]
    text = re.sub(r'^(?:[a-z+]+://)?(?:[^@/]+@)?', '', text)
    # `git@host:path` is `host/path`; a port stays.
    text = re.sub(r'^([^/:]+):(?!\d+/)', r'\1/', text)
    return text.rstrip('/').removesuffix('.git').lower()


def _fits(has: str, wanted: str) -> bool:
    """Whether a version meets all of `>=1.0,<2,!=1.5`. Raises ValueError."""
    return all(_meets(has, part.strip()) for part in wanted.split(',') if part.strip() not in ('', '*'))


def _meets(has: str, condition: str) -> bool:
    operator, text = re.fullmatch(r'(==|!=|>=|<=|>|<|=)?\s*(.*)', condition, re.DOTALL).groups()
    if not _VERSION.match(text):
        raise ValueError(condition[:50])
    mine, other = _key(has), _key(text)
    return {
        '==': mine == other,
        '=': mine == other,
        '!=': mine != other,
        '>=': mine >= other,
        '<=': mine <= other,
        '>': mine > other,
        '<': mine < other,
    }[operator or '==']


def _key(version: str) -> tuple:
    """A version as it is ordered: a release comes after what was before it (`1.0.0-beta`)."""
    number, _, before = version.partition('+')[0].partition('-')
    parts = [int(part) for part in (_VERSION.match(number) or re.match('', '')).group().split('.') if part]
    parts += [0] * (3 - len(parts))
    words = tuple((0, int(word), '') if word.isdigit() else (1, 0, word) for word in before.split('.') if word)
    return (tuple(parts), before == '', words)


def _role(entry: object, places: list[str]) -> str | None:
    """Why a role that is asked for is not here; None when it is."""
    if isinstance(entry, dict):
        if entry.get('include'):
            return None
        source = str(entry.get('src') or entry.get('role') or '')
        name = str(entry.get('name') or _role_name(source))
    else:
        name = _role_name(str(entry or ''))
    if not name:
        return f'a role without a name: {json.dumps(entry, default=str)[:100]}'
    from ansible import constants

    elsewhere = [str(path) for path in constants.DEFAULT_ROLES_PATH]
    if '/' not in name and any(os.path.isdir(os.path.join(place, name)) for place in [*places, *elsewhere]):
        return None
    return f'the role {name}, which is not installed'


def _role_name(source: str) -> str:
    """The name under which a role from an address is installed."""
    source = source.partition(',')[0].strip()
    if '/' not in source and ':' not in source:
        return source
    name = source.rstrip('/').rpartition('/')[2].rpartition(':')[2]
    return re.sub(r'(?:\.git|\.tar\.gz|\.tgz)$', '', name)


def _folders(path: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(path) if os.path.isdir(os.path.join(path, name)))
    except OSError:
        return []


def main(words: list[str]) -> int:
    """Checks the layers of the command line."""
    answer, *words = words
    layers = [(words[at], words[at + 1], words[at + 2]) for at in range(0, len(words) - 2, 3)]
    text = json.dumps(missing_of(layers))
    if answer == '-':
        print(text)
        return 0
    with open(answer, 'w', encoding='utf-8') as file:
        file.write(text)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
