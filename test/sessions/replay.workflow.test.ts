import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../support/source-tree.ts';
import { replayHistories } from '../support/stack/session-bench.ts';
import { HISTORIES, historyText, parseHistory } from '../support/temporal/history-files.ts';

/**
 * Recorded by test/support/temporal/record-histories.ts, some of earlier versions: `image-job-not-taken` of one that opened what was half unpacked,
 * `session-job-ended-twice` of one that tried again to end a Job whose cluster had not answered.
 */
const NAMES = readdirSync(HISTORIES)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.replace('.json', ''));

test('there is a history for each path', () => {
  expect(NAMES.sort()).toEqual([
    'app-context',
    'app-context-own-queue',
    'app-context-returns',
    'batcher',
    'cluster-groups-away',
    'cluster-groups-back',
    'cluster-groups-not-taken',
    'cluster-groups-own-queue',
    'end-run',
    'ensure-batcher',
    'ensure-hardware-sync',
    'hardware-sync',
    'image-job-called-off',
    'image-job-deleted',
    'image-job-done',
    'image-job-failed',
    'image-job-not-taken',
    'image-job-opened-again',
    'operator-dispatcher',
    'operator-nothing-to-run',
    'operator-reconcile',
    'plan-continued',
    'plan-done',
    'plan-machine-away',
    'schedule-run-cancelled',
    'schedule-run-done',
    'schedule-run-failed',
    'schedule-run-followed',
    'session-cancelled-in-line',
    'session-cancelled-in-run',
    'session-cancelled-in-temporal',
    'session-checked',
    'session-clone-failed',
    'session-closed-cancelled',
    'session-closed-cancelled-in-temporal',
    'session-closed-failed',
    'session-closed-succeeded',
    'session-done',
    'session-hold-over',
    'session-image-not-opened',
    'session-images-as-job',
    'session-images-cancelled-in-run',
    'session-job-by-itself',
    'session-job-deleted',
    'session-job-done',
    'session-job-ended-twice',
    'session-job-not-ended',
    'session-layer-failed',
    'session-no-layer',
    'session-on-images',
    'session-queued',
    'session-retried-and-finished',
    'session-run-lost',
    'session-told-while-recording',
    'session-ttl',
    'session-waited-for-components',
    'sweep',
    'sweep-goes-on',
    'sweep-images',
    'sweep-machine-away',
    'sync-repository',
    'sync-repository-continued',
    'sync-repository-failed',
    'trust',
    'wake-webhooks',
    'webhook',
    'webhook-retried',
  ]);
});

test('every workflow has a history, and every history a workflow', () => {
  const typeOf = (name: string) => /"workflowType":\{"name":"([^"]*)"/.exec(historyText(name))?.[1];
  const exported = [...readFileSync(join(ROOT, 'workflows', 'index.ts'), 'utf8').matchAll(/export \{ (\w+) \}/g)];
  const types = new Set(NAMES.map(typeOf));
  expect([...types].sort()).toEqual(exported.map(([, name]) => name).sort());
});

test.each(NAMES)('%s replays', async (name) => {
  expect(await replayHistories([parseHistory(historyText(name))])).toBe(1);
});

test.each([
  ['another activity', '"writeInventory"', '"writeInventories"'],
  ['another order of the ends', '"removeWorkspace"', '"endRun"'],
])('a history with %s does not', async (_what, from, to) => {
  const text = historyText('session-done');
  expect(text).toContain(from);
  const altered = parseHistory(text.replaceAll(from, to));
  await expect(replayHistories([altered])).rejects.toThrow('do not replay');
});

test('recorded histories name no machine, no user and no folder', () => {
  for (const name of NAMES) {
    const text = historyText(name);
    expect(text).not.toMatch(/file:\/\/|node_modules|\/(home|Users|tmp)\//);
    expect(text).not.toContain(ROOT);
    expect(text).not.toContain(`@${hostname()}`);
    const identities = new Set([...text.matchAll(/"identity":"([^"]*)"/g)].map(([, identity]) => identity));
    for (const identity of identities) expect(['client@test', 'worker@test', 'history-service']).toContain(identity);
  }
});
