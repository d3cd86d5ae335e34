"""Module `osdk_metric`: changes a metric of the operator."""

from __future__ import annotations

import json
from urllib.error import HTTPError

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.urls import open_url

DOCUMENTATION = """
    module: osdk_metric
    short_description: Changes a metric of the operator
    description:
        - The first use of a name makes the metric. It shows among the metrics of the operator.
    options:
        name:
            description: Name of the metric.
            type: str
            required: true
        description:
            description: What it counts.
            type: str
            required: true
        address:
            description: Where the operator takes metrics.
            type: str
            default: http://localhost:5050/metrics
        counter:
            description: C(increment) it, or C(add) a number.
            type: dict
        gauge:
            description: C(increment), C(decrement), C(add), C(subtract), C(set), or C(set_to_current_time).
            type: dict
        histogram:
            description: C(observe) a number.
            type: dict
        summary:
            description: C(observe) a number.
            type: dict
    author: Muster
"""

EXAMPLES = """
- name: Count restarts
  operator_sdk.util.osdk_metric:
    name: cache_restarts
    description: Restarts of caches
    counter:
      increment: true
"""

RETURN = ''

_KINDS = {
    'counter': {'increment': 'bool', 'add': 'float'},
    'gauge': {
        'increment': 'bool',
        'decrement': 'bool',
        'add': 'float',
        'subtract': 'float',
        'set': 'float',
        'set_to_current_time': 'bool',
    },
    'histogram': {'observe': 'float'},
    'summary': {'observe': 'float'},
}
_TIMEOUT_S = 10


def main() -> None:
    """Posts what is given; in check mode nothing."""
    module = AnsibleModule(
        argument_spec={
            'name': {'type': 'str', 'required': True},
            'description': {'type': 'str', 'required': True},
            'address': {'type': 'str', 'default': 'http://localhost:5050/metrics'},
            **{
                kind: {'type': 'dict', 'options': {key: {'type': form} for key, form in keys.items()}}
                for kind, keys in _KINDS.items()
            },
        },
        required_one_of=[tuple(_KINDS)],
        mutually_exclusive=[tuple(_KINDS)],
        supports_check_mode=True,
    )
    params = module.params
    metric = {'name': params['name'], 'description': params['description']}
    for kind in _KINDS:
        if params[kind] is not None:
            metric[kind] = {key: value for key, value in params[kind].items() if value is not None}
    if not module.check_mode:
        _post(module, metric)
    module.exit_json(changed=True)


def _post(module: AnsibleModule, metric: dict[str, object]) -> None:
    address = module.params['address']
    headers = {'content-type': 'application/json'}
    try:
        # The operator is on this machine: no proxy leads to it.
        open_url(address, data=json.dumps(metric), headers=headers, method='POST', timeout=_TIMEOUT_S, use_proxy=False)
    except HTTPError as error:
        words = error.read(1024).decode(errors='replace').strip()
        module.fail_json(msg=f'The metric {metric["name"]} was refused: {error.code} {words}')
    except OSError as error:
        module.fail_json(msg=f'{address} does not take the metric {metric["name"]}: {error}')


if __name__ == '__main__':
    main()
