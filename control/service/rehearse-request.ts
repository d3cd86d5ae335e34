/** A dry run: the request is really made, in a transaction that is taken back, and what it would change is read before. */
import { randomUUID } from 'node:crypto';
import { isPlainHostName } from '../../domain/components/host-names.ts';
import { musterError } from '../../domain/errors.ts';
import { becomesOf } from '../../domain/service/becomes.ts';
import { type DryRunAnswer, type DryRunHosts, SHOWN_CHANGES } from '../../domain/service/dry-run-schema.ts';
import { changedNames, firstChanges } from '../../store/audit/rehearsed-changes.ts';
import { statusesOfComponents } from '../../store/components/component-status.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import { openRehearsalHandle, rehearse } from '../../store/connection/rehearsal.ts';
import { readHostNames, readHostsNotApplied } from '../../store/runs/host-result-reads.ts';
import { limitOfSession } from '../../store/sessions/session-queries.ts';
import type { ManyRecords } from './many-records.ts';
import { type RehearsalNotes, withRehearsalNotes } from './rehearsal-notes.ts';

/** What a route has answered. */
export interface RehearsedAnswer {
  status: number;
  contentType: string;
  /** The body, parsed; null for an empty one. */
  body: unknown;
  warnings: string[];
}

export interface RehearseDependencies {
  /** The database, and the handle of rehearsals over it. */
  db: Db;
  handle: Db;
  /** Makes the request of this id with that handle. */
  request(requestId: string): Promise<RehearsedAnswer>;
  /** The counts of a write of which the request is a sample; null where it is the whole. */
  many: ManyRecords | null;
}

/** Opens the handle that the routes of rehearsals stand on. */
export const rehearsalHandle = (db: Db): Db => openRehearsalHandle(db);

const TIMES = { lockMs: 1_000, statementMs: 5_000 };
/** Hosts of a session that are counted. */
const MOST_HOSTS = 200_000;
/** Kinds whose change can change the status of every component. */
const OF_ALL = ['options', 'source'];

/**
 * Returns what the request would change, or the refusal of its route. Nothing of it stays. Throws `rehearsal_busy` where a statement waits
 * or lasts too long.
 */
export function rehearseRequest(
  deps: RehearseDependencies,
): Promise<{ refused: RehearsedAnswer } | { effect: DryRunAnswer }> {
  return withRehearsalNotes((notes) => rehearsed(deps, notes));
}

function rehearsed(
  { db, handle, request, many }: RehearseDependencies,
  notes: RehearsalNotes,
): Promise<{ refused: RehearsedAnswer } | { effect: DryRunAnswer }> {
  const requestId = randomUUID();
  return rehearse(db, TIMES, async ({ takeBack, isBusy }) => {
    try {
      const answer = await request(requestId);
      if (isBusy()) throw busy();
      if (answer.status >= 300) return { refused: answer };
      const names = await changedNames(handle, requestId);
      const changes = await firstChanges(handle, requestId, SHOWN_CHANGES);
      const hosts = await hostsOf(handle, changes, notes);
      const after = await statusesAfter(handle, names);
      await takeBack();
      const before = await statusesAfter(handle, names);
      const changed = [...names.values()].reduce((sum, { length }) => sum + length, 0);
      const unchanged = unchangedOf(answer.body, changed);
      const { status, body } = answer;
      const becomes = becomesOf(before, after);
      const counts = { total: changed + unchanged, changed, unchanged };
      const warnings = [...notes.warnings, ...answer.warnings];
      const effect = { status, answer: body ?? null, ...counts, changes, becomes, hosts, warnings };
      return { effect: many === null ? effect : ofAll(effect, many) };
    } catch (error) {
      throw isBusy() ? busy() : error;
    }
  });
}

/** The effect of a sample with the counts of the whole. */
function ofAll(effect: DryRunAnswer, { sample: _sample, answer, ...counts }: ManyRecords): DryRunAnswer {
  return { ...effect, ...counts, answer: { ...(effect.answer as object), ...answer } };
}

const busy = () =>
  musterError('rehearsal_busy', 'The dry run waited for records that others write, or took longer than 5 s.');

/** The statuses of the components that these changes concern. */
async function statusesAfter(handle: Db, names: ReadonlyMap<string, string[]>) {
  const components = names.get('component') ?? [];
  const configurations = names.get('configuration') ?? [];
  const options = await readOptions(handle);
  if (OF_ALL.some((kind) => names.has(kind)) || configurations.length > 1) {
    return statusesOfComponents(handle, { options });
  }
  const [desiredConfig] = configurations;
  if (desiredConfig !== undefined) return statusesOfComponents(handle, { options, desiredConfig });
  return components.length === 0 ? [] : statusesOfComponents(handle, { options, ids: components });
}

/** The hosts of the session that was made, or of the one that goes on where it holds. */
async function hostsOf(
  handle: Db,
  changes: DryRunAnswer['changes'],
  { goesOn }: RehearsalNotes,
): Promise<DryRunHosts | null> {
  if (goesOn !== null) return shownHosts(await hostsOfHeld(handle, goesOn), 'no host has a result yet');
  const made = changes.find(({ kind, action }) => kind === 'session' && action === 'create');
  if (made === undefined) return null;
  const names = (await limitOfSession(handle, made.name))?.split(',') ?? [];
  return shownHosts(names.every(isPlainHostName) ? names : [], 'the inventory is made when the session begins');
}

/** Hosts of a session that holds for an administrator: the hosts that are not well, or else all hosts that have taken part. */
async function hostsOfHeld(handle: Db, { sessionId, hosts }: NonNullable<RehearsalNotes['goesOn']>): Promise<string[]> {
  if (hosts === 'all') return readHostNames(handle, sessionId, '', MOST_HOSTS);
  return (await readHostsNotApplied(handle, sessionId)).map(({ host }) => host);
}

function shownHosts(names: readonly string[], unknown: string): DryRunHosts {
  if (names.length === 0) return { names: [], count: 0, unknown };
  return { names: names.slice(0, SHOWN_CHANGES), count: names.length, unknown: null };
}

/** How many records a route left as they are: the route's own count, else the records of its answer without the changed records. */
function unchangedOf(body: unknown, changed: number): number {
  const { unchanged, component_ids } = (body ?? {}) as { unchanged?: unknown; component_ids?: unknown };
  if (typeof unchanged === 'number') return unchanged;
  if (Array.isArray(component_ids)) return Math.max(0, component_ids.length - changed);
  return changed === 0 ? 1 : 0;
}
