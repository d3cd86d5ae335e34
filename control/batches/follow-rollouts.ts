import { advance, firstPosition } from '../../domain/batches/rollout.ts';
import type { RolloutPolicy } from '../../domain/configurations/schema.ts';
import {
  countInSessions,
  countStatuses,
  type StatusCounts,
  tallyMembers,
} from '../../store/batches/rollout-members.ts';
import {
  forgetRollouts,
  insertRollout,
  lockRollout,
  type RolloutRow,
  replaceRollout,
  writeLook,
} from '../../store/batches/rollouts.ts';
import { BATCHER, type PassDependencies } from './batcher-ports.ts';
import { countsOf, type RolloutCase, readRolloutCases, validRollout } from './rollout-gates.ts';
import { stopRollout } from './stop-rollout.ts';

/** Rollouts that are over are shown for so long, ms. */
const SHOWN_MS = 30 * 24 * 3_600_000;

/**
 * Looks at every configuration with a rollout policy: begins the rollout of what it desires now when something is pending, ends
 * that of what it desired before, and moves the current one on: to the rest after the canary, to stopped, to done.
 */
export async function followRollouts(deps: PassDependencies): Promise<void> {
  const { db, options, clock } = deps;
  const cases = await readRolloutCases(db, options);
  if (cases.length === 0) return;
  const names = cases.map(({ configuration }) => configuration);
  const statuses = await countStatuses(db, names, options);
  for (const one of cases) {
    await followOne(deps, one, statuses.get(one.configuration) ?? { components: 0, pending: 0, failed: 0 });
  }
  await forgetRollouts(db, new Date(clock().getTime() - SHOWN_MS));
}

async function followOne(deps: PassDependencies, one: RolloutCase, statuses: StatusCounts): Promise<void> {
  const { db, clock } = deps;
  const { configuration, policy, version } = one;
  await db.transaction().execute(async (trx) => {
    const now = clock();
    const rollout = await lockRollout(trx, configuration);
    const isValid = validRollout({ ...one, rollout }) !== null;
    if (rollout !== null && policy !== null && isValid) {
      await look({ ...deps, db: trx }, rollout, policy, statuses, now);
      return;
    }
    if (rollout !== null) {
      const reason = policy === null ? 'the configuration has no rollout policy' : 'the configuration changed';
      await replaceRollout(trx, rollout, reason, now);
    }
    if (policy === null || statuses.pending === 0) return;
    const { components, pending } = statuses;
    await insertRollout(trx, { configuration, version, position: firstPosition(policy), components, pending }, now);
  });
}

async function look(
  { db, log, options }: PassDependencies,
  rollout: RolloutRow,
  policy: RolloutPolicy,
  statuses: StatusCounts,
  now: Date,
): Promise<void> {
  const { id, configuration } = rollout;
  const tally = (await tallyMembers(db, [id])).get(id);
  const inSessions = (await countInSessions(db, [configuration])).get(configuration) ?? 0;
  const counts = await countsOf(db, { ...rollout, ...statuses }, policy, { tally, inSessions, looks: true }, options);
  const next = advance(rollout, policy, counts);
  const found = {
    components: statuses.components,
    pending: statuses.pending,
    failed: statuses.failed,
    in_sessions: inSessions,
    done: counts.done,
    tries_failed: counts.failed,
  };
  const stops = next.state === 'stopped' && rollout.state !== 'stopped';
  const position = stops ? { state: rollout.state, stage: rollout.stage, reason: rollout.reason } : next;
  if (differs(rollout, { ...found, ...position })) await writeLook(db, id, position, found, now);
  if (!stops) return;
  log.warn({ configuration, reason: next.reason }, 'a rollout is stopped');
  await stopRollout(db, rollout, { reason: next.reason ?? '', actor: BATCHER, now });
}

function differs(row: RolloutRow, next: Partial<RolloutRow>): boolean {
  return (Object.keys(next) as (keyof RolloutRow)[]).some((column) => row[column] !== next[column]);
}
