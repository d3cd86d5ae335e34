/** The steps of a reconcile where its cluster refuses, its disk is full, or its machine went: what the record says, and what follows. */
import { describe, expect, test } from '@jest/globals';
import { finishReconcile } from '../../../activities/operator/finish-reconcile.ts';
import { prepareReconcile } from '../../../activities/operator/prepare-reconcile.ts';
import type { OperatorSite } from '../../../control/operator/operator-site.ts';
import { openRun } from '../../../control/runs/open-run.ts';
import { musterError } from '../../../domain/errors.ts';
import type { CustomResource } from '../../../domain/operator/custom-resource.ts';
import type { ResourceClient, ResourceNotices, RunDirectories } from '../../../domain/operator/ports.ts';
import { type RunResult, runIdOfReconcile } from '../../../domain/operator/reconcile.ts';
import { RECONCILE_KIND } from '../../../domain/operator/resource-words.ts';
import type { Db } from '../../../store/connection/database.ts';
import { openReconciles } from '../../../store/operator/due.ts';
import { writeRunResult } from '../../../store/operator/reconciles.ts';
import { requestCancel } from '../../../store/operator/requests.ts';
import { findRun } from '../../../store/runs/runs.ts';
import { addWidget, begin, MACHINE, OPERATOR, recordOf } from '../hands/fixtures.ts';
import { NOW, resourceRow, withOperatorRows } from '../hands/operator-rows.ts';
import { load } from '../watches/entries.ts';

const [ENTRY] = load('[{group: demo.io, version: v1, kind: Widget, playbook: pb.yml, reconcilePeriod: 60s}]').entries;
const OK: RunResult = {
  ...{ ended: 'itself', hasStats: true, outcome: 'ok', messages: [], completion: null, requeue: null },
  counters: { ok: 1, changed: 0, skipped: 0, failures: 0, unreachable: 0, rescued: 0, ignored: 0 },
};
const refused = (what: string) => musterError('cluster_refused', `${what}: the cluster answered 403 Forbidden`);
const diskFull = () => Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });

let db: Db;
withOperatorRows(
  (opened) => {
    db = opened.db;
  },
  { finalizer: null },
);

interface Parts {
  cluster?: Partial<ResourceClient>;
  directories?: Partial<RunDirectories>;
  tell?: ResourceNotices['tell'];
}

/** A site whose cluster has the widget and takes all that is written. `calls`: what it was asked for besides. */
function siteOf(name: string, { cluster = {}, directories = {}, tell = () => undefined }: Parts = {}) {
  if (ENTRY === undefined) throw new Error('no entry');
  const calls: string[] = [];
  let resource: CustomResource = {
    apiVersion: 'demo.io/v1',
    kind: 'Widget',
    metadata: { namespace: 'ns', name, uid: `uid-${OPERATOR}-${name}`, generation: 1, resourceVersion: '1' },
    spec: {},
  };
  const site = {
    ...{ db, operator: OPERATOR, hostId: MACHINE, home: '/opt/demo', clock: () => NOW, keepReconciles: 50 },
    ...{ entries: [{ entry: ENTRY, hash: 'h1' }], defaultPeriodSeconds: 3_600, random: () => 0, client: null as never },
    log: { info: () => undefined, warn: (_: object, message: string) => void calls.push(message) },
    tell: async () => undefined,
    notices: { tell, close: async () => undefined },
    meters: { ended: () => undefined } as unknown as OperatorSite['meters'],
    cluster: {
      read: async () => resource,
      writeStatus: async (_: unknown, __: unknown, status: unknown) => {
        resource = { ...resource, status };
        return { answer: 'written', resource } as const;
      },
      writeFinalizers: async () => ({ answer: 'written', resource }) as const,
      ...cluster,
    },
    directories: {
      paths: () => ({ directory: '/runs/r', kubeconfig: '/runs/r/kubeconfig' }),
      make: async () => undefined,
      output: async () => null,
      lastLines: async () => null,
      endedAt: async () => null,
      tidy: async () => void calls.push('tidy'),
      dropArtifacts: async () => undefined,
      ...directories,
    },
    ways: {
      open: async () => ({ kubeconfig: '', password: 'p' }),
      close: async () => void calls.push('close'),
      cutAll: async () => [],
      wasAway: async () => false,
    },
  } satisfies OperatorSite;
  const here = { environment: {}, ansibleArgs: '', findRunner: async () => '/bin/ansible-runner' };
  const conditions = () =>
    (resource.status as { conditions?: { type: string; status: string; message: string }[] })?.conditions ?? [];
  return {
    site,
    calls,
    prepare: (id: string) => prepareReconcile(site, here, id),
    condition: (type: string) => conditions().find((one) => one.type === type),
  };
}

