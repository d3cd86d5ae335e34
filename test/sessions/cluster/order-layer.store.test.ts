import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import {
  awaitPlaybooks,
  type OrderDependencies,
  orderLayer,
} from '../../../activities/sessions/cluster/order-layer.ts';
import { preparedJob } from '../../../activities/sessions/cluster/prepared-job.ts';
import { closeRun } from '../../../control/runs/follow-run.ts';
import { takeStep } from '../../../control/sessions/cluster/job-orders.ts';
import { finishJob, settleJob } from '../../../control/sessions/cluster/record-job.ts';
import { musterError } from '../../../domain/errors.ts';
import type { JobView } from '../../../domain/sessions/cluster/cluster-job.ts';
import { exitCodesOf, type JobOutcome } from '../../../domain/sessions/cluster/job-outcome.ts';
import { findRun } from '../../../store/runs/runs.ts';
import { findOrder, giveOrder } from '../../../store/sessions/job-orders.ts';
import { findJobInventory, saveExitCodes, saveSessionJob } from '../../../store/sessions/session-jobs.ts';
import { findSessionById } from '../../../store/sessions/sessions.ts';
import { eventually } from '../../support/eventually.ts';
import { type FakeCluster, fakeCluster } from '../../support/kubernetes/fake-cluster.ts';
import { SITE, TRUST } from '../../support/kubernetes/site-stand-ins.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { makeSession, sessionNow } from '../../support/temporal/engine-sessions.ts';
import { hostResult } from '../session-fixtures.ts';

/** Made by ssh-keygen, good until 22:00 on 2026-11-21 (UTC). */
const CERTIFICATE =
  'ssh-ed25519-cert-v01@openssh.com AAAAIHNzaC1lZDI1NTE5LWNlcnQtdjAxQG9wZW5zc2guY29tAAAAIBOFr38pHhrrhi0rRvN0mYsHl+VAzvACTJjbvFDylXIeAAAAINf645mA9VOE3eK05vDMrh0QakQpiGyLadM51d9ao2vyAAAAAAAAAAAAAAABAAAABm11c3RlcgAAABEAAAAEcm9vdAAAAAVhZG1pbgAAAABrAWugAAAAAGsCFGAAAAAAAAAAggAAABVwZXJtaXQtWDExLWZvcndhcmRpbmcAAAAAAAAAF3Blcm1pdC1hZ2VudC1mb3J3YXJkaW5nAAAAAAAAABZwZXJtaXQtcG9ydC1mb3J3YXJkaW5nAAAAAAAAAApwZXJtaXQtcHR5AAAAAAAAAA5wZXJtaXQtdXNlci1yYwAAAAAAAAAAAAAAMwAAAAtzc2gtZWQyNTUxOQAAACBWJGtw4wSr9MfleliqmlUQOYY1ID9l5Tq5C5IiHx2rWgAAAFMAAAALc3NoLWVkMjU1MTkAAABA162gbN0TYBCREvGK8IBRQHhIL/E3gD38Y02LB7Luno2bY37brGspL9kTy6h78hOHLixtFz5uNqqtBKC/ZLsBAA==';
const UNTIL = Date.parse('2026-11-21T22:00:00Z') / 1000;

let database: TestDatabase;
let cluster: FakeCluster;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database?.close());
beforeEach(() => {
  cluster = fakeCluster();
});

const deps = (): OrderDependencies => ({
  db: database.db,
  clock: () => new Date(),
  cluster,
  site: SITE,
  trust: { hasOwnKey: true, identity: async () => ({ ...(await TRUST.identity()), certificate: CERTIFICATE }) },
  publicKeyOf: async () => 'line',
  logMaxBytes: 1_000_000,
});

async function makeJob(): Promise<{ sessionId: string; name: string }> {
  const { db } = database;
  const { id: sessionId } = await makeSession(db);
  await db.updateTable('sessions').set({ stage: 'admitted', status: 'running' }).where('id', '=', sessionId).execute();
  const name = `cfs-${randomUUID()}`;
  await saveSessionJob(
    db,
    { sessionId, name, profile: 'restricted', inventory: { files: {} }, leases: false },
    new Date(),
  );
  return { sessionId, name };
}

const sessionOf = (sessionId: string) => sessionNow(database.db, sessionId);

