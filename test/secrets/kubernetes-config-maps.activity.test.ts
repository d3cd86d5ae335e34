import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import type { ConfigMaps } from '../../domain/secrets/ports.ts';
import { openConfigMaps } from '../../drivers/secrets/config-maps.ts';
import { openKubernetesConfigMaps } from '../../drivers/secrets/kubernetes-config-maps.ts';
import { type KubernetesApi, kubernetesMissing, startKubernetesApi } from '../support/kubernetes/kubernetes-api.ts';
import { describeNeeding } from '../support/requirement.ts';

describeNeeding(kubernetesMissing(), 'ConfigMaps of a cluster', () => {
  let kubernetes: KubernetesApi;
  let dir: string;
  let maps: ConfigMaps;

  beforeAll(async () => {
    kubernetes = await startKubernetesApi();
    dir = await mkdtemp(join(tmpdir(), 'muster-maps-'));
    const config = new KubeConfig();
    config.loadFromFile(kubernetes.kubeconfig);
    const api = config.makeApiClient(CoreV1Api);
    for (const namespace of ['site', 'other']) {
      await api.createNamespace({ body: { metadata: { name: namespace } } });
      const data = { 'z.crt': `z of ${namespace}`, 'ansible.cfg': `[defaults] # ${namespace}` };
      await api.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'given' }, data } });
    }
    maps = openKubernetesConfigMaps({
      namespace: 'site',
      unnamed: 'services',
      shipped: openConfigMaps(dir),
      kubeconfig: kubernetes.kubeconfig,
    });
  }, 600_000);
  afterAll(async () => {
    await kubernetes?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  test('one without a namespace is in the configured one, others where they are said to be', async () => {
    expect(await maps.get('services', 'given', 'ansible.cfg')).toBe('[defaults] # site');
    expect(await maps.get('other', 'given', 'z.crt')).toBe('z of other');
    expect(await maps.first('services', 'given')).toBe('[defaults] # site');
  });

  test('what the cluster lacks is the shipped one, and what both lack is named', async () => {
    await maps.put('services', 'shipped', 'ansible.cfg', 'as shipped');
    expect(await maps.get('services', 'shipped', 'ansible.cfg')).toBe('as shipped');
    expect(await maps.first('services', 'shipped')).toBe('as shipped');
    for (const read of [() => maps.get('services', 'given', 'none'), () => maps.first('services', 'none')]) {
      await expect(read()).rejects.toMatchObject({ code: 'config_missing' });
    }
  });

  test('a cluster that does not answer is said so, and nothing shipped is taken for it', async () => {
    await kubernetes.kill();
    await expect(maps.get('services', 'shipped', 'ansible.cfg')).rejects.toMatchObject({
      code: 'secret_store_unavailable',
    });
  });
});
