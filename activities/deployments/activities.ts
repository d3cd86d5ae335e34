import { applyGroup } from '../../control/deployments/apply-group.ts';
import { deleteGroup } from '../../control/deployments/delete-group.ts';
import type { GroupDependencies } from '../../control/deployments/group-work.ts';
import { type EndDependencies, wakeBehind } from '../../control/deployments/order-apps.ts';
import { endRemovalOf } from '../../control/deployments/remove-deployment.ts';
import { beginPhase, finishPhase } from '../../control/deployments/run-phase.ts';
import { sharedReads } from '../../control/deployments/shared-reads.ts';
import { ContextRefSchema, GroupRefSchema, PhaseRefSchema } from '../../domain/deployments/activity-schema.ts';
import { findContext } from '../../store/deployments/contexts.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { parseInputs } from '../parse-inputs.ts';
import type { ContextActivities, GroupAnswer, GroupRef } from './contract.ts';

export interface ContextActivityDependencies extends Omit<GroupDependencies, 'readContext'>, EndDependencies {
  /** Clusters of one AppContext at work at once. */
  parallel: number;
  /** Queue of the work on groups, which this process serves; absent: that of the workflow. */
  queue?: string;
}

/** Activities of AppContexts: any worker can do them. */
export function createContextActivities(deps: ContextActivityDependencies): ContextActivities {
  // Each group looks before each deletion whether it is still wanted.
  const work: GroupDependencies = { ...deps, readContext: sharedReads((id) => findContext(deps.db, id)) };
  /** A group that has ended may be what others wait for. */
  async function andWake(input: GroupRef, done: Promise<GroupAnswer>): Promise<GroupAnswer> {
    const answer = await done;
    if (answer.is === 'ended') await wakeBehind(deps, input);
    return answer;
  }
  return parseInputs<ContextActivities>(
    {
      beginPhase: ContextRefSchema,
      finishPhase: PhaseRefSchema,
      applyGroup: GroupRefSchema,
      deleteGroup: GroupRefSchema,
    },
    {
      beginPhase: async ({ context }) => {
        const phase = await beginPhase(deps, context);
        if (phase === null) return null;
        return { ...phase, parallel: deps.parallel, ...(deps.queue === undefined ? {} : { queue: deps.queue }) };
      },
      finishPhase: async ({ context, phase }) => {
        await finishPhase(deps, context, phase);
        await endRemovalOf(deps, context);
      },
      applyGroup: (input) => withHeartbeat((signal) => andWake(input, applyGroup(work, input, signal))),
      deleteGroup: (input) => withHeartbeat((signal) => andWake(input, deleteGroup(work, input, signal))),
    },
  );
}
