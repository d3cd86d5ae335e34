/** The log of a runner that hands in nothing by itself, when something comes between it and the database. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type ForeignLogDependencies, followForeignLog } from '../../activities/sessions/foreign-log.ts';
import type { Database, Kysely } from '../../control/database.ts';
import type { ClusterJobs } from '../../domain/sessions/cluster-job.ts';
import { findSessionJob } from '../../store/session-jobs.ts';
import { sessionNow } from '../support/engine-sessions.ts';
import { fakeCluster } from '../support/fake-cluster.ts';
import { recordedJob } from '../support/recorded-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const LINES = ['one\n', 'two\n', 'three\n', 'four\n'];

let database: TestDatabase;
let sessionId: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database?.close());
beforeEach(async () => {
  ({ sessionId } = await recordedJob(database.db, fakeCluster()));
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

async function follow(followLog: ClusterJobs['followLog'], db: Kysely<Database> = database.db): Promise<void> {
  const deps: ForeignLogDependencies = {
    db,
    cluster: { followLog },
    site: {
      ssh: async () => ({ privateKey: 'k', knownHosts: '' }),
      vaultPassword: async () => null,
    } as ForeignLogDependencies['site'],
    trust: {
      hasOwnKey: false,
      identity: async () => ({ privateKey: 'k', publicKey: 'line', certificate: 'c', lookAgainMs: 1, problem: null }),
    },
    imageKeys: { read: async () => null },
    publicKeyOf: async () => 'line',
    logMaxBytes: 2 ** 20,
  };
  const job = await findSessionJob(database.db, sessionId);
  if (job === null) throw new Error('no Job');
  const session = await sessionNow(database.db, sessionId);
  await followForeignLog(deps, job, session, new AbortController().signal).done;
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
