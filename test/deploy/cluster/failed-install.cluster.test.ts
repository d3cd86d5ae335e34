import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { kubeconfigPath, makeNamespace, type TestNamespace } from '../../support/kubernetes/dev-cluster.ts';
import { CHART, helm } from '../../support/kubernetes/helm.ts';
import { ownRelease, valuesFor, writeValues } from '../../support/kubernetes/installed-chart.ts';

/** What helm prints of the site's own. */
const SECRETS = ['secret/muster-admin', 'secret/muster-database'];
let namespace: TestNamespace;
let dir: string;

beforeAll(async () => {
  namespace = await makeNamespace('muster-failed');
  dir = await mkdtemp(join(tmpdir(), 'muster-failed-install-'));
});

afterAll(async () => {
  await namespace?.remove();
  await rm(dir, { recursive: true, force: true });
}, 240_000);

const there = async () =>
  (await namespace.kubectl(['get', 'all,secrets,serviceaccounts,roles,rolebindings,networkpolicies', '-o', 'name']))
    .split('\n')
    .filter((name) => name !== '' && name !== 'serviceaccount/default')
    .sort();

test('a release whose first installation failed says why, and can be removed: what has failed stays, with its log', async () => {
  await namespace.apply(
    // As somebody writes who forgot to escape the password.
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'muster-database' },
      stringData: { url: 'postgres://m:p/w@db/m' },
    },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'muster-admin' }, stringData: { token: 'a' } },
  );
  const values = await writeValues(dir, valuesFor({ temporalAddress: 'temporal.example.com:7233' }, ownRelease()));
  const where = ['--namespace', namespace.name, '--kubeconfig', kubeconfigPath(), '--timeout', '4m'];
  await expect(helm(['install', 'muster', CHART, '--values', values, ...where])).rejects.toThrow(
    'BackoffLimitExceeded',
  );
  const log = await namespace.kubectl(['logs', 'job/muster-migrate']);
  expect(log).toMatch(/MUSTER_DATABASE_URL: must be postgres:/);

  await helm(['uninstall', 'muster', ...where]);
  expect((await there()).filter((name) => !/muster-migrate/.test(name))).toEqual(SECRETS);
}, 900_000);
