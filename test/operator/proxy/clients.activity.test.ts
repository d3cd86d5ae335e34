/** The clients that playbooks have, through the proxy to a real API server: kubectl, the Python client, modules, lookup. */

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runKubeconfig } from '../../../domain/operator/run-kubeconfig.ts';
import { openClusterAccess } from '../../../drivers/kubernetes/cluster-access.ts';
import { eventually } from '../../support/eventually.ts';
import { type KubernetesApi, kubernetesMissing, startKubernetesApi } from '../../support/kubernetes/kubernetes-api.ts';
import { type Guest, openProxied, type Proxied, WIDGET } from './proxied.ts';

const missing = kubernetesMissing();
const withApi = missing === null ? describe : describe.skip;
const BOOTSTRAP = join(import.meta.dirname, '..', '..', '..', 'bootstrap', 'run.mjs');
const INSTALL_MS = 600_000;

const REFERENCE = { apiVersion: 'demo.io/v1', kind: 'Widget', name: 'w1', uid: WIDGET.uid };

let api: KubernetesApi;
let proxied: Proxied;
let guest: Guest;
let venv: string;
let dir: string;
let env: NodeJS.ProcessEnv;

interface Ended {
  code: number;
  output: string;
}

function run(file: string, args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(file, args, { env, cwd: dir, encoding: 'utf8' }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr });
    });
  });
}

/** Plays tasks on this machine. */
async function play(tasks: object[], ...options: string[]): Promise<Ended> {
  const plays = [{ hosts: 'localhost', gather_facts: false, tasks }];
  const file = join(dir, 'play.json');
  await writeFile(file, JSON.stringify(plays));
  const inventory = join(dir, 'hosts');
  await writeFile(
    inventory,
    'localhost ansible_connection=local ansible_python_interpreter={{ansible_playbook_python}}\n',
  );
  return await run(join(venv, 'bin', 'ansible-playbook'), ['-i', inventory, file, ...options]);
}

const read = async (path: string) => (await proxied.ask(guest, 'GET', path)).json;
const configMap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'ns1' },
  data,
});
const at = (name: string) => `/api/v1/namespaces/ns1/configmaps/${name}`;

