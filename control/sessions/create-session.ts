import { randomUUID } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import { DEFAULT_OPTIONS } from '../../domain/configurations/default-options.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import { musterError } from '../../domain/errors.ts';
import { checkAnsibleLimit } from '../../domain/sessions/ansible-limit.ts';
import { musterOf } from '../../domain/sessions/check-mode.ts';
import { parsePassthrough } from '../../domain/sessions/passthrough.ts';
import type { SessionCreate } from '../../domain/sessions/schema.ts';
import { buildSnapshot, sourcesOf } from '../../domain/sessions/snapshot.ts';
import { checkTarget } from '../../domain/sessions/target.ts';
import { findSources } from '../../store/configurations/sources.ts';
import type { Db } from '../../store/connection/database.ts';
import { findSessionById, insertSession, readCreationInputs, type SessionRow } from '../../store/sessions/sessions.ts';
import type { Dispatcher } from './engine-port.ts';

export interface CreateSessionDeps {
  db: Db;
  dispatcher: Dispatcher;
  clock(): Date;
}

/** What a session is made from: v3's body. Limit and pass-through are stored as they are given, absent ones as ''. */
export type SessionWanted = Omit<SessionCreate, 'ansible_limit' | 'ansible_passthrough'> & {
  ansible_limit?: string | null | undefined;
  ansible_passthrough?: string | null | undefined;
};

export interface CreatedSession {
  session: SessionRow;
  /** The options under which it was made. */
  options: Options;
}

/** The refusal of a name that is taken. */
export function sessionExists(name: string): Error {
  return musterError('session_exists', `A session with the name ${name} already exists`);
}

/**
 * Creates a session (cfs-api 9). The record with the snapshot of what will run, its stream and the message that starts
 * the workflow are one statement, so committed together; whether the engine is there does not matter. Checks in order:
 * limit, name (`session_exists`), configuration (`configuration_invalid`; `debugNames`, default true, lets the built-in
 * debugging playbooks pass), target, pass-through, check mode (`bad_request`). Of two equal creates at the same time the unique index
 * lets one pass. `limitOfHosts`: the limit is ids of components, so a group of such a name is never meant.
 */
export async function createSession(
  deps: CreateSessionDeps,
  by: Acting,
  body: SessionWanted,
  { debugNames = true, limitOfHosts = false }: { debugNames?: boolean; limitOfHosts?: boolean } = {},
): Promise<CreatedSession> {
  checkAnsibleLimit(body.ansible_limit ?? '');
  const { db } = deps;
  const inputs = await readCreationInputs(db, body.name, body.configuration_name);
  const options = { ...DEFAULT_OPTIONS, ...inputs.options };
  if (inputs.nameTaken) return { session: await madeBefore(deps, by, body.name), options };
  const { configuration } = inputs;
  const ansibleConfig = body.ansible_config || options.default_ansible_config;
  const configurationLimit = body.configuration_limit ?? '';
  const snapshot = buildSnapshot({
    configurationName: body.configuration_name,
    configuration,
    debugNames,
    limit: configurationLimit,
    ansibleConfig,
    options,
    sources: await findSources(db, sourcesOf(configuration, options)),
  });
  const target = checkTarget(body.target);
  parsePassthrough(body.ansible_passthrough ?? '');
  const muster = musterOf(body.muster);
  const session = await insertSession(db, {
    id: by.operation ?? randomUUID(),
    name: body.name,
    configurationName: body.configuration_name,
    configurationLimit,
    ansibleConfig,
    ansibleLimit: orEmpty(body.ansible_limit),
    limitOfHosts,
    ansibleVerbosity: body.ansible_verbosity ?? 0,
    ansiblePassthrough: orEmpty(body.ansible_passthrough),
    target,
    tags: body.tags ?? {},
    debugOnFailure: body.debug_on_failure ?? false,
    snapshot,
    muster,
    retryOf: null,
    trace: by.trace ?? null,
    actor: by.actor,
    now: deps.clock(),
  });
  if (session === null) return { session: await madeBefore(deps, by, body.name), options };
  deps.dispatcher.kick();
  return { session, options };
}

/** The session that an earlier try of the same operation made, though it is deleted since; else `session_exists`. */
async function madeBefore({ db }: CreateSessionDeps, { operation }: Acting, name: string): Promise<SessionRow> {
  const session = operation ? await findSessionById(db, operation) : null;
  if (session === null) throw sessionExists(name);
  return session;
}

/** Text that was left out is empty; null stays null (cfs-api 9: v2's default). */
const orEmpty = (text: string | null | undefined): string | null => (text === undefined ? '' : text);
