import { isChosen } from '../../domain/batches/canary.ts';
import { CLOSED_GATE, gateOf, type RolloutGate } from '../../domain/batches/rollout.ts';
import type { CanaryCounts, RolloutCounts } from '../../domain/batches/rollout-counts.ts';
import type { Options, RolloutPolicy } from '../../domain/configurations/schema.ts';
import { countCanaries } from '../../store/batches/canaries.ts';
import { countInSessions, type MemberTally, tallyMembers } from '../../store/batches/rollout-members.ts';
import { currentRollouts, type RolloutRow, rolloutPolicies } from '../../store/batches/rollouts.ts';
import type { Db } from '../../store/connection/database.ts';
import { readDesiredDigests } from './desired-digest.ts';

/** A configuration that has a rollout policy, or a current rollout of when it had one. */
export interface RolloutCase {
  configuration: string;
  /** Null: no policy any more, or no configuration. */
  policy: RolloutPolicy | null;
  /** Digest of what the configuration desires now. */
  version: string;
  rollout: RolloutRow | null;
}

/** All configurations that rollouts have to do with. */
export async function readRolloutCases(db: Db, options: Options): Promise<RolloutCase[]> {
  const policies = await rolloutPolicies(db);
  const rollouts = new Map((await currentRollouts(db)).map((row) => [row.configuration, row]));
  const names = [...new Set([...policies.keys(), ...rollouts.keys()])];
  if (names.length === 0) return [];
  const versions = await readDesiredDigests(db, names, options);
  return names.map((configuration) => ({
    configuration,
    policy: policies.get(configuration) ?? null,
    version: versions.get(configuration) ?? '',
    rollout: rollouts.get(configuration) ?? null,
  }));
}

/** The rollout, if it is of what its configuration desires now and under a policy. */
export function validRollout({ policy, version, rollout }: RolloutCase): RolloutRow | null {
  return policy !== null && rollout?.version === version ? rollout : null;
}

/**
 * What the batcher may do now for each configuration that has a rollout policy; all others have no gate. One whose rollout
 * has not begun is closed: the next pass begins it.
 */
export async function readRolloutGates(db: Db, options: Options): Promise<Map<string, RolloutGate>> {
  const cases = await readRolloutCases(db, options);
  if (cases.length === 0) return new Map();
  const inSessions = await countInSessions(
    db,
    cases.map(({ configuration }) => configuration),
  );
  const tallies = await tallyMembers(
    db,
    cases.flatMap(({ rollout }) => rollout?.id ?? []),
  );
  const gates = new Map<string, RolloutGate>();
  for (const one of cases) {
    if (one.policy === null) continue;
    const rollout = validRollout(one);
    const known = { tally: rollout && tallies.get(rollout.id), inSessions: inSessions.get(one.configuration) ?? 0 };
    const counts = rollout && (await countsOf(db, rollout, one.policy, known, options));
    const gate = rollout && counts ? gateOf(rollout, one.policy, counts, options.batch_size) : CLOSED_GATE;
    gates.set(one.configuration, gate);
  }
  return gates;
}

const NOTHING: MemberTally = { trying: 0, done: 0, failed: 0 };

const NO_CANARIES: CanaryCounts = { configured: 0, able: 0 };

/**
 * Counts of a rollout, with the statuses of its last look, or of this one. How many components may be canaries is counted where it
 * decides: of those that the policy chooses, and with `looks` of all, to say when there are too few.
 */
export async function countsOf(
  db: Db,
  { configuration, stage, components, pending }: Pick<RolloutRow, 'configuration' | 'stage' | 'components' | 'pending'>,
  { canary }: RolloutPolicy,
  { tally, inSessions, looks = false }: { tally: MemberTally | null | undefined; inSessions: number; looks?: boolean },
  options: Options,
): Promise<RolloutCounts> {
  const decides = stage === 'canary' && canary !== undefined && (looks || isChosen(canary));
  const canaries = decides ? await countCanaries(db, configuration, canary, options) : NO_CANARIES;
  return { components, pending, inSessions, ...(tally ?? NOTHING), canaries };
}