const order = async (sessionId: string, attempt = 1) =>
  orderLayer(
    deps(),
    await sessionOf(sessionId),
    { sessionId, layer: 0, attempt, hosts: 'all' },
    AbortSignal.timeout(120_000),
  );

const view = (name: string): JobView => ({
  name,
  sessionId: '',
  phase: 'failed',
  reason: '',
  message: '',
  containers: [],
  trouble: null,
});

/** The run of an order, once it is given. */
async function ordered(sessionId: string, attempt = 1): Promise<string> {
  return await eventually('it is ordered', async () => {
    const current = (await findOrder(database.db, sessionId))?.order;
    return current?.action === 'run' && current.run.attempt === attempt ? current.run.id : null;
  });
}

async function end(runId: string, code: number): Promise<void> {
  const run = await findRun(database.db, runId);
  if (run === null) throw new Error('no run');
  const exit = { code, signal: null, ended_at: new Date().toISOString() };
  await closeRun(database.db, run, { exit, results: null, warnings: [] }, new Date());
}

describe('a layer as an order', () => {
  test('is given when the pod is there, and its end is answered', async () => {
    const { sessionId } = await makeJob();
    const running = order(sessionId);
    expect(await findOrder(database.db, sessionId)).toBeNull();
    await takeStep(deps(), sessionId, 'ansible', { state: 'started' });
    await end(await ordered(sessionId), 0);
    expect(await running).toMatchObject({ index: 0, exitCode: 0 });
  });

  test('comes after the certificate of now was put into the Secret, and says which one the pod has to wait for', async () => {
    const { sessionId, name } = await makeJob();
    await takeStep(deps(), sessionId, 'ansible', { state: 'started' });
    const running = order(sessionId);
    const runId = await ordered(sessionId);
    expect(cluster.secrets.get(name)).toMatchObject({
      certificate: `${CERTIFICATE}\n`,
      certificate_until: `${UNTIL}\n`,
    });
    expect(await findOrder(database.db, sessionId)).toMatchObject({ order: { run: { certificate_until: UNTIL } } });
    await end(runId, 0);
    await running;
  });

  const unavailable = async () => Promise.reject(musterError('trust_unavailable', 'Vault is sealed'));
  const away = async () => Promise.reject(musterError('cluster_unavailable', 'no answer within 8 s'));
  test.each<[string, (given: OrderDependencies) => OrderDependencies]>([
    ['the authority is away', (given) => ({ ...given, trust: { ...given.trust, identity: unavailable } })],
    ['the cluster is away', (given) => ({ ...given, cluster: { updateSecret: away } })],
    ['the Secret is gone', (given) => ({ ...given, cluster: { updateSecret: async () => null } })],
  ])('waits for no certificate where %s', async (_what, changed) => {
    const { sessionId } = await makeJob();
    await takeStep(deps(), sessionId, 'ansible', { state: 'started' });
    const input = { sessionId, layer: 0, attempt: 1, hosts: 'all' } as const;
    const running = orderLayer(changed(deps()), await sessionOf(sessionId), input, AbortSignal.timeout(120_000));
    const runId = await ordered(sessionId);
    const current = (await findOrder(database.db, sessionId))?.order;
    expect(current?.action === 'run' ? current.run : {}).not.toHaveProperty('certificate_until');
    await end(runId, 0);
    await running;
  });

  describe('has the password of vaults of now in the Secret', () => {
    const attempted = async (sessionId: string, attempt: number, password: string | null) => {
      const site = { ...SITE, vaultPassword: async () => password };
      const input = { sessionId, layer: 0, attempt, hosts: 'all' } as const;
      return orderLayer({ ...deps(), site }, await sessionOf(sessionId), input, AbortSignal.timeout(120_000));
    };
    /** Orders an attempt that fails; answers the number that its pod has to wait for, and where it has the password. */
    async function failed(sessionId: string, attempt: number, password: string | null) {
      const running = attempted(sessionId, attempt, password);
      const runId = await ordered(sessionId, attempt);
      const current = (await findOrder(database.db, sessionId))?.order;
      await end(runId, 2);
      await running;
      if (current?.action !== 'run') throw new Error('no order');
      return [current.run.certificate_until, current.run.environment.ANSIBLE_VAULT_PASSWORD_FILE];
    }
    const file = '/muster/session/vault_password';

    test('and its pod waits until it has one that was set or corrected, which is masked as the one before is', async () => {
      const { sessionId, name } = await makeJob();
      const certificate = { private: 'key', public: 'line\n', certificate: `${CERTIFICATE}\n` };
      cluster.secrets.set(name, { ...certificate, certificate_until: `${UNTIL}\n`, 'masks.json': '["a-token","key"]' });
      await takeStep(deps(), sessionId, 'ansible', { state: 'started' });
      expect(await failed(sessionId, 1, null)).toEqual([UNTIL, undefined]);
      expect(await failed(sessionId, 2, 'wrong')).toEqual([UNTIL + 1, file]);
      expect(await failed(sessionId, 3, 'wrong')).toEqual([UNTIL + 1, file]);
      expect(await failed(sessionId, 4, 'right\n')).toEqual([UNTIL + 2, file]);
      expect(cluster.secrets.get(name)).toEqual({
        ...certificate,
        certificate_until: `${UNTIL + 2}\n`,
        vault_password: 'right\n',
        'masks.json': '["a-token","key","wrong","right"]',
      });
      expect(await failed(sessionId, 5, null)).toEqual([UNTIL + 2, undefined]);
    });

    test('before a retry in place, which fails until the cluster is there', async () => {
      const { sessionId } = await makeJob();
      await takeStep(deps(), sessionId, 'ansible', { state: 'started' });
      const inCluster = cluster.updateSecret;
      cluster.updateSecret = async () => Promise.reject(musterError('cluster_unavailable', 'no answer within 8 s'));
      expect(await failed(sessionId, 1, 'wrong')).toEqual([undefined, file]);
      await expect(attempted(sessionId, 2, 'right')).rejects.toMatchObject({ code: 'cluster_unavailable' });
      expect(await findOrder(database.db, sessionId)).toMatchObject({ order: { run: { attempt: 1 } } });
      cluster.updateSecret = inCluster;
      expect(await failed(sessionId, 2, 'right')).toEqual([UNTIL, file]);
    });
  });

  test('is waited for without its inventory, which may be megabytes', async () => {
    const { sessionId, name } = await makeJob();
    const inventory = { files: { 'hosts/01-cfs-generated.yaml': 'all: {}' } };
    await saveSessionJob(database.db, { sessionId, name, profile: 'restricted', inventory, leases: false }, new Date());
    const job = await preparedJob(database.db, sessionId);
    expect(JSON.stringify(job)).not.toContain('01-cfs-generated.yaml');
    expect(await findJobInventory(database.db, sessionId)).toEqual(inventory);
  });

  test.each<[JobOutcome['code'], string]>([
    ['clone_failed', 'clone failed: layer 0: No space left on device'],
    ['disk_low', 'inventory failed: no room'],
    ['image_pull_failed', 'its pod waited too long: no such image'],
    [null, 'complete'],
  ])('of a Job that has ended (%s) fails for good', async (code, message) => {
    const { sessionId, name } = await makeJob();
    const waiting = Promise.allSettled([
      order(sessionId),
      awaitPlaybooks(database.db, sessionId, AbortSignal.timeout(120_000)),
    ]);
    const outcome = { succeeded: 'false', code, message } as const;
    await settleJob(database.db, sessionId, { view: view(name), outcome, unverified: null }, new Date());
    const reason = { type: code ?? 'runner_failed', message, nonRetryable: true };
    expect(await waiting).toMatchObject([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
  });

  test.each<[string, Record<string, number>, JobOutcome['code']]>([
    ['its deletion', { inventory: 0, ansible: 137 }, 'job_deleted'],
    ['what has killed it', { inventory: 0, ansible: 137 }, 'out_of_memory'],
    ['the step that failed before it', { inventory: 1, ansible: 1 }, 'disk_low'],
  ])('whose container for playbooks has ended too fails with %s', async (_title, codes, code) => {
    const { sessionId, name } = await makeJob();
    const containers = Object.entries(codes).map(([container, exitCode]) => ({
      ...{ name: container, state: 'terminated' as const, exitCode, reason: 'Error', message: '' },
    }));
    // Told while the Job goes on.
    await saveExitCodes(database.db, sessionId, exitCodesOf({ ...view(name), containers }));
    const waiting = awaitPlaybooks(database.db, sessionId, AbortSignal.timeout(120_000));
    const outcome = { succeeded: 'false', code, message: 'why' } as const;
    const expected = expect(waiting).rejects.toMatchObject({ type: code, message: 'why', nonRetryable: true });
    await settleJob(
      database.db,
      sessionId,
      { view: { ...view(name), containers }, outcome, unverified: null },
      new Date(),
    );
    await expected;
  });

  test('whose playbooks failed answers their exit status', async () => {
    const { sessionId, name } = await makeJob();
    const containers = [{ name: 'ansible', state: 'terminated' as const, exitCode: 2, reason: 'Error', message: '' }];
    const told = { ...view(name), containers };
    await saveExitCodes(database.db, sessionId, exitCodesOf(told));
    const playbooks = () => awaitPlaybooks(database.db, sessionId, AbortSignal.timeout(120_000));
    expect(await playbooks()).toBe(2);
    const outcome = { succeeded: 'false', code: 'layer_failed', message: 'container ansible ended' } as const;
    await settleJob(database.db, sessionId, { view: told, outcome, unverified: null }, new Date());
    expect(await playbooks()).toBe(2);
  });

  test('that the pod could not run fails with its reason, for good', async () => {
    const { sessionId } = await makeJob();
    await takeStep(deps(), sessionId, 'ansible', { state: 'started' });
    const running = order(sessionId);
    // It may fail before this test looks.
    running.catch(() => undefined);
    const runId = await ordered(sessionId);
    const message = 'layer 0: the disk of /muster/work is full';
    await takeStep(deps(), sessionId, 'ansible', { state: 'failed', code: 'disk_low', message });
    await end(runId, 2);
    await expect(running).rejects.toMatchObject({ type: 'disk_low', message, nonRetryable: true });
    // Whoever takes it over after a crash is told the same.
    await expect(order(sessionId)).rejects.toMatchObject({ type: 'disk_low', nonRetryable: true });
  });

  test('that filled its disk is recorded on its components, then fails with the reason of the pod', async () => {
    const { db } = database;
    const { sessionId } = await makeJob();
    const host = `x${randomUUID().slice(0, 13)}`;
    const component = { id: host, desired_config: '', error_count: 0, enabled: true, tags: '{}', state: '[]' };
    await db
      .insertInto('components')
      .values({ ...component, retry_policy: null, updated_at: new Date(), actor: null })
      .execute();
    await takeStep(deps(), sessionId, 'ansible', { state: 'started' });
    const running = order(sessionId);
    // It may fail before this test looks.
    running.catch(() => undefined);
    const runId = await ordered(sessionId);
    await takeStep(deps(), sessionId, 'ansible', { state: 'failed', code: 'disk_low', message: 'the disk is full' });
    const run = await findRun(db, runId);
    if (run === null) throw new Error('no run');
    const { host: _host, ...result } = hostResult(host, 'failed');
    const exit = { code: 2, signal: null, ended_at: new Date().toISOString() };
    await closeRun(
      db,
      run,
      {
        exit,
        results: { broken_off: false, hosts: { [host]: result } },
        warnings: [],
      },
      new Date(),
    );
    await expect(running).rejects.toMatchObject({ type: 'disk_low', nonRetryable: true });
    await expect(order(sessionId)).rejects.toMatchObject({ type: 'disk_low' });
    const recorded = db.selectFrom('components').select(['error_count', 'state']).where('id', '=', host);
    expect(await recorded.executeTakeFirst()).toEqual({
      error_count: 1,
      state: [expect.objectContaining({ playbook: 'site.yml', status: 'failed' })],
    });
  });

  test('that is over is not ordered again in place of what came after it', async () => {
    const { sessionId } = await makeJob();
    await takeStep(deps(), sessionId, 'ansible', { state: 'started' });
    const first = order(sessionId);
    const runId = await ordered(sessionId);
    const firstOrder = (await findOrder(database.db, sessionId))?.order;
    await end(runId, 2);
    expect(await first).toMatchObject({ exitCode: 2 });
    const second = order(sessionId, 2);
    const secondRun = await ordered(sessionId, 2);
    // A worker that was stopped for a while takes up the first attempt once more.
    expect(await order(sessionId)).toMatchObject({ exitCode: 2 });
    expect(await findOrder(database.db, sessionId)).toMatchObject({ order: { run: { id: secondRun } } });
    await end(secondRun, 0);
    expect(await second).toMatchObject({ exitCode: 0 });
    await finishJob(database.db, sessionId, 0);
    expect(await order(sessionId, 2)).toMatchObject({ exitCode: 0 });
    expect(await findOrder(database.db, sessionId)).toMatchObject({ order: { action: 'finish' } });
    expect(firstOrder).toMatchObject({ run: { id: runId } });
  });

  test('whose worker stood still while it was ordered is not ordered in place of what came after it', async () => {
    const { sessionId } = await makeJob();
    await takeStep(deps(), sessionId, 'ansible', { state: 'started' });
    const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { site, ...rest } = deps();
    const vaultPassword = async () => {
      asked.resolve();
      await released.promise;
      return null;
    };
    const input = { sessionId, layer: 0, attempt: 1, hosts: 'all' } as const;
    const still = orderLayer(
      { ...rest, site: { ...site, vaultPassword } },
      await sessionOf(sessionId),
      input,
      AbortSignal.timeout(120_000),
    );
    await asked.promise;
    const first = order(sessionId);
    await end(await ordered(sessionId), 2);
    await first;
    const second = order(sessionId, 2);
    const secondRun = await ordered(sessionId, 2);
    const { message } = await eventually('it is shown', async () => {
      const session = await findSessionById(database.db, sessionId);
      return session?.attempt === 2 ? session : null;
    });
    released.resolve();
    expect(await still).toMatchObject({ exitCode: 2 });
    expect(await findOrder(database.db, sessionId)).toMatchObject({ number: 2, order: { run: { id: secondRun } } });
    expect(await findSessionById(database.db, sessionId)).toMatchObject({ attempt: 2, message });
    await end(secondRun, 0);
    expect(await second).toMatchObject({ exitCode: 0 });
  });

  test('opened just after its Job has ended fails with the end of the Job', async () => {
    const { db } = database;
    const { sessionId, name } = await makeJob();
    await takeStep(deps(), sessionId, 'ansible', { state: 'started' });
    const outcome = { succeeded: 'false', code: 'job_deleted', message: 'its Job was deleted' } as const;
    // Nobody opens a run while this is held.
    const running = await db.transaction().execute(async (trx) => {
      await sql`lock table runs in share mode`.execute(trx);
      const opening = order(sessionId);
      opening.catch(() => undefined);
      await eventually('it opens its run', async () => {
        const { rows } = await sql`select 1 from pg_locks where not granted and relation = 'runs'::regclass`.execute(
          db,
        );
        return rows.length > 0;
      });
      await settleJob(db, sessionId, { view: view(name), outcome, unverified: null }, new Date());
      return { opening };
    });
    const reason = { type: 'job_deleted', message: outcome.message, nonRetryable: true };
    await expect(running.opening).rejects.toMatchObject(reason);
    // A run that a crash has left open ends the same way, and is not ordered any more.
    await db.updateTable('runs').set({ state: 'created' }).where('session_id', '=', sessionId).execute();
    await expect(order(sessionId)).rejects.toMatchObject(reason);
    expect(await findOrder(db, sessionId)).toBeNull();
  });

  test('given before a crash is followed, not given again', async () => {
    const { sessionId } = await makeJob();
    await takeStep(deps(), sessionId, 'ansible', { state: 'started' });
    const stop = new AbortController();
    const first = orderLayer(
      deps(),
      await sessionOf(sessionId),
      { sessionId, layer: 0, attempt: 1, hosts: 'all' },
      stop.signal,
    );
    const runId = await ordered(sessionId);
    stop.abort();
    await expect(first).rejects.toThrow();
    const before = (await findOrder(database.db, sessionId))?.order;
    if (before === undefined) throw new Error('no order');
    const second = order(sessionId);
    await giveOrder(database.db, sessionId, before);
    await end(runId, 0);
    expect(await second).toMatchObject({ exitCode: 0 });
    const { order_number } = await database.db
      .selectFrom('session_jobs')
      .select('order_number')
      .where('session_id', '=', sessionId)
      .executeTakeFirstOrThrow();
    expect(order_number).toBe(1);
  });
});
