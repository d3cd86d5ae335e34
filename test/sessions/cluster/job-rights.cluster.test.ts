import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ClusterProxy, openClusterProxy } from '../../support/kubernetes/cluster-proxy.ts';
import { makeNamespace, type TestNamespace } from '../../support/kubernetes/dev-cluster.ts';
import { jobSpec, scriptedJobs, smallSettings } from '../../support/kubernetes/scripted-jobs.ts';
import { ROOT } from '../../support/source-tree.ts';

const run = promisify(execFile);

const signal = new AbortController().signal;
/** All that a runner needs: nothing outside of its namespace, and no list of secrets. */
const RULES = [
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'get', 'list', 'watch', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
  { apiGroups: [''], resources: ['events'], verbs: ['list'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['create', 'get', 'update', 'patch', 'delete'] },
];
let namespace: TestNamespace;
let way: ClusterProxy;

beforeAll(async () => {
  namespace = await makeNamespace('m-c-rights');
  const named = { name: 'runner', namespace: namespace.name };
  await namespace.apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: named },
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: named, rules: RULES },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: named,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'runner' },
      subjects: [{ kind: 'ServiceAccount', ...named }],
    },
  );
  way = await openClusterProxy((await namespace.kubectl(['create', 'token', 'runner'])).trim());
});
afterAll(async () => {
  await way.close();
  await namespace.remove();
});

describe('with a token that may only what the Role says', () => {
  const settings = () => smallSettings(namespace.name, { kubeconfig: way.kubeconfig });

  test('a Job is started, followed, read, changed and ended', async () => {
    const { jobs } = scriptedJobs(settings(), { ansible: 'echo hello; trap "exit 9" TERM; sleep 600 & wait' });
    const spec = jobSpec();
    await jobs.start(spec, signal);
    const isRunning = async ({ containers }: { containers: { name: string; state: string }[] }) =>
      containers.some(({ name, state }) => name === 'ansible' && state === 'running');
    await jobs.follow(spec.name, isRunning, signal);
    await jobs.updateSecret(spec.name, () => ({ certificate: 'new' }));
    expect((await jobs.list()).map(({ name }) => name)).toContain(spec.name);
    let log = '';
    const stop = new AbortController();
    await jobs.followLog(
      spec.name,
      'ansible',
      { from: 0, secrets: [], areAll: true },
      async ({ text }) => {
        log += text;
        stop.abort();
      },
      stop.signal,
    );
    expect(log).toBe('hello\n');
    expect((await jobs.end(spec.name, 60_000)).unverified).toBeNull();
    await jobs.release(spec.name);
  });

  test('what no node can run is told from what waits without looking at nodes', async () => {
    const { jobs } = scriptedJobs({ ...settings(), requests: { memory: '900Gi' }, limits: {} }, {});
    const spec = jobSpec();
    await jobs.start(spec, signal);
    await jobs.follow(spec.name, async ({ trouble }) => trouble !== null, signal);
    expect((await jobs.view(spec.name)).trouble).toMatchObject({ code: 'unschedulable', kind: 'impossible' });
    await jobs.end(spec.name, 60_000);
    await jobs.release(spec.name);
  });

  test('what it may not is told in the words of the cluster, and may be tried again', async () => {
    const { jobs } = scriptedJobs({ ...settings(), namespace: 'default' }, {});
    await expect(jobs.start(jobSpec(), signal)).rejects.toMatchObject({
      code: 'cluster_unavailable',
      message: expect.stringMatching(/403 Forbidden: .*cannot create resource "jobs"/),
    });
  });

  test('a removal that may not do its work ends soon after its patience, and says what is missing', async () => {
    const script = join(ROOT, 'deploy', 'kubernetes', 'uninstall.ts');
    const env = { ...process.env, MUSTER_RUNNER_KUBECONFIG: way.kubeconfig, MUSTER_RUNNER_NAMESPACE: 'default' };
    const removal = run(process.execPath, [script, '1', 'default'], { env, timeout: 150_000 });
    await expect(removal).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^GET .*403 Forbidden: .*cannot list resource "jobs"[^\n]*\nThe Role of the removal.*\n$/,
      ),
    });
  }, 180_000);
});
