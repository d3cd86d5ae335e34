/** Webhooks of deployments and clusters. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { beginPhase, finishPhase } from '../../control/deployments/run-phase.ts';
import { createCredentialSweep } from '../../control/deployments/tell-others.ts';
import { noteProbe } from '../../store/deployments/cluster-probes.ts';
import { noticeReach } from '../../store/deployments/notices.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';
import { documentOf, makeClusters } from './short-fixtures.ts';

let api: TokenApi;
const now = new Date('2026-11-21T10:00:00Z');
const later = (seconds: number) => new Date(now.getTime() + seconds * 1_000);
const EVENTS = ['deployment.ended', 'cluster.unreachable', 'cluster.back', 'cluster.credential_ends'] as const;

beforeAll(async () => {
  api = await createTokenApi();
  const times = { created_at: now, updated_at: now, actor: null };
  const hook = { url: 'https://hooks.test/***', enabled: true, allow_private_redirects: false };
  await api.database.db
    .insertInto('webhooks')
    .values({ name: 'all', ...hook, ...times, events: [...EVENTS] })
    .execute();
  await makeClusters((...request) => api.as(api.tokens.admin, ...request), 'heard', { north: ['edge'] });
});
beforeEach(() => api.database.db.deleteFrom('notifications').execute());
afterAll(() => api.close());

const told = async () =>
  await api.database.db.selectFrom('notifications').select(['event', 'data']).orderBy('created_at').execute();
const operator = (method: string, path: string, body?: unknown) => api.as(api.tokens.operator, method, path, body);

test('the end of each phase of a deployment is told with its counts and what has failed', async () => {
  const { db } = api.database;
  const engine = { db, clock: () => now };
  const { instance } = (await operator('POST', '/api/v1/deployments', documentOf('heard', 'heard'))).body;
  expect(await told()).toEqual([]);
  await beginPhase(engine, instance);
  await db
    .updateTable('context_resources')
    .set({ status: 'Applied', attempted: true })
    .where('context', '=', instance)
    .execute();
  await db
    .updateTable('context_resources')
    .set({ status: 'Failed', reason: 'Forbidden', message: 'no' })
    .where('context', '=', instance)
    .where('key', '=', 'cfg+ConfigMap')
    .execute();
  await finishPhase(engine, instance, 'apply');
  await finishPhase(engine, instance, 'apply');
  const failed = [
    { app: 'agent', cluster: 'heard+north', resource: 'cfg+ConfigMap', reason: 'Forbidden', message: 'no' },
  ];
  const data = { name: 'heard', instance, state: 'InstantiateFailed', counts: { Applied: 1, Failed: 1 }, failed };
  expect(await told()).toEqual([{ event: 'deployment.ended', data }]);
});

test('a cluster that goes away and comes back is told of once each', async () => {
  const { db } = api.database;
  const cluster = { provider: 'heard', cluster: 'north', revision: 1 };
  const probed = async (note: Parameters<typeof noteProbe>[2], at: Date) => {
    await noteProbe(db, cluster, note, { now: at, next: at });
    await noticeReach(db, cluster, 'seen' in note, new Date(at.getTime() - 60_000));
  };
  const away = { failed: { reason: 'Unreachable', message: 'no route' } };
  const seen = { seen: { version: 'v1' } };
  await probed(away, now);
  await probed(seen, now);
  await probed(away, later(59));
  expect(await told()).toEqual([]);
  await probed(away, later(60));
  await probed(away, later(80));
  await probed(seen, later(100));
  await probed(seen, later(120));
  expect((await told()).map(({ event, data }) => [event, (data as { cluster: string }).cluster])).toEqual([
    ['cluster.unreachable', 'heard+north'],
    ['cluster.back', 'heard+north'],
  ]);
});

test('a credential that ends within 14 days is told of once', async () => {
  const { db } = api.database;
  const sweep = createCredentialSweep({ db, clock: () => now });
  await sweep();
  expect(await told()).toEqual([]);
  const ends = later(13 * 86_400);
  await db.updateTable('member_clusters').set({ credential_ends: ends }).where('provider', '=', 'heard').execute();
  await sweep();
  await sweep();
  expect(await told()).toEqual([
    { event: 'cluster.credential_ends', data: { cluster: 'heard+north', credential_ends: expect.any(String) } },
  ]);
  await db.updateTable('member_clusters').set({ credential_revision: 2 }).where('provider', '=', 'heard').execute();
  await sweep();
  expect(await told()).toHaveLength(2);
});
