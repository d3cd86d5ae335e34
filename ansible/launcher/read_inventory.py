"""Runs a program of Ansible that only reads an inventory: `python read_inventory.py PROGRAM WORD...`.

It sees the inventory as a run does: with Muster's inventory plugin beside those that its ansible.cfg names.
"""

from __future__ import annotations

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(_HERE)

from plugin_paths import inventory_environment

if __name__ == '__main__':
    plugins = os.path.join(os.path.dirname(_HERE), 'plugins')
    os.execve(sys.argv[1], sys.argv[1:], {**os.environ, **inventory_environment(os.environ, plugins)})
