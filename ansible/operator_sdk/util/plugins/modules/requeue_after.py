"""Module `requeue_after`: says when the resource is to be reconciled again."""

from __future__ import annotations

import re

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
    module: requeue_after
    short_description: Says when the resource is to be reconciled again
    description:
        - Does nothing by itself. The operator reads it, and uses the time in place of the period where the run ends well.
    options:
        time:
            description: Hours, minutes and seconds, such as C(1h), C(5m30s). C(0s) is no timer.
            type: str
            required: true
    author: Muster
"""

EXAMPLES = """
- name: Look again in five minutes
  operator_sdk.util.requeue_after:
    time: 5m
"""

RETURN = """
period:
    description: The time as it was given.
    type: str
    returned: success
"""

_TIME = re.compile('[hms0-9]*')


def main() -> None:
    """Hands the time on."""
    module = AnsibleModule(argument_spec={'time': {'type': 'str', 'required': True}}, supports_check_mode=True)
    time = module.params['time']
    if not _TIME.fullmatch(time):
        module.fail_json(msg=f'time is {time}; it has hours (h), minutes (m) and seconds (s) alone, such as 1h30m')
    module.exit_json(changed=False, period=time)


if __name__ == '__main__':
    main()
