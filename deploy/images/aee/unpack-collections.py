"""Unpacks some collections out of the Python package `ansible`: `python unpack-collections.py LIST VENV [OPTION ...]`.

The list names the package with its version (`ansible==N`) and below it one collection a line (`namespace.name`); `#`
begins a comment. A collection that the package does not hold, and one that another one of the list needs and that is
not named, ends this with an error: an execution environment is complete or is not built. Options are pip's.
"""

from __future__ import annotations

import compileall
import json
import py_compile
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

_ROOT = 'ansible_collections/'
_LEFT_OUT = re.compile(r'^[^/]+/[^/]+/(tests|docs|changelogs|\.github)/')
"""Parts that nobody runs; they are a third of the size."""


def main(list_file: Path, venv: Path, options: list[str]) -> None:
    """Fetches the package and unpacks what the list names into the venv."""
    lines = [line.partition('#')[0].strip() for line in list_file.read_text(encoding='utf-8').splitlines()]
    package, *names = [line for line in lines if line]
    wanted = {name.replace('.', '/') + '/' for name in names}
    [site] = venv.glob('lib/python3*/site-packages')
    with tempfile.TemporaryDirectory() as folder:
        fetch = ['download', '--no-deps', '--only-binary=:all:', '--progress-bar=off', f'--dest={folder}', package]
        subprocess.run([venv / 'bin' / 'python', '-m', 'pip', *fetch, *options], check=True)
        [wheel] = Path(folder).glob('*.whl')
        print('unpacking', flush=True)
        with zipfile.ZipFile(wheel) as archive:
            _unpack(archive, wanted, site)
    _check_needs(names, site / _ROOT)
    print('compiling', flush=True)
    # Modules are sent to hosts as text; the rest is imported here.
    compileall.compile_dir(
        site / _ROOT,
        quiet=1,
        rx=re.compile(r'/plugins/modules/'),
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )


def _unpack(archive: zipfile.ZipFile, wanted: set[str], site: Path) -> None:
    found = set()
    for entry in archive.namelist():
        inside = entry.removeprefix(_ROOT)
        collection = '/'.join(inside.split('/')[:2]) + '/'
        if inside == entry or collection not in wanted:
            continue
        found.add(collection)
        if not _LEFT_OUT.match(inside):
            archive.extract(entry, site)
    if missing := wanted - found:
        sys.exit(f'The package holds no collection {", ".join(sorted(missing))}')


def _check_needs(names: list[str], root: Path) -> None:
    for name in names:
        manifest = json.loads((root / name.replace('.', '/') / 'MANIFEST.json').read_text(encoding='utf-8'))
        for need in manifest['collection_info']['dependencies']:
            if need not in names:
                sys.exit(f'{name} needs the collection {need}, which is not in the list')


if __name__ == '__main__':
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
