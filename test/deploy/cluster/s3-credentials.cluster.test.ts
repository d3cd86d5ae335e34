import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startRestrictedPod } from '../../support/kubernetes/cluster-pod.ts';
import { imageName, makeNamespace, type TestNamespace } from '../../support/kubernetes/dev-cluster.ts';

const WORK = ['/muster/work', '/tmp'];
const READER = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' };

let namespace: TestNamespace;
beforeAll(async () => {
  namespace = await makeNamespace('m-s3');
  const metadata = { name: 'reader' };
  await namespace.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  await namespace.apply({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata,
    rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['s3', 'absent'], verbs: ['get'] }],
  });
  await namespace.apply({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata,
    roleRef: READER,
    subjects: [{ kind: 'ServiceAccount', name: 'reader' }],
  });
  for (const name of ['s3', 'other']) {
    const stringData = { access_key: 'the-key', secret_key: 'the-secret' };
    await namespace.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData });
  }
});
afterAll(() => namespace.remove(), 240_000);

/** What the module answers in a pod of the execution environment. */
async function ask(secret: string, serviceAccount?: string): Promise<string> {
  const pod = await startRestrictedPod(namespace, {
    image: imageName('aee'),
    command: [
      'ansible',
      'localhost',
      '-m',
      'shasta_s3_creds',
      '-a',
      `k8s_secret=${secret} k8s_namespace=${namespace.name}`,
    ],
    environment: {
      HOME: '/muster/work/home',
      TMPDIR: '/muster/work',
      ANSIBLE_LIBRARY: '/opt/muster/ansible/plugins/modules',
    },
    writable: WORK,
    ...(serviceAccount === undefined ? {} : { serviceAccount }),
  });
  return (await pod.end()).output;
}

test('a playbook reads the credentials of S3 as the service account of its pod, and nothing else', async () => {
  const [given, forbidden, absent, without] = await Promise.all([
    ask('s3', 'reader'),
    ask('other', 'reader'),
    ask('absent', 'reader'),
    ask('s3'),
  ]);
  expect(given).toContain('localhost | CHANGED');
  expect(given).toContain('"access_key": "the-key"');
  expect(given).toContain('"secret_key": "the-secret"');
  expect(forbidden).toContain('may not be read');
  expect(absent).toContain('does not exist');
  expect(without).toContain('there is no service account here');
}, 360_000);
