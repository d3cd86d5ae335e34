import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { eventually } from '../support/eventually.ts';
import { type KubernetesApi, kubernetesMissing, startKubernetesApi } from '../support/kubernetes/kubernetes-api.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type ApiProcess, startApiProcess } from '../support/stack/api-process.ts';

describeNeeding(kubernetesMissing(), 'an API server whose secrets are in a cluster', () => {
  const namespace = 'site-secrets';
  let kubernetes: KubernetesApi;
  let cluster: CoreV1Api;
  let database: TestDatabase;
  let api: ApiProcess;

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([startKubernetesApi(), createTestDatabase()]);
    const config = new KubeConfig();
    config.loadFromFile(kubernetes.kubeconfig);
    cluster = config.makeApiClient(CoreV1Api);
    await cluster.createNamespace({ body: { metadata: { name: namespace } } });
    api = await startApiProcess(database.url, {
      KUBECONFIG: kubernetes.kubeconfig,
      MUSTER_SECRETS: 'kubernetes',
      MUSTER_SECRETS_NAMESPACE: namespace,
    });
  }, 600_000);
  afterAll(async () => {
    await api?.stop();
    await kubernetes?.stop();
    await database?.close();
  });

  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${api.base}${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text) };
  };
  const namesInCluster = async () =>
    (await cluster.listNamespacedSecret({ namespace })).items.map((secret) => secret.metadata?.name ?? '').sort();

  test('what a site needs from the start is made there', async () => {
    await eventually('the key for ssh', async () => (await namesInCluster()).includes('muster-ssh'));
  });

  test('credentials of a source are a Secret while there is the source, and nowhere else', async () => {
    const password = 'cluster-keeps-this';
    const credentials = { username: 'ada', password };
    const made = await call('POST', '/v3/sources', { name: 'site', clone_url: 'https://git.test/a.git', credentials });
    expect(made.status).toBe(201);
    const name = made.body.credentials.secret_name;
    const data = (await cluster.readNamespacedSecret({ name, namespace })).data ?? {};
    expect(Buffer.from(data.password ?? '', 'base64').toString()).toBe(password);
    const changed = await call('PATCH', '/v3/sources/site', { credentials: { username: 'bob', password: 'new-word' } });
    expect(changed.status).toBe(200);
    const after = (await cluster.readNamespacedSecret({ name, namespace })).data ?? {};
    expect(Buffer.from(after.username ?? '', 'base64').toString()).toBe('bob');
    expect(await database.db.selectFrom('secrets').selectAll().execute()).toEqual([]);
    expect(api.log.join('\n')).not.toContain(password);
    expect((await call('DELETE', '/v3/sources/site')).status).toBe(204);
    expect(await namesInCluster()).not.toContain(name);
  });

  test('without the cluster a source is refused as not available, and everything else is answered', async () => {
    await kubernetes.kill();
    const credentials = { username: 'ada', password: 'x' };
    const refused = await call('POST', '/v3/sources', { clone_url: 'https://git.test/b.git', credentials });
    expect(refused).toMatchObject({ status: 503, body: { code: 'secret_store_unavailable' } });
    expect((await call('GET', '/v3/sources')).body.sources).toEqual([]);
  });
});
