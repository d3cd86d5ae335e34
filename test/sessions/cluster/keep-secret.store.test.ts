import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type KeepDependencies, keepSecret } from '../../../activities/sessions/cluster/keep-secret.ts';
import type { SessionIdentity } from '../../../control/trust/trust.ts';
import { musterError } from '../../../domain/errors.ts';
import { eventually } from '../../support/eventually.ts';
import { type FakeCluster, fakeCluster } from '../../support/kubernetes/fake-cluster.ts';
import { recordedJob } from '../../support/kubernetes/recorded-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';

let database: TestDatabase;
let cluster: FakeCluster;
/** What sessions show to hosts now; null: the authority is away. */
let certificate: string | null;
/** When there may be another one, ms. */
let lookAgainMs: number;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database?.close());
beforeEach(() => {
  cluster = fakeCluster();
  certificate = 'first';
  lookAgainMs = 60_000;
});

async function identity(): Promise<SessionIdentity> {
  if (certificate === null) throw musterError('trust_unavailable', 'Vault is sealed');
  return { privateKey: 'key', publicKey: 'line', certificate, lookAgainMs, problem: null };
}

const deps = (): KeepDependencies => ({
  db: database.db,
  clock: () => new Date(),
  cluster,
  site: { ssh: async () => ({ privateKey: 'plain', knownHosts: '' }) } as KeepDependencies['site'],
  trust: { hasOwnKey: false, identity },
  imageKeys: { read: async () => null },
  publicKeyOf: async () => 'line',
});

/** A Job whose Secret has the first certificate, and how to follow it as one worker does. */
async function makeJob() {
  const { name, sessionId } = await recordedJob(database.db, cluster);
  cluster.secrets.set(name, { private: 'key', certificate: 'first\n' });
  const keep = (lookMs: number) => {
    const stop = new AbortController();
    const kept = keepSecret(deps(), { name, session_id: sessionId }, stop.signal, lookMs);
    return async () => {
      stop.abort();
      await kept;
    };
  };
  const shown = () => cluster.secrets.get(name)?.certificate;
  return { name, keep, shown };
}

/** Counts what is written into Secrets from now on. */
function counted(): { writes: number } {
  const count = { writes: 0 };
  const { updateSecret } = cluster;
  cluster.updateSecret = async (name, change) => {
    count.writes += 1;
    return await updateSecret(name, change);
  };
  return count;
}

describe('the Secret of a Job that goes on', () => {
  test('gets a certificate that is renewed meanwhile, once', async () => {
    const { keep, shown } = await makeJob();
    const count = counted();
    const stop = keep(5);
    await eventually('it was looked at', () => count.writes === 1);
    certificate = 'second';
    await eventually('the Secret has it', () => shown() === 'second\n');
    await stop();
    expect(count.writes).toBe(2);
  });

  test('is looked at as soon as its certificate is due', async () => {
    lookAgainMs = 5;
    const { keep, shown } = await makeJob();
    const count = counted();
    const stop = keep(60_000);
    await eventually('it was looked at', () => count.writes === 1);
    certificate = 'second';
    await eventually('the Secret has it', () => shown() === 'second\n');
    await stop();
  });

  test('gets one that was renewed while nobody followed the Job', async () => {
    const { keep, shown } = await makeJob();
    await keep(60_000)();
    certificate = 'second';
    const stop = keep(60_000);
    await eventually('the Secret has it', () => shown() === 'second\n');
    await stop();
  });

  test('gets one that could not be written while the cluster was away', async () => {
    const { keep, shown } = await makeJob();
    const { updateSecret } = cluster;
    let refused = 0;
    cluster.updateSecret = async () => {
      refused += 1;
      throw musterError('cluster_unavailable', 'no answer within 8 s');
    };
    certificate = 'second';
    const stop = keep(5);
    await eventually('it was tried', () => refused > 1);
    cluster.updateSecret = updateSecret;
    await eventually('the Secret has it', () => shown() === 'second\n');
    await stop();
  });

  test('keeps key and certificate while the authority is away', async () => {
    const { name, keep, shown } = await makeJob();
    certificate = null;
    const stop = keep(5);
    const warned = () => database.db.selectFrom('events').select('data').where('type', '=', 'warning').execute();
    await eventually('it is told', async () => (await warned()).length > 0);
    expect(cluster.secrets.get(name)).toEqual({ private: 'key', certificate: 'first\n' });
    certificate = 'second';
    await eventually('the Secret has the next', () => shown() === 'second\n');
    await stop();
  });
});
