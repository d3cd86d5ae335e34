"""Imports Ansible before any run is there, and notes on what of its surroundings the import depended.

Ansible reads its settings when it is imported: what a class or a module took of them then stays as it was. So every
setting and every variable that is read during the import is noted. A run that would have read something else there is
either put right (see warm_configure.py) or is executed cold. Nothing is imported under the settings of a run.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import os
import shutil
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

PLUGINS = {
    'action': ('command', 'copy', 'debug', 'fail', 'gather_facts', 'include_vars', 'normal', 'set_fact', 'shell', 'template'),
    'become': ('su', 'sudo'),
    'cache': ('memory',),
    'callback': ('default', 'junit', 'minimal', 'oneline', 'tree'),
    'connection': ('local', 'psrp', 'ssh', 'winrm'),
    'doc_fragments': (
        *('connection_pipelining', 'default_callback', 'result_format_callback'),
        *('shell_common', 'shell_windows', 'vars_plugin_staging'),
    ),
    'inventory': ('auto', 'host_list', 'ini', 'script', 'toml', 'yaml'),
    'shell': ('cmd', 'powershell', 'sh'),
    'strategy': ('free', 'linear'),
    'vars': ('host_group_vars',),
}
"""Ansible's own plugins that most playbooks load; the loader finds their modules there already."""

BY_PATH = ('filter', 'test')
"""Kinds of plugins whose modules are named after their path. Ansible loads all of them as soon as it has a template."""

LIBRARIES = (
    *('ansible.cli', 'ansible.cli.playbook', 'ansible.executor.task_executor', 'ansible.executor.process.worker'),
    *('ansible.playbook.handler_task_include', 'ansible.utils.unsafe_proxy'),
    *('multiprocessing.popen_fork', 'multiprocessing.synchronize'),
)
_ROUTES = ('ansible.builtin', 'runtime.yml')
"""By which names Ansible asks for the table of its own plugins: 100 ms of YAML for each process."""


class NotWarm(Exception):
    """Why this Ansible cannot be kept warm."""


@dataclass
class Loaded:
    """An imported Ansible, and what its import depended on."""

    script: str
    code: types.CodeType
    startup: dict[str, str]
    search: list[str]
    settings: dict[str, Any] = field(default_factory=dict)
    variables: set[str] = field(default_factory=set)
    plugins: set[str] = field(default_factory=set)
    places: dict[str, tuple[int, int, int] | None] = field(default_factory=dict)

    def changed(self) -> str | None:
        """The first file or folder of what was loaded that is not on the disk any more as it was then."""
        return next((path for path, stamp in self.places.items() if _stamp(path) != stamp), None)


def load(script: str, search: list[str]) -> Loaded:
    """Imports Ansible for a program. `search`: the path of modules that the program would have. Raises NotWarm."""
    try:
        with open(script, 'rb') as file:
            text = file.read()
        if b'from ansible.cli.playbook import main' not in text:
            raise NotWarm('the program is not the one that Ansible installs')
        loaded = Loaded(script, compile(text, script, 'exec'), dict(os.environ), search)
    except (OSError, SyntaxError, ValueError) as error:
        raise NotWarm(f'the program cannot be read: {type(error).__name__}') from None
    from ansible import _internal

    _internal.setup()
    from ansible import constants

    before = {name: vars(constants)[name] for name in constants.config.get_configuration_definitions()}
    with _noting(loaded, constants):
        for name in LIBRARIES:
            importlib.import_module(name)
        present = set(sys.modules)
        _load_plugins()
    loaded.plugins = {name for name in set(sys.modules) - present if name.startswith('ansible.plugins.')}
    loaded.settings = {name: before[name] for name in loaded.settings if name in before}
    _forget_traces(constants)
    _remember_routes()
    loaded.places = {path: _stamp(path) for path in _places(loaded)}
    return loaded