const opened = async (name: string) => {
  const resource = await addWidget(db, name, NOW);
  const [id = ''] = await openReconciles(db, [{ id: resource, machine: MACHINE }], NOW);
  return { id, resource };
};
const rowOf = (id: string) => resourceRow(db, id);
const outcomeOf = (id: string) =>
  db.selectFrom('operator_reconciles').select(['outcome', 'messages']).where('id', '=', id).executeTakeFirstOrThrow();

describe('the first step', () => {
  test.each<[string, Partial<ResourceClient>]>([
    ['does not let it read', { read: () => Promise.reject(refused('GET')) }],
    ['does not let it write the status', { writeStatus: () => Promise.reject(refused('PUT')) }],
  ])(
    'of an operator whose cluster %s: it has failed, says why, and is tried again after its back-off',
    async (_, cluster) => {
      const { id, resource } = await opened('a');
      const { site, prepare } = siteOf('a', { cluster });
      expect(await prepare(id)).toBe(false);
      await finishReconcile(site, id);
      expect(await outcomeOf(id)).toMatchObject({ outcome: 'failed', messages: [expect.stringContaining('403')] });
      expect(await rowOf(resource)).toMatchObject({ phase: 'backing_off', failures: 1, reconcile_id: null });
    },
  );

  test('ignores an annotation that is no integer, and says so', async () => {
    const { id } = await opened('i');
    const annotations = { 'ansible.sdk.operatorframework.io/verbosity': 'much', 'muster/paused': 'no' };
    const metadata = { namespace: 'ns', name: 'i', uid: `uid-${OPERATOR}-i`, generation: 1, annotations };
    const resource: CustomResource = { apiVersion: 'demo.io/v1', kind: 'Widget', metadata, spec: {} };
    const cluster: Partial<ResourceClient> = {
      read: async () => resource,
      writeStatus: async () => ({ answer: 'written', resource }),
    };
    const told: string[] = [];
    const tell: ResourceNotices['tell'] = (_, reason, message) => void told.push(`${reason}: ${message}`);
    const { calls, prepare } = siteOf('i', { cluster, tell });
    expect(await prepare(id)).toBe(true);
    const sentence = 'The annotation ansible.sdk.operatorframework.io/verbosity is no integer, and has no effect';
    expect(told).toEqual([`BadAnnotation: ${sentence}`]);
    expect(calls).toContain(sentence);
    expect((await recordOf(db, id)).begin).toMatchObject({ does: 'run', verbosity: 2 });
  });

  test('where the cluster does not answer is tried again, and decides nothing', async () => {
    const { id } = await opened('b');
    const read = () => Promise.reject(musterError('cluster_unavailable', 'no answer within 8 s'));
    await expect(siteOf('b', { cluster: { read } }).prepare(id)).rejects.toThrow();
    expect((await recordOf(db, id)).begin).toBeNull();
    expect(await siteOf('b').prepare(id)).toBe(true);
  });

  test('on a full disk has failed; nothing of the run is left, and the status says that it could not run', async () => {
    const { id, resource } = await opened('c');
    const { site, prepare, calls, condition } = siteOf('c', {
      directories: { make: () => Promise.reject(diskFull()) },
    });
    expect(await prepare(id)).toBe(false);
    expect(calls).toEqual(expect.arrayContaining(['close', 'tidy']));
    await finishReconcile(site, id);
    expect(condition('Running')?.status).toBe('False');
    expect(condition('Failure')).toMatchObject({ status: 'True', message: 'Unable to run reconciliation' });
    expect(await rowOf(resource)).toMatchObject({ phase: 'backing_off' });
  });

  test('where the database goes away in between is no failure of the disk', async () => {
    const { id } = await opened('d');
    const make = () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
    await expect(siteOf('d', { directories: { make } }).prepare(id)).rejects.toThrow('away');
    expect((await recordOf(db, id)).begin).toBeNull();
  });
});

