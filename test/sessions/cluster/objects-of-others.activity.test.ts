/** Objects under the name of a session's Job that are not the session's: whoever made them keeps them. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { JobSpec } from '../../../domain/sessions/cluster/cluster-job.ts';
import { clusterPaths } from '../../../drivers/kubernetes-runner/cluster-paths.ts';
import { FINALIZER, LABELS, RUNNER_NAME } from '../../../drivers/kubernetes-runner/objects.ts';
import { type PlainCluster, startPlainCluster } from '../../support/kubernetes/plain-cluster.ts';
import { jobSpec } from '../../support/kubernetes/scripted-jobs.ts';

const never = new AbortController().signal;
/** An end that is to be verified has all the time that it needs, ms. */
const PATIENCE_MS = 60_000;
let cluster: PlainCluster;
let spec: JobSpec;

beforeEach(async () => {
  cluster = await startPlainCluster();
  spec = jobSpec();
});
afterEach(() => cluster.close());

const labelsOf = (sessionId: string) => ({
  [LABELS.name]: RUNNER_NAME,
  [LABELS.managedBy]: 'muster',
  [LABELS.session]: sessionId,
});

/** Labels of what is somebody else's. */
const OTHERS: [string, () => Record<string, string>][] = [
  ['without labels', () => ({})],
  ['of another session', () => labelsOf(randomUUID())],
  ['of no session', () => ({ [LABELS.name]: RUNNER_NAME, [LABELS.managedBy]: 'muster' })],
  ['of another program', () => ({ ...labelsOf(spec.sessionId), [LABELS.managedBy]: 'helm' })],
];

const putSecret = (labels: Record<string, string>) =>
  cluster.put('secrets', { metadata: { name: spec.name, labels }, data: { key: 'b2xk' } });
const putJob = (labels: Record<string, string>, more: object = {}) =>
  cluster.put('jobs', { metadata: { name: spec.name, labels, finalizers: [FINALIZER] }, spec: {}, ...more });
const putPod = (name: string, labels: Record<string, string>, owner?: string) =>
  cluster.put('pods', {
    metadata: {
      name,
      labels: { ...labels, [LABELS.job]: spec.name },
      finalizers: [FINALIZER],
      ...(owner === undefined ? {} : { ownerReferences: [{ uid: owner, controller: true }] }),
    },
    spec: { nodeName: 'n' },
    status: { phase: 'Running' },
  });

const start = () => cluster.jobs.start(spec, never);

const refusal = (kind: string) => ({
  code: 'cluster_refused',
  detail:
    `there is a ${kind} ${spec.name} in namespace runs that is not this session's: it was left alone. ` +
    'Delete it, or start a new session, whose Job has another name',
});

describe('starting a Job', () => {
  test('makes it and its Secret, and lets it run, with three requests', async () => {
    expect(await start()).toBeNull();
    expect(cluster.asked).toEqual(['POST jobs', 'POST secrets', `PATCH jobs/${spec.name}`]);
    expect(cluster.get('jobs', spec.name)?.spec).toMatchObject({ suspend: false });
  });

  test.each(OTHERS)('does not write over a Secret %s', async (_, labels) => {
    const secret = putSecret(labels());
    await expect(start()).rejects.toMatchObject(refusal('Secret'));
    expect(cluster.get('secrets', spec.name)).toEqual(secret);
    expect(cluster.get('jobs', spec.name)?.spec).toMatchObject({ suspend: true });
  });

  test('writes over the Secret that a predecessor of the same session has left', async () => {
    putSecret(labelsOf(spec.sessionId));
    await start();
    const { data, metadata } = cluster.get('secrets', spec.name) ?? {};
    expect(Object.keys(data ?? {})).toEqual(Object.keys(spec.secret));
    expect(metadata?.ownerReferences).toMatchObject([{ uid: cluster.get('jobs', spec.name)?.metadata.uid }]);
  });

  test.each(OTHERS)('does not take a Job %s for its own', async (_, labels) => {
    const job = putJob(labels(), { spec: { suspend: true } });
    await expect(start()).rejects.toMatchObject(refusal('Job'));
    expect(cluster.get('jobs', spec.name)).toEqual(job);
    expect(cluster.get('secrets', spec.name)).toBeUndefined();
    putJob(labels());
    await expect(start()).rejects.toMatchObject(refusal('Job'));
  });

  test('lets the Job run that another try of the same session has made', async () => {
    putJob(labelsOf(spec.sessionId), { spec: { suspend: true } });
    await start();
    expect(cluster.get('jobs', spec.name)?.spec).toMatchObject({ suspend: false });
  });
});