@contextmanager
def _noting(loaded: Loaded, constants: types.ModuleType) -> Iterator[None]:
    """Notes which settings and variables are read, by whatever code and in whatever way."""
    manager = type(constants.config)
    read = manager.get_config_value_and_origin

    class Noting(types.ModuleType):
        def __getattribute__(self, name: str) -> Any:
            if name.isupper() or name.startswith('_'):
                loaded.settings[name] = None
            return super().__getattribute__(name)

    def read_noting(own: Any, config: str, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get('plugin_type') or len(args) > 1:
            raise NotWarm(f'its import reads the setting {config} of a plugin')
        loaded.settings[config] = None
        return read(own, config, *args, **kwargs)

    environment = type(os.environ)

    class NotingEnvironment(environment):
        def __getitem__(self, key: str) -> str:
            if not _is_read_of_settings():
                loaded.variables.add(key)
            return super().__getitem__(key)

        def __iter__(self) -> Iterator[str]:
            loaded.variables.update(loaded.startup)
            return super().__iter__()

    constants.__class__, os.environ.__class__ = Noting, NotingEnvironment
    manager.get_config_value_and_origin = read_noting
    try:
        yield
    finally:
        constants.__class__, os.environ.__class__ = types.ModuleType, environment
        manager.get_config_value_and_origin = read


def _is_read_of_settings() -> bool:
    """Whether Ansible reads a variable for a setting; then the setting itself is noted."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_globals.get('__name__') == 'ansible.config.manager':
            return True
        frame = frame.f_back
    return False


def _load_plugins() -> None:
    for kind, names in PLUGINS.items():
        for name in names:
            # Not every release has all of them.
            if importlib.util.find_spec(f'ansible.plugins.{kind}.{name}') is not None:
                importlib.import_module(f'ansible.plugins.{kind}.{name}')
    for kind in BY_PATH:
        package = importlib.import_module(f'ansible.plugins.{kind}')
        folder = os.path.dirname(package.__file__)
        for file in sorted(os.listdir(folder)):
            if file.endswith('.py') and file != '__init__.py':
                _load_by_path(f'ansible.plugins.{kind}.{file[:-3]}', os.path.join(folder, file))


def _load_by_path(name: str, path: str) -> None:
    """As Ansible's loader does it; under another name its module would only not be found."""
    spec = importlib.util.spec_from_file_location(f'{name}_{abs(hash(path))}', path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def _forget_traces(constants: types.ModuleType) -> None:
    """Takes back what the import left on the disk and in memory that a run would make for itself."""
    from ansible.config import manager

    remove: Callable[..., Any] | None = getattr(manager, 'cleanup_tmp_file', None)
    if remove is None:
        from ansible.utils.path import cleanup_tmp_file as remove
    atexit.unregister(remove)
    shutil.rmtree(constants.DEFAULT_LOCAL_TMP, ignore_errors=True)
    if constants.config._plugins:
        raise NotWarm('its import defines settings of plugins')
    from ansible.utils.display import Display

    # Ansible says each warning once a process, and the output of this process is not kept.
    if any(getattr(Display(), name, None) for name in ('_warns', '_deprecations', '_errors')):
        raise NotWarm('its import warns')


def _remember_routes() -> None:
    """The table of Ansible's own plugins is parsed here. A run takes it once, and only for the same text."""
    from ansible.utils.collection_loader import _collection_finder as finder

    parse = getattr(finder, '_meta_yml_to_dict', None)
    try:
        path = os.path.join(os.path.dirname(sys.modules['ansible'].__file__), 'config', 'ansible_builtin_runtime.yml')
        with open(path, 'rb') as file:
            text = file.read()
        ready = [parse(text, _ROUTES)]
    except (OSError, TypeError, ValueError):
        return

    def parse_or_take(given: Any, content: Any) -> Any:
        return ready.pop() if ready and content == _ROUTES and given == text else parse(given, content)

    finder._meta_yml_to_dict = parse_or_take


def _places(loaded: Loaded) -> set[str]:
    files = {getattr(module, '__file__', None) for module in list(sys.modules.values())}
    folders = [path for path in loaded.search if path]
    return {loaded.script, sys.executable, *(file for file in files if file), *folders}


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)
