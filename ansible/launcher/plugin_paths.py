"""How Muster's plugins are found by every ansible-playbook, whatever its ansible.cfg says.

Ansible takes a setting from its environment variable, else from ansible.cfg, else a default; it never joins them. So
setting `ANSIBLE_CALLBACK_PLUGINS` alone would hide the paths of the user's ansible.cfg. The launcher therefore reads
the effective ansible.cfg (the file or directory that `ANSIBLE_CONFIG` names; none when it is not set) and sets

    ANSIBLE_CALLBACK_PLUGINS = Muster's directory, then those of the environment, else ansible.cfg, else the default
    ANSIBLE_STRATEGY_PLUGINS = likewise
    ANSIBLE_LIBRARY          = likewise, for modules

Nothing needs to be enabled: a callback outside of Ansible's own directories is loaded when it does not ask to be
enabled (`CALLBACK_NEEDS_ENABLED`), and `muster_events` does not. So `callbacks_enabled` stays as the user wrote it.
Muster's directory stands first, so that the names `cfs_aggregator`, `cfs_linear` and `cfs_free` of existing
ansible.cfg files are found in it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

_SETTINGS = (
    ('callback', 'ANSIBLE_CALLBACK_PLUGINS', 'callback_plugins'),
    ('strategy', 'ANSIBLE_STRATEGY_PLUGINS', 'strategy_plugins'),
    ('modules', 'ANSIBLE_LIBRARY', 'library'),
)


def plugin_environment(env: Mapping[str, str], plugins: str) -> dict[str, str]:
    """The variables that make Ansible find the plugins below `plugins` first and all others as before.

    `env` is the environment the playbook will have. An ansible.cfg that cannot be read or parsed counts as empty:
    Ansible itself reports it.
    """
    config, config_dir = _read_defaults(env.get('ANSIBLE_CONFIG', ''))
    home = env.get('ANSIBLE_HOME') or config.get('home') or '~/.ansible'
    answer = {}
    for kind, variable, key in _SETTINGS:
        named = env.get(variable)
        if named is None:
            named = (
                _absolute(config[key], config_dir)
                if key in config
                else f'{home}/plugins/{kind}:/usr/share/ansible/plugins/{kind}'
            )
        answer[variable] = ':'.join(part for part in (os.path.join(plugins, kind), named) if part)
    return answer


def _read_defaults(path: str) -> tuple[dict[str, str], str]:
    """Section `defaults` of an ansible.cfg, read as Ansible reads it, and the directory its paths start from."""
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
        return dict(parser.items('defaults', raw=True)), os.path.dirname(os.path.abspath(path))
    except (OSError, UnicodeDecodeError, configparser.Error):
        return {}, ''


def _absolute(paths: str, base: str) -> str:
    """Paths of ansible.cfg are relative to its directory, those of a variable to the working directory."""
    return ':'.join(
        path if path.startswith(('/', '~', '$', '{{')) else os.path.join(base, path)
        for path in paths.split(':')
        if path
    )
