/** The log of a runner that hands in nothing by itself, when something comes between it and the database. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { followForeignLog } from '../../../activities/sessions/cluster/foreign-log.ts';
import { type EndDependencies, endJob } from '../../../activities/sessions/cluster/watch-job.ts';
import type { ClusterJobs } from '../../../domain/sessions/cluster/cluster-job.ts';
import type { Db } from '../../../store/connection/database.ts';
import { findSessionJob } from '../../../store/sessions/session-jobs.ts';
import { type FakeCluster, fakeCluster } from '../../support/kubernetes/fake-cluster.ts';
import { recordedJob } from '../../support/kubernetes/recorded-jobs.ts';
import { SITE } from '../../support/kubernetes/site-stand-ins.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { sessionNow } from '../../support/temporal/engine-sessions.ts';

const LINES = ['one\n', 'two\n', 'three\n', 'four\n'];

let database: TestDatabase;
let sessionId: string;
let cluster: FakeCluster;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database?.close());
beforeEach(async () => {
  cluster = fakeCluster();
  ({ sessionId } = await recordedJob(database.db, cluster));
});

/** Hands over line after line from a byte on; `before` is waited for before each. */
const reader =
  (before: (line: string) => Promise<void> = async () => undefined): ClusterJobs['followLog'] =>
  async (_name, _container, { from }, take) => {
    let start = 0;
    for (const text of LINES) {
      const end = start + text.length;
      if (start >= from) {
        await before(text);
        await take({ start, end, text });
      }
      start = end;
    }
  };

function deps(followLog: ClusterJobs['followLog'], db: Db = database.db): EndDependencies {
  return {
    db,
    clock: () => new Date(),
    cluster: { ...cluster, followLog },
    site: SITE,
    trust: {
      hasOwnKey: false,
      identity: async () => ({ privateKey: 'k', publicKey: 'line', certificate: 'c', lookAgainMs: 1, problem: null }),
    },
    imageKeys: { read: async () => null },
    publicKeyOf: async () => 'line',
    logMaxBytes: 2 ** 20,
  };
}

async function follow(followLog: ClusterJobs['followLog'], db: Db = database.db, yields = false): Promise<void> {
  const job = await findSessionJob(database.db, sessionId);
  if (job === null) throw new Error('no Job');
  const session = await sessionNow(database.db, sessionId);
  await followForeignLog(deps(followLog, db), job, session, new AbortController().signal, yields).done;
}

const stored = async () => {
  const rows = database.db.selectFrom('output').select('text').where('run_id', '=', `${sessionId}-1-0`);
  return (await rows.orderBy('start').execute()).map(({ text }) => text).join('');
};
const warnings = () =>
  database.db
    .selectFrom('events')
    .select('data')
    .where('stream_id', '=', sessionId)
    .where('type', '=', 'warning')
    .execute();

test('is whole though another worker, which the engine has given up, still follows it', async () => {
  const hasRead = Promise.withResolvers<void>();
  const isOvertaken = Promise.withResolvers<void>();
  const current = follow(
    reader(async (line) => {
      if (line !== 'two\n') return;
      hasRead.resolve();
      await isOvertaken.promise;
    }),
  );
  await hasRead.promise;
  const gaveUp = new Error('it was told that nobody waits for it');
  await follow(
    reader(async (line) => {
      if (line === 'four\n') throw gaveUp;
    }),
  );
  await database.db.deleteFrom('events').where('stream_id', '=', sessionId).execute();
  isOvertaken.resolve();
  await current;
  expect(await stored()).toBe(LINES.join(''));
  expect(await warnings()).toEqual([]);
});

test('is whole though the database was away for a moment', async () => {
  let failures = 2;
  const flaky = new Proxy(database.db, {
    get(target, key, receiver) {
      if (key === 'transaction' && failures > 0) {
        failures -= 1;
        throw Object.assign(new Error('terminating connection'), { code: '57P01' });
      }
      const value = Reflect.get(target, key, receiver);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  await follow(reader(), flaky);
  expect(failures).toBe(0);
  expect(await stored()).toBe(LINES.join(''));
  expect(await warnings()).toEqual([]);
});

test('that cannot be read is told of, once', async () => {
  await follow(async () => {
    throw new Error('its Secret is gone');
  });
  expect(await warnings()).toEqual([{ data: { message: 'the log of the Job is not complete: its Secret is gone' } }]);
});

test('is left to another worker that follows it, where it is read for its end alone', async () => {
  const hasRead = Promise.withResolvers<void>();
  const isOvertaken = Promise.withResolvers<void>();
  let readings = 0;
  const yielding = follow(
    reader(async (line) => {
      if (line === 'one\n') readings += 1;
      if (line !== 'two\n') return;
      hasRead.resolve();
      await isOvertaken.promise;
    }),
    database.db,
    true,
  );
  await hasRead.promise;
  await follow(reader());
  isOvertaken.resolve();
  await yielding;
  expect(readings).toBe(1);
  expect(await stored()).toBe(LINES.join(''));
  expect(await warnings()).toEqual([]);
});

test('is stored before its Job is ended, and its last words after that', async () => {
  const { db } = database;
  await db.updateTable('session_jobs').set({ profile: 'compatible' }).where('session_id', '=', sessionId).execute();
  const ended = Promise.withResolvers<void>();
  const given = deps(async (_name, _container, { onCurrent }, take) => {
    await take({ start: 0, end: 4, text: 'one\n' });
    onCurrent?.();
    await ended.promise;
    await take({ start: 4, end: 8, text: 'two\n' });
  });
  const { end } = cluster;
  let before = '';
  given.cluster.end = async (name, patience) => {
    before = await stored();
    ended.resolve();
    return await end(name, patience);
  };
  expect(await endJob(given, sessionId, new AbortController().signal)).toEqual({ unverified: null });
  expect(before).toBe('one\n');
  expect(await stored()).toBe('one\ntwo\n');
  expect(await warnings()).toEqual([]);
});

test('that nobody answers for keeps its Job from ending for a moment only', async () => {
  const { db } = database;
  await db.updateTable('session_jobs').set({ profile: 'compatible' }).where('session_id', '=', sessionId).execute();
  const given = deps(async (_name, _container, _reading, _take, signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  });
  const { signal } = new AbortController();
  expect(await endJob(given, sessionId, signal, { before: 50, rest: 50 })).toEqual({ unverified: null });
  expect(await warnings()).toEqual([
    { data: { message: "the log of the Job is not complete: its end was not there 0.05 s after the Job's" } },
  ]);
});
