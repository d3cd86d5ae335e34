import type { Client } from '@temporalio/client';
import type { BatcherDependencies } from '../../control/batches/batcher-ports.ts';
import { type PassReport, runPass } from '../../control/batches/run-pass.ts';
import { wantedBatcher } from '../../control/batches/wanted-batcher.ts';
import { tellOrThrow } from '../../control/temporal/tell.ts';
import { PassRequestSchema } from '../../domain/batches/activity-schema.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { parseInputs } from '../parse-inputs.ts';
import type { BatcherActivities, PassAnswer } from './contract.ts';

/** Collecting that took this long and found nothing is done again, without a poke, after so many times as long. */
const DEAR_MS = 250;
const DEAR_FACTOR = 10;
/** When another process has the pass in hand, look again after this, ms. */
const BUSY_MS = 1_000;
/** After a pass of some length, pokes wait for so many times that length, at least this long and at most a few seconds, ms. */
const REST_FACTOR = 4;
const REST_MIN_MS = 200;
const REST_MAX_MS = 5_000;

export function createBatcherActivities(deps: BatcherDependencies & { client: Client }): BatcherActivities {
  let collectAfter = 0;
  return parseInputs<BatcherActivities>(
    { runBatcherPass: PassRequestSchema, ensureBatcher: null },
    {
      runBatcherPass: ({ poked }) =>
        withHeartbeat(async () => {
          const began = performance.now();
          const report = await runPass(deps, { collect: poked || began >= collectAfter });
          if (report === null) return busy(deps.clock());
          const isDear = report.collectMs > DEAR_MS && report.joined + report.dropped === 0;
          if (isDear) collectAfter = performance.now() + DEAR_FACTOR * report.collectMs;
          if (report.sent + report.ended > 0) deps.log.info({ ...report }, 'batcher pass');
          return answerOf(report, performance.now() - began);
        }),
      ensureBatcher: () => tellOrThrow(deps.client, wantedBatcher()),
    },
  );
}

function busy(now: Date): PassAnswer {
  const nextAt = now.getTime() + BUSY_MS;
  return { waitMs: BUSY_MS, nextAt, restMs: REST_MIN_MS, summary: 'another worker has a pass in hand' };
}

function answerOf(report: PassReport, tookMs: number): PassAnswer {
  const waits = Object.entries(report.waits).map(([why, count]) => `${count} ${why}`);
  const { joined, sent, ended } = report;
  const restMs = Math.min(REST_MAX_MS, Math.round(tookMs * REST_FACTOR), report.waitMs);
  return {
    waitMs: report.waitMs,
    nextAt: report.nextAt.getTime(),
    restMs: Math.max(REST_MIN_MS, restMs),
    summary: `${joined} components collected, ${sent} sessions made, ${ended} batches ended; waiting: ${waits.join(', ') || 'none'}`,
  };
}
