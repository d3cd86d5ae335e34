/** A session whose Job, or whose Secret, a quota of the cluster has no room for. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import {
  type ClusterActivityDependencies,
  createClusterActivities,
} from '../../../activities/sessions/cluster/cluster-activities.ts';
import { type StartDependencies, startJob } from '../../../activities/sessions/cluster/start-job.ts';
import { jobNameOf } from '../../../control/sessions/cluster/job-name.ts';
import type { Options } from '../../../domain/configurations/schema.ts';
import { findSessionJob, saveSessionJob } from '../../../store/sessions/session-jobs.ts';
import { findSessionById } from '../../../store/sessions/sessions.ts';
import { eventually } from '../../support/eventually.ts';
import { type PlainCluster, quota, startPlainCluster } from '../../support/kubernetes/plain-cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { watchDependencies } from '../../support/postgres/watch-dependencies.ts';
import { makeSession } from '../../support/temporal/engine-sessions.ts';

/** Between two tries, ms. */
const AGAIN = 20;
const LONG = 3_600_000;

let database: TestDatabase;
let cluster: PlainCluster;
let sessionId: string;
let name: string;
/** How much later it is than it was, ms. */
let passed: number;
let patience: { waiting: number; impossible: number };

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database?.close());
beforeEach(async () => {
  cluster = await startPlainCluster();
  passed = 0;
  patience = { waiting: LONG, impossible: LONG };
  ({ id: sessionId } = await makeSession(database.db));
  name = jobNameOf(sessionId, null);
  const inventory = { files: {} };
  await saveSessionJob(database.db, { sessionId, name, profile: 'restricted', inventory, leases: false }, new Date());
});
afterEach(() => cluster.close());

const deps = (): StartDependencies => ({
  ...watchDependencies(database.db, cluster.jobs, patience),
  clock: () => new Date(Date.now() + passed),
  readOptions: async () =>
    ({ session_ttl: '', session_timeout: 0, debug_wait_time: 60, logging_level: 'INFO' }) as Options,
});
const start = (signal = new AbortController().signal) => startJob(deps(), sessionId, signal, AGAIN);
const told = async () => {
  const { message, reason } = (await findSessionById(database.db, sessionId)) ?? {};
  return { message, reason };
};
const isTold = (text: string) => eventually(text, async () => (await told()).message === text);
const runs = () => cluster.get('jobs', name)?.spec?.suspend === false;
const posts = (kind: string) => cluster.asked.filter((one) => one === `POST ${kind}`).length;

describe.each([
  ['Jobs', 'jobs', 'jobs.batch'],
  ['Secrets', 'secrets', 'secrets'],
] as const)('a quota of %s that is used up', (_, kind, counted) => {
  test('is told while there is no room; then the Job runs', async () => {
    const words = quota(counted, 5, 5);
    cluster.full[kind] = words;
    const started = start();
    await isTold(words);
    expect((await told()).reason).toBe('unschedulable');
    await eventually('since when it waits is stored', async () => {
      return (await findSessionJob(database.db, sessionId))?.waiting_since instanceof Date;
    });
    const before = posts(kind);
    await eventually('it is tried again', async () => posts(kind) > before + 1);
    expect(runs()).toBe(false);
    delete cluster.full[kind];
    expect(await started).toBeNull();
    expect(runs()).toBe(true);
    expect(cluster.get('secrets', name)?.data).toMatchObject({ plain_key: expect.any(String) });
    expect(await told()).toEqual({ message: 'starting the Job', reason: null });
  });

  test('ends the session when there is no room for too long, and leaves nothing', async () => {
    cluster.full[kind] = quota(counted, 5, 5);
    const started = start();
    started.catch(() => undefined);
    await isTold(quota(counted, 5, 5));
    patience.waiting = 0;
    await expect(started).rejects.toMatchObject({
      type: 'unschedulable',
      nonRetryable: true,
      message: `its pod waited too long: ${quota(counted, 5, 5)}`,
    });
    expect(await findSessionJob(database.db, sessionId)).toMatchObject({
      end_code: 'unschedulable',
      end_message: `its pod waited too long: ${quota(counted, 5, 5)}`,
      unverified: null,
    });
    await cluster.jobs.release(name, sessionId);
    expect([cluster.get('jobs', name), cluster.get('secrets', name)]).toEqual([undefined, undefined]);
  });

  test('that can never have room ends it sooner', async () => {
    patience = { waiting: LONG, impossible: 0 };
    cluster.full[kind] = quota(counted, 0, 0);
    await expect(start()).rejects.toMatchObject({ type: 'unschedulable', nonRetryable: true });
  });

  test('does not keep a Job from running of which all is there already', async () => {
    await start();
    const job = cluster.get('jobs', name);
    cluster.put('jobs', { ...job, metadata: { ...job?.metadata, name }, spec: { suspend: true } });
    cluster.full[kind] = quota(counted, 5, 5);
    expect(await start()).toBeNull();
    expect(runs()).toBe(true);
  });
});

test('a wait that lasts goes on with the next try, and neither its limit nor what is told begins anew', async () => {
  cluster.full.jobs = quota('jobs.batch', 5, 5);
  const all = deps() as ClusterActivityDependencies;
  const activities = createClusterActivities({
    ...all,
    clock: () => {
      // 5 min go by at each look.
      passed += 300_000;
      return all.clock();
    },
  });
  const tried = () => new MockActivityEnvironment().run(() => activities.startJob({ sessionId }));
  const failure = await tried().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ApplicationFailure);
  expect(failure).toMatchObject({ type: 'unschedulable', message: quota('jobs.batch', 5, 5), nonRetryable: false });
  expect(await told()).toEqual({ message: quota('jobs.batch', 5, 5), reason: 'unschedulable' });
  const { waiting_since: since } = (await findSessionJob(database.db, sessionId)) ?? {};
  await tried().catch(() => undefined);
  expect((await findSessionJob(database.db, sessionId))?.waiting_since).toEqual(since);
  expect(await told()).toEqual({ message: quota('jobs.batch', 5, 5), reason: 'unschedulable' });
});

test('a wait ends with its session', async () => {
  cluster.full.jobs = quota('jobs.batch', 5, 5);
  const stop = new AbortController();
  const started = start(stop.signal);
  started.catch(() => undefined);
  await isTold(quota('jobs.batch', 5, 5));
  stop.abort();
  await expect(started).rejects.toMatchObject({ name: 'AbortError' });
});

test('a refusal for another reason is told as before, without a word of the Secret', async () => {
  cluster.full.secrets = 'a policy does not like a-word-of-the-secret, nor that it has exceeded quota: none';
  await expect(start()).rejects.toMatchObject({
    code: 'cluster_unavailable',
    detail: expect.stringMatching(/the cluster answered 403 Forbidden$/),
  });
});
