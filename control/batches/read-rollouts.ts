import type { Rollout, RolloutDetail, RolloutListQuery } from '../../domain/batches/rollout-schema.ts';
import { findCanaries } from '../../store/batches/canaries.ts';
import { findRollout, pageRollouts, type ShownRollout } from '../../store/batches/rollouts.ts';
import type { Db } from '../../store/connection/database.ts';
import { rolloutNotFound } from './command-rollout.ts';

/** A page of the rollouts, newest first, and whether there are older ones. */
export async function listRollouts(
  db: Db,
  { configuration, state, all, limit, after_id }: RolloutListQuery,
): Promise<{ rollouts: Rollout[]; more: boolean }> {
  const page = { configuration, state, current: !all, before: after_id ?? null, limit: limit + 1 };
  const rows = await pageRollouts(db, page);
  return { rollouts: rows.slice(0, limit).map(viewOf), more: rows.length > limit };
}

/** Ids of canaries that are shown at most. */
const CANARIES_SHOWN = 1_000;

/** The current rollout of a configuration. Throws `rollout_not_found`. */
export async function getRollout(db: Db, configuration: string): Promise<RolloutDetail> {
  const row = await findRollout(db, configuration);
  if (row === null) throw rolloutNotFound(configuration);
  return { ...viewOf(row), canaries: await findCanaries(db, row, row.policy?.canary, CANARIES_SHOWN) };
}

function viewOf({ is_current, tries_failed, ...row }: ShownRollout): Rollout {
  const { components, pending, failed } = row;
  const time = (at: Date | null) => at?.toISOString() ?? null;
  return {
    ...row,
    current: is_current,
    configured: Math.max(0, components - pending - failed),
    failures: tries_failed,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    ended_at: time(row.ended_at),
    stopped_at: time(row.stopped_at),
    resumed_at: time(row.resumed_at),
  };
}
