import { createHash } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import type { ComponentFilter } from '../../domain/components/schema.ts';
import { isMusterError } from '../../domain/errors.ts';
import type { KeptCheckAnswer } from '../../domain/schedules/drift-check-schema.ts';
import { addLeftOut, type PlannedCheck, planChecks } from '../../domain/schedules/plan-checks.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import { claimCheck, saveCheckAnswer } from '../../store/schedules/drift-checks.ts';
import { selectComponents, selectionOf } from '../components/select-components.ts';
import { createSession } from '../sessions/create-session.ts';
import type { Dispatcher } from '../sessions/engine-port.ts';

export interface CheckDriftDependencies {
  db: Db;
  dispatcher: Dispatcher;
  clock(): Date;
}

export interface CheckDriftRequest {
  /** Which components; an empty filter is all of them, enabled or not. */
  filter: ComponentFilter;
  /** Whether what drifted counts as not configured when the check ends. */
  reconfigure: boolean;
  /** Id of this call: the same one again makes nothing and answers the same. */
  runId: string;
}

/** Nothing of the transaction is there to be delivered before its end. */
export const LATER: Dispatcher = { kick: () => undefined };

/**
 * Makes the sessions that check the matching components against what they desire, all in one transaction: per desired
 * configuration one for every so many hosts. Answers their names and ids. Components of a configuration that cannot run are
 * left out, with the reason. Throws `bad_tags`.
 */
export async function checkDrift(
  deps: CheckDriftDependencies,
  by: Acting,
  request: CheckDriftRequest,
): Promise<KeptCheckAnswer> {
  const answer = await deps.db
    .transaction()
    .execute((trx) => checkDriftWithin({ db: trx, dispatcher: LATER, clock: deps.clock }, by, request));
  deps.dispatcher.kick();
  return answer;
}

/** Does the work of `checkDrift` in the transaction that `db` is; the dispatcher is to be told after its end. Throws `bad_tags`. */
export async function checkDriftWithin(
  deps: CheckDriftDependencies,
  by: Acting,
  request: CheckDriftRequest,
): Promise<KeptCheckAnswer> {
  const before = await claimCheck(deps.db, request.runId, deps.clock());
  if (before !== null) return before;
  const made = await makeChecks(deps, by, request);
  await saveCheckAnswer(deps.db, request.runId, made);
  return made;
}

async function makeChecks(
  deps: CheckDriftDependencies,
  by: Acting,
  request: CheckDriftRequest,
): Promise<KeptCheckAnswer> {
  const key = createHash('sha256').update(request.runId).digest('hex').slice(0, 12);
  const plan = planChecks(await candidates(deps.db, request.filter), key);
  const leftOut = new Map(plan.leftOut.map((entry) => [entry.reason, entry]));
  const answer = { sessions: [] as string[], session_ids: [] as string[], components: 0 };
  for (const check of plan.checks) {
    const made = await makeCheck(deps, by, request, check);
    if ('id' in made) {
      answer.sessions.push(check.name);
      answer.session_ids.push(made.id);
      answer.components += check.hosts.length;
    } else addLeftOut(leftOut, made.refusal, check.hosts);
  }
  return { ...answer, left_out: [...leftOut.values()] };
}

/** Makes one session; answers its id, or why its configuration cannot run. */
async function makeCheck(
  deps: CheckDriftDependencies,
  { actor, trace = null }: Acting,
  { reconfigure }: CheckDriftRequest,
  { name, configuration, hosts }: PlannedCheck,
): Promise<{ id: string } | { refusal: string }> {
  try {
    const { session } = await createSession(
      deps,
      { actor, trace },
      {
        name,
        configuration_name: configuration,
        ansible_limit: hosts.join(','),
        muster: { check: true, ...(reconfigure ? { reconfigure } : {}) },
      },
      { debugNames: false, limitOfHosts: true },
    );
    return { id: session.id };
  } catch (error) {
    if (isMusterError(error) && (error.code === 'configuration_invalid' || error.code === 'source_unknown')) {
      return { refusal: error.detail };
    }
    throw error;
  }
}

async function candidates(db: Db, filter: ComponentFilter): Promise<{ id: string; desired_config: string }[]> {
  const found: { id: string; desired_config: string }[] = [];
  const batches = selectComponents({
    db,
    options: await readOptions(db),
    selection: selectionOf(filter),
    status: filter.status,
    afterId: '',
    lock: 'none',
  });
  for await (const { components } of batches) {
    for (const { id, desired_config } of components) found.push({ id, desired_config });
  }
  return found;
}
