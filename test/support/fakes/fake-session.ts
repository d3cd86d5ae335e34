/** Stand-ins of the session's activities: they do nothing, note each call, and do what a test wants in place of that. */
import { isDeepStrictEqual } from 'node:util';
import { withHeartbeat } from '../../../activities/heartbeat.ts';
import type {
  Admission,
  ClusterActivities,
  HostActivities,
  JobEnd,
  SessionPlan,
  SessionRecords,
  WorkspaceActivities,
} from '../../../activities/sessions/contract.ts';
import type { ImageActivities } from '../../../activities/sessions/image-contract.ts';
import type { LayerOutcome } from '../../../domain/sessions/outcome.ts';

export type SessionActivities = SessionRecords &
  WorkspaceActivities &
  HostActivities &
  ImageActivities &
  ClusterActivities;

export interface Call {
  name: keyof SessionActivities;
  input: Record<string, unknown>;
}

export interface FakeSession {
  /**
   * Every call in the order in which they began; a local activity that is done over at once, because a workflow task was,
   * counts once.
   */
  calls: Call[];
  activities: SessionActivities;
  /** Names of all calls. */
  names(): string[];
  /** Inputs of the calls of one activity, without the session's id. */
  inputs(name: keyof SessionActivities): Record<string, unknown>[];
  /** The end that was recorded; fails unless there is exactly one. */
  end(): { succeeded: unknown; message: unknown; reason: unknown };
}

function note(calls: Call[], call: Call): void {
  const last = calls.at(-1);
  const isRecord = call.name.startsWith('record') || call.name === 'admitSession' || call.name === 'takeLeases';
  if (isRecord && last?.name === call.name && isDeepStrictEqual(last.input, call.input)) return;
  calls.push(call);
}

export const plan = (given: Partial<SessionPlan> = {}): SessionPlan => ({
  layers: [0],
  debug: false,
  debugOnFailure: false,
  debugWaitSeconds: 3600,
  timeoutSeconds: 0,
  ...given,
});

export const admitted = (given: Partial<SessionPlan> = {}): Admission => ({ state: 'admitted', plan: plan(given) });

export const waiting = (retrySeconds: number): Admission => ({ state: 'waiting', message: 'in line', retrySeconds });

export const layerOutcome = (index: number, exitCode: number | null): LayerOutcome => ({
  index,
  playbook: 'site.yml',
  exitCode,
  hosts: 3,
  failedHosts: exitCode === 0 ? 0 : 1,
});

/** Counts of hosts as the record of a session has them. */
export const HOSTS = { applied: 2, failed: 1, incomplete: 0, not_reached: 0 };

/** A session on `queue` whose every layer succeeds, unless `instead` says otherwise. */
export function fakeSession(queue: string, instead: Partial<SessionActivities> = {}): FakeSession {
  const calls: Call[] = [];
  const behaviour: SessionActivities = {
    admitSession: async () => admitted(),
    takeLeases: async () => ({ state: 'taken' }),
    recordLayer: async () => null,
    recordHold: async () => undefined,
    recordEnd: async ({ sessionId: _, ...end }) => ({ ...end, hosts: HOSTS }),
    cloneLayers: async () => ({ hostQueue: queue, folder: '/data/workspaces/one' }),
    writeInventory: async () => ({ leases: false }),
    runLayer: async ({ layer }) => layerOutcome(layer, 0),
    endRun: async () => undefined,
    removeWorkspace: async () => undefined,
    planImages: async () => ({ images: ['i1', 'i2'], waitSeconds: 60 }),
    makeImageKey: async () => undefined,
    openImage: async () => undefined,
    removeImageKey: async () => undefined,
    judgeImages: async () => ({}),
    finishImage: async ({ image, fault }) => ({
      resultName: `new-${image}`,
      resultId: fault === null ? `r-${image}` : null,
      message: fault ?? '',
    }),
    releaseImages: async () => undefined,
    ...fakeJob(),
    ...instead,
  };
  const noted = Object.entries(behaviour).map(([name, activity]) => [
    name,
    (input: Record<string, unknown>) => {
      note(calls, { name: name as keyof SessionActivities, input });
      return (activity as (given: object) => Promise<unknown>)(input);
    },
  ]);
  const inputs = (name: keyof SessionActivities) =>
    calls.filter((call) => call.name === name).map(({ input: { sessionId: _, ...rest } }) => rest);
  return {
    calls,
    activities: Object.fromEntries(noted) as SessionActivities,
    names: () => calls.map((call) => call.name),
    inputs,
    end: () => {
      const [end, ...more] = inputs('recordEnd');
      if (end === undefined || more.length > 0) throw new Error(`${inputs('recordEnd').length} ends were recorded`);
      return { succeeded: end.succeeded, message: end.message, reason: end.reason };
    },
  };
}