withApi('through the proxy', () => {
  beforeAll(async () => {
    const installing = promisify(execFile)(process.execPath, [BOOTSTRAP, 'operator-ansible'], { encoding: 'utf8' });
    const [{ stdout }, started] = await Promise.all([installing, startKubernetesApi()]);
    api = started;
    venv = stdout.trim();
    proxied = await openProxied(openClusterAccess(api.kubeconfig));
    guest = proxied.admit();
    dir = await mkdtemp(join(tmpdir(), 'muster-operator-clients-'));
    const { port, ca } = proxied.proxy;
    const kubeconfig = join(dir, 'kubeconfig');
    await writeFile(kubeconfig, runKubeconfig({ port, ca, owner: WIDGET, password: guest.password }), { mode: 0o600 });
    env = {
      PATH: `${join(venv, 'bin')}:${process.env.PATH}`,
      HOME: dir,
      LANG: 'C.UTF-8',
      KUBECONFIG: kubeconfig,
      K8S_AUTH_KUBECONFIG: kubeconfig,
      ANSIBLE_NOCOLOR: '1',
    };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns1' } };
    await proxied.ask(guest, 'POST', '/api/v1/namespaces', JSON.stringify(namespace));
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.demo.io' },
      spec: {
        group: 'demo.io',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        versions: [
          {
            ...{ name: 'v1', served: true, storage: true, subresources: { status: {} } },
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    };
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await proxied.ask(guest, 'POST', definitions, JSON.stringify(definition));
    await eventually('the kind is served', async () => {
      const { resources = [] } = (await read('/apis/demo.io/v1')) ?? {};
      const isListed = resources.some(({ name }: { name: string }) => name === 'widgets/status');
      return isListed && (await proxied.ask(guest, 'GET', '/apis/demo.io/v1/widgets')).status === 200;
    });
  }, INSTALL_MS);

  afterAll(async () => {
    await proxied?.close();
    await api?.stop();
    if (dir !== undefined) await rm(dir, { recursive: true, force: true });
  });

  test('the Python client trusts the CA, word by word, and says who it is', async () => {
    await writeFile(
      join(dir, 'client.py'),
      `
import ssl, kubernetes
kubernetes.config.load_kube_config()
api = kubernetes.client.CoreV1Api()
context = api.api_client.rest_client.pool_manager.connection_pool_kw
made = api.create_namespaced_config_map('ns1', {'metadata': {'generateName': 'py-'}, 'data': {'a': 'b'}})
print(made.metadata.name, made.metadata.owner_references[0].uid)
from kubernetes.dynamic import DynamicClient
maps = DynamicClient(api.api_client).resources.get(api_version='v1', kind='ConfigMap')
body = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'py-applied', 'namespace': 'ns1'}, 'data': {'a': '1'}}
for _ in range(2):
    applied = maps.server_side_apply(body=body, name='py-applied', namespace='ns1', field_manager='py')
print(applied.metadata.ownerReferences[0].uid, len(applied.metadata.ownerReferences))
strict = ssl.create_default_context(cafile=context['ca_certs'])
strict.verify_flags |= ssl.VERIFY_X509_STRICT
import http.client, urllib.parse
server = urllib.parse.urlparse(api.api_client.configuration.host)
connection = http.client.HTTPSConnection(server.hostname, server.port, context=strict)
connection.request('GET', '/version')
print(connection.getresponse().status)
`,
    );
    const { code, output } = await run(join(venv, 'bin', 'python'), [join(dir, 'client.py')]);
    expect(output).toMatch(new RegExp(`^py-\\S+ ${WIDGET.uid}\\n${WIDGET.uid} 1\\n401\\n$`));
    expect(code).toBe(0);
  }, 600_000);

  test('k8s makes, changes and applies; k8s_info and lookup read; what it made is a dependent', async () => {
    const { code, output } = await play([
      { 'kubernetes.core.k8s': { definition: configMap('plain', { a: '1' }) } },
      { 'kubernetes.core.k8s': { definition: configMap('plain', { a: '2' }) } },
      {
        'kubernetes.core.k8s': {
          definition: configMap('applied', { a: '1' }),
          apply: true,
          server_side_apply: { field_manager: 'ansible' },
        },
      },
      {
        'kubernetes.core.k8s': {
          definition: configMap('applied', { a: '2' }),
          apply: true,
          server_side_apply: { field_manager: 'ansible' },
        },
      },
      { 'kubernetes.core.k8s': { definition: configMap('client-applied', { a: '1' }), apply: true } },
      { 'kubernetes.core.k8s': { definition: configMap('client-applied', { a: '2' }), apply: true } },
      {
        'kubernetes.core.k8s_info': { api_version: 'v1', kind: 'ConfigMap', namespace: 'ns1', name: 'plain' },
        register: 'found',
      },
      { 'ansible.builtin.debug': { msg: 'info {{ found.resources[0].data.a }}' } },
      {
        'ansible.builtin.debug': {
          msg: "lookup {{ lookup('kubernetes.core.k8s', api_version='v1', kind='ConfigMap', namespace='ns1', resource_name='applied').data.a }}",
        },
      },
      { 'kubernetes.core.k8s': { definition: configMap('removed') } },
      {
        'kubernetes.core.k8s': {
          state: 'absent',
          api_version: 'v1',
          kind: 'ConfigMap',
          namespace: 'ns1',
          name: 'removed',
        },
      },
    ]);
    expect(output).toContain('info 2');
    expect(output).toContain('lookup 2');
    expect(code).toBe(0);
    for (const name of ['plain', 'applied', 'client-applied']) {
      const { data, metadata } = await read(at(name));
      expect({ name, data, owners: metadata.ownerReferences }).toEqual({ name, data: { a: '2' }, owners: [REFERENCE] });
    }
    expect((await read(at('removed'))).code).toBe(404);
    expect(proxied.told.writes).toContainEqual({
      ...{ verb: 'delete', group: '', version: 'v1', kind: 'ConfigMap' },
      ...{ namespace: 'ns1', name: 'removed', subresource: '' },
    });
  }, 600_000);

  test('k8s_status and k8s_event write; check mode writes nothing', async () => {
    const widgets = '/apis/demo.io/v1/namespaces/ns1/widgets';
    const widget = { apiVersion: 'demo.io/v1', kind: 'Widget', metadata: { name: 'w1' }, spec: {} };
    await proxied.ask(guest, 'POST', widgets, JSON.stringify(widget));
    const named = { api_version: 'demo.io/v1', kind: 'Widget', name: 'w1', namespace: 'ns1' };
    const involvedObject = { apiVersion: 'demo.io/v1', kind: 'Widget', name: 'w1', namespace: 'ns1' };
    const event = { name: 'made', namespace: 'ns1', message: 'made it', reason: 'Made', involvedObject };
    const status = { ...named, status: { url: 'u', deep: { a: 1 } }, conditions: [{ type: 'Ready', status: true }] };
    const tasks = [
      { 'operator_sdk.util.k8s_status': status, register: 'first' },
      { 'operator_sdk.util.k8s_event': event },
      { 'ansible.builtin.debug': { msg: 'first {{ first.changed }}' } },
    ];
    expect((await play(tasks, '--check')).output).toContain('first True');
    expect((await read(`${widgets}/w1`)).status).toBeUndefined();
    const { code, output } = await play([
      ...tasks,
      { 'operator_sdk.util.k8s_status': status, register: 'second' },
      { 'operator_sdk.util.k8s_event': event },
      { 'ansible.builtin.debug': { msg: 'second {{ second.changed }}' } },
      {
        'operator_sdk.util.k8s_status': {
          ...named,
          status: { deep: { b: 2 } },
          conditions: [{ type: 'Other', status: 'False' }],
        },
      },
    ]);
    expect(output).toMatch(/first True[\s\S]*second False/);
    expect(code).toBe(0);
    expect((await read(`${widgets}/w1`)).status).toMatchObject({
      url: 'u',
      deep: { a: 1, b: 2 },
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'Other', status: 'False' },
      ],
    });
    const made = await read('/api/v1/namespaces/ns1/events/made');
    expect(made).toMatchObject({ count: 2, reason: 'Made', type: 'Normal', involvedObject: { kind: 'Widget' } });
    expect(made.involvedObject.uid).toBe((await read(`${widgets}/w1`)).metadata.uid);

    const forced = await play([{ 'operator_sdk.util.k8s_status': { ...named, force: true, status: { only: true } } }]);
    expect(forced.code).toBe(0);
    expect((await read(`${widgets}/w1`)).status).toEqual({ only: true });
    const wrong = await play([{ 'operator_sdk.util.k8s_status': { ...named, conditions: [{ type: 'Ready' }] } }]);
    expect(wrong.output).toContain('conditions[0]: status is missing');
    const unknown = await play([{ 'operator_sdk.util.k8s_status': { ...named, kind: 'Gadget', status: { a: 1 } } }]);
    expect(unknown.output).toContain('The cluster has no kind Gadget of demo.io/v1');
  }, 600_000);

  test('a paging client with more than 500 objects ends', async () => {
    const labels = { many: 'yes' };
    await Promise.all(
      Array.from({ length: 520 }, (_, n) =>
        proxied.ask(
          guest,
          'POST',
          '/api/v1/namespaces/ns1/configmaps',
          JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `many-${n}`, labels } }),
        ),
      ),
    );
    await writeFile(
      join(dir, 'pages.py'),
      `
import kubernetes
kubernetes.config.load_kube_config()
api = kubernetes.client.CoreV1Api()
names, token, pages = set(), None, 0
while True:
    page = api.list_namespaced_config_map('ns1', label_selector='many=yes', limit=100, _continue=token)
    names |= {item.metadata.name for item in page.items}
    token, pages = page.metadata._continue, pages + 1
    if not token:
        break
print(len(names), pages)
`,
    );
    expect((await run(join(venv, 'bin', 'python'), [join(dir, 'pages.py')])).output).toBe('520 6\n');
  }, 600_000);

  test('a foreign password is refused by name, and the client says so', async () => {
    const { port, ca } = proxied.proxy;
    const foreign = join(dir, 'foreign');
    const owner = { ...WIDGET, name: 'w2', uid: 'u2' };
    await writeFile(foreign, runKubeconfig({ port, ca, owner, password: guest.password }), { mode: 0o600 });
    const info = { api_version: 'v1', kind: 'ConfigMap', namespace: 'ns1', kubeconfig: foreign };
    const { code, output } = await play([{ 'kubernetes.core.k8s_info': info }]);
    expect(code).not.toBe(0);
    expect(output).toMatch(/401|Unauthorized/);
    expect(output).not.toContain(guest.password);
  }, 600_000);
});
