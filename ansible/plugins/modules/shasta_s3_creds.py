"""Module `shasta_s3_creds`: the S3 credentials that a Secret of the cluster holds (cfs-flows 4.3)."""

from __future__ import annotations

import base64
import json
import os
import ssl
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
    name: shasta_s3_creds
    short_description: Reads S3 credentials from a Secret of the Kubernetes cluster
    description:
        - Reads C(access_key) and C(secret_key) of a Secret, as the service account of the pod in which it runs. So it runs
          in the pod of a session, C(delegate_to) localhost, and the service account needs C(get) on the Secret.
        - Set C(no_log) on the task, and C(run_once) where all hosts use the same credentials.
    options:
        k8s_secret:
            description: Name of the Secret.
            type: str
            required: true
        k8s_namespace:
            description: Its namespace.
            type: str
            default: default
    author: Muster
"""

EXAMPLES = """
- name: Read the credentials of the image store
  shasta_s3_creds:
    k8s_secret: ims-s3-credentials
    k8s_namespace: ims
  register: creds
  run_once: true
  no_log: true
  delegate_to: localhost
"""

RETURN = """
access_key:
    description: The access key.
    type: str
secret_key:
    description: The secret key.
    type: str
"""

ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
"""Where Kubernetes puts the token of a pod and the certificate of its API server."""

_TIMEOUT_S = 10
_TRIES = 3
"""How often somebody is asked who has not answered in time."""
_KEYS = ('access_key', 'secret_key')


class NotReadError(Exception):
    """Why there are no credentials; its text never holds one."""


def main() -> None:
    """Answers the credentials; a task that asked is `changed`, as it always was."""
    module = AnsibleModule(
        argument_spec={
            'k8s_secret': {'type': 'str', 'required': True},
            'k8s_namespace': {'type': 'str', 'default': 'default'},
        },
        supports_check_mode=True,
    )
    try:
        found = read_credentials(module.params['k8s_namespace'], module.params['k8s_secret'])
    except NotReadError as error:
        module.fail_json(msg=str(error))
    else:
        module.exit_json(changed=True, **found)


def read_credentials(namespace: str, name: str) -> dict[str, str]:
    """`access_key` and `secret_key` of the Secret, decoded."""
    what = f'Secret {name} of namespace {namespace}'
    data = _ask_cluster(namespace, name, what).get('data') or {}
    missing = [key for key in _KEYS if key not in data]
    if missing:
        raise NotReadError(f'{what} has no {" and no ".join(missing)}')
    try:
        return {key: base64.b64decode(data[key], validate=True).decode() for key in _KEYS}
    except ValueError:
        raise NotReadError(f'{what} holds no text in access_key or secret_key') from None


def _ask(opener: urllib.request.OpenerDirector, request: urllib.request.Request) -> dict[str, Any]:
    for tries_left in reversed(range(_TRIES)):
        try:
            with opener.open(request, timeout=_TIMEOUT_S) as answer:
                return dict(json.load(answer))
        except (urllib.error.URLError, TimeoutError) as error:
            late = isinstance(getattr(error, 'reason', error), TimeoutError)
            if not late or tries_left == 0:
                raise
    raise AssertionError('unreachable')


def _ask_cluster(namespace: str, name: str, what: str) -> dict[str, Any]:
    try:
        with open(os.path.join(ACCOUNT, 'token'), encoding='ascii') as file:
            token = file.read().strip()
        trusted = ssl.create_default_context(cafile=os.path.join(ACCOUNT, 'ca.crt'))
    except OSError:
        raise NotReadError(
            'there is no service account here: delegate the task to localhost, in a session whose pods have one'
        ) from None
    host = os.environ.get('KUBERNETES_SERVICE_HOST', 'kubernetes.default.svc')
    port = os.environ.get('KUBERNETES_SERVICE_PORT', '443')
    path = '/'.join(urllib.parse.quote(part, safe='') for part in (namespace, 'secrets', name))
    request = urllib.request.Request(
        f'https://{f"[{host}]" if ":" in host else host}:{port}/api/v1/namespaces/{path}',
        headers={'Authorization': f'Bearer {token}', 'Accept': 'application/json'},
    )
    direct = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusted)
    )
    try:
        return _ask(direct, request)
    except urllib.error.HTTPError as error:
        reason = {
            403: 'may not be read: give the service account of the pod `get` on it',
            404: 'does not exist',
        }.get(error.code, f'could not be read: the cluster answered {error.code}')
        raise NotReadError(f'{what} {reason}') from None
    except (OSError, ValueError) as error:
        raise NotReadError(f'{what} could not be read: {type(error).__name__}: {error}') from None


if __name__ == '__main__':
    main()
