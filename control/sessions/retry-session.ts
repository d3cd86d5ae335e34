import { randomBytes, randomUUID } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import { musterError } from '../../domain/errors.ts';
import { isCheck } from '../../domain/sessions/check-mode.ts';
import { imagesOf } from '../../domain/sessions/images/image-names.ts';
import { retryName } from '../../domain/sessions/naming.ts';
import { planRetry, type RetryPlan } from '../../domain/sessions/retry-plan.ts';
import type { SessionRetry } from '../../domain/sessions/schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { readHostsNotApplied } from '../../store/runs/host-result-reads.ts';
import { findSessionJob } from '../../store/sessions/session-jobs.ts';
import { readAttempts } from '../../store/sessions/session-reads.ts';
import {
  findRootName,
  findSessionById,
  insertSession,
  noteWriter,
  type SessionRow,
} from '../../store/sessions/sessions.ts';
import { recordAs } from '../access/attribute-writes.ts';
import { sessionExists } from './create-session.ts';
import type { Dispatcher, SessionEngine } from './engine-port.ts';
import { getSession } from './find-session.ts';
import { imagesNotMade } from './images/judge-images.ts';

/** Tag of a retry: the name of the session that it retries. */
const RETRY_TAG = 'muster.retry-of';
/** Random names are tried this often; two equal ones in a row do not happen. */
const NAME_TRIES = 5;

export interface RetryDeps {
  db: Db;
  dispatcher: Dispatcher;
  engine: Pick<SessionEngine, 'retryInPlace'>;
  clock(): Date;
}

/**
 * Runs a session again, for all hosts or those that failed. One that holds after a failure goes on in place; of a
 * complete one a new, linked session is made from its snapshot (`created`). Throws `session_not_found`,
 * `session_not_complete` for one that works, `nothing_failed` also for one that succeeded unless all hosts are asked for,
 * `session_exists` for a name that is taken.
 */
export async function retrySession(
  deps: RetryDeps,
  by: Acting,
  name: string,
  request: SessionRetry,
): Promise<{ session: SessionRow; created: boolean }> {
  const hosts = request.hosts ?? 'all';
  const made = by.operation ? await findSessionById(deps.db, by.operation) : null;
  if (made !== null) return { session: made, created: true };
  const original = await getSession(deps.db, name);
  if (original.status !== 'complete' && original.phase === 'hold') {
    if (request.name !== undefined) {
      throw musterError('bad_request', `Session ${name} holds and goes on in place, it takes no new name`, 'name');
    }
    await deps.engine.retryInPlace(original.id, hosts);
    await recordAs('retry', () => noteWriter(deps.db, original.id, by.actor, deps.clock()));
    return { session: await getSession(deps.db, name), created: false };
  }
  if (original.status !== 'complete' || original.stage !== 'ended') {
    throw musterError('session_not_complete', `Session ${name} is not complete, its phase is ${original.phase}`);
  }
  if (original.succeeded === 'true' && request.hosts === undefined) {
    throw musterError('nothing_failed', `Session ${name} succeeded; hosts must be "all" to run it again`, 'hosts');
  }
  const notApplied = hosts === 'failed' ? await readHostsNotApplied(deps.db, original.id) : [];
  const plan = planRetry({
    name,
    snapshot: original.snapshot,
    configurationLimit: original.configuration_limit,
    ansibleLimit: original.ansible_limit,
    limitOfHosts: original.limit_of_hosts,
    target: original.target,
    runs: await readAttempts(deps.db, original.id),
    isOneRun: (await findSessionJob(deps.db, original.id))?.profile === 'compatible',
    notApplied,
    imagesNotMade: hosts === 'failed' ? await failedImages(deps.db, original, notApplied) : [],
    hosts,
  });
  const session = await insertRetry(deps, by, original, plan, request.name);
  deps.dispatcher.kick();
  return { session, created: true };
}

/** The images of which no new one came; of a check, which makes none, those that a layer was not applied to. */
async function failedImages(db: Db, session: SessionRow, notApplied: readonly { host: string }[]): Promise<string[]> {
  if (session.target.definition !== 'image') return [];
  if (!isCheck(session)) return imagesNotMade(db, session);
  return imagesOf(session.target).filter((image) => notApplied.some(({ host }) => host === image));
}

async function insertRetry(
  deps: RetryDeps,
  by: Acting,
  original: SessionRow,
  plan: RetryPlan,
  wanted: string | undefined,
): Promise<SessionRow> {
  const root = await findRootName(deps.db, original.id);
  for (let attempt = 0; attempt < NAME_TRIES; attempt++) {
    const name = wanted ?? retryName(root, randomBytes(4).toString('hex'));
    const row = await insertSession(deps.db, {
      id: by.operation ?? randomUUID(),
      name,
      configurationName: original.configuration_name,
      configurationLimit: plan.configurationLimit,
      ansibleConfig: original.ansible_config,
      ansibleLimit: plan.ansibleLimit,
      limitOfHosts: plan.limitOfHosts,
      ansibleVerbosity: original.ansible_verbosity,
      ansiblePassthrough: original.ansible_passthrough,
      target: plan.target,
      tags: { ...original.tags, [RETRY_TAG]: original.name },
      debugOnFailure: original.debug_on_failure,
      snapshot: plan.snapshot,
      muster: original.muster,
      retryOf: original.id,
      actor: by.actor,
      now: deps.clock(),
    });
    if (row !== null) return row;
    if (wanted !== undefined) break;
  }
  throw sessionExists(wanted ?? root);
}
