/** What the lanes want of Temporal: which workflow, under which id, with which word. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { pokedBatcher, wantedBatcher } from '../../control/batches/wanted-batcher.ts';
import { wantedHardwareSync } from '../../control/components/wanted-hardware-sync.ts';
import { endedImageJob, wantedImageJob } from '../../control/images/wanted-image-job.ts';
import { pokedPlan, wantedPlan } from '../../control/propagation/wake-plans.ts';
import { wantedRunEnd } from '../../control/runs/wanted-run-end.ts';
import { wantedSweep } from '../../control/sessions/wanted-sweep.ts';
import type { WantedWorkflow } from '../../control/temporal/tell.ts';
import { wantedRenewal } from '../../control/trust/wanted-renewal.ts';
import { wantedDeliveries } from '../../control/webhooks/wake-webhooks.ts';
import { withoutScheduledTime } from '../../domain/engine/seal.ts';
import { ROOT } from '../support/source-tree.ts';

const RUN = { id: 'toy-7-1', machine: 'disk-1' };
const RUN_INPUT = { runId: 'toy-7-1', machine: 'disk-1' };
const JOB = '11111111-2222-4333-8444-555555555555';

const WANTED: [what: string, () => WantedWorkflow, type: string, id: string, args: unknown[], word: string | null][] = [
  ['the batcher', wantedBatcher, 'batcherWorkflow', 'batcher', [], null],
  ['the batcher that is poked', pokedBatcher, 'batcherWorkflow', 'batcher', [], 'pokeBatcher'],
  ['the hardware sync', () => wantedHardwareSync('q'), 'hardwareSyncWorkflow', 'hardware-sync', [], null],
  ['an image job', () => wantedImageJob(JOB), 'imageJobWorkflow', `image-job/${JOB}`, [{ jobId: JOB }], null],
  [
    'one that is over',
    () => endedImageJob(JOB),
    'imageJobWorkflow',
    `image-job/${JOB}`,
    [{ jobId: JOB }],
    'endImageJob',
  ],
  ['a plan', () => wantedPlan(JOB), 'planExecutionWorkflow', `plan/${JOB}`, [{ plan: JOB }], null],
  ['a plan that is poked', () => pokedPlan(JOB), 'planExecutionWorkflow', `plan/${JOB}`, [{ plan: JOB }], 'pokePlan'],
  ['the end of a run', () => wantedRunEnd(RUN), 'endRunWorkflow', 'end-run/toy-7-1', [RUN_INPUT], null],
  ['the sweep', wantedSweep, 'sweepWorkflow', 'sweep', [{ everyMs: 60_000 }], null],
  ['a renewal of trust', wantedRenewal, 'renewTrustWorkflow', 'trust', [], null],
  [
    'deliveries',
    () => wantedDeliveries('ops'),
    'webhookWorkflow',
    'webhook/ops',
    [{ name: 'ops' }],
    'notificationsDue',
  ],
];

describe('what is wanted', () => {
  test.each(WANTED)('%s', (_what, make, workflowType, workflowId, args, word) => {
    const wanted = make();
    expect(wanted).toMatchObject({ workflowType, workflowId, args, staticSummary: expect.stringMatching(/^\S/) });
    expect(wanted.signal?.name ?? null).toBe(word);
    // The same record is the same workflow.
    expect(make()).toEqual(wanted);
  });

  test('is what the bundle has', () => {
    const exported = readFileSync(join(ROOT, 'workflows', 'index.ts'), 'utf8');
    for (const [, , type] of WANTED) expect(exported).toContain(`export { ${type} }`);
  });

  test('has no id that a Schedule of the same name would have: that is sealed for another purpose', () => {
    for (const [, , , id] of WANTED) expect(withoutScheduledTime(id)).toBe(id);
  });
});
