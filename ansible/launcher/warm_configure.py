"""Makes an imported Ansible the one that a run would have imported for itself; or says why that is not possible.

Called in the process of the run, in its working directory. What the import took of the settings is put right where it is
known how: paths of plugins, and defaults of keywords. Where any other setting that was read is another one in this run,
the run is executed cold. So a release of ansible-core that reads more at its import is slower, not wrong.
"""

from __future__ import annotations

import atexit
import multiprocessing.process
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from spare_vars import spare_vars
from warm_load import Loaded

_KEYWORDS = {
    'ANY_ERRORS_FATAL': ('base', 'Base', 'any_errors_fatal'),
    'DEFAULT_NO_LOG': ('base', 'Base', 'no_log'),
    'TASK_TIMEOUT': ('base', 'Base', 'timeout'),
    'DEFAULT_POLL_INTERVAL': ('task', 'Task', 'poll'),
    'DEFAULT_STRATEGY': ('play', 'Play', 'strategy'),
    'DEFAULT_MODULE_COMPRESSION': ('play_context', 'PlayContext', 'module_compression'),
    'DEFAULT_EXECUTABLE': ('play_context', 'PlayContext', 'executable'),
    'DEFAULT_TIMEOUT': ('play_context', 'PlayContext', 'timeout'),
    'DEFAULT_PRIVATE_KEY_FILE': ('play_context', 'PlayContext', 'private_key_file'),
    'ANSIBLE_PIPELINING': ('play_context', 'PlayContext', 'pipelining'),
    'DEFAULT_BECOME_EXE': ('play_context', 'PlayContext', 'become_exe'),
    'DEFAULT_BECOME_FLAGS': ('play_context', 'PlayContext', 'become_flags'),
}
"""Settings that are the default of a keyword, taken when its class was made: the module, the class and the attribute."""

_AT_START = ('PYTHON', 'LC_', 'LD_', 'OPENSSL_', 'GLIBC_', 'MALLOC_')
_LANGUAGE = ('LANG', 'LANGUAGE', 'TMPDIR')
"""What an interpreter and its libraries read at their start, without a read that could be noted."""

_PAYLOAD = ('library', 'module_utils')
"""Folders of what is sent to hosts, and never loaded here."""


class Cold(Exception):
    """Why a run is executed cold."""


def configure(loaded: Loaded, env: Mapping[str, str], argv: Sequence[str], own: str) -> None:
    """Gives the imported Ansible the surroundings of a run. `own`: the folder of Muster's plugins. Raises Cold.

    No message holds a value: the environment of a run has secrets.
    """
    at_start = {name for name in (*env, *loaded.startup) if name.startswith(_AT_START) or name in _LANGUAGE}
    read = sorted(at_start | loaded.variables)
    other = next((name for name in read if env.get(name) != loaded.startup.get(name)), None)
    if other is not None:
        raise Cold(f'the variable {other} is another one than the warm process was started with')
    if any(not path.startswith('/') for path in env.get('PYTHONPATH', '/').split(':')):
        raise Cold('its PYTHONPATH depends on the working directory')
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    sys.argv[:] = argv
    sys.path[:] = loaded.search
    from ansible import constants
    from ansible.plugins import loader

    loaders = [value for value in vars(loader).values() if isinstance(value, loader.PluginLoader)]
    paths = {name: [each for each in loaders if each.config is vars(constants)[name]] for name in loaded.settings}
    try:
        _read_settings(constants)
    except Exception as error:  # whatever is wrong with the settings: Ansible itself reports it, executed cold
        raise Cold(f'its settings cannot be read ({type(error).__name__})') from None
    _put_right(loaded, constants, paths)
    found = next(_own_plugins(constants, loaders, argv, own), None)
    if found is not None:
        raise Cold(f'it brings plugins of its own: {found}')
    _guard_plugins(loaded, loader.PluginLoader)
    spare_vars()
    _be_another_process()


def give_up() -> None:
    """Removes what was made for the run, before it is executed cold."""
    atexit._run_exitfuncs()


