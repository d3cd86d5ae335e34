/** The workflow that reads a repository: which syncs it makes, and what it records. The record and the work are fakes. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { CancelledFailure, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { wantedSync } from '../../../control/propagation/sync-repository.ts';
import { tellOrThrow } from '../../../control/temporal/tell.ts';
import type { SyncFailure, SyncRef } from '../../../domain/propagation/activity-schema.ts';
import { syncWorkflowId } from '../../../domain/propagation/workflow-id.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { replayHistories, startTestWorker } from '../../support/stack/session-bench.ts';
import { testServerMissing } from '../../support/temporal/test-server.ts';
import { openTimeSkipping, type TestServer, workflowBundle } from '../../support/temporal/workflow-environment.ts';

describeNeeding(testServerMissing(), 'the sync of a repository', () => {
  let server: TestServer;
  const stops: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    server = await openTimeSkipping();
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });
  afterAll(() => server?.close());

  /** One try of a sync; `ask` asks for another one. */
  type Work = (sync: number, tries: number, ask: () => Promise<void>) => Promise<string | null>;

  /** A repository of which a first sync is wanted; `work` is one try of a sync. */
  async function syncing(work: Work, maxEvents?: number) {
    const { environment } = server;
    const taskQueue = `test-${randomUUID()}`;
    const repository = randomUUID();
    const record = { wanted: 1, done: 0 };
    const tried: number[] = [];
    const failures: Omit<SyncFailure, 'repository'>[] = [];
    const args = [{ repository, ...(maxEvents === undefined ? {} : { maxEvents }) }];
    const tell = () => tellOrThrow(environment.client, { ...wantedSync(repository), args, taskQueue });
    const ask = async () => {
      record.wanted += 1;
      await tell();
    };
    const stop = await startTestWorker(environment, {
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: {
        beginSync: async () => ({ sync: record.wanted > record.done ? record.wanted : null }),
        syncRepository: async ({ sync }: SyncRef) => {
          tried.push(sync);
          const commit = await work(sync, tried.length, ask);
          record.done = Math.max(record.done, sync);
          return { commit };
        },
        failSync: async ({ repository: _, ...failure }: SyncFailure) => {
          failures.push(failure);
          record.done = Math.max(record.done, failure.sync);
        },
      },
    });
    await tell();
    const handle = environment.client.workflow.getHandle(syncWorkflowId(repository));
    stops.push(() => handle.terminate('the test is over').catch(() => undefined), stop);
    return { handle, record, tried, failures, ask };
  }

  test('is made once, and replays', async () => {
    const one = await syncing(async () => 'c1');
    await one.handle.result();
    expect([one.tried, one.failures]).toEqual([[1], []]);
    const history = await one.handle.fetchHistory();
    expect(await replayHistories([{ workflowId: one.handle.workflowId, history }])).toBe(1);
  });

  test('that is asked for while another goes on is made after it, however often it is asked for', async () => {
    const held = Promise.withResolvers<void>();
    const two = await syncing(async () => {
      await held.promise;
      return 'c';
    });
    await eventually('the first one goes on', () => two.tried.length === 1);
    await two.ask();
    await two.ask();
    held.resolve();
    await two.handle.result();
    expect(two.tried).toEqual([1, 3]);
  });

  test('is tried again where git did not answer, and its last failure is recorded', async () => {
    const away = await syncing(async () => {
      throw ApplicationFailure.create({ type: 'clone_failed', message: 'no answer' });
    });
    await away.handle.result();
    expect(away.tried).toEqual([1, 1, 1, 1, 1]);
    expect(away.failures).toEqual([{ sync: 1, code: 'clone_failed', reason: 'no answer' }]);

    const back = await syncing(async (_sync, attempt) => {
      if (attempt < 3) throw ApplicationFailure.create({ type: 'clone_failed', message: 'no answer' });
      return 'c1';
    });
    await back.handle.result();
    expect([back.tried, back.failures]).toEqual([[1, 1, 1], []]);
  });

  test('that is refused is recorded at once, and the next one is made', async () => {
    const refused = await syncing(async (sync, _tries, ask) => {
      if (sync > 1) return 'c2';
      await ask();
      throw ApplicationFailure.nonRetryable('no such branch', 'branch_not_found');
    });
    await refused.handle.result();
    expect(refused.failures).toEqual([{ sync: 1, code: 'branch_not_found', reason: 'no such branch' }]);
    expect(refused.tried).toEqual([1, 2]);
  });

  test('that is cancelled in Temporal ends as such, and is not begun again by the record', async () => {
    const cancelled = await syncing(async () => {
      const { cancellationSignal, heartbeat } = Context.current();
      const beats = setInterval(() => heartbeat(), 20);
      await new Promise((resolve) => cancellationSignal.addEventListener('abort', resolve));
      clearInterval(beats);
      throw new CancelledFailure('cancelled');
    });
    await eventually('it goes on', () => cancelled.tried.length === 1);
    await cancelled.handle.cancel();
    await expect(cancelled.handle.result()).rejects.toThrow(/cancelled/i);
    expect(cancelled.failures).toEqual([{ sync: 1, code: 'cancelled', reason: expect.any(String) }]);
    expect(cancelled.record).toEqual({ wanted: 1, done: 1 });
  });

  test('continues as new without losing a sync', async () => {
    const many = await syncing(async (sync, _tries, ask) => {
      if (sync < 6) await ask();
      return 'c';
    }, 20);
    await many.handle.result();
    expect(many.tried).toEqual([1, 2, 3, 4, 5, 6]);
    expect((await many.handle.describe()).historyLength).toBeLessThan(60);
  });
});
