/** Sessions that a worker with a cluster has to take up, and what is said of them while, and when, none does. */
import type { RunnerKind, SessionMuster, TargetDefinition } from '../schema.ts';

/** Where a session's layers run: as it says itself, else as its installation does. */
export function runnerOf({ muster }: { muster: SessionMuster | null }, byDefault: RunnerKind = 'local'): RunnerKind {
  return muster?.runner ?? byDefault;
}

/** How long a worker is waited for that prepares, starts or finishes a Job, minutes. */
export const CLUSTER_PATIENCE = 10;

/** What the record says until a worker has begun to prepare the Job. */
export const WAITS_FOR_CLUSTER = {
  phase: 'inventory',
  message: `waiting for a worker with a cluster to prepare its Job, ${CLUSTER_PATIENCE} min at most`,
} as const;

/** The end of a session that none took up. */
export const NO_CLUSTER =
  'no worker with a cluster took it up: start one that has MUSTER_RUNNER_AEE_IMAGE, MUSTER_RUNNER_UTIL_IMAGE and MUSTER_RUNNER_INGEST_URL set';

/** What a session does as soon as it is let in, or waits for, as its record says it. */
export function firstStep(
  session: { muster: SessionMuster | null; target: { definition: TargetDefinition } },
  byDefault?: RunnerKind,
): { phase: string; message: string } {
  if (runnerOf(session, byDefault) === 'local') return { phase: 'clone', message: 'cloning' };
  if (session.target.definition === 'image') return { phase: 'images', message: 'preparing the images' };
  return WAITS_FOR_CLUSTER;
}
