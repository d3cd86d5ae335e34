/** How a session's workflow ends in Temporal, which is what its web UI shows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { cancelSession } from '../../../workflows/sessions/messages.ts';
import { eventually } from '../../support/eventually.ts';
import { admitted, endlessRuns, gate, HOSTS, layerOutcome, waiting } from '../../support/fakes/fake-session.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { ROOT } from '../../support/source-tree.ts';
import { benchOfBlock } from '../../support/stack/bench-of-block.ts';
import type { SessionUnderTest } from '../../support/stack/session-bench.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer } from '../../support/temporal/workflow-environment.ts';

const statusOf = async (session: SessionUnderTest) => (await session.handle.describe()).status.name;
const cancel = (session: SessionUnderTest) =>
  session.handle.executeUpdate(cancelSession, { args: [{ reason: 'cancelled by alice' }] });

/** Attributes of the events of one kind. */
async function events(session: SessionUnderTest, kind: 'activityTaskScheduledEventAttributes') {
  const { events: all } = await session.handle.fetchHistory();
  return (all ?? []).flatMap((event) => (event[kind] ? [{ ...event[kind], userMetadata: event.userMetadata }] : []));
}

async function summariesOf(session: SessionUnderTest, activity: string): Promise<unknown[]> {
  return (await events(session, 'activityTaskScheduledEventAttributes'))
    .filter(({ activityType }) => activityType?.name === activity)
    .map(({ userMetadata }) => JSON.parse(Buffer.from(userMetadata?.summary?.data ?? '""').toString()));
}

