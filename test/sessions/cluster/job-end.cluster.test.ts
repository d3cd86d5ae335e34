import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { JobEnding } from '../../../domain/sessions/cluster/cluster-job.ts';
import { eventually } from '../../support/eventually.ts';
import { makeNamespace, type TestNamespace } from '../../support/kubernetes/dev-cluster.ts';
import {
  jobSpec,
  type ScriptedJobs,
  type Scripts,
  scriptedJobs,
  smallSettings,
} from '../../support/kubernetes/scripted-jobs.ts';

const signal = new AbortController().signal;
let namespace: TestNamespace;

beforeAll(async () => {
  namespace = await makeNamespace('m-c-end');
});
afterAll(() => namespace.remove());

/** Goes at once when it is told to, with a status of its own. */
const POLITE = 'trap "exit 9" TERM; echo ready; sleep 600 & wait';
/** Has to be killed. */
const DEAF = 'trap "" TERM; echo ready; while true; do sleep 1; done';

/** A Job whose playbooks run; of a script that ends at once Kubernetes may never say that it does. */
async function running(scripts: Scripts): Promise<{ name: string } & ScriptedJobs> {
  const scripted = scriptedJobs(smallSettings(namespace.name), scripts);
  const spec = jobSpec();
  await scripted.jobs.start(spec, signal);
  await scripted.jobs.follow(
    spec.name,
    async ({ containers }) => containers.some(({ name, state }) => name === 'ansible' && state === 'running'),
    signal,
  );
  // A container runs before its script has come to its trap.
  if (scripts.ansible?.includes('echo ready')) {
    const log = () => namespace.kubectl(['logs', `job/${spec.name}`, '--container', 'ansible']);
    await eventually('it listens', async () => (await log()).includes('ready'));
  }
  return { name: spec.name, ...scripted };
}

const exitOf = ({ view }: JobEnding, container: string) =>
  view.containers.find(({ name }) => name === container)?.exitCode;

const nothingLeft = (name: string) =>
  eventually('nothing is left', async () => !(await namespace.names('jobs', 'pods', 'secrets')).join().includes(name));

