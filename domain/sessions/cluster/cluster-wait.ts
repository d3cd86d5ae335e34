/** Sessions that a worker with a cluster has to take up, and what is said of them while, and when, none does. */

import type { RunnerKind } from '../../runs/runner.ts';
import type { SessionMuster } from '../schema.ts';

/** Where a session's layers run: as it says itself, else as its installation does. */
export function runnerOf({ muster }: { muster: SessionMuster | null }, byDefault: RunnerKind = 'local'): RunnerKind {
  return muster?.runner ?? byDefault;
}

/** How long a worker is waited for that prepares, starts or finishes a Job, minutes. */
export const CLUSTER_PATIENCE = 10;

/** The end of a session that none took up. */
export const NO_CLUSTER =
  'no worker with a cluster took it up: start one that has MUSTER_RUNNER_AEE_IMAGE, MUSTER_RUNNER_UTIL_IMAGE and MUSTER_RUNNER_INGEST_URL set';
