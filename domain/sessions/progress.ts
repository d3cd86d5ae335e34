/** What a session does, in the words of its record and of its workflow. */
import type { ErrorCode } from '../errors.ts';
import type { RunnerKind } from '../runs/runner.ts';
import { CLUSTER_PATIENCE, runnerOf } from './cluster/cluster-wait.ts';
import { describeImages, type ImageStep } from './images/image-progress.ts';
import { layerNumber } from './layer-name.ts';
import type { SessionMuster, TargetDefinition } from './schema.ts';

/** In the order in which a session comes to them, where it comes to them at all. */
const SESSION_PHASES = [
  'queued',
  'clone',
  'images',
  'inventory',
  'lease',
  'layer',
  'hold',
  'teardown',
  'done',
] as const;
export type SessionPhase = (typeof SESSION_PHASES)[number];

/** Which attempt of which layer. */
interface Place {
  layer: number;
  attempt: number;
}

/** Why something waits or has failed, as it was told; the reason is null where no code of the catalogue says it. */
interface Told {
  message: string;
  reason: ErrorCode | null;
}

/** What the record of a session says that was not told of its place in the line. */
export const WAITS_FOR_SLOT = 'waiting for a session slot';

/** The steps that have no words of their own. */
const FIXED = {
  slot: { phase: 'queued', message: WAITS_FOR_SLOT },
  clone: { phase: 'clone', message: 'cloning' },
  open_images: { phase: 'images', message: 'preparing the images' },
  cluster: {
    phase: 'inventory',
    message: `waiting for a worker with a cluster to prepare its Job, ${CLUSTER_PATIENCE} min at most`,
  },
  cluster_prepares: { phase: 'inventory', message: 'waiting until a worker with a cluster has prepared the Job' },
  prepare_job: { phase: 'inventory', message: 'preparing the Job' },
  inventory: { phase: 'inventory', message: 'writing the inventory' },
  start_job: { phase: 'clone', message: 'starting the Job' },
  pod_layers: { phase: 'layer', message: 'the pod runs its layers' },
  finish_images: { phase: 'teardown', message: 'finishing the images' },
  end_images: { phase: 'teardown', message: 'ending the image jobs' },
  job_end: { phase: 'teardown', message: 'waiting for the end of the Job' },
  clean_up: { phase: 'teardown', message: 'cleaning up' },
  over: { phase: 'done', message: 'the session had ended or was gone' },
} as const satisfies Record<string, { phase: SessionPhase; message: string }>;

/** What a session does or waits for. */
export type SessionStep =
  | { step: keyof typeof FIXED }
  | ({ step: 'line' } & Told)
  | { step: 'images'; phase: ImagePhase; images: readonly ImageStep[] }
  | { step: 'leases'; message: string }
  | ({ step: 'room' } & Told)
  | { step: 'job_goes_on'; phase: SessionPhase }
  | ({ step: 'trouble'; phase: SessionPhase } & Told)
  /** `name`: how the layer is called where more is known than its index. */
  | { step: 'layer'; layer: number; attempt?: number; name?: string }
  | ({ step: 'start_again'; detail: string; code: ErrorCode } & Place)
  | ({ step: 'local_run'; limit: number; held: number } & Place)
  | { step: 'hold'; layer: number; message: string }
  | ({ step: 'failed' } & Failure)
  | { step: 'done'; message: string };

/** The phases in which something is said of images. */
export type ImagePhase = Extract<SessionPhase, 'images' | 'teardown'>;

interface Failure extends Partial<Place> {
  phase: SessionPhase;
  /** Begins the sentence: `<what> failed, trying again: <why>`. */
  what: string;
  detail: string;
  code: ErrorCode;
  /** Whether it is tried again. */
  again: boolean;
}

/** What a record says of a step. */
export interface Progress extends Partial<Place> {
  phase: SessionPhase;
  message: string;
  reason: ErrorCode | null;
}

const DETAIL_MAX = 500;

/** Returns phase, sentence and reason of a step, and its layer and attempt where it names them. */
export function progressOf(step: SessionStep): Progress {
  const { phase, message, reason = null } = wordsOf(step);
  return {
    phase,
    message,
    reason,
    ...('layer' in step && step.layer !== undefined ? { layer: step.layer } : {}),
    ...('attempt' in step && step.attempt !== undefined ? { attempt: step.attempt } : {}),
  };
}

type Words = Omit<Progress, 'reason' | 'layer' | 'attempt'> & { reason?: ErrorCode | null };

function wordsOf(step: SessionStep): Words {
  switch (step.step) {
    case 'line':
      return { phase: 'queued', message: step.message, reason: step.reason };
    case 'images':
      return {
        phase: step.phase,
        message: describeImages(step.images, step.phase === 'images' ? 'open' : 'customized'),
      };
    case 'leases':
      return { phase: 'lease', message: step.message, reason: 'components_busy' };
    case 'room':
      return { phase: 'clone', message: step.message, reason: step.reason };
    case 'job_goes_on':
      return { phase: step.phase, message: 'the Job goes on' };
    case 'trouble':
      return { phase: step.phase, message: step.message, reason: step.reason };
    case 'layer':
      return { phase: 'layer', message: `running ${step.name ?? layerNumber(step.layer)}` };
    case 'start_again':
      return {
        phase: 'layer',
        message: `starting ${layerNumber(step.layer)} failed, trying again: ${step.detail}`,
        reason: step.code,
      };
    case 'local_run':
      return {
        phase: 'layer',
        message: `waiting for one of ${step.limit} local runs, ${step.held} busy (MUSTER_LOCAL_RUNS)`,
      };
    case 'hold':
      return { phase: 'hold', message: step.message };
    case 'failed':
      return {
        phase: step.phase,
        message: `${step.what} failed${step.again ? ', trying again' : ''}: ${step.detail.slice(0, DETAIL_MAX)}`,
        reason: step.code,
      };
    case 'done':
      return { phase: 'done', message: step.message };
    default:
      return FIXED[step.step];
  }
}

/** Returns what a session does, or waits for, as soon as it is let in. */
export function firstStep(
  session: { muster: SessionMuster | null; target: { definition: TargetDefinition } },
  byDefault?: RunnerKind,
): SessionStep {
  if (runnerOf(session, byDefault) === 'local') return { step: 'clone' };
  return session.target.definition === 'image' ? { step: 'open_images' } : { step: 'cluster' };
}
