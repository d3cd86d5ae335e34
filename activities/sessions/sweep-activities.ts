import { attributeTo } from '../../control/access/attribute-writes.ts';
import { type TrimAuditDependencies, trimAudit } from '../../control/audit/trim-audit.ts';
import { type CleanMachineDependencies, cleanMachine } from '../../control/runs/clean-machine.ts';
import type { AdmitDependencies } from '../../control/sessions/admit-session.ts';
import { type CleanWorkspacesDependencies, cleanWorkspaces } from '../../control/sessions/clean-workspaces.ts';
import { type ExpireDependencies, expireSessions } from '../../control/sessions/expire-sessions.ts';
import { noteMachineAway } from '../../control/sessions/note-machine.ts';
import { machinesToVisit, sweepSessions } from '../../control/sessions/sweep-sessions.ts';
import { CLUSTER_HOST } from '../../domain/engine/task-queues.ts';
import { MachineRefSchema } from '../../domain/sessions/activity-schema.ts';
import { noteHostBack } from '../../store/sessions/progress.ts';
import { hasUnsettledJobs } from '../../store/sessions/session-jobs.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { type InputSchemas, parseInputs } from '../parse-inputs.ts';
import { createLaneSweeps, type SweepLanesDependencies } from '../sweep-lanes.ts';
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

export interface SweepDependencies
  extends CleanMachineDependencies,
    CleanWorkspacesDependencies,
    SweepLanesDependencies,
    Pick<AdmitDependencies, 'readOptions'>,
    Pick<ExpireDependencies, 'clock'> {
  /** Whether this worker's cluster may have Jobs of ours. */
  hasCluster?: boolean;
  mirrors: { pruneMirrors(options: { unusedForMs: number; signal?: AbortSignal }): Promise<number> };
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

export interface SweepRecordsDependencies
  extends Pick<SweepDependencies, 'db' | 'clock' | 'log'>,
    Pick<AdmitDependencies, 'client'>,
    Pick<TrimAuditDependencies, 'auditKept'>,
    Pick<ImageDependencies, 'imageService' | 'imageKeys'> {}

/** The part of lane sessions in the sweep: their two stores, image jobs that they have left, and audit records that are too old. */
export async function sweepSessionRecords(deps: SweepRecordsDependencies, signal: AbortSignal): Promise<void> {
  const report = await sweepSessions(deps);
  if (report.restarted.length + report.ended.length > 0) deps.log.info({ ...report }, 'orphan sweep');
  const left = await releaseLeftImages(deps, signal);
  if (left.length > 0) deps.log.info({ left }, 'image jobs of ended sessions that cannot be deleted now');
  const forgotten = await trimAudit(deps);
  if (forgotten > 0) deps.log.info({ forgotten }, 'old audit records removed');
}

/** What goes by itself: the sweep of the records, lane by lane, that of this machine, and sessions that are too old. */
export function createSweepActivities(
  deps: SweepDependencies,
): SweepActivities & CleaningActivities & ExpiryActivities {
  const sweepLanes = createLaneSweeps(deps);
  return parseInputs(INPUTS, {
    sweepSessions: () =>
      withHeartbeat(async (signal) => {
        await sweepLanes(signal);
        const machines = await machinesToVisit(deps);
        const cluster = (await hasUnsettledJobs(deps.db)) ? [CLUSTER_HOST] : [];
        return { hosts: [...new Set([...machines, deps.hostId, ...(deps.hasCluster ? [CLUSTER_HOST] : cluster)])] };
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
