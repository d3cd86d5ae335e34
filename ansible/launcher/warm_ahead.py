"""Works out ahead what every run would work out anew from the files of Ansible and Muster alone.

It is done once in the warm process, and nothing of a site or a run goes into it. Each answer belongs to the very text that it was made
from. So a run that has another text, such as a changed plugin or a `module_utils` of its own, gets the answer of Ansible itself.
Releases of ansible-core that are not KNOWN work it out in each run.
"""

from __future__ import annotations

import ast
import gc
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

KNOWN = '2.19.'
"""This file stands in for inner functions of these releases."""

ALL_OF = ('become', 'callback', 'connection', 'shell')
"""Kinds of plugins of which Ansible loads each one that is there, with its documentation."""

SOME_OF = {'cache': ('memory',), 'inventory': ('auto', 'host_list', 'ini', 'script', 'toml', 'yaml'), 'vars': ('host_group_vars',)}
"""Plugins of other kinds that most playbooks load."""

MODULES = ('command', 'copy', 'file', 'ping', 'setup', 'stat')
"""Modules that most playbooks send to hosts; what they need of `module_utils` most other modules need too."""

_UTILS = ('ansible', 'module_utils')


def work_ahead(own_plugins: str) -> Iterator[None]:
    """In the warm process: works in short steps, so that runs may be started in between. `own_plugins`: the folder of Muster's plugins."""
    from ansible.release import __version__

    if not __version__.startswith(KNOWN):
        return
    for steps in (_documentation(own_plugins), _imports(), _files_of_modules()):
        try:
            yield from steps
        except Exception:  # an Ansible that is not as it is known here: its runs work it out themselves
            continue
    gc.collect()
    gc.freeze()


def _documentation(own_plugins: str) -> Iterator[None]:
    """Definitions of the settings of plugins: YAML, which takes a third of what Ansible does before the first task."""
    import yaml
    from ansible._internal._datatag._tags import Origin, TrustedAsTemplate
    from ansible.module_utils._internal._datatag import AnsibleTagHelper
    from ansible.parsing.yaml.loader import AnsibleLoader
    from ansible.plugins import loader
    from ansible.utils import plugin_docs

    ready: dict[Any, list[Any]] = {}

    def key(stream: str) -> Any:
        return AnsibleTagHelper.untag(stream), AnsibleTagHelper.tags(stream)

    class Documents:
        """Stands for the module `yaml`. A run changes what it is given, so each document is given once."""

        def __getattr__(self, name: str) -> Any:
            return getattr(yaml, name)

        def load(self, stream: Any, Loader: Any) -> Any:
            waiting = ready.get(key(stream)) if Loader is AnsibleLoader and isinstance(stream, str) else None
            return waiting.pop() if waiting else yaml.load(stream, Loader=Loader)

    def parse(text: str, path: str) -> Any:
        stream = Origin(path=path).tag(TrustedAsTemplate().tag(text))
        found = yaml.load(stream, Loader=AnsibleLoader)
        # What is warned of is left to the run, which tells it.
        if not _forget_warnings():
            ready.setdefault(key(stream), []).append(found)
        return found

    loader.yaml = plugin_docs.yaml = Documents()
    for path in _plugin_files(own_plugins):
        text = _text_in(path, None)
        if text is None:
            continue
        names = (parse(text, path) or {}).get('extends_documentation_fragment', [])
        yield
        for name in names.split(',') if isinstance(names, str) else names:
            fragment = _text_in(os.path.join(_folder('doc_fragments'), f'{name.strip()}.py'), 'ModuleDocFragment')
            if fragment is not None:
                parse(fragment, path)
        yield


def _forget_warnings() -> bool:
    """Whether there were any since the last time. Ansible says each once a process, and the output of this process is not kept."""
    from ansible.utils.display import Display

    told = [found for name in ('_warns', '_deprecations', '_errors') if (found := getattr(Display(), name, None))]
    for each in told:
        each.clear()
    return bool(told)


