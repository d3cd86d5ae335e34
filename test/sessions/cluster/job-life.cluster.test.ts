import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { JobView } from '../../../domain/sessions/cluster/cluster-job.ts';
import { eventually } from '../../support/eventually.ts';
import { makeNamespace, type TestNamespace } from '../../support/kubernetes/dev-cluster.ts';
import { jobSpec, scriptedJobs, smallSettings } from '../../support/kubernetes/scripted-jobs.ts';

const signal = new AbortController().signal;
let namespace: TestNamespace;

beforeAll(async () => {
  namespace = await makeNamespace('m-c-life');
});
afterAll(() => namespace.remove());

/** All views until one that satisfies. */
async function viewsUntil(
  jobs: ReturnType<typeof scriptedJobs>['jobs'],
  name: string,
  last: (view: JobView) => boolean,
): Promise<JobView[]> {
  const views: JobView[] = [];
  await jobs.follow(
    name,
    async (view) => {
      views.push(view);
      return last(view);
    },
    signal,
  );
  return views;
}

const ended = ({ phase }: JobView) => phase === 'complete' || phase === 'failed';

describe('a Job from its start to its end', () => {
  test('runs, tells what happens, keeps its result until it is released', async () => {
    const { jobs } = scriptedJobs(smallSettings(namespace.name), {
      ansible: 'until [ -e /tmp/go ]; do sleep 0.1; done',
    });
    const spec = jobSpec();
    await jobs.start(spec, signal);
    const views = await viewsUntil(jobs, spec.name, ({ containers }) =>
      containers.some(({ name, state }) => name === 'ansible' && state === 'running'),
    );
    // With the container the command is killed as well.
    const go = ['exec', `job/${spec.name}`, '--container', 'ansible', '--', 'touch', '/tmp/go'];
    await namespace.kubectl(go).catch(() => '');
    views.push(...(await viewsUntil(jobs, spec.name, ended)));
    const phases = [...new Set(views.map(({ phase }) => phase))];
    expect(phases.at(-1)).toBe('complete');
    expect(phases).toContain('running');
    const last = views.at(-1);
    expect(last?.sessionId).toBe(spec.sessionId);
    expect(last?.containers.map(({ name, exitCode }) => [name, exitCode])).toEqual([
      ['git-clone', 0],
      ['inventory', 0],
      ['ansible', 0],
    ]);
    expect(last?.trouble).toBeNull();
    await jobs.release(spec.name);
    const job = JSON.parse(await namespace.kubectl(['get', 'job', spec.name, '-o', 'json']));
    expect(job.metadata.finalizers).toBeUndefined();
    expect((await jobs.list()).map(({ name, sessionId }) => [name, sessionId])).toEqual([[spec.name, spec.sessionId]]);
    // The pod has told of its success before the Job does.
    await namespace.kubectl(['wait', '--for=condition=complete', `job/${spec.name}`, '--timeout=150s']);
    const { view, unverified } = await jobs.end(spec.name, 60_000);
    expect([view.phase, unverified]).toEqual(['complete', null]);
    await eventually('nothing is left', async () => (await namespace.names('jobs', 'pods', 'secrets')).length === 0);
    expect((await jobs.view(spec.name)).phase).toBe('gone');
  });
});
