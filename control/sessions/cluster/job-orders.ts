/** What the pod of a session asks, and what it is told. */
import { setTimeout as delay } from 'node:timers/promises';
import { isErrorCode } from '../../../domain/errors.ts';
import { storableText } from '../../../domain/runs/storable-text.ts';
import {
  type JobOrder,
  type JobStep,
  type StepReport,
  type TeardownState,
  withoutFiles,
} from '../../../domain/sessions/job-schema.ts';
import type { SessionStep } from '../../../domain/sessions/progress.ts';
import type { Db } from '../../../store/connection/database.ts';
import { wasWarnedOf } from '../../../store/runs/streams.ts';
import { findOrder, noteStep } from '../../../store/sessions/job-orders.ts';
import { findSessionJob } from '../../../store/sessions/session-jobs.ts';
import { type NoteDependencies, noteProgress, noteWarnings } from '../session-progress.ts';

/** Between two looks for news, ms: at first often, since it is part of what a session takes between two layers. */
const lookAgainAfter = (waited: number) => Math.min(1_000, 50 + waited / 10);

export type NextOrder = ({ number: number } & JobOrder) | { action: 'wait' };

/** The newest order after number `after`; waits for one up to `waitMs`. `files`: the pod writes the files that an order names. */
export async function nextOrder(
  db: Db,
  sessionId: string,
  { after, waitMs, files }: { after: number; waitMs: number; files: boolean },
): Promise<NextOrder> {
  return until(waitMs, async () => {
    const found = await findOrder(db, sessionId);
    if (found === null || found.number <= after) return null;
    const { number, order } = found;
    return { number, ...(order.action === 'run' && !files ? { ...order, run: withoutFiles(order.run) } : order) };
  }).then((order) => order ?? { action: 'wait' });
}

/** Whether the images' work is over; waits for that up to `waitMs`. */
export async function teardownState(db: Db, sessionId: string, waitMs: number): Promise<TeardownState> {
  const state = await until(waitMs, async () => (await findSessionJob(db, sessionId))?.teardown ?? null);
  return state ?? { done: false, exit_code: 0 };
}

/** The steps of a pod that the record shows when they begin; each has the name of its phase. */
const BEGUN = ['clone', 'inventory'] as const;

/**
 * Stores what a container says of its step; the session's record shows it, a repetition changes nothing. The `message` of one that has begun says
 * why it tries something again. Why it did, and why it failed, stays among the session's events: the log of its container goes with its pod.
 */
export async function takeStep(
  deps: NoteDependencies,
  sessionId: string,
  step: JobStep,
  report: StepReport,
): Promise<void> {
  const { db } = deps;
  const clean: StepReport = {
    ...report,
    ...(report.message === undefined ? {} : { message: storableText(report.message) }),
    ...(report.warnings === undefined ? {} : { warnings: report.warnings.map(storableText) }),
  };
  if (!(await noteStep(db, sessionId, step, clean))) return;
  const begun = BEGUN.find((shown) => shown === step);
  const reason = isErrorCode(clean.code) ? clean.code : null;
  const trouble = troubleOf(step, clean);
  if (clean.state === 'started' && begun !== undefined) {
    const told: SessionStep =
      trouble === null ? { step: begun } : { step: 'trouble', phase: begun, message: trouble, reason };
    await noteProgress(deps, sessionId, told);
  }
  // Trouble may come and go, such as that of a clone beside another one.
  const isNews = trouble !== null && !(await wasWarnedOf(db, sessionId, trouble));
  await noteWarnings(deps, sessionId, [...(isNews ? [trouble] : []), ...(clean.warnings ?? [])]);
  if (clean.state === 'failed' && trouble !== null) {
    await noteProgress(deps, sessionId, { step: 'trouble', phase: begun ?? 'layer', message: trouble, reason });
  }
}

/** Why a step failed, or tries something again; null: nothing is wrong. */
function troubleOf(step: JobStep, { state, message }: StepReport): string | null {
  if (state === 'failed') return `${step} failed: ${message ?? 'it did not say why'}`;
  return state === 'started' && message !== undefined ? `${step} failed, trying again: ${message}` : null;
}

async function until<T>(waitMs: number, look: () => Promise<T | null>): Promise<T | null> {
  const began = performance.now();
  for (;;) {
    const found = await look();
    const waited = performance.now() - began;
    if (found !== null || waited >= waitMs) return found;
    await delay(lookAgainAfter(waited));
  }
}