describe('the last step', () => {
  test('whose status is refused has failed, since it would say for ever that it runs; a failure keeps its messages', async () => {
    const resource = await addWidget(db, 'e', NOW);
    const record = await begin(db, resource, NOW);
    await writeRunResult(db, record.id, OK);
    const writeStatus = () => Promise.reject(refused('PUT'));
    const { site, calls } = siteOf('e', { cluster: { writeStatus } });
    await finishReconcile(site, record.id);
    expect(await outcomeOf(record.id)).toMatchObject({
      outcome: 'failed',
      messages: [expect.stringContaining('403')],
    });
    expect(await rowOf(resource)).toMatchObject({ phase: 'backing_off', failures: 1, reconcile_id: null });
    expect(calls).toEqual(['the status of a resource was refused by the cluster']);
    const again = await begin(db, resource, NOW);
    await writeRunResult(db, again.id, { ...OK, outcome: 'failed', messages: ['boom'] });
    await finishReconcile(site, again.id);
    expect(await outcomeOf(again.id)).toMatchObject({ outcome: 'failed', messages: ['boom'] });
  });

  test('whose status others change meanwhile writes it again, and runs nothing again', async () => {
    const record = await begin(db, await addWidget(db, 'j', NOW), NOW);
    await writeRunResult(db, record.id, OK);
    const written: unknown[] = [];
    let conflicts = 4;
    const changing: Partial<ResourceClient> = {
      writeStatus: async (_, resource, status) => {
        if (conflicts > 0) {
          conflicts -= 1;
          return { answer: 'conflict' };
        }
        written.push(status);
        return { answer: 'written', resource };
      },
    };
    await finishReconcile(siteOf('j', { cluster: changing }).site, record.id);
    expect(await outcomeOf(record.id)).toMatchObject({ outcome: 'ok' });
    expect(written).toHaveLength(1);
    const again = await begin(db, record.resourceId, NOW);
    await writeRunResult(db, again.id, OK);
    conflicts = 5;
    const { site } = siteOf('j', { cluster: changing });
    await expect(finishReconcile(site, again.id)).rejects.toThrow('was changed 5 times');
    expect((await recordOf(db, again.id)).endedAt).toBeNull();
    // The step is tried again, with the run that has ended.
    await finishReconcile(site, again.id);
    expect(await outcomeOf(again.id)).toMatchObject({ outcome: 'ok' });
    expect(await db.selectFrom('operator_reconciles').select('id').execute()).toHaveLength(2);
  });

  test('of a run whose machine is given up: another one begins at once, and the run counts as lost', async () => {
    const record = await begin(db, await addWidget(db, 'f', NOW), NOW);
    const runId = runIdOfReconcile(record.id);
    const owner = { kind: RECONCILE_KIND, id: record.id };
    await openRun(db, { id: runId, sessionId: null, owner, streamId: runId, layer: 0, attempt: 1, host: MACHINE }, NOW);
    await finishReconcile(siteOf('f').site, record.id);
    expect(await outcomeOf(record.id)).toMatchObject({ outcome: 'interrupted' });
    expect(await rowOf(record.resourceId)).toMatchObject({
      phase: 'queued',
      due_at: NOW,
      failures: 0,
      interruptions: 1,
    });
    expect((await findRun(db, runId))?.state).toBe('lost');
  });

  test('of a reconcile that had decided nothing: it begins anew, its resource is not gone', async () => {
    const { id, resource } = await opened('g');
    await finishReconcile(siteOf('g').site, id);
    expect(await outcomeOf(id)).toMatchObject({ outcome: 'interrupted' });
    expect(await rowOf(resource)).toMatchObject({ phase: 'queued', due_at: NOW, gone_at: null });
  });

  test('of one that was cancelled by then: its status says by whom, and it waits for its period', async () => {
    const { id, resource } = await opened('h');
    await db.updateTable('operator_resources').set({ dirty: 0 }).where('id', '=', resource).execute();
    await requestCancel(db, id, 'ann', NOW);
    const { site, condition } = siteOf('h');
    await finishReconcile(site, id);
    expect(await outcomeOf(id)).toMatchObject({ outcome: 'cancelled' });
    expect(condition('Failure')).toMatchObject({ status: 'True', message: 'Reconciliation cancelled by ann' });
    expect(await rowOf(resource)).toMatchObject({ gone_at: null, due_at: new Date(NOW.getTime() + 60_000) });
  });
});
