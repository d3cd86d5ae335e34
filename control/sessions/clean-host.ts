import type { Kysely } from 'kysely';
import type { Runner } from '../../domain/runs/runner.ts';
import { sessionOfRun } from '../../domain/sessions/run-id.ts';
import { markRunEnded, runsWithOwners } from '../../store/runs/runs.ts';
import { endedSessions, isSessionId } from '../../store/sessions/session-engine.ts';
import type { Database } from '../../store/tables.ts';

export interface CleanHostDependencies {
  db: Kysely<Database>;
  runner: Runner;
  workspaces: { list(): Promise<string[]>; remove(sessionId: string): Promise<void> };
  hostId: string;
}

export interface CleanReport {
  /** Runs whose processes were ended because nobody owns them any more. */
  stopped: string[];
  removedRuns: number;
  removedWorkspaces: number;
  /** What could not be done, for people; it is tried again by the next clean-up. */
  problems: string[];
}

/**
 * Brings this machine's disk and processes in line with the records: a run without an open session is ended, files of
 * runs that are in no record and workspaces of ended sessions are removed. What fails does not keep the rest from it.
 */
export async function cleanHost(deps: CleanHostDependencies): Promise<CleanReport> {
  const { db, runner, workspaces, hostId } = deps;
  const report: CleanReport = { stopped: [], removedRuns: 0, removedWorkspaces: 0, problems: [] };
  const attempt = async (what: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      report.problems.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  // Files first, records second: what is made between the two looks has a record and is left alone.
  const onDisk = await runner.list();
  const live = new Set(await runner.live());
  const known = new Map((await runsWithOwners(db, hostId)).map((run) => [run.id, run]));
  // A run that was ended before it began has files and no record; they keep it from beginning while its session is open.
  const strange = onDisk.filter((runId) => !known.has(runId));
  const over = new Set(await endedSessions(db, strange.map(sessionOfRun)));
  for (const runId of onDisk) {
    const run = known.get(runId);
    if (run?.owned || (run === undefined && isSessionId(sessionOfRun(runId)) && !over.has(sessionOfRun(runId))))
      continue;
    await attempt(`run ${runId}`, async () => {
      if (live.has(runId) || run?.open) {
        await runner.end(runId);
        await markRunEnded(db, runId, 'lost', null);
        report.stopped.push(runId);
      }
      if (run === undefined) {
        await runner.remove(runId);
        report.removedRuns += 1;
      }
    });
  }
  for (const sessionId of await endedSessions(db, await workspaces.list())) {
    await attempt(`workspace ${sessionId}`, async () => {
      await workspaces.remove(sessionId);
      report.removedWorkspaces += 1;
    });
  }
  return report;
}