def _read_settings(constants: Any) -> None:
    """As the import of `ansible.constants` does it, but for the definitions, which are those of Ansible itself."""
    config = constants.config
    manager = type(config)
    definitions, read = config._base_defs, manager._read_config_yaml_file
    manager.DEPRECATED.clear()
    manager.WARNINGS.clear()
    manager._read_config_yaml_file = lambda *_: definitions
    try:
        config.__init__()
    finally:
        manager._read_config_yaml_file = read
    for name in config.get_configuration_definitions():
        constants.set_constant(name, config.get_config_value(name, variables=vars(constants)))


def _put_right(loaded: Loaded, constants: Any, paths: Mapping[str, list[Any]]) -> None:
    for name, read in loaded.settings.items():
        value = vars(constants)[name]
        if paths[name]:
            for loader in paths[name]:
                loader.config = value
        elif value != read and name not in ('CONFIG_FILE', 'DEFAULT_LOCAL_TMP'):
            if name not in _KEYWORDS:
                raise Cold(f'its setting {name} is unusual')
            module, owner, attribute = _KEYWORDS[name]
            keyword = vars(getattr(sys.modules[f'ansible.playbook.{module}'], owner))[attribute]
            if keyword.default != read:
                raise Cold(f'its setting {name} is unusual')
            keyword.default = value


def _own_plugins(constants: Any, loaders: list[Any], argv: Sequence[str], own: str) -> Iterator[str]:
    """Folders of plugins that are neither Ansible's nor Muster's, as far as they can be seen before the playbook is read."""
    kinds = {loader.subdir for loader in loaders if loader.subdir} - set(_PAYLOAD)
    here = os.getcwd()
    for loader in loaders:
        if loader.subdir in kinds:
            for path in loader.config:
                if not (path + '/').startswith(own + '/') and _has_entries(path):
                    yield f'in a folder that is set for {loader.subdir}'
    playbooks = (os.path.dirname(os.path.abspath(word)) for word in argv[1:] if word.endswith(('.yml', '.yaml')))
    for folder in dict.fromkeys([here, *(path for path in playbooks if os.path.isdir(path))]):
        yield from _below(folder, kinds, here)
        for role in _entries(os.path.join(folder, 'roles')):
            yield from _below(role, kinds, here)
        for namespace in _entries(os.path.join(folder, 'collections', 'ansible_collections')):
            for collection in _entries(namespace):
                plugins = {os.path.basename(path) for path in _entries(os.path.join(collection, 'plugins'))}
                if plugins - {'modules', *_PAYLOAD, 'doc_fragments', 'README.md'}:
                    yield os.path.relpath(os.path.join(collection, 'plugins'), here)
    for path in constants.DEFAULT_ROLES_PATH or ():
        for role in _entries(path):
            yield from _below(role, kinds, here)


def _below(folder: str, kinds: set[str], here: str) -> Iterator[str]:
    for name in sorted(kinds):
        if _has_entries(os.path.join(folder, name)):
            yield os.path.relpath(os.path.join(folder, name), here)


def _entries(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    except OSError:
        return []


def _has_entries(folder: str) -> bool:
    return bool(_entries(folder))


def _guard_plugins(loaded: Loaded, loader: Any) -> None:
    """A plugin of Ansible that was loaded before may not stand in for another one of its name, wherever that one is."""
    waiting = set(loaded.plugins)
    load: Callable[..., Any] = loader._load_module_source

    def load_own(self: Any, *, python_module_name: str, path: str) -> Any:
        if python_module_name in waiting:
            waiting.discard(python_module_name)
            if not _is_same(sys.modules[python_module_name].__file__, path):
                del sys.modules[python_module_name]
        return load(self, python_module_name=python_module_name, path=path)

    loader._load_module_source = load_own


def _is_same(one: str | None, other: str) -> bool:
    return one is not None and os.path.realpath(one) == os.path.realpath(other)


def _be_another_process() -> None:
    """Makes anew what two processes never have in common: names by chance, keys, times of their start."""
    from ansible.utils import vars as names

    names.random_int = f'{secrets.randbelow(2**32):08x}'
    current = multiprocessing.process.current_process()
    current._config['authkey'] = multiprocessing.process.AuthenticationString(os.urandom(32))
    multiprocessing.process.ORIGINAL_DIR = os.path.abspath(os.getcwd())
    log = sys.modules['logging']
    # Nanoseconds since Python 3.13.
    log._startTime = time.time_ns() if isinstance(log._startTime, int) else time.time()
