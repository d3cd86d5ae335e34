import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { openProxy } from '../../support/fakes/tcp-proxy.ts';
import { startTraceCollector } from '../../support/fakes/trace-collector.ts';
import { startRestrictedPod, type TestPod } from '../../support/kubernetes/cluster-pod.ts';
import { hostAddress, imageName, makeNamespace, type TestNamespace } from '../../support/kubernetes/dev-cluster.ts';
import { createTestDatabase } from '../../support/postgres/test-database.ts';
import { startPlainTemporal } from '../../support/temporal/plain-temporal.ts';

/** On a machine that is busy with other suites a pod takes its time. */
const START_LIMIT_MS = 240_000;
const PROBES = 8120;
const DATA = '/var/lib/muster';

let namespace: TestNamespace;
const undo: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  namespace = await makeNamespace('m-traced');
});
afterAll(async () => {
  for (const step of undo.reverse()) await step();
  await namespace?.remove();
}, 240_000);

/** A way from pods to a server of this machine, as host:port. */
async function wayTo(target: string): Promise<string> {
  const way = await openProxy(target, hostAddress());
  undo.push(() => way.cut());
  return way.address;
}

async function startTracedWorker(): Promise<{ pod: TestPod; spans: { service: string; name: string }[] }> {
  const database = await createTestDatabase();
  undo.push(() => database.close());
  const temporal = await startPlainTemporal();
  undo.push(() => temporal.stop());
  const collector = await startTraceCollector();
  undo.push(() => collector.close());
  const { host, pathname, username, password } = new URL(database.url);
  const pod = await startRestrictedPod(namespace, {
    image: imageName('muster'),
    command: ['node', 'worker/main.ts'],
    workingDir: '/opt/muster',
    writable: [DATA, '/tmp'],
    environment: {
      HOME: DATA,
      MUSTER_DATABASE_URL: `postgres://${username}:${password}@${await wayTo(host)}${pathname}`,
      MUSTER_TEMPORAL_ADDRESS: await wayTo(`127.0.0.1:${temporal.port}`),
      MUSTER_TEMPORAL_NAMESPACE: 'default',
      MUSTER_TRACES_URL: `http://${await wayTo(new URL(collector.url).host)}/`,
      MUSTER_WORKER_PROBES: `0.0.0.0:${PROBES}`,
    },
  });
  return { pod, spans: collector.spans };
}

test('a worker that sends traces starts from the image, with workflows that came bundled in it', async () => {
  const { pod, spans } = await startTracedWorker();
  const withLog = async (error: Error) => {
    throw new Error(`${error.message}; its log: ${(await pod.log()).slice(-2_000)}`);
  };
  const address = await eventually('the pod has an address', async () => (await pod.address()) || null);
  const isWorking = async () => (await fetch(`http://${address}:${PROBES}/readyz`).catch(() => null))?.ok;
  await eventually('the worker works', isWorking, START_LIMIT_MS).catch(withLog);
  // Workflows tell of themselves only by what is in their bundle.
  const tells = () => spans.some(({ name }) => name.startsWith('RunWorkflow:')) || null;
  await eventually('a workflow has told of its run', tells, START_LIMIT_MS).catch(withLog);
  expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(['muster-worker']));
  const made = await namespace.kubectl(['exec', pod.name, '--', 'ls', DATA]);
  expect(made.split('\n')).not.toContain('bundles');
}, 600_000);
