"""Reads the inventory that Muster generates, fast enough for 100,000 hosts, and leaves out what is no inventory.

The file is JSON in the shape of Ansible's YAML inventories, so an Ansible without this plugin reads the same from it, only
slower. Texts of variables stand in it as `{"__ansible_unsafe": TEXT}`: they are data and are never templated. What Muster
would not write so is refused, and Ansible gives the file to its next plugin.

Files of a repository that are no inventory, such as LICENSE, would be tried by each plugin of Ansible, which says of each why
not. Here one warning names them all.

Ansible's own methods look at every group again for each host that is added. Here the hosts of a group are added together;
a test compares what comes of it with what the plugin `yaml` makes of the same hosts.
"""

from __future__ import annotations

import gc
import json
import os
import re
import sys

from ansible import constants
from ansible.errors import AnsibleParserError
from ansible.inventory.host import Host
from ansible.plugins.inventory import BaseFileInventoryPlugin
from ansible.utils.path import basedir
from ansible.utils.unsafe_proxy import wrap_var

DOCUMENTATION = """
name: muster_fleet
short_description: The inventory that Muster generates
description:
  - Reads the file C(01-cfs-generated.yaml) of a session; what it makes is what the plugin C(yaml) makes of the same file.
  - Leaves out files that are no inventory by their name, such as C(LICENSE) or C(Makefile), with one warning.
options: {}
"""

_NAME = '01-cfs-generated.yaml'
_NO_INVENTORY = re.compile(
    r'(?!.*[.](?:ya?ml|json|toml|ini)$)'
    r'(?:licen[sc]e|copying|copyright|notice|readme|change(?:s|log)|authors|contribut(?:ors|ing)|maintainers'
    r'|codeowners|version|install|todo|(?:gnu)?makefile|dockerfile|containerfile|jenkinsfile|vagrantfile'
    r'|rakefile|gemfile|pipfile|justfile|procfile|brewfile)(?:[._-].*)?'
    r'|.*\.(?:adoc|asc|bat|cer|crt|csv|der|gif|gpg|html?|ico|j2|jpe?g|key|lock|log|mk|pdf|pem|png|ps1|pub|py|sh|svg|tpl|xml)',
    re.IGNORECASE,
)
"""Names of files that come with a repository; an executable one may be a dynamic inventory, `install.yml` is one."""
_UNSAFE = '__ansible_unsafe'
_PARTS = {'children', 'hosts'}
_AHEAD = 'muster_inventory_ahead'
"""Module by which a warm process hands on what it has read of this file."""
_IS_PLAIN = type(wrap_var('')) is str
"""Whether a text that is not to be templated is a text like any other, as it is since ansible-core 2.19."""


class InventoryModule(BaseFileInventoryPlugin):
    """The inventory plugin."""

    NAME = 'muster_fleet'

    def verify_file(self, path):
        """Whether it is Muster's file, in JSON, since one in YAML is left to the plugin for that; or no inventory at all."""
        if not super().verify_file(path):
            return False
        if _is_no_inventory(path):
            return True
        if os.path.basename(path) != _NAME:
            return False
        with open(path, 'rb') as file:
            return file.read(1) == b'{'

    def parse(self, inventory, loader, path, cache=True):
        """Adds what the file names to the inventory; of what is none says so, with all others beside it."""
        super().parse(inventory, loader, path, cache)
        if _is_no_inventory(path):
            self._leave_out(os.path.dirname(path))
            return
        ahead = sys.modules.pop(_AHEAD, None)
        if ahead is None or not ahead.fill(inventory, path, self.display.verbosity):
            read(inventory, path)

    def _leave_out(self, folder):
        names = sorted(name for name in os.listdir(folder) if _is_no_inventory(os.path.join(folder, name)))
        shown = ', '.join(names[:10]) + (f' and {len(names) - 10} more' if len(names) > 10 else '')
        # The same words for each of them, and Ansible says a warning once.
        self.display.warning(f'No inventory by their names, left out of it: {shown} (in {folder})')


def read(inventory, path):
    """Adds what the file names to the inventory. Raises AnsibleParserError."""
    collects = gc.isenabled()
    # All of it stays, and is much: to look through it for garbage again and again takes longer than to make it.
    gc.disable()
    try:
        with open(path, encoding='utf-8') as file:
            tree = json.load(file)
        source = {'inventory_file': path, 'inventory_dir': basedir(path)}
        for name, content in tree.items():
            _fill(inventory, inventory.add_group(name), content, source)
    except (OSError, ValueError, AttributeError, TypeError, KeyError) as error:
        raise AnsibleParserError(f'{path} is not as Muster writes it: {error!r}') from error
    finally:
        gc.freeze()
        if collects:
            gc.enable()


def _is_no_inventory(path):
    if not _NO_INVENTORY.fullmatch(os.path.basename(path)):
        return False
    return os.path.isfile(path) and not os.access(path, os.X_OK)


def _fill(inventory, name, content, source):
    """Adds what stands below a group; its children come first, as in the file."""
    if not content.keys() <= _PARTS:
        raise ValueError(f'{name} has more than children and hosts')
    group = inventory.groups[name]
    for child, below in content.get('children', {}).items():
        if child in inventory.groups:
            inventory.add_child(name, child)
        else:
            child = inventory.add_group(child)
            _adopt(group, inventory.groups[child])
        _fill(inventory, child, below, source)
    group.clear_hosts_cache()
    if hosts := content.get('hosts'):
        _add_hosts(inventory, group, hosts, source)


def _adopt(group, child):
    """Puts a new group below another, as `add_child_group` would, which looks through all children of it first."""
    if child.parent_groups or child.child_groups or child.hosts:
        group.add_child_group(child)
        return
    group.child_groups.append(child)
    child.parent_groups.append(group)
    child.depth = group.depth + 1


def _add_hosts(inventory, group, hosts, source):
    """Adds hosts to a group, as `add_host` of the inventory, the group and the host would for each."""
    known = inventory.hosts
    above = [*group.get_ancestors(), group]
    names = group.host_names
    for name, variables in hosts.items():
        host = known.get(name)
        if host is None:
            if name in constants.LOCALHOST:
                inventory.add_host(name)
                host = known[name]
            else:
                host = known[name] = Host(name)
                host.vars.update(source)
        for key, value in variables.items():
            host.vars[key] = _value(value)
        if name not in names:
            names.add(name)
            group.hosts.append(host)
            groups = host.groups
            for one in above:
                if one not in groups:
                    groups.append(one)
    group.clear_hosts_cache()


def _value(value):
    if isinstance(value, (bool, int, float)):
        return value
    [(key, text)] = value.items()
    if key != _UNSAFE or not isinstance(text, str):
        raise ValueError('a text that is not marked')
    return text if _IS_PLAIN else wrap_var(text)
