import { fateOfRun, type Owner, ownersByName, type RunOwner, type UnseenRuns } from '../../domain/runs/owner.ts';
import type { Runner } from '../../domain/runs/runner.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import type { Db } from '../../store/connection/database.ts';
import { markRunEnded, runsOfMachine } from '../../store/runs/runs.ts';

export interface CleanMachineDependencies {
  db: Db;
  clock(): Date;
  runner: Pick<Runner, 'list' | 'live' | 'end' | 'remove' | 'mayHaveLeft'>;
  /** What the lanes of this process say of the owners of their runs. */
  owners: readonly RunOwner[];
  /** Id of this machine's data directory. */
  hostId: string;
}

export interface CleanReport {
  /** Runs whose processes were ended because their owner is over. */
  stopped: string[];
  removedRuns: number;
  /** What could not be done, for people; it is tried again by the next clean-up. */
  problems: string[];
}

/**
 * Brings this machine's runs in line with the records: a run whose owner is over is ended, and the files of a run that is in no record are
 * removed. A run of a kind that no lane of this process offers is left alone and told of: a newer release beside this one may own it.
 * Lanes hear of the end of runs that they could not see.
 * What fails does not keep the rest from it.
 */
export async function cleanMachine({
  db,
  clock,
  runner,
  owners,
  hostId,
}: CleanMachineDependencies): Promise<CleanReport> {
  const report: CleanReport = { stopped: [], removedRuns: 0, problems: [] };
  // Files first, records second: what is made between the two looks has a record and is left alone.
  const onDisk = await runner.list();
  const live = new Set(await runner.live());
  const known = new Map((await runsOfMachine(db, hostId)).map((run) => [run.id, run]));
  const isOpen = await openOwners(
    owners,
    onDisk.flatMap((runId) => {
      const run = known.get(runId);
      // A run that was ended before it began has files and no record; they keep it from beginning while its owner is open.
      if (run === undefined) return ownersByName(runId, owners);
      return run.owner === null ? [] : [run.owner];
    }),
  );
  for (const runId of onDisk) {
    const run = known.get(runId) ?? null;
    const fate = fateOfRun(runId, run, owners, isOpen);
    if (fate === 'leave') continue;
    if (fate === 'unknown_kind') {
      if (run?.isOpen)
        report.problems.push(`run ${runId}: it belongs to a ${run.owner?.kind}, which this release does not know`);
      continue;
    }
    try {
      if (live.has(runId) || run?.isOpen) {
        await runner.end(runId);
        await markRunEnded(db, runId, 'lost', null, clock());
        report.stopped.push(runId);
      }
      if (fate === 'remove') {
        await runner.remove(runId);
        report.removedRuns += 1;
      }
    } catch (error) {
      report.problems.push(`run ${runId}: ${messageOf(error)}`);
    }
  }
  for (const { unseen } of owners) if (unseen !== undefined) await confirmEnds(runner, hostId, unseen, report);
  return report;
}

/** Confirms to a lane that runs of this machine are gone, also those that have never begun. */
async function confirmEnds(
  runner: CleanMachineDependencies['runner'],
  hostId: string,
  unseen: UnseenRuns,
  { problems }: CleanReport,
): Promise<void> {
  for (const runId of await unseen.list(hostId)) {
    try {
      await runner.end(runId);
      if (!(await runner.mayHaveLeft(runId))) await unseen.gone(runId);
    } catch (error) {
      problems.push(`run ${runId}: ${messageOf(error)}`);
    }
  }
}

/** Asks each lane once which of these owners are open. */
async function openOwners(owners: readonly RunOwner[], found: readonly Owner[]): Promise<(owner: Owner) => boolean> {
  const open = new Map<string, ReadonlySet<string>>();
  for (const { kind, open: openOf } of owners) {
    const ids = new Set(found.filter((owner) => owner.kind === kind).map(({ id }) => id));
    if (ids.size > 0) open.set(kind, await openOf([...ids]));
  }
  return ({ kind, id }) => open.get(kind)?.has(id) === true;
}
