import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CoreV1Api, KubeConfig, RbacAuthorizationV1Api } from '@kubernetes/client-node';
import { openKubernetesSecrets } from '../../drivers/secrets/kubernetes-secrets.ts';
import { eventually } from '../support/eventually.ts';
import { secretStoreContract } from '../support/fakes/secret-store-contract.ts';
import { type KubernetesApi, kubernetesMissing, startKubernetesApi } from '../support/kubernetes/kubernetes-api.ts';
import { describeNeeding } from '../support/requirement.ts';

describeNeeding(kubernetesMissing(), 'secrets of a cluster', () => {
  let kubernetes: KubernetesApi;
  let api: CoreV1Api;
  let rights: RbacAuthorizationV1Api;
  let namespaces = 0;

  beforeAll(async () => {
    kubernetes = await startKubernetesApi();
    const config = new KubeConfig();
    config.loadFromFile(kubernetes.kubeconfig);
    api = config.makeApiClient(CoreV1Api);
    rights = config.makeApiClient(RbacAuthorizationV1Api);
  }, 600_000);
  afterAll(() => kubernetes?.stop());

  const emptyNamespace = async () => {
    const name = `muster-${++namespaces}`;
    await api.createNamespace({ body: { metadata: { name } } });
    return name;
  };
  const storeIn = (namespace: string) => openKubernetesSecrets({ namespace, kubeconfig: kubernetes.kubeconfig });

  secretStoreContract(async () => storeIn(await emptyNamespace()));

  test('are Secrets that others can use', async () => {
    const namespace = await emptyNamespace();
    await storeIn(namespace).putAll('vcs', { vcs_username: 'ada', vcs_password: 'pä$$' });
    const secret = await api.readNamespacedSecret({ name: 'vcs', namespace });
    expect(secret.type).toBe('Opaque');
    expect(Buffer.from(secret.data?.vcs_password ?? '', 'base64').toString()).toBe('pä$$');
  });

  test('a Secret of somebody else is read by its name and not listed', async () => {
    const namespace = await emptyNamespace();
    const body = { metadata: { name: 'theirs' }, stringData: { password: 'hidden' } };
    await api.createNamespacedSecret({ namespace, body });
    const store = storeIn(namespace);
    expect(await store.get('theirs')).toEqual({ password: 'hidden' });
    expect(await store.list()).toEqual([]);
  });

  describe('for a role that may not list secrets', () => {
    /** As a service account with the rights of deploy/chart. */
    const asAccount = async () => {
      const namespace = await emptyNamespace();
      const rules = [
        { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'patch', 'update', 'delete'] },
      ];
      const user = `account-of-${namespace}`;
      await rights.createNamespacedRole({ namespace, body: { metadata: { name: 'r' }, rules } });
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' };
      const subjects = [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }];
      await rights.createNamespacedRoleBinding({ namespace, body: { metadata: { name: 'r' }, roleRef, subjects } });
      const kubeconfig = JSON.parse(await readFile(kubernetes.kubeconfig, 'utf8'));
      kubeconfig.users[0].user.as = user;
      const path = `${kubernetes.kubeconfig}-${namespace}`;
      await writeFile(path, JSON.stringify(kubeconfig));
      const store = openKubernetesSecrets({ namespace, kubeconfig: path });
      // The API server learns of new rights by a watch of its own.
      await eventually('the account has its rights', () =>
        store.get('none').then(
          () => true,
          () => false,
        ),
      );
      return store;
    };

    secretStoreContract(asAccount);

    test('names set at the same time are all listed, and one that was removed is not', async () => {
      const store = await asAccount();
      const names = Array.from({ length: 12 }, (_, index) => `name-${String(index).padStart(2, '0')}`);
      await Promise.all(names.map((name) => store.put(name, 'key', 'value')));
      await store.delete('name-03');
      expect((await store.list()).map(({ name }) => name)).toEqual(names.filter((name) => name !== 'name-03'));
    });
  });

  test('values set at the same time are all kept', async () => {
    const store = storeIn(await emptyNamespace());
    const keys = Array.from({ length: 12 }, (_, index) => `key-${String(index).padStart(2, '0')}`);
    await Promise.all(keys.map((key) => store.put('vcs', key, key)));
    expect(Object.keys((await store.get('vcs')) ?? {}).sort()).toEqual(keys);
  });

  test('of two whole secrets set at the same time one stands, never a mixture', async () => {
    const store = storeIn(await emptyNamespace());
    for (let round = 0; round < 5; round++) {
      await Promise.all([store.putAll('vcs', { a: '1', shared: 'a' }), store.putAll('vcs', { b: '2', shared: 'b' })]);
      expect([
        { a: '1', shared: 'a' },
        { b: '2', shared: 'b' },
      ]).toContainEqual(await store.get('vcs'));
    }
  });

  test('a refusal names the secret and shows no value', async () => {
    const value = 'do-not-show';
    const failure = storeIn('no-such-namespace').putAll('vcs', { password: value });
    await expect(failure).rejects.toMatchObject({
      code: 'secret_store_unavailable',
      detail: expect.stringMatching(/^Secret vcs in namespace no-such-namespace: the cluster answered 404/),
    });
    await expect(failure).rejects.not.toMatchObject({ detail: expect.stringContaining(value) });
  });

  test('a cluster that is gone is said so', async () => {
    const store = storeIn(await emptyNamespace());
    await kubernetes.kill();
    await expect(store.get('vcs')).rejects.toMatchObject({ code: 'secret_store_unavailable' });
  });
});
