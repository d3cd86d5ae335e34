/** The steps of a session, in the order in which it comes to them. */
import type { SessionDetail } from '../../../domain/sessions/detail-schema.ts';

export type StepState = 'done' | 'now' | 'failed' | 'to come';

export interface SessionStep {
  name: string;
  state: StepState;
  /** Since when, or when it ended: what of both is known. Null: it is not known. */
  at: string | null;
  /** What it waits for, or how it ended; '' where there is nothing to say. */
  reason: string;
}

type Shown = Pick<
  SessionDetail,
  'phase' | 'created_at' | 'admitted_at' | 'updated_at' | 'ended_at' | 'attempts' | 'images'
> & {
  status: { session: Pick<SessionDetail['status']['session'], 'status' | 'message'> };
  snapshot: { layers: readonly { index: number; playbook: string }[] };
};

/** Phases before the layers, by the name of their step; a step that a session does not have is left out. */
const BEFORE = [
  ['admission', 'queued'],
  ['clone', 'clone'],
  ['images', 'images'],
  ['inventory', 'inventory'],
  ['leases', 'lease'],
] as const;
const ORDER = ['queued', 'clone', 'images', 'inventory', 'lease', 'layer', 'hold', 'teardown', 'done'];

/** Returns the steps of a session with the state, time and reason of each. */
export function stepsOf(session: Shown): SessionStep[] {
  const { status, message } = session.status.session;
  const isOver = status === 'complete';
  const place = ORDER.indexOf(session.phase);
  const stateOf = (phase: string): StepState => {
    if (!isOver && session.phase === phase) return 'now';
    return isOver || ORDER.indexOf(phase) < place ? 'done' : 'to come';
  };
  const step = (name: string, phase: string, at: string | null): SessionStep => {
    const state = stateOf(phase);
    return { name, state, at: state === 'now' ? session.updated_at : at, reason: state === 'now' ? message : '' };
  };
  const first = BEFORE.filter(([, phase]) => isNeeded(session, phase)).map(([name, phase]) =>
    step(name, phase, phase === 'queued' ? (session.admitted_at ?? session.created_at) : null),
  );
  const last = [
    ...(session.phase === 'hold' ? [step('hold', 'hold', null)] : []),
    step('teardown', 'teardown', isOver ? session.ended_at : null),
  ];
  return [...first, ...layersOf(session, isOver, message), ...last];
}

/** Images and leases are steps of some sessions alone: they are shown while a session is there, or has been. */
function isNeeded({ phase, images }: Shown, step: string): boolean {
  if (step === 'images') return images.length > 0 || phase === 'images';
  return step !== 'lease' || phase === 'lease';
}

function layersOf(session: Shown, isOver: boolean, message: string): SessionStep[] {
  const { layers } = session.snapshot;
  return layers.map(({ index, playbook }) => {
    const name = `layer ${index + 1}/${layers.length} ${playbook}`;
    const run = session.attempts.filter(({ layer }) => layer === index).at(-1);
    if (run === undefined) return { name, state: 'to come' as const, at: null, reason: isOver ? 'it did not run' : '' };
    if (run.ended_at === null && !isOver) {
      return { name, state: 'now' as const, at: run.started_at ?? run.created_at, reason: message };
    }
    const isGood = run.exit_code === 0;
    const words = run.error ?? (run.exit_code === null ? 'its result is not known' : `exit status ${run.exit_code}`);
    return {
      name,
      state: isGood ? ('done' as const) : ('failed' as const),
      at: run.ended_at,
      reason: isGood ? '' : words,
    };
  });
}