describe('ending a Job', () => {
  test.each(OTHERS)('leaves a Job, a Secret and a pod alone %s', async (_, labels) => {
    const before = [putJob(labels()), putSecret(labels()), putPod('other', labels())];
    const ending = await cluster.jobs.end(spec.name, PATIENCE_MS, spec.sessionId);
    expect(ending).toMatchObject({ view: { phase: 'gone', containers: [] }, unverified: null });
    await cluster.jobs.release(spec.name, spec.sessionId);
    const kinds = ['jobs', 'secrets', 'pods'] as const;
    expect(kinds.map((kind) => cluster.get(kind, kind === 'pods' ? 'other' : spec.name))).toEqual(before);
  });

  test('ends and releases pods of its own beside those of others', async () => {
    const other = putPod('other', {});
    putPod('own', labelsOf(spec.sessionId));
    const job = putJob(labelsOf(randomUUID()));
    expect((await cluster.jobs.end(spec.name, PATIENCE_MS, spec.sessionId)).unverified).toBeNull();
    expect(cluster.get('pods', 'own')?.status).toMatchObject({ phase: 'Failed' });
    await cluster.jobs.release(spec.name, spec.sessionId);
    expect(cluster.get('pods', 'own')).toBeUndefined();
    expect(cluster.get('pods', 'other')).toEqual(other);
    expect(cluster.get('jobs', spec.name)).toEqual(job);
  });

  test.each([
    ['the session', () => spec.sessionId],
    ['none', () => undefined],
  ])('takes Job, Secret and pods along that are of %s that is named', async (_, session) => {
    await start();
    putPod('own', labelsOf(spec.sessionId), cluster.get('jobs', spec.name)?.metadata.uid);
    expect((await cluster.jobs.end(spec.name, PATIENCE_MS, session())).unverified).toBeNull();
    await cluster.jobs.release(spec.name, session());
    const left = [cluster.get('jobs', spec.name), cluster.get('secrets', spec.name), cluster.get('pods', 'own')];
    expect(left).toEqual([undefined, undefined, undefined]);
  });

  test('deletes a Secret that somebody has left who deleted its Job alone', async () => {
    putSecret(labelsOf(spec.sessionId));
    await cluster.jobs.end(spec.name, PATIENCE_MS, spec.sessionId);
    expect(cluster.get('secrets', spec.name)).toBeUndefined();
  });
});

describe('letting a Job go', () => {
  test('takes a request for each object and the list of its pods', async () => {
    await start();
    putPod('own', labelsOf(spec.sessionId), cluster.get('jobs', spec.name)?.metadata.uid);
    cluster.asked.length = 0;
    await cluster.jobs.release(spec.name, spec.sessionId);
    expect(cluster.asked).toEqual(['GET pods', 'PATCH pods/own', `PATCH jobs/${spec.name}`]);
    expect(cluster.get('jobs', spec.name)?.metadata).toMatchObject({
      finalizers: [],
      labels: { [LABELS.released]: 'true' },
    });
  });

  test('leaves a Job alone that is not the one that its pod came from', async () => {
    putPod('own', labelsOf(spec.sessionId), randomUUID());
    const job = putJob(labelsOf(randomUUID()));
    await cluster.jobs.release(spec.name, spec.sessionId);
    expect(cluster.get('jobs', spec.name)).toEqual(job);
    putPod('own', labelsOf(spec.sessionId), randomUUID());
    putJob(labelsOf(spec.sessionId));
    await cluster.jobs.release(spec.name, spec.sessionId);
    expect(cluster.get('jobs', spec.name)?.metadata.finalizers).toEqual([]);
  });
});

test('a name is one part of a path, and names nothing else', async () => {
  const paths = clusterPaths('runs');
  const odd = 'a/../b?x#y';
  const part = 'a%2F..%2Fb%3Fx%23y';
  expect(paths.job(odd)).toBe(`${paths.jobs}/${part}`);
  expect(paths.secret(odd)).toBe(`${paths.secrets}/${part}`);
  expect(paths.pod(odd)).toBe(`${paths.pods}/${part}`);
  expect(paths.log(odd)).toBe(`${paths.pods}/${part}/log`);
  expect(paths.job(spec.name)).toBe(`${paths.jobs}/${spec.name}`);
  const pod = putPod('own', labelsOf(spec.sessionId));
  await cluster.jobs.end(`${spec.name},!x`, PATIENCE_MS);
  expect(cluster.get('pods', 'own')).toEqual(pod);
});
