/** Begins and ends the phases of an AppContext. Each is one transaction on its row, and may be made again. */
import { changeContext, type Phase, stateAfter } from '../../domain/deployments/context-state.ts';
import { clusterName } from '../../domain/deployments/naming.ts';
import type { Db } from '../../store/connection/database.ts';
import { failOpen } from '../../store/deployments/context-resources.ts';
import { deleteWaits } from '../../store/deployments/context-waits.ts';
import {
  beginDeletion,
  countStatuses,
  holdContext,
  listOpenGroups,
  noteBegin,
  writeContext,
} from '../../store/deployments/contexts.ts';
import { isPaused } from '../../store/deployments/wanted-contexts.ts';
import { tellEnd } from './tell-others.ts';

export interface PhaseDependencies {
  db: Db;
  clock(): Date;
}

export interface PhaseToRun {
  phase: Phase;
  /** `<provider>+<cluster>` with the apps that have something left to do there. */
  clusters: { cluster: string; apps: string[] }[];
}

/**
 * Returns the phase that is wanted, with what is left to do in it; null where nothing is wanted, and where a phase that has not begun may not
 * begin: Temporal is told again when it may.
 */
export async function beginPhase({ db, clock }: PhaseDependencies, id: string): Promise<PhaseToRun | null> {
  return await db.transaction().execute(async (trx) => {
    const context = await holdContext(trx, id);
    if (context === null || context.wanted === null) return null;
    // What is given up begins nothing.
    const isNew = context.phase_began_at === null && !context.is_stopped;
    if (isNew && (await isPaused(trx))) return null;
    const now = clock();
    if (context.state === 'PreTerminate') {
      await beginDeletion(trx, id, now);
      await writeContext(
        trx,
        id,
        // A stop that came behind the terminate is one of the deletion.
        { state: changeContext(context.state, 'Terminating'), wanted: 'delete', isStopped: context.is_stopped },
        now,
      );
    }
    await noteBegin(trx, id, now);
    const byCluster = new Map<string, string[]>();
    for (const { app, ...ref } of await listOpenGroups(trx, id)) {
      const name = clusterName(ref);
      byCluster.set(name, [...(byCluster.get(name) ?? []), app]);
    }
    return { phase: context.wanted, clusters: [...byCluster].map(([cluster, apps]) => ({ cluster, apps })) };
  });
}

/** Writes how a phase has ended, unless something else is wanted by now: then that is begun next. */
export async function finishPhase({ db, clock }: PhaseDependencies, id: string, phase: Phase): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const context = await holdContext(trx, id);
    if (context === null || context.wanted !== phase) return;
    const now = clock();
    if (context.is_stopped) await failOpen(trx, id, 'Stopped', now);
    const { Applied, Deleted, ...others } = await countStatuses(trx, id);
    const unwanted = phase === 'apply' ? Deleted : Applied;
    // A stop that was accepted is no success, even where the calls in flight were the last.
    const wentWell = !context.is_stopped && (unwanted ?? 0) === 0 && Object.keys(others).length === 0;
    const state = changeContext(context.state, stateAfter(phase, wentWell));
    await deleteWaits(trx, id);
    await writeContext(trx, id, { state, wanted: null, isStopped: false }, now);
    await tellEnd(trx, context, state);
  });
}
