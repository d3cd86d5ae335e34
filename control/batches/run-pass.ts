import { KEY_FORGOTTEN_AFTER } from '../../domain/batches/back-off.ts';
import { planSends, type SendWait, type WhyNot } from '../../domain/batches/plan-sends.ts';
import { boundedSeconds } from '../../domain/text/times.ts';
import { forgetHolds } from '../../store/batches/batch-holds.ts';
import { forgetKeys, notePass, readBatcherState, seeKeys, withPassLock } from '../../store/batches/batcher-state.ts';
import { forgetBatches } from '../../store/batches/batches.ts';
import { noteWaiting, sentBatches } from '../../store/batches/sent-batches.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { BatcherDependencies, PassDependencies } from './batcher-ports.ts';
import { type Collected, collectCandidates } from './collect-candidates.ts';
import { countEnds } from './count-ends.ts';
import { endBatch, verdictOn } from './end-batch.ts';
import { followRollouts } from './follow-rollouts.ts';
import { readPlan } from './read-plan.ts';
import { sendBatch } from './send-batch.ts';

/** Ended batches are shown for so long, ms. */
const SHOWN_MS = 7 * 24 * 3_600_000;
/** A process that has the lock and has made no pass for so long may be gone, ms. */
const STALE_MS = 180_000;
/** That a key is still seen is written down this often, ms. */
const SEEN_AGAIN_MS = 3_600_000;

export interface PassReport extends Collected {
  /** How long the collecting took; 0 when it was left out. */
  collectMs: number;
  ended: number;
  sent: number;
  /** How many batches are not sent yet, by reason. */
  waits: Partial<Record<WhyNot, number>>;
  /** Milliseconds until the next pass is worth its while without a poke; at most option `batcher_check_interval`. */
  waitMs: number;
  /** That instant. */
  nextAt: Date;
}

/**
 * One pass of the batcher (cfs-flows 5.2): end what has ended, collect what is behind, send what is due. Made of short
 * transactions, each of which leaves everything consistent, so a pass that is broken off is gone on with by the next one. Two at
 * once do no harm, but only one works: null when another process does, unless nothing came of it for minutes. Without `collect`
 * nothing is collected unless a batch ended.
 */
export async function runPass(
  deps: BatcherDependencies,
  { collect = true }: { collect?: boolean } = {},
): Promise<PassReport | null> {
  const at = deps.clock();
  return withPassLock(deps.db, new Date(at.getTime() - STALE_MS), async () => {
    const began = performance.now();
    const pass = { ...deps, options: await readOptions(deps.db) };
    const ended = await followBatches(pass);
    await countEnds(pass);
    await followRollouts(pass);
    const { paused } = await readBatcherState(deps.db);
    const isOn = !pass.options.batcher_disable && !paused;
    const collecting = performance.now();
    const isWorthIt = isOn && (collect || ended > 0);
    const collected = isWorthIt ? await collectCandidates(pass) : { joined: 0, dropped: 0 };
    const collectMs = isWorthIt ? performance.now() - collecting : 0;
    const { sent, waits, nextAt } = await sendDue(pass);
    await keepKeys(pass);
    await forgetBatches(deps.db, new Date(at.getTime() - SHOWN_MS));
    const interval = boundedSeconds(pass.options.batcher_check_interval) * 1_000;
    const now = deps.clock().getTime();
    const waitMs = Math.max(0, Math.min(interval, (nextAt ?? Number.POSITIVE_INFINITY) - now));
    const pause = { waitMs, nextAt: new Date(now + waitMs) };
    await notePass(deps.db, { at, ms: Math.round(performance.now() - began), nextAt: pause.nextAt });
    return { ...collected, ...pause, collectMs, ended, sent, waits };
  });
}

/** Ends the sent batches whose sessions say so; answers how many. */
async function followBatches(deps: PassDependencies): Promise<number> {
  const { db, clock, options } = deps;
  const sent = await sentBatches(db, options.max_running_sessions);
  const waiting = sent.filter(({ session }) => session?.status === 'pending' && session.waiting);
  await noteWaiting(
    db,
    waiting.map(({ id }) => id),
    clock(),
  );
  let ended = 0;
  for (const batch of sent) {
    if (verdictOn(batch, deps) === 'follow') continue;
    if (await endBatch(deps, batch.id)) ended += 1;
  }
  return ended;
}

/** Sends what is due. A probe that came to nothing gives its turn to the next one. */
async function sendDue(
  deps: PassDependencies,
): Promise<Pick<PassReport, 'sent' | 'waits'> & { nextAt: number | null }> {
  const tried = new Set<string>();
  for (let sent = 0; ; ) {
    const { open, facts } = await readPlan(deps.db, deps.options, deps.clock());
    const plan = planSends(
      open.filter(({ id }) => !tried.has(id)),
      facts,
    );
    let again = false;
    for (const send of plan.sends) {
      tried.add(send.batch);
      const outcome = await sendBatch(deps, send);
      if (outcome === 'sent') sent += 1;
      else if (send.probe || send.keyProbe || send.holdProbe) again = true;
    }
    if (!again) return { sent, waits: countReasons(plan.waits), nextAt: plan.nextAt };
  }
}

function countReasons(waits: readonly SendWait[]): PassReport['waits'] {
  const counts: PassReport['waits'] = {};
  for (const { why } of waits) counts[why] = (counts[why] ?? 0) + 1;
  return counts;
}

/** What is remembered of keys that are still seen stays; the others are forgotten in time. */
async function keepKeys({ db, clock }: PassDependencies): Promise<void> {
  const now = clock();
  await seeKeys(db, now, new Date(now.getTime() - SEEN_AGAIN_MS));
  await forgetKeys(db, new Date(now.getTime() - KEY_FORGOTTEN_AFTER));
  await forgetHolds(db, new Date(now.getTime() - KEY_FORGOTTEN_AFTER));
}
