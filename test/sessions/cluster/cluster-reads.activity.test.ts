/** What is read of a cluster that answers in part; the client says what is told to it. */
import { afterEach, expect, test } from '@jest/globals';
import { musterError } from '../../../domain/errors.ts';
import type { ClusterClient, ClusterRequest } from '../../../drivers/kubernetes/cluster-client.ts';
import { clusterPaths } from '../../../drivers/kubernetes-runner/cluster-paths.ts';
import { FINALIZER, LABELS } from '../../../drivers/kubernetes-runner/objects.ts';
import { followLog } from '../../../drivers/kubernetes-runner/pod-log.ts';
import { readViews } from '../../../drivers/kubernetes-runner/read-jobs.ts';

const paths = clusterPaths('runs');
const never = new AbortController().signal;
const { now } = Date;
afterEach(() => {
  Date.now = now;
});

const job = (name: string) => ({ metadata: { name, labels: {} }, spec: {}, status: { active: 1 } });
const pod = (name: string, state: object) => ({
  metadata: { name: `${name}-x`, labels: { [LABELS.job]: name }, finalizers: [FINALIZER] },
  spec: { nodeName: 'n', containers: [{ name: 'ansible' }] },
  status: { phase: 'Running', containerStatuses: [{ name: 'ansible', state }] },
});

/** A cluster with these objects; `open` answers for its logs. */
function client(
  objects: { jobs: object[]; pods: object[] },
  open: () => Promise<AsyncIterable<Buffer>>,
): ClusterClient {
  const answer = ({ path }: ClusterRequest) => {
    if (path === paths.jobs) return { items: objects.jobs };
    if (path === paths.pods) return { items: objects.pods };
    return objects.jobs[0];
  };
  return { ask: async <T>(request: ClusterRequest) => ({ status: 200, body: answer(request) as T }), open };
}

test('a pod that came after its Job was ended is found by the clean-up', async () => {
  const found = await readViews(
    client({ jobs: [job('a')], pods: [pod('a', {}), pod('b', {})] }, never as never),
    paths,
  );
  expect(found.map(({ name, phase }) => [name, phase])).toEqual([
    ['a', 'waiting'],
    ['b', 'gone'],
  ]);
});

const away = () => Promise.reject(musterError('cluster_unavailable', 'GET /log: the cluster answered 502'));
const reading = { name: 'a', container: 'ansible', from: 0, secrets: [], areAll: true };

test('a log that a node cannot give for a while is read when it can, while its container goes on', async () => {
  const objects = { jobs: [job('a')], pods: [pod('a', { running: {} })] };
  const ended = { terminated: { exitCode: 0 } };
  let asked = 0;
  const open = async () => {
    asked += 1;
    // Two minutes go by.
    Date.now = () => now() + asked * 60_000;
    if (asked <= 2) return away();
    objects.pods = [pod('a', ended)];
    return (async function* () {
      yield Buffer.from('2026-11-25T10:00:00.000000001Z end\n');
    })();
  };
  const texts: string[] = [];
  await followLog(client(objects, open), paths, reading, async ({ text }) => void texts.push(text), never);
  expect(texts).toEqual(['end\n']);
});

test('a log that nobody gives after its container ended is given up', async () => {
  const objects = { jobs: [job('a')], pods: [pod('a', { terminated: { exitCode: 0 } })] };
  let asked = 0;
  const open = () => {
    asked += 1;
    Date.now = () => now() + asked * 60_000;
    return away();
  };
  await expect(followLog(client(objects, open), paths, reading, async () => {}, never)).rejects.toMatchObject({
    code: 'cluster_unavailable',
  });
});
