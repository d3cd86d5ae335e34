/** What the session workflow asks of its activities: plain data in and out, small, by reference where it could grow. */

import type { CheckCounts } from '../../domain/components/drift-schema.ts';
import type { RunnerKind } from '../../domain/runs/runner.ts';
import type {
  EndRun,
  FinishJob,
  Holding,
  MachineRef,
  RunLayer,
  RunRef,
  SessionEnding,
  SessionRef,
} from '../../domain/sessions/activity-schema.ts';
import type { JobOutcome } from '../../domain/sessions/cluster/job-outcome.ts';
import type { LayerOutcome } from '../../domain/sessions/outcome.ts';
import type { SessionReason } from '../../domain/sessions/session-reason.ts';
import type { RecordedEnd } from '../../domain/sessions/session-result.ts';

export type { EndRun, Holding, RunLayer, RunRef, SessionEnding, SessionRef };

/** What the workflow needs to know to sequence the session; the rest stays in the record. */
export interface SessionPlan {
  /** Layer indices in the order in which they run. */
  layers: number[];
  /** What is run by these, of each its playbook; for a built-in debugging playbook its name. Absent in plans of before it was told. */
  playbooks?: string[];
  /** A built-in debugging playbook runs instead of layers. */
  debug: boolean;
  debugOnFailure: boolean;
  /** Seconds to hold after a failure. */
  debugWaitSeconds: number;
  /** Seconds from admission after which the session is cancelled; 0 = never. */
  timeoutSeconds: number;
  /** It only looks: a layer that fails on some hosts keeps no later one from being looked at. */
  check?: boolean;
  /** It works on images: they are prepared before the layers and finished after them. */
  images?: boolean;
  /** Where its layers run; absent in plans of before there was a choice: on a machine. */
  runner?: RunnerKind;
}

export type Admission =
  | { state: 'admitted'; plan: SessionPlan }
  /** Not yet; ask again on a signal, or after this many seconds. */
  | { state: 'waiting'; message: string; retrySeconds: number }
  | { state: 'cancelled'; reason: string }
  /** Nothing to do: the record is gone, or has ended as `end` says. */
  | { state: 'over'; end?: RecordedEnd };

export interface PreparedWorkspace {
  /** Task queue of the machine whose disk holds the workspace. */
  hostQueue: string;
  /** Its folder there; absent in answers of before it was told. */
  folder?: string;
}

export interface PreparedInventory {
  /** Whether the session has to take components before it runs. */
  leases: boolean;
  /** The hosts of the session in a few words. Absent in answers of before it was told. */
  aim?: string;
}

export interface PreparedJob extends PreparedInventory {
  /** The pod runs its layers by itself and is only watched. */
  drivesItself: boolean;
}

/** How a Job ended, as the session's end says it. */
export interface JobEnd extends Omit<JobOutcome, 'code'> {
  reason: SessionReason | null;
}

/** Whether the session has the components that it needs; if not, ask again on a signal, or after so many seconds. */
export type LeaseTaking = { state: 'taken' } | { state: 'waiting'; message: string; retrySeconds: number };

/** Activities that run beside the workflow (local): one short database write each. */
export interface SessionRecords {
  admitSession(input: SessionRef): Promise<Admission>;
  takeLeases(input: SessionRef): Promise<LeaseTaking>;
  /** Of a check, what the session has seen until now; else null. */
  recordLayer(input: RunRef): Promise<CheckCounts | null>;
  recordHold(input: Holding): Promise<void>;
  /** Answers the end that the record has, which somebody else may have written before; null where the record is gone. */
  recordEnd(input: SessionEnding): Promise<RecordedEnd | null>;
}

/** First work on a disk: any runner machine may take it. */
export interface WorkspaceActivities {
  cloneLayers(input: SessionRef): Promise<PreparedWorkspace>;
}

/** Work that must happen where the workspace is. */
export interface HostActivities {
  writeInventory(input: SessionRef): Promise<PreparedInventory>;
  runLayer(input: RunLayer): Promise<LayerOutcome>;
  endRun(input: EndRun): Promise<void>;
  removeWorkspace(input: SessionRef): Promise<void>;
}

/** Work on the Job of a session, on any worker that has a cluster. */
export interface ClusterActivities {
  prepareJob(input: SessionRef): Promise<PreparedJob>;
  startJob(input: SessionRef): Promise<void>;
  /** Follows the Job to its end, whoever ends it, stores how it ended and lets Kubernetes forget it. */
  watchJob(input: SessionRef): Promise<JobEnd>;
  /** Orders the pod to run a layer and waits for its end. */
  runLayer(input: RunLayer): Promise<LayerOutcome>;
  /** Waits for the playbooks of a pod that runs them by itself; their exit code. */
  awaitPlaybooks(input: SessionRef): Promise<number>;
  /** Lets the pod end with this exit code. */
  finishJob(input: FinishJob): Promise<void>;
  /** Deletes the Job; `unverified` says why nobody knows whether its containers have stopped. */
  endJob(input: SessionRef): Promise<{ unverified: string | null }>;
}

export interface SweepActivities {
  /** Answers the machines to clean up. */
  sweepSessions(): Promise<{ hosts: string[] }>;
  /** Says in the records that a machine's sessions wait for it. */
  noteMachineAway(input: MachineRef): Promise<void>;
}

export interface ExpiryActivities {
  /** Answers how many sessions were deleted. */
  expireSessions(): Promise<{ deleted: number }>;
}

export interface CleaningActivities {
  cleanHost(): Promise<void>;
}
