import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { JobView } from '../../../domain/sessions/cluster/cluster-job.ts';
import { WATCH_SECONDS } from '../../../drivers/kubernetes/watch-stream.ts';
import { eventually } from '../../support/eventually.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/kubernetes/cluster-proxy.ts';
import { makeNamespace, type TestNamespace } from '../../support/kubernetes/dev-cluster.ts';
import { jobSpec, type ScriptedJobs, scriptedJobs, smallSettings } from '../../support/kubernetes/scripted-jobs.ts';

const signal = new AbortController().signal;
/** Watches that have stalled are noticed within 6 s; a cluster that is away as ever. */
const PATIENCE = { awayMs: 120_000, lookMs: 1_000, watchSeconds: 3 };
const AWAY_MS = 3_000;
const hasEnded = ({ phase }: JobView) => phase === 'complete' || phase === 'failed';
let namespace: TestNamespace;
let proxy: ClusterProxy;

beforeAll(async () => {
  namespace = await makeNamespace('m-c-watch');
});
afterAll(() => namespace.remove());
beforeEach(async () => {
  proxy = await openClusterProxy();
});
afterEach(() => proxy.close());

const settings = (kubeconfig?: string) => smallSettings(namespace.name, kubeconfig === undefined ? {} : { kubeconfig });

/** Follows in the background; the views, and when it was over. */
function following({ jobs }: ScriptedJobs, name: string, last = hasEnded, until = signal) {
  const views: JobView[] = [];
  let over = false;
  const done = jobs
    .follow(
      name,
      async (view) => {
        views.push(view);
        return last(view);
      },
      until,
    )
    .finally(() => {
      over = true;
    });
  done.catch(() => {});
  return { views, done, isOver: () => over };
}

/** Until somebody has made the file and has gone: with the container its process would be killed, and its command fail. */
const TOLD_TO_GO = '[ -e /tmp/go ] && ! grep -qsx touch /proc/[0-9]*/comm';

/** A Job that runs until it is told to finish. */
async function waitingJob(): Promise<{ name: string; finish(): Promise<void> }> {
  const direct = scriptedJobs(settings(), { ansible: `until ${TOLD_TO_GO}; do sleep 0.1; done` });
  const spec = jobSpec();
  await direct.jobs.start(spec, signal);
  return {
    name: spec.name,
    finish: async () => {
      const pod = (
        await namespace.kubectl(['get', 'pods', '-l', `batch.kubernetes.io/job-name=${spec.name}`, '-o', 'name'])
      ).trim();
      await namespace.kubectl(['exec', pod, '-c', 'ansible', '--', 'touch', '/tmp/go']);
    },
  };
}

const ansibleRuns = ({ containers }: JobView) =>
  containers.some(({ name, state }) => name === 'ansible' && state === 'running');

describe('following a Job', () => {
  test('goes on after the connection was cut', async () => {
    const job = await waitingJob();
    const near = scriptedJobs(settings(proxy.kubeconfig), {}, undefined, { ...PATIENCE, watchSeconds: WATCH_SECONDS });
    const seen = following(near, job.name);
    await eventually('it runs', () => seen.views.some(ansibleRuns));
    await proxy.cut();
    await job.finish();
    await delay(1_000);
    expect(seen.isOver()).toBe(false);
    await proxy.mend();
    await seen.done;
    expect(seen.views.at(-1)?.phase).toBe('complete');
  });

  test('goes on after the connection has stalled for so long that its watches were given up', async () => {
    const job = await waitingJob();
    const near = scriptedJobs(settings(proxy.kubeconfig), {}, undefined, PATIENCE);
    const seen = following(near, job.name);
    await eventually('it runs', () => seen.views.some(ansibleRuns));
    proxy.freeze();
    await job.finish();
    await eventually('they are given up', () => near.open.length === 0);
    expect(seen.isOver()).toBe(false);
    proxy.thaw();
    await seen.done;
    expect(seen.views.at(-1)?.phase).toBe('complete');
  });

  test('a watch that alone has stalled is noticed', async () => {
    const job = await waitingJob();
    const near = scriptedJobs(settings(proxy.kubeconfig), {}, undefined, PATIENCE);
    const seen = following(near, job.name);
    await eventually('it runs', () => seen.views.some(ansibleRuns));
    // What is open stays silent; new connections pass.
    proxy.hold();
    await job.finish();
    await seen.done;
    expect(seen.views.at(-1)?.phase).toBe('complete');
  });

  test('says after a while that the cluster is away', async () => {
    const job = await waitingJob();
    // So little patience would not last for the start of a pod on a machine that has much to do.
    await following(scriptedJobs(settings(), {}), job.name, ansibleRuns).done;
    const near = scriptedJobs(settings(proxy.kubeconfig), {}, undefined, { ...PATIENCE, awayMs: AWAY_MS });
    const seen = following(near, job.name);
    await eventually('it is followed', () => seen.views.length > 0 && near.open.length === 2);
    proxy.freeze();
    const frozen = Date.now();
    await expect(seen.done).rejects.toMatchObject({ code: 'cluster_unavailable' });
    expect(Date.now() - frozen).toBeGreaterThan(AWAY_MS);
    await job.finish();
  });

  test('tells of one that is not there, and of one that goes', async () => {
    const near = scriptedJobs(settings(), { ansible: 'sleep 600' });
    const spec = jobSpec();
    const none = following(near, spec.name, () => true);
    await none.done;
    expect(none.views.map(({ phase }) => phase)).toEqual(['gone']);
    await near.jobs.start(spec, signal);
    const seen = following(near, spec.name, ({ phase }) => phase === 'gone');
    await eventually('it runs', () => seen.views.some(ansibleRuns));
    await near.jobs.end(spec.name, 60_000);
    await eventually('it is told', () => seen.views.some(({ phase }) => phase === 'deleting'));
    await near.jobs.release(spec.name);
    await seen.done;
  });

  test('ends when it is told to, and leaves nothing open', async () => {
    const near = scriptedJobs(settings(proxy.kubeconfig), { ansible: 'sleep 600' });
    const spec = jobSpec();
    await near.jobs.start(spec, signal);
    const stop = new AbortController();
    const seen = following(near, spec.name, () => false, stop.signal);
    await eventually('it runs', () => seen.views.some(ansibleRuns));
    stop.abort(new Error('no longer'));
    await expect(seen.done).rejects.toThrow('no longer');
    await eventually('nothing is open', () => near.open.length === 0);
    await near.jobs.end(spec.name, 60_000);
    await near.jobs.release(spec.name);
  });
});

test('twenty at once are all complete, with one watch of Jobs and one of pods', async () => {
  const near = scriptedJobs(settings(), { ansible: 'true' });
  const specs = Array.from({ length: 20 }, () => jobSpec());
  await Promise.all(specs.map((spec) => near.jobs.start(spec, signal)));
  const all = specs.map(({ name }) => following(near, name));
  let most = 0;
  const counting = setInterval(() => {
    most = Math.max(most, near.open.length);
  }, 50);
  await Promise.all(all.map(({ done }) => done));
  clearInterval(counting);
  expect(most).toBeLessThanOrEqual(2);
  expect(all.map(({ views }) => views.at(-1)?.phase)).toEqual(specs.map(() => 'complete'));
  for (const { name } of specs) await near.jobs.release(name);
  await Promise.all(specs.map(({ name }) => near.jobs.end(name, 60_000)));
}, 600_000);