export const JOB_DONE: JobEnd = { succeeded: 'true', message: 'complete', reason: null };
export const JOB_ENDED: JobEnd = { succeeded: 'false', message: 'its Job was ended', reason: 'cancelled' };

/** A Job that goes on until it is told to finish, or is ended. */
function fakeJob(): Omit<ClusterActivities, 'runLayer'> {
  const over = Promise.withResolvers<JobEnd>();
  return {
    prepareJob: async () => ({ leases: false, drivesItself: false }),
    startJob: async () => undefined,
    watchJob: () =>
      withHeartbeat((signal) => {
        signal.addEventListener('abort', () => over.reject(signal.reason), { once: true });
        return over.promise;
      }),
    awaitPlaybooks: async () => 0,
    finishJob: async () => over.resolve(JOB_DONE),
    endJob: async () => {
      over.resolve(JOB_ENDED);
      return { unverified: null };
    },
  };
}

/** Something that a test lets happen; `reached` resolves when somebody waits for it. */
export interface Gate {
  reached: Promise<void>;
  pass(): Promise<void>;
  open(): void;
}

export function gate(): Gate {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  return {
    reached: reached.promise,
    open: () => opened.resolve(),
    pass: async () => {
      reached.resolve();
      await opened.promise;
    },
  };
}

/** One set of activities for many sessions: each call goes to the fake of its session. */
export function sharedActivities(fakes: ReadonlyMap<string, FakeSession>): object {
  const names = Object.keys(fakeSession('').activities) as (keyof SessionActivities)[];
  const dispatch = (name: keyof SessionActivities) => (input: { sessionId: string }) => {
    const fake = fakes.get(input.sessionId);
    if (fake === undefined) throw new Error(`no fake for session ${input.sessionId}`);
    return (fake.activities[name] as (given: object) => Promise<unknown>)(input);
  };
  return Object.fromEntries(names.map((name) => [name, dispatch(name)]));
}

export interface EndlessWork {
  begun: Promise<void>;
  /** Whether it saw its cancellation. */
  cancelled(): boolean;
  run(): Promise<never>;
}

/** Work that lasts, with Muster's real heartbeat, until it is cancelled. */
export function endlessWork(): EndlessWork {
  const begun = Promise.withResolvers<void>();
  let cancelled = false;
  return {
    begun: begun.promise,
    cancelled: () => cancelled,
    run: () =>
      withHeartbeat(async (signal) => {
        begun.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        cancelled = true;
        throw new Error('aborted in the middle');
      }),
  };
}

/**
 * Runs that last until they are ended, and are ended as a playbook is: `endRun` names the run, then its watch answers
 * with the exit status of a killed process.
 */
export function endlessRuns(): Pick<SessionActivities, 'runLayer' | 'endRun'> & { begun: Promise<void> } {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  return {
    begun: begun.promise,
    runLayer: ({ layer }) =>
      withHeartbeat(async () => {
        begun.resolve();
        await ended.promise;
        return layerOutcome(layer, 143);
      }),
    endRun: async () => ended.resolve(),
  };
}
