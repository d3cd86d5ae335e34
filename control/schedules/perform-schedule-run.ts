import { musterError } from '../../domain/errors.ts';
import { scheduleActor, scheduledSessionName } from '../../domain/schedules/schedule-naming.ts';
import type { KeptRunResult, ScheduleAction, ScheduleRunResult } from '../../domain/schedules/schedule-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  endScheduleRun,
  findScheduleRun,
  lockScheduleRun,
  noteScheduleRunResult,
} from '../../store/schedules/schedule-runs.ts';
import { findScheduleById } from '../../store/schedules/schedules.ts';
import { type FilterPatchDependencies, patchComponentsByFilter } from '../components/patch-components-by-filter.ts';
import { createSession } from '../sessions/create-session.ts';
import type { Dispatcher } from '../sessions/engine-port.ts';
import { checkDriftWithin, LATER } from './check-drift.ts';
import { type RefreshDependencies, refreshConfigurations } from './refresh-configurations.ts';

export interface PerformDependencies extends RefreshDependencies, Omit<FilterPatchDependencies, 'alongside'> {
  db: Db;
  dispatcher: Dispatcher;
}

/** What a run is and what it writes in whose name. */
interface Work {
  deps: PerformDependencies;
  runId: string;
  schedule: { id: string; name: string };
  scheduledAt: Date;
  actor: string;
  signal: AbortSignal;
}

/** What a run waits for. */
type Made = Pick<KeptRunResult, 'sessions' | 'session_ids'>;

/** Ids of components that the record of a run names. */
const NAMED = 20;

/**
 * Does what a run is for; done twice it does nothing more. Answers `following` when the run lasts until its sessions are
 * complete, and `over` when it has ended: done, failed with its reason in the record, or deleted with its schedule.
 */
export async function performScheduleRun(
  deps: PerformDependencies,
  runId: string,
  signal: AbortSignal,
): Promise<'following' | 'over'> {
  const run = await findScheduleRun(deps.db, runId);
  const schedule = run && (await findScheduleById(deps.db, run.schedule_id));
  if (!run?.action || !schedule || run.ended_at !== null) return 'over';
  const actor = scheduleActor(schedule.name);
  const work = { deps, runId, schedule, scheduledAt: run.scheduled_at, actor, signal };
  return (await perform(work, run.action)) === null ? 'over' : 'following';
}

/** Answers the sessions that are to be waited for, or null when the run has ended. */
async function perform(work: Work, { reconfigure, refresh, session, check }: ScheduleAction): Promise<Made | null> {
  if (reconfigure) return reconfigureComponents(work, reconfigure);
  if (refresh) return refreshBranches(work, refresh);
  if (session) return making(work, (within) => runSession(within, session));
  if (check) return making(work, (within) => checkComponents(within, check));
  throw musterError('internal', `run ${work.runId} has an action of a later version of Muster`);
}

/** Clears the states and ends the run in one transaction, so that a second try cannot clear what was reached meanwhile. */
async function reconfigureComponents(
  { deps, runId, actor }: Work,
  { filter, desired_config }: NonNullable<ScheduleAction['reconfigure']>,
): Promise<null> {
  const patch = { state: [], ...(desired_config === undefined ? {} : { desired_config }) };
  const alongside: FilterPatchDependencies['alongside'] = async (trx, ids) => {
    const result: ScheduleRunResult = { components: { count: ids.length, ids: ids.slice(0, NAMED) } };
    const ended = await endScheduleRun(trx, runId, { state: 'succeeded', result, now: deps.clock() });
    if (!ended) throw musterError('changed_meanwhile', `run ${runId} has ended meanwhile`);
  };
  await patchComponentsByFilter({ ...deps, alongside }, { actor }, { patch, filters: filter });
  return null;
}

async function refreshBranches(
  { deps, runId, actor, signal }: Work,
  { configurations: names }: NonNullable<ScheduleAction['refresh']>,
): Promise<null> {
  const configurations = await refreshConfigurations(deps, { actor }, names, signal);
  const { failed } = configurations;
  const detail = failed.map(({ name, detail }) => `${name}: ${detail}`).join('; ');
  await endScheduleRun(deps.db, runId, {
    state: failed.length === 0 ? 'succeeded' : 'failed',
    result: { configurations },
    error: failed.length === 0 ? undefined : { code: 'refresh_failed', detail: detail.slice(0, 2_000) },
    now: deps.clock(),
  });
  return null;
}

/**
 * Makes sessions in a transaction that holds the run, and notes them in it. What ends the run meanwhile waits for it and then sees them; a
 * run that was ended before makes none.
 */
async function making(work: Work, make: (within: Work) => Promise<Made | null>): Promise<Made | null> {
  const { deps, runId } = work;
  const made = await deps.db.transaction().execute(async (trx) => {
    const run = await lockScheduleRun(trx, runId);
    if (run === null || run.ended_at !== null) return null;
    if (run.result?.sessions) return { sessions: run.result.sessions, session_ids: run.result.session_ids };
    const noted = await make({ ...work, deps: { ...deps, db: trx, dispatcher: LATER } });
    if (noted !== null) await noteScheduleRunResult(trx, runId, noted);
    return noted;
  });
  deps.dispatcher.kick();
  return made;
}

/** The session's id is the run's, so that a second try finds what the first has made. */
async function runSession(
  { deps, runId, schedule, scheduledAt, actor }: Work,
  { name_prefix, ...body }: NonNullable<ScheduleAction['session']>,
): Promise<Made> {
  const name = scheduledSessionName(schedule, name_prefix, scheduledAt);
  const { session } = await createSession(deps, { actor, operation: runId }, { ...body, name });
  return { sessions: [name], session_ids: [session.id] };
}

async function checkComponents(
  { deps, runId, actor }: Work,
  { filter, reconfigure = false }: NonNullable<ScheduleAction['check']>,
): Promise<Made | null> {
  const checked = await checkDriftWithin(deps, { actor }, { filter, reconfigure, runId });
  const { sessions, session_ids, components, left_out } = checked;
  if (sessions.length > 0) return { sessions, session_ids };
  const why = left_out.map(({ reason, components: count }) => `${reason} (${count})`).join('; ');
  await endScheduleRun(deps.db, runId, {
    state: left_out.length === 0 ? 'succeeded' : 'failed',
    result: { components: { count: components, ids: [] } },
    error: left_out.length === 0 ? undefined : { code: 'configuration_invalid', detail: `nothing was checked: ${why}` },
    now: deps.clock(),
  });
  return null;
}
