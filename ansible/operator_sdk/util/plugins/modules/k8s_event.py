"""Module `k8s_event`: tells of something that happened to an object."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.operator_sdk.util.plugins.module_utils.cluster import WAY, connect, resource_of
from ansible_collections.operator_sdk.util.plugins.module_utils.event import event_name, event_of

DOCUMENTATION = """
    module: k8s_event
    short_description: Makes an Event about an object of the cluster
    description:
        - An Event of the same name and reason is counted up.
    options:
        state:
            description: Whether the Event is there.
            type: str
            choices: [present, absent]
            default: present
        name:
            description: Name of the Event.
            type: str
            required: true
        namespace:
            description: Its namespace, which is that of the object.
            type: str
            required: true
        message:
            description: What happened, in a sentence.
            type: str
            required: true
        reason:
            description: What happened, in a word.
            type: str
            required: true
        type:
            description: How bad it is.
            type: str
            choices: [Normal, Warning]
            default: Normal
        reportingComponent:
            description: Name of the controller that tells.
            type: str
        source:
            description: The C(component) that tells.
            type: dict
        involvedObject:
            description: C(apiVersion), C(kind), C(name) and C(namespace) of the object.
            type: dict
        appendTimestamp:
            description: Every Event is one of its own, with the time in its name.
            type: bool
            default: false
        merge_type:
            description: Taken, and of no effect; an Event is merged as a whole.
            type: list
            elements: str
            choices: [json, merge, strategic-merge]
    author: Muster
"""

EXAMPLES = """
- name: Tell that a backup was made
  operator_sdk.util.k8s_event:
    name: cache-backup
    namespace: "{{ ansible_operator_meta.namespace }}"
    reason: BackedUp
    message: The cache was backed up.
    involvedObject:
      apiVersion: cache.example.com/v1
      kind: Memcached
      name: "{{ ansible_operator_meta.name }}"
      namespace: "{{ ansible_operator_meta.namespace }}"
"""

RETURN = """
result:
    description: The Event.
    type: dict
    returned: success
"""

_ABSENT = 404


def main() -> None:
    """Makes, counts up or removes the Event."""
    object_keys = ('apiVersion', 'kind', 'name', 'namespace')
    module = AnsibleModule(
        argument_spec={
            **WAY,
            'state': {'type': 'str', 'choices': ['present', 'absent'], 'default': 'present'},
            'name': {'type': 'str', 'required': True},
            'namespace': {'type': 'str', 'required': True},
            'message': {'type': 'str', 'required': True},
            'reason': {'type': 'str', 'required': True},
            'type': {'type': 'str', 'choices': ['Normal', 'Warning'], 'default': 'Normal'},
            'reportingComponent': {'type': 'str'},
            'source': {'type': 'dict', 'options': {'component': {'type': 'str', 'required': True}}},
            'involvedObject': {'type': 'dict', 'options': {key: {'type': 'str', 'required': True} for key in object_keys}},
            'appendTimestamp': {'type': 'bool', 'default': False},
            'merge_type': {'type': 'list', 'elements': 'str', 'choices': ['json', 'merge', 'strategic-merge']},
        },
        supports_check_mode=True,
    )
    client = connect(module)
    try:
        result = _work(module, client)
    except Exception as error:  # noqa: BLE001 - the library has a class for each status
        module.fail_json(msg=f'The Event {module.params["name"]} cannot be written: {error}')
    module.exit_json(**result)


def _work(module: AnsibleModule, client: Any) -> dict[str, Any]:
    params = module.params
    now = datetime.now(timezone.utc)
    events = resource_of(module, client, 'v1', 'Event')
    name = event_name(params['name'], now, with_time=params['appendTimestamp'] and params['state'] == 'present')
    place = {'name': name, 'namespace': params['namespace']}
    there = _read(events, place)
    if params['state'] == 'absent':
        if there is not None and not module.check_mode:
            events.delete(**place)
        return {'changed': there is not None, 'result': there or {}}
    event = event_of(params, name, _involved(module, client), there, now)
    if module.check_mode:
        return {'changed': True, 'result': event}
    if there is None:
        made = events.create(body=event, namespace=params['namespace'])
    else:
        made = events.patch(body=event, content_type='application/merge-patch+json', **place)
    return {'changed': True, 'result': made.to_dict()}


def _involved(module: AnsibleModule, client: Any) -> dict[str, Any]:
    """The object with its uid, by which clients find its Events; without it where the object cannot be read."""
    given = module.params['involvedObject']
    if given is None:
        return {'namespace': module.params['namespace']}
    resource = resource_of(module, client, given['apiVersion'], given['kind'])
    there = _read(resource, {'name': given['name'], 'namespace': given['namespace'] if resource.namespaced else None})
    if there is None:
        return given
    return {**given, **{key: there['metadata'][key] for key in ('uid', 'resourceVersion')}}


def _read(resource: Any, place: dict[str, Any]) -> dict[str, Any] | None:
    try:
        return resource.get(**place).to_dict()
    except Exception as error:  # noqa: BLE001 - the library has a class for each status
        if getattr(error, 'status', None) == _ABSENT:
            return None
        raise


if __name__ == '__main__':
    main()
