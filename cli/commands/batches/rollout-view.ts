import type { Rollout, RolloutDetail } from '../../../domain/batches/rollout-schema.ts';
import { cell, type View } from '../../output/columns.ts';
import { policyText } from '../../output/policy-text.ts';
import { fieldList } from '../../output/table.ts';
import { duration, timeOf } from '../../output/times.ts';

/** How rollouts are listed; `now` in milliseconds since 1970. */
export const rolloutView = (now: number): View<Rollout> => ({
  noun: 'rollouts',
  name: ({ configuration }) => configuration,
  columns: [
    { title: 'CONFIGURATION', value: ({ configuration }) => configuration },
    { title: 'STATE', value: ({ state }) => state },
    { title: 'COMPONENTS', value: ({ components }) => cell(components) },
    { title: 'CONFIGURED', value: ({ configured }) => cell(configured) },
    { title: 'PENDING', value: ({ pending }) => cell(pending) },
    { title: 'FAILED', value: ({ failed }) => cell(failed) },
    { title: 'IN SESSIONS', value: ({ in_sessions }) => cell(in_sessions) },
    { title: 'AGE', value: ({ created_at }) => duration(now - (timeOf(created_at) ?? now)) },
    { title: 'REASON', value: ({ reason }) => cell(reason) },
    { title: 'POLICY', value: ({ policy }) => policyText(policy), wide: true },
    { title: 'DONE', value: ({ done }) => cell(done), wide: true },
    { title: 'FAILURES', value: ({ failures }) => cell(failures), wide: true },
    { title: 'ID', value: ({ id }) => cell(id), wide: true },
  ],
});

/** A rollout for people. */
export function rolloutDetails(rollout: RolloutDetail): string {
  const { state, stage } = rollout;
  const by = (at: string | null, who: string | null) => (at === null ? '' : `${at} by ${who ?? 'somebody'}`);
  return fieldList([
    ['configuration', rollout.configuration],
    ['version', rollout.version],
    ['state', state === 'stopped' ? `stopped in stage ${stage}` : state],
    ['reason', cell(rollout.reason)],
    ['policy', policyText(rollout.policy)],
    ['canaries', rollout.canaries.join(', ')],
    ['components', cell(rollout.components)],
    ['configured', cell(rollout.configured)],
    ['pending', cell(rollout.pending)],
    ['failed', cell(rollout.failed)],
    ['in sessions', cell(rollout.in_sessions)],
    ['done', cell(rollout.done)],
    ['failures', cell(rollout.failures)],
    ['began', rollout.created_at],
    ['ended', cell(rollout.ended_at)],
    ['stopped', by(rollout.stopped_at, rollout.stopped_by)],
    ['resumed', by(rollout.resumed_at, rollout.resumed_by)],
  ]);
}

/** A rollout in one line. */
export function rolloutLine({ configuration, state, reason, components, configured, in_sessions }: Rollout): string {
  const why = reason === null ? '' : ` (${reason})`;
  return `rollout of ${configuration}: ${state}${why}; ${configured} of ${components} configured, ${in_sessions} in sessions`;
}
