"""Module `k8s_status`: writes the status of an object."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.operator_sdk.util.plugins.module_utils.cluster import NAMED, WAY, connect, resource_of
from ansible_collections.operator_sdk.util.plugins.module_utils.conditions import MistakeError, checked, holds, merged

DOCUMENTATION = """
    module: k8s_status
    short_description: Writes the status of an object of the cluster
    description:
        - Merges keys and conditions into the status of an object, or replaces it. Only a controller of the object writes its status.
    options:
        api_version:
            description: API version of the object.
            type: str
            default: v1
            aliases: [api, version]
        kind:
            description: Kind of the object.
            type: str
            required: true
        name:
            description: Its name.
            type: str
            required: true
        namespace:
            description: Its namespace; none for cluster-scoped objects.
            type: str
        status:
            description: Keys of the status. Maps are merged, lists and values replaced; a null removes a key.
            type: dict
        conditions:
            description:
                - Conditions, merged by their C(type). Each needs C(type) and C(status) (C(True), C(False), C(Unknown)), and may have
                  C(reason) (one word in CamelCase), C(message), C(lastHeartbeatTime), C(lastTransitionTime).
            type: list
            elements: dict
        force:
            description: The status becomes exactly what is given.
            type: bool
            default: false
    author: Muster
"""

EXAMPLES = """
- name: Say where the service is
  operator_sdk.util.k8s_status:
    api_version: cache.example.com/v1
    kind: Memcached
    name: "{{ ansible_operator_meta.name }}"
    namespace: "{{ ansible_operator_meta.namespace }}"
    status:
      url: https://cache.example.com
    conditions:
      - type: Available
        status: true
        reason: Answers
"""

RETURN = """
result:
    description: The object with its status.
    type: dict
    returned: success
"""

_CONFLICT = 409
_TRIES = 5


def main() -> None:
    """Writes the status, and says whether it was changed."""
    module = AnsibleModule(
        argument_spec={
            **WAY,
            **NAMED,
            'status': {'type': 'dict'},
            'conditions': {'type': 'list', 'elements': 'dict'},
            'force': {'type': 'bool', 'default': False},
        },
        required_one_of=[('status', 'conditions')],
        supports_check_mode=True,
    )
    params = module.params
    try:
        conditions = None if params['conditions'] is None else checked(params['conditions'])
        if conditions is not None and 'conditions' in (params['status'] or {}):
            raise MistakeError('conditions and status.conditions are both given: give one of them')
    except MistakeError as mistake:
        module.fail_json(msg=str(mistake))
    module.exit_json(**_write(module, params['status'] or {}, conditions))


def _write(module: AnsibleModule, status: dict[str, Any], conditions: list[dict[str, Any]] | None) -> dict[str, Any]:
    params = module.params
    resource = resource_of(module, connect(module), params['api_version'], params['kind'])
    place = {'name': params['name'], 'namespace': params['namespace']}
    for left in reversed(range(_TRIES)):
        try:
            there = resource.get(**place).to_dict()
            wanted = _wanted(there.get('status') or {}, status, conditions, force=params['force'])
            if wanted is None:
                return {'changed': False, 'result': there}
            if module.check_mode:
                return {'changed': True, 'result': {**there, 'status': wanted}}
            return {'changed': True, 'result': _send(resource, there, wanted, place, force=params['force']).to_dict()}
        except Exception as error:  # noqa: BLE001 - the library has a class for each status
            # Another writer was first: what it wrote is read again.
            if getattr(error, 'status', None) != _CONFLICT or left == 0:
                module.fail_json(msg=f'The status of {params["kind"]} {params["name"]} cannot be written: {error}')
    raise AssertionError


def _send(resource: Any, there: dict[str, Any], wanted: dict[str, Any], place: dict[str, Any], *, force: bool) -> Any:
    if force:
        return resource.status.replace(body={**there, 'status': wanted}, **place)
    # With the version that was read, so that a list is never written over what another writer put into it.
    metadata = {'name': place['name'], 'resourceVersion': there['metadata']['resourceVersion']}
    body = {'apiVersion': there['apiVersion'], 'kind': there['kind'], 'metadata': metadata, 'status': wanted}
    return resource.status.patch(body=body, content_type='application/merge-patch+json', **place)


def _wanted(
    there: dict[str, Any], status: dict[str, Any], conditions: list[dict[str, Any]] | None, *, force: bool
) -> dict[str, Any] | None:
    """What is sent; None where it is there already. Of a merge the given keys, else the whole status."""
    now = datetime.now(timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
    before = there.get('conditions') or []
    if not force:
        wanted = status if conditions is None else {**status, 'conditions': merged(before, conditions, now)}
        return None if holds(there, wanted) else wanted
    if conditions is None:
        return None if there == status else status
    given = {condition['type'] for condition in conditions}
    kept = [one for one in before if isinstance(one, dict) and one.get('type') in given]
    wanted = {**status, 'conditions': merged(kept, conditions, now)}
    return None if there == wanted else wanted


if __name__ == '__main__':
    main()
