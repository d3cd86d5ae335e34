"""How Muster's plugins are found by every ansible-playbook, whatever its ansible.cfg says.

Ansible takes a setting from its environment variable, else from ansible.cfg, else a default; it never joins them. So
setting `ANSIBLE_CALLBACK_PLUGINS` alone would hide the paths of the user's ansible.cfg. The launcher therefore reads
the effective ansible.cfg (the file or directory that `ANSIBLE_CONFIG` names; none when it is not set) and sets

    ANSIBLE_CALLBACK_PLUGINS = Muster's directory, then those of the environment, else ansible.cfg, else the default
    ANSIBLE_STRATEGY_PLUGINS = likewise
    ANSIBLE_LIBRARY          = likewise, for modules
    ANSIBLE_INVENTORY_PLUGINS = likewise
    ANSIBLE_INVENTORY_ENABLED = Muster's inventory plugin, then those of the environment, else ansible.cfg, else the default

No callback needs to be enabled: one outside of Ansible's own directories is loaded when it does not ask to be
enabled (`CALLBACK_NEEDS_ENABLED`), and `muster_events` does not. So `callbacks_enabled` stays as the user wrote it.
Muster's directory stands first, so that the names `cfs_aggregator`, `cfs_linear` and `cfs_free` of existing
ansible.cfg files are found in it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

_ENABLED = 'ANSIBLE_INVENTORY_ENABLED'
FLEET_PLUGIN = 'muster_fleet'
ENABLED_BY_DEFAULT = 'host_list,script,auto,yaml,ini,toml'
"""What Ansible enables where nobody says otherwise."""

_INVENTORY = (('inventory', 'ANSIBLE_INVENTORY_PLUGINS', 'inventory_plugins'),)
_CALLBACK = (('callback', 'ANSIBLE_CALLBACK_PLUGINS', 'callback_plugins'),)
_FOUND_BY_ANSIBLE = ('~/.ansible.cfg', '/etc/ansible/ansible.cfg')
"""Where Ansible looks for its configuration when nothing names one."""
_SETTINGS = (
    *_INVENTORY,
    *_CALLBACK,
    ('strategy', 'ANSIBLE_STRATEGY_PLUGINS', 'strategy_plugins'),
    ('modules', 'ANSIBLE_LIBRARY', 'library'),
)


def plugin_environment(env: Mapping[str, str], plugins: str) -> dict[str, str]:
    """The variables that make Ansible find the plugins below `plugins` first and all others as before.

    `env` is the environment the playbook will have. An ansible.cfg that cannot be read or parsed counts as empty:
    Ansible itself reports it.
    """
    return _environment(env, plugins, _SETTINGS)


def inventory_environment(env: Mapping[str, str], plugins: str) -> dict[str, str]:
    """Of these variables those by which Ansible reads an inventory, for programs that run nothing."""
    return _environment(env, plugins, _INVENTORY)


def callback_environment(env: Mapping[str, str], plugins: str) -> dict[str, str]:
    """Of these variables that of callbacks, for a program that calls ansible-playbook: all else is as the user has it."""
    named = env.get('ANSIBLE_CONFIG') or next((path for path in _FOUND_BY_ANSIBLE if _is_file(path, env)), '')
    config = {**env, 'ANSIBLE_CONFIG': _in_home(named, env)}
    return {name: value for name, value in _environment(config, plugins, _CALLBACK).items() if name != _ENABLED}


def _is_file(path: str, env: Mapping[str, str]) -> bool:
    return os.path.isfile(_in_home(path, env))


def _in_home(path: str, env: Mapping[str, str]) -> str:
    """The path with the home folder that the run will have."""
    return env.get('HOME', '') + path[1:] if path.startswith('~/') else path


def _environment(env: Mapping[str, str], plugins: str, settings: tuple[tuple[str, str, str], ...]) -> dict[str, str]:
    config, config_dir = _read_config(env.get('ANSIBLE_CONFIG', ''))
    defaults = config.get('defaults', {})
    home = env.get('ANSIBLE_HOME') or defaults.get('home') or '~/.ansible'
    answer = {}
    for kind, variable, key in settings:
        named = env.get(variable)
        if named is None:
            named = (
                _absolute(defaults[key], config_dir)
                if key in defaults
                else f'{home}/plugins/{kind}:/usr/share/ansible/plugins/{kind}'
            )
        answer[variable] = ':'.join(part for part in (os.path.join(plugins, kind), named) if part)
    enabled = env.get(_ENABLED) or config.get('inventory', {}).get('enable_plugins')
    answer[_ENABLED] = f'{FLEET_PLUGIN},{enabled or ENABLED_BY_DEFAULT}'
    return answer


def _read_config(path: str) -> tuple[dict[str, dict[str, str]], str]:
    """The sections of an ansible.cfg, read as Ansible reads it, and the directory its paths start from."""
    if not path:
        return {}, ''
    path = os.path.expanduser(path)
    if os.path.isdir(path):
        path = os.path.join(path, 'ansible.cfg')
    import configparser

    parser = configparser.ConfigParser(inline_comment_prefixes=(';',))
    try:
        with open(path, encoding='utf-8') as file:
            parser.read_file(file)
        sections = {name: dict(parser.items(name, raw=True)) for name in parser.sections()}
    except (OSError, UnicodeDecodeError, configparser.Error):
        return {}, ''
    return sections, os.path.dirname(os.path.abspath(path))


def _absolute(paths: str, base: str) -> str:
    """Paths of ansible.cfg are relative to its directory, those of a variable to the working directory."""
    return ':'.join(
        path if path.startswith(('/', '~', '$', '{{')) else os.path.join(base, path)
        for path in paths.split(':')
        if path
    )
