/** Pods into which a cluster has put a proxy that nobody ends. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { watchJob } from '../../../activities/sessions/cluster/watch-job.ts';
import { finishJob } from '../../../control/sessions/cluster/record-job.ts';
import { findSessionJob } from '../../../store/sessions/session-jobs.ts';
import { fakeCluster } from '../../support/kubernetes/fake-cluster.ts';
import { ansible, recordedJob } from '../../support/kubernetes/recorded-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { watchDependencies } from '../../support/postgres/watch-dependencies.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database?.close());

const failed = { succeeded: 'false', reason: 'layer_failed', message: 'container ansible ended with exit status 4' };
test.each([
  ['restricted', 0, { succeeded: 'true', reason: null, message: 'complete' }],
  ['restricted', 4, failed],
  ['compatible', 0, { succeeded: 'true', reason: null, message: 'complete' }],
  ['compatible', 4, failed],
] as const)('%s: a Job whose own containers ended, with %i, ends as they did', async (profile, status, expected) => {
  const { db } = database;
  const cluster = fakeCluster();
  const { sessionId, name } = await recordedJob(db, cluster);
  await db.updateTable('session_jobs').set({ profile }).where('name', '=', name).execute();
  const clock = { now: Date.now() };
  const deps = { ...watchDependencies(db, cluster), clock: () => new Date(clock.now) };
  await finishJob(db, sessionId, status);
  const own = ['git-clone', 'inventory'].map((container) => ({ ...ansible(0), name: container }));
  const proxy = { ...ansible(null), name: 'istio-proxy' };
  cluster.put(name, { phase: 'running', containers: [...own, ansible(null), proxy] });
  const seen = Promise.withResolvers<void>();
  const { follow } = cluster;
  cluster.follow = (job, take, signal) =>
    follow(
      job,
      async (view) => {
        const isOver = await take(view);
        if (view.containers.every(({ name: container, exitCode }) => container === proxy.name || exitCode !== null)) {
          seen.resolve();
        }
        return isOver;
      },
      signal,
    );
  const watched = new MockActivityEnvironment().run(() => watchJob(deps, sessionId, AbortSignal.timeout(120_000)));
  watched.catch(() => undefined);
  cluster.put(name, { containers: [...own, ansible(status), proxy] });
  await seen.promise;
  expect(cluster.done).toEqual([]);
  clock.now += 15_000;
  cluster.put(name, { message: 'a change' });
  expect(await watched).toEqual(expected);
  expect(cluster.done).toEqual([`end ${name}`, `release ${name}`]);
  expect((await findSessionJob(db, sessionId))?.exit_codes).toMatchObject({ ansible: status, 'istio-proxy': null });
});