describeNeeding(temporalMissing(), 'the end of a session in Temporal', () => {
  const { bench, server } = benchOfBlock(openDevServer);

  test('success: completed, with the result', async () => {
    const session = await bench.start();
    const message = '1 layer done on 3 hosts';
    expect(await session.result()).toEqual({
      state: 'completed',
      result: { succeeded: 'true', message, hosts: HOSTS },
    });
    expect(await statusOf(session)).toBe('COMPLETED');
  });

  test('failure: failed for good, with the result and the code of the reason, after the record is written', async () => {
    const recording = gate();
    const session = await bench.start({
      runLayer: async ({ layer }) => layerOutcome(layer, 2),
      recordEnd: async ({ sessionId: _, ...end }) => {
        await recording.pass();
        return { ...end, hosts: HOSTS };
      },
    });
    await recording.reached;
    expect(await statusOf(session)).toBe('RUNNING');
    recording.open();
    const message = 'layer 1 site.yml failed: 1 of 3 hosts failed, exit status 2';
    expect(await session.result()).toEqual({
      state: 'failed',
      message,
      details: [{ succeeded: 'false', message, hosts: HOSTS }, 'layer_failed'],
    });
    expect(await statusOf(session)).toBe('FAILED');
  });

  test.each([
    ['a run that is lost', { runLayer: async () => layerOutcome(0, null) }, 'unknown', 'run_lost'],
    [
      'a clone that is refused',
      {
        cloneLayers: async () => {
          throw ApplicationFailure.nonRetryable('no commit abc', 'commit_not_found');
        },
      },
      'false',
      'commit_not_found',
    ],
    ['no layer', { admitSession: async () => admitted({ layers: [] }) }, 'false', 'no_layer_selected'],
    [
      'a record that is gone',
      { runLayer: async () => layerOutcome(0, 2), recordEnd: async () => null },
      'false',
      'layer_failed',
    ],
  ])('%s: failed', async (_what, instead, succeeded, reason) => {
    const session = await bench.start(instead);
    const close = await session.result();
    expect(close).toMatchObject({ state: 'failed', details: [{ succeeded }, reason] });
  });

  test('a time limit is a failure, no cancel', async () => {
    const runs = endlessRuns();
    const session = await bench.start({ ...runs, admitSession: async () => admitted({ timeoutSeconds: 0.2 }) });
    expect(await session.result()).toMatchObject({
      state: 'failed',
      details: [{ succeeded: 'false' }, 'session_timeout'],
    });
  });

  test('cancelled by the command while a layer runs: canceled', async () => {
    const runs = endlessRuns();
    const session = await bench.start(runs);
    await runs.begun;
    await cancel(session);
    expect(await session.result()).toEqual({ state: 'cancelled' });
    expect(await statusOf(session)).toBe('CANCELLED');
  });

  test('cancelled in line, heard by message or read in the record: canceled', async () => {
    const told = await bench.start({ admitSession: async () => waiting(3_600) });
    await told.inLine();
    await cancel(told);
    const read = await bench.start({
      admitSession: async () => ({ state: 'cancelled', reason: 'cancelled by alice' }),
    });
    for (const session of [told, read]) {
      expect(await session.result()).toEqual({ state: 'cancelled' });
      expect(await statusOf(session)).toBe('CANCELLED');
    }
  });

  test('a cancel that comes too late changes nothing', async () => {
    const removal = gate();
    const session = await bench.start({ removeWorkspace: () => removal.pass() });
    await removal.reached;
    await cancel(session);
    removal.open();
    expect(await session.result()).toMatchObject({ state: 'completed', result: { succeeded: 'true' } });
  });

  test.each([
    ['true', { state: 'completed', result: { succeeded: 'true', message: 'by hand', hosts: HOSTS } }],
    ['false', { state: 'failed', details: [{ succeeded: 'false', message: 'by hand' }, 'changed_outside'] }],
  ] as const)('somebody else completed the record as %s: as it says', async (succeeded, close) => {
    const end = { succeeded, message: 'by hand', reason: 'changed_outside' as const, hosts: HOSTS };
    const later = await bench.start({ recordEnd: async () => end });
    const before = await bench.start({ admitSession: async () => ({ state: 'over', end }) });
    for (const session of [later, before]) expect(await session.result()).toMatchObject(close);
    expect(before.fake.names()).toEqual(['admitSession']);
  });

  test('a session that is gone: completed, and nothing to say', async () => {
    const session = await bench.start({ admitSession: async () => ({ state: 'over' }) });
    expect(await session.result()).toEqual({ state: 'completed', result: undefined });
  });

  test('an end that an older release records: completed, and nothing to say', async () => {
    const session = await bench.start({ recordEnd: async () => undefined as never });
    expect(await session.result()).toEqual({ state: 'completed', result: undefined });
  });

  test("a cancel in Temporal's web UI, twice: canceled, and the end says where it came from", async () => {
    const runs = endlessRuns();
    const session = await bench.start(runs);
    await runs.begun;
    await session.handle.cancel();
    await session.handle.cancel().catch(() => undefined);
    expect(await session.result()).toEqual({ state: 'cancelled' });
    expect(session.fake.end()).toMatchObject({ message: 'cancelled in Temporal', reason: 'cancelled' });
  });

  test('one that the command had cancelled before is not recorded as of the web UI', async () => {
    const runs = endlessRuns();
    const ending = gate();
    const session = await bench.start({
      ...runs,
      endRun: async (run) => {
        await ending.pass();
        await runs.endRun(run);
      },
    });
    await runs.begun;
    await cancel(session);
    await ending.reached;
    await session.handle.cancel();
    ending.open();
    await session.result();
    expect(session.fake.end()).toMatchObject({ message: 'cancelled by alice' });
  });

  test('the run of a layer says its playbook and its hosts', async () => {
    const session = await bench.start({
      admitSession: async () => admitted({ layers: [0, 2], playbooks: ['site.yml', 'late.yml'] }),
      writeInventory: async () => ({ leases: false, aim: 'n001,n002 (2 hosts)' }),
    });
    await session.result();
    expect(await summariesOf(session, 'runLayer')).toEqual([
      'layer 1/2 site.yml on n001,n002 (2 hosts)',
      'layer 2/2 late.yml on n001,n002 (2 hosts)',
    ]);
  });

  test('each message that it takes is described', async () => {
    const session = await bench.start({ admitSession: async () => waiting(3_600) });
    await session.inLine();
    const metadata = (await session.handle.query('__temporal_workflow_metadata')) as {
      definition: Record<string, { name: string; description?: string }[]>;
    };
    const { signalDefinitions = [], updateDefinitions = [], queryDefinitions = [] } = metadata.definition;
    const ours = [...signalDefinitions, ...updateDefinitions, ...queryDefinitions].filter(
      ({ name }) => !name.startsWith('__'),
    );
    expect(ours.map(({ name }) => name).sort()).toEqual([
      'cancelSession',
      'finishDebug',
      'getProgress',
      'leasesFree',
      'retrySession',
      'slotFree',
    ]);
    for (const { description } of ours) expect(description).toMatch(/^[A-Z].*\.$/);
    await session.handle.terminate();
  });

  test('the views of the documents are queries that Temporal takes', async () => {
    const text = readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8');
    const queries = [...text.matchAll(/^ {4}(WorkflowType .*)$/gm)].map(([, query]) => query ?? '');
    expect(queries.length).toBeGreaterThan(6);
    const failed = await bench.start({ runLayer: async ({ layer }) => layerOutcome(layer, 2) });
    await failed.result();
    const { client } = server.environment;
    for (const query of queries) await client.workflow.count(query);
    const ofFailed = queries.find((query) => query.endsWith(`'sessionWorkflow' AND ExecutionStatus = 'Failed'`)) ?? '';
    await eventually('it is found', async () => {
      for await (const { workflowId } of client.workflow.list({ query: ofFailed }))
        if (workflowId === failed.handle.workflowId) return true;
      return false;
    });
  });

  test('every history of these tests replays', async () => {
    expect(await bench.replayAll()).toBeGreaterThan(15);
  });
});
