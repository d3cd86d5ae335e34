import { attributeTo } from '../../control/access/attribute-writes.ts';
import { type TrimAuditDependencies, trimAudit } from '../../control/audit/trim-audit.ts';
import { type CleanMachineDependencies, cleanMachine } from '../../control/runs/clean-machine.ts';
import type { AdmitDependencies } from '../../control/sessions/admit-session.ts';
import { type CleanWorkspacesDependencies, cleanWorkspaces } from '../../control/sessions/clean-workspaces.ts';
import { type ExpireDependencies, expireSessions } from '../../control/sessions/expire-sessions.ts';
import { noteMachineAway } from '../../control/sessions/note-machine.ts';
import { sweepSessions } from '../../control/sessions/sweep-sessions.ts';
import { CLUSTER_HOST } from '../../domain/engine/task-queues.ts';
import { MachineRefSchema } from '../../domain/sessions/activity-schema.ts';
import { noteHostBack } from '../../store/sessions/progress.ts';
import { hasUnsettledJobs } from '../../store/sessions/session-jobs.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { type InputSchemas, parseInputs } from '../parse-inputs.ts';
import type { CleaningActivities, ExpiryActivities, SweepActivities } from './contract.ts';
import type { ImageDependencies } from './image-ports.ts';
import { releaseLeftImages } from './images/release-images.ts';

const INPUTS: InputSchemas<SweepActivities & CleaningActivities & ExpiryActivities> = {
  sweepSessions: null,
  noteMachineAway: MachineRefSchema,
  expireSessions: null,
  cleanHost: null,
};

/** Mirrors that nobody used for so long go by themselves. */
const MIRROR_UNUSED_MS = 30 * 24 * 3_600_000;

/** What a lane tidies when the sweep of each minute comes by; repeating it is harmless. */
export interface LaneSweep {
  lane: string;
  sweep(): Promise<void>;
}

export interface SweepDependencies
  extends CleanMachineDependencies,
    CleanWorkspacesDependencies,
    Pick<AdmitDependencies, 'client' | 'readOptions'>,
    Pick<ExpireDependencies, 'clock'>,
    Pick<TrimAuditDependencies, 'auditKept'>,
    Pick<ImageDependencies, 'imageService' | 'imageKeys'> {
  /** Whether this worker's cluster may have Jobs of ours. */
  hasCluster?: boolean;
  mirrors: { pruneMirrors(options: { unusedForMs: number; signal?: AbortSignal }): Promise<number> };
  /** Of the other lanes, in this order. */
  laneSweeps?: readonly LaneSweep[];
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** What goes by itself: the orphan sweep's two halves (the stores, and this machine), and sessions that are too old. */
export function createSweepActivities(
  deps: SweepDependencies,
): SweepActivities & CleaningActivities & ExpiryActivities {
  return parseInputs(INPUTS, {
    sweepSessions: () =>
      withHeartbeat(async (signal) => {
        const report = await sweepSessions(deps);
        if (report.restarted.length + report.ended.length > 0) deps.log.info({ ...report }, 'orphan sweep');
        const left = await releaseLeftImages(deps, signal);
        if (left.length > 0) deps.log.info({ left }, 'image jobs of ended sessions that cannot be deleted now');
        const forgotten = await trimAudit(deps);
        if (forgotten > 0) deps.log.info({ forgotten }, 'old audit records removed');
        // What one lane cannot tidy keeps no other from it, and comes again in a minute.
        for (const { lane, sweep } of deps.laneSweeps ?? []) {
          await sweep().catch((err: unknown) =>
            deps.log.warn({ lane, err }, 'the sweep of a lane failed; it comes again'),
          );
        }
        const cluster = (await hasUnsettledJobs(deps.db)) ? [CLUSTER_HOST] : [];
        return { hosts: [...new Set([...report.hosts, deps.hostId, ...(deps.hasCluster ? [CLUSTER_HOST] : cluster)])] };
      }),
    noteMachineAway: ({ host }) => noteMachineAway(deps.db, host),
    expireSessions: () =>
      withHeartbeat(async () => {
        const deleted = await attributeTo('session-ttl', () => expireSessions(deps));
        if (deleted > 0) deps.log.info({ deleted }, 'sessions older than session_ttl deleted');
        return { deleted };
      }),
    cleanHost: () =>
      withHeartbeat(async (signal) => {
        await noteHostBack(deps.db, deps.hostId);
        const runs = await cleanMachine(deps);
        const { removed, problems } = await cleanWorkspaces(deps);
        const report = { ...runs, removedWorkspaces: removed, problems: [...runs.problems, ...problems] };
        if (report.stopped.length + report.problems.length > 0) deps.log.info(report, 'clean-up of this machine');
        await deps.mirrors.pruneMirrors({ unusedForMs: MIRROR_UNUSED_MS, signal });
      }),
  });
}
