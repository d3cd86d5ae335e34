import { someOf } from '../../domain/some-of.ts';
import type { Db } from '../../store/connection/database.ts';
import { endScheduleRun, listOpenScheduleRuns, type ScheduleRunRow } from '../../store/schedules/schedule-runs.ts';
import { findScheduleById, listSchedules, type ScheduleRow } from '../../store/schedules/schedules.ts';
import { type SyncScheduleDependencies, syncSchedule } from './sync-schedule.ts';
import { deliverScheduleRun } from './trigger-schedule.ts';

export interface ReconcileDependencies extends SyncScheduleDependencies {
  clock(): Date;
}

const PAGE = 200;
/** A run this young may still be on its way. */
const SETTLE_MS = 30_000;
/** One that the engine was told of, and did not begin in this time though nothing is in its way, never will. */
const GIVEN_UP_MS = 15 * 60_000;

/**
 * Makes the engine's schedules those of the records: missing ones and such as differ are made, those without a record are
 * removed; then tells the engine of runs that were asked for while it was away, and ends runs whose workflow is gone.
 * `thorough` compares every schedule with the engine's, else only what a list shows. Rejects when the engine is away.
 */
export async function reconcileUserSchedules(
  deps: ReconcileDependencies,
  { thorough }: { thorough: boolean },
): Promise<void> {
  // Before the records are read: one that is made meanwhile is no orphan.
  const known = await deps.schedules.list();
  const orphans = new Set(known.keys());
  for await (const row of allSchedules(deps.db)) {
    orphans.delete(row.name);
    const found = known.get(row.name);
    const fits = found?.paused === row.paused && row.synced_revision === row.revision;
    if (thorough || !fits) await syncSchedule(deps, row.name);
  }
  for (const name of orphans) await syncSchedule(deps, name);
  await reconcileRuns(deps);
}

async function* allSchedules(db: Db): AsyncGenerator<ScheduleRow> {
  for (let after = ''; ; ) {
    const page = await listSchedules(db, after, PAGE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.name;
  }
}

async function reconcileRuns(deps: ReconcileDependencies): Promise<void> {
  for (let after: string | null = null; ; ) {
    const page: ScheduleRunRow[] = await listOpenScheduleRuns(deps.db, after, PAGE);
    for (const run of page) await (run.state === 'requested' ? deliverAgain(deps, run) : endIfLost(deps, run));
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.id;
  }
}

/** A run that was delivered and waits for its turn is left alone; one that the engine has forgotten is not. */
async function deliverAgain(deps: ReconcileDependencies, run: ScheduleRunRow): Promise<void> {
  const schedule = await findScheduleById(deps.db, run.schedule_id);
  if (schedule === null) return;
  const now = deps.clock();
  if (run.delivered_at !== null) {
    if (now.getTime() - run.delivered_at.getTime() < SETTLE_MS) return;
    if ((await deps.schedules.describe(schedule.name))?.busy ?? true) return;
    if (now.getTime() - run.created_at.getTime() > GIVEN_UP_MS) {
      const error = { code: 'workflow_ended', detail: 'its workflow was ended from outside before it began' };
      await endScheduleRun(deps.db, run.id, { state: 'failed', error, now });
      return;
    }
  }
  await deliverScheduleRun(deps, schedule, run);
}

async function endIfLost(deps: ReconcileDependencies, run: ScheduleRunRow): Promise<void> {
  const now = deps.clock();
  if (run.started_at === null || now.getTime() - run.started_at.getTime() < SETTLE_MS) return;
  if (run.workflow_id === null || (await deps.schedules.isOpen(run.workflow_id))) return;
  const sessions = run.result?.sessions ?? [];
  const goesOn = sessions.length === 0 ? '' : `; sessions that it made go on: ${someOf(sessions)}`;
  const error = { code: 'workflow_ended', detail: `its workflow was ended from outside or lost${goesOn}` };
  await endScheduleRun(deps.db, run.id, { state: 'failed', error, now });
}