describe('ending a Job', () => {
  test.each([
    ['a polite one', POLITE, 9],
    ['one that does not listen', DEAF, 137],
  ])('%s: no container runs when it answers, and every exit code is known', async (_, script, code) => {
    const { jobs, name } = await running({ ansible: script });
    const ending = await jobs.end(name, 60_000);
    expect(ending.unverified).toBeNull();
    expect(exitOf(ending, 'ansible')).toBe(code);
    expect(ending.view.phase).toBe('deleting');
    // Nothing of it goes before it is released, however often it is ended.
    expect((await jobs.end(name, 60_000)).unverified).toBeNull();
    expect((await jobs.view(name)).phase).toBe('deleting');
    await jobs.release(name);
    await nothingLeft(name);
    await jobs.release(name);
    expect(await jobs.end(name, 1_000)).toMatchObject({ view: { phase: 'gone' }, unverified: null });
  });

  test.each([
    ['background', POLITE, 9],
    ['foreground', POLITE, 9],
    ['foreground', DEAF, 137],
    ['orphan', POLITE, 9],
  ])('one that somebody has deleted (%s)', async (cascade, script, code) => {
    const { jobs, name } = await running({ ansible: script });
    await namespace.kubectl(['delete', 'job', name, `--cascade=${cascade}`, '--wait=false']);
    await jobs.follow(name, async ({ phase }) => phase === 'deleting', signal);
    const ending = await jobs.end(name, 60_000);
    expect(ending.unverified).toBeNull();
    expect(exitOf(ending, 'ansible')).toBe(code);
    await jobs.release(name);
    await nothingLeft(name);
  });

  test('one that somebody has taken away from its pod, which goes on', async () => {
    const { jobs, name } = await running({ ansible: POLITE });
    const none = JSON.stringify({ metadata: { finalizers: null } });
    await namespace.kubectl(['patch', 'job', name, '--type', 'merge', '--patch', none]);
    await namespace.kubectl(['delete', 'job', name, '--cascade=orphan', '--wait=false']);
    await jobs.follow(name, async ({ phase }) => phase === 'gone', signal);
    const pods = await namespace.kubectl(['get', 'pods', '-l', `batch.kubernetes.io/job-name=${name}`, '-o', 'json']);
    expect(JSON.parse(pods).items).toMatchObject([{ status: { phase: 'Running' } }]);
    const ending = await jobs.end(name, 60_000);
    expect(ending).toMatchObject({ view: { phase: 'gone' }, unverified: null });
    expect(exitOf(ending, 'ansible')).toBe(9);
    await jobs.release(name);
    await nothingLeft(name);
  });

  test('one whose pod has no place', async () => {
    const settings = smallSettings(namespace.name, { nodeSelector: { 'muster/none': 'yes' } });
    const { jobs } = scriptedJobs(settings, {});
    const spec = jobSpec();
    await jobs.start(spec, signal);
    await jobs.follow(spec.name, async ({ trouble }) => trouble !== null, signal);
    expect((await jobs.end(spec.name, 60_000)).unverified).toBeNull();
    await jobs.release(spec.name);
    await nothingLeft(spec.name);
  });

  test('one that was started this moment', async () => {
    const { jobs } = scriptedJobs(smallSettings(namespace.name), { ansible: DEAF, 'git-clone': DEAF });
    const spec = jobSpec();
    await jobs.start(spec, signal);
    expect((await jobs.end(spec.name, 60_000)).unverified).toBeNull();
    await jobs.release(spec.name);
    await nothingLeft(spec.name);
  });

  test('in too little time says that it does not know', async () => {
    const { jobs, name } = await running({ ansible: DEAF });
    expect((await jobs.end(name, 3_000)).unverified).toMatch(/has not ended its containers/);
    expect((await jobs.end(name, 60_000)).unverified).toBeNull();
    await jobs.release(name);
    await nothingLeft(name);
  });

  test('release takes its own finalizer alone', async () => {
    const { jobs } = scriptedJobs(smallSettings(namespace.name), { ansible: 'true' });
    const spec = jobSpec();
    const { name } = spec;
    await jobs.start(spec, signal);
    await jobs.follow(name, async ({ phase }) => phase === 'complete', signal);
    const patch = { metadata: { finalizers: ['example.com/other', 'muster/result'] } };
    await namespace.kubectl(['patch', 'job', name, '--type', 'merge', '-p', JSON.stringify(patch)]);
    await jobs.release(name);
    const job = JSON.parse(await namespace.kubectl(['get', 'job', name, '-o', 'json']));
    expect(job.metadata.finalizers).toEqual(['example.com/other']);
    await namespace.kubectl(['patch', 'job', name, '--type', 'merge', '-p', '{"metadata":{"finalizers":null}}']);
    await jobs.end(name, 60_000);
  });
});

test('a Job with a time to live is kept until it was released, then goes with its Secret by itself', async () => {
  const { jobs } = scriptedJobs(smallSettings(namespace.name), { ansible: 'exit 3' });
  const spec = jobSpec({ ttlSeconds: 1 });
  await jobs.start(spec, signal);
  await jobs.follow(spec.name, async ({ phase }) => phase === 'failed', signal);
  await eventually('Kubernetes wants to remove it', async () => {
    const job = JSON.parse(await namespace.kubectl(['get', 'job', spec.name, '-o', 'json']));
    return job.metadata.deletionTimestamp !== undefined;
  });
  const view = await jobs.view(spec.name);
  expect(view.phase).toBe('failed');
  expect(view.containers.find(({ name }) => name === 'ansible')?.exitCode).toBe(3);
  await jobs.release(spec.name);
  await nothingLeft(spec.name);
});