def _plugin_files(own_plugins: str) -> Iterator[str]:
    for kind in ALL_OF:
        yield from _files_in(_folder(kind))
    for kind, names in SOME_OF.items():
        yield from (os.path.join(_folder(kind), f'{name}.py') for name in names)
    for kind in ('callback', 'inventory'):
        yield from _files_in(os.path.join(own_plugins, kind))


def _folder(kind: str) -> str:
    return os.path.dirname(importlib.util.find_spec(f'ansible.plugins.{kind}').origin)


def _files_in(folder: str) -> Iterator[str]:
    for name in sorted(os.listdir(folder)):
        if name.endswith('.py') and name != '__init__.py':
            yield os.path.join(folder, name)


def _text_in(path: str, owner: str | None) -> str | None:
    """What a file assigns to DOCUMENTATION, at its top or in a class, found without executing it."""
    try:
        with open(path, 'rb') as file:
            body = ast.parse(file.read()).body
    except (OSError, SyntaxError):
        return None
    if owner is not None:
        body = next((node.body for node in body if isinstance(node, ast.ClassDef) and node.name == owner), [])
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            if any(isinstance(target, ast.Name) and target.id == 'DOCUMENTATION' for target in node.targets):
                return node.value.value
    return None


def _imports() -> Iterator[None]:
    """What a module imports of `module_utils`: Ansible parses the text of each of some 60 files to pack one module."""
    from ansible.executor import module_common as common

    compile_tree: Callable[..., Any] = common._compile_module_ast
    known: dict[bytes, ast.Module] = {}

    def compile_unless_known(name: str, source: Any) -> Any:
        return (known.get(source) if isinstance(source, bytes) else None) or compile_tree(name, source)

    common._compile_module_ast = compile_unless_known
    root = os.path.dirname(sys.modules['ansible'].__file__)
    waiting: list[tuple[str, ...]] = [('ansible', 'modules', name) for name in MODULES]
    waiting += [(*_UTILS, *name) for name in (('basic',), ('_internal', '_ansiballz', '_loader'))]
    seen: set[tuple[str, ...]] = set()
    while waiting:
        parts = waiting.pop()
        if parts in seen:
            continue
        seen.add(parts)
        found = _source_of(root, parts[1:])
        if found is None:
            # The last word is something in a module.
            if len(parts) > len(_UTILS) + 1:
                waiting.append(parts[:-1])
            continue
        source, is_package = found
        name = '.'.join(parts)
        known[source] = _only_imports(compile_tree(name, source))
        waiting += [each for each in common.ModuleDepFinder(name, known[source], is_package).submodules if each[:2] == _UTILS]
        waiting += [parts[:count] for count in range(len(_UTILS) + 1, len(parts)) if parts[:2] == _UTILS]
        yield


def _only_imports(tree: ast.Module) -> ast.Module:
    """Of a tree what Ansible looks for in it: imports, at the top and below anything, and METADATA."""
    top = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)) or _is_metadata(node)]
    below = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)) and node not in tree.body]
    return ast.Module(body=[*top, ast.If(test=ast.Constant(value=True), body=below, orelse=[])], type_ignores=[])


def _is_metadata(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == 'METADATA' for target in node.targets)


def _source_of(root: str, parts: tuple[str, ...]) -> tuple[bytes, bool] | None:
    """The text of a module below a folder, and whether it is that of a package."""
    base = os.path.join(root, *parts)
    for path, is_package in ((os.path.join(base, '__init__.py'), True), (f'{base}.py', False)):
        try:
            with open(path, 'rb') as file:
                return file.read(), is_package
        except OSError:
            continue
    return None


def _files_of_modules() -> Iterator[None]:
    """Which file belongs to which module: Ansible asks for it with each deprecation, also one that is not shown."""
    inspect.getmodule(sys._getframe(), '<nothing>')
    yield
