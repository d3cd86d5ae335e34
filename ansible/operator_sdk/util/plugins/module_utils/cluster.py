"""The way of these modules to the cluster, with the arguments and variables that Kubernetes modules of Ansible have."""

from __future__ import annotations

import os
from typing import Any

from ansible.module_utils.basic import AnsibleModule, env_fallback, missing_required_lib

try:
    import kubernetes
    from kubernetes.dynamic import DynamicClient
except ImportError:
    kubernetes = None


def _way(name: str, kind: str = 'str', **more: Any) -> dict[str, Any]:
    return {'type': kind, 'fallback': (env_fallback, [f'K8S_AUTH_{name}']), **more}


WAY = {
    'kubeconfig': _way('KUBECONFIG', 'path'),
    'context': _way('CONTEXT'),
    'host': _way('HOST'),
    'api_key': _way('API_KEY', no_log=True),
    'username': _way('USERNAME'),
    'password': _way('PASSWORD', no_log=True),
    'validate_certs': _way('VERIFY_SSL', 'bool', aliases=['verify_ssl']),
    'ca_cert': _way('SSL_CA_CERT', 'path', aliases=['ssl_ca_cert']),
    'client_cert': _way('CERT_FILE', 'path', aliases=['cert_file']),
    'client_key': _way('KEY_FILE', 'path', aliases=['key_file'], no_log=False),
    'proxy': _way('PROXY'),
}
"""Arguments that say where the cluster is and who asks."""

NAMED = {
    'api_version': {'type': 'str', 'default': 'v1', 'aliases': ['api', 'version']},
    'kind': {'type': 'str', 'required': True},
    'name': {'type': 'str', 'required': True},
    'namespace': {'type': 'str'},
}
"""Arguments that name an object."""

_SET = {
    'host': 'host',
    'username': 'username',
    'password': 'password',
    'validate_certs': 'verify_ssl',
    'ca_cert': 'ssl_ca_cert',
    'client_cert': 'cert_file',
    'client_key': 'key_file',
    'proxy': 'proxy',
}


def connect(module: AnsibleModule) -> DynamicClient:
    """Returns a client; ends the module where there is no way to the cluster."""
    if kubernetes is None:
        module.fail_json(msg=missing_required_lib('kubernetes'))
    params = module.params
    try:
        return DynamicClient(kubernetes.client.ApiClient(_configuration(params)))
    except Exception as error:  # noqa: BLE001 - the library has no one class for its errors
        module.fail_json(msg=f'The cluster cannot be reached: {error}')


def _configuration(params: dict[str, Any]) -> Any:
    configuration = kubernetes.client.Configuration()
    if params['host'] is None or params['kubeconfig'] is not None:
        _load(params, configuration)
    for argument, attribute in _SET.items():
        if params[argument] is not None:
            setattr(configuration, attribute, params[argument])
    if params['api_key'] is not None:
        configuration.api_key = {'authorization': f'Bearer {params["api_key"]}'}
    elif params['username'] is not None:
        # The client sends name and password only when it is told so.
        configuration.api_key = {'authorization': configuration.get_basic_auth_token()}
    return configuration


def _load(params: dict[str, Any], configuration: Any) -> None:
    """The kubeconfig that is named; else that of the environment or of the home; else the account of the pod."""
    in_pod = 'KUBERNETES_SERVICE_HOST' in os.environ
    if params['kubeconfig'] is None and in_pod and 'KUBECONFIG' not in os.environ:
        kubernetes.config.load_incluster_config(configuration)
        return
    kubernetes.config.load_kube_config(
        config_file=params['kubeconfig'], context=params['context'], client_configuration=configuration, persist_config=False
    )


def resource_of(module: AnsibleModule, client: DynamicClient, api_version: str, kind: str) -> Any:
    """Returns how a kind is addressed; ends the module where the cluster has none of that name."""
    try:
        return client.resources.get(api_version=api_version, kind=kind)
    except kubernetes.dynamic.exceptions.ResourceNotFoundError:
        module.fail_json(msg=f'The cluster has no kind {kind} of {api_version}: check kind and api_version')
