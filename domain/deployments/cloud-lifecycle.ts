/** What a life-cycle call does to a logical cloud: the state of its AppContext alone decides. */
import { musterError } from '../errors.ts';
import type { ContextState } from './context-state.ts';

export type CloudCall = 'instantiate' | 'terminate' | 'stop' | 'delete';

const NO_CONTEXT = 'none';
type CloudContext = ContextState | typeof NO_CONTEXT;

const ALLOWED: Readonly<Record<CloudCall, readonly CloudContext[]>> = {
  instantiate: [NO_CONTEXT, 'Terminated'],
  terminate: ['Instantiated', 'InstantiateFailed', 'TerminateFailed'],
  stop: ['Instantiating', 'PreTerminate', 'Terminating'],
  delete: [NO_CONTEXT, 'Terminated', 'TerminateFailed'],
};

/** What a refused instantiate says of each state. */
const WHY_NOT: Readonly<Partial<Record<CloudContext, string>>> = {
  Instantiating: 'the logical cloud is instantiating already',
  Instantiated: 'the logical cloud is instantiated already',
  InstantiateFailed: 'its instantiation failed: terminate first',
  PreTerminate: 'the logical cloud is terminating',
  Terminating: 'the logical cloud is terminating',
  TerminateFailed: 'its termination failed: terminate again or delete the logical cloud',
};

/** Throws `invalid_state` where the call is not allowed in the state of the cloud's AppContext (null: it has none). */
export function checkCloudCall(call: CloudCall, context: ContextState | null): void {
  const at = context ?? NO_CONTEXT;
  if (ALLOWED[call].includes(at)) return;
  const words = call === 'instantiate' ? WHY_NOT[at] : undefined;
  const state = context === null ? 'never instantiated' : `in state ${context}`;
  throw musterError('invalid_state', `Cannot ${call}: ${words ?? `the logical cloud is ${state}`}`);
}

/** Throws `logical_cloud_not_ready` with why, unless the cloud's AppContext is Instantiated. */
export function checkCloudReady(cloud: string, context: ContextState | null): void {
  if (context === 'Instantiated') return;
  const words: Readonly<Record<Exclude<CloudContext, 'Instantiated'>, string>> = {
    none: 'was never instantiated',
    Instantiating: 'is still instantiating',
    InstantiateFailed: 'could not be instantiated',
    PreTerminate: 'is terminating',
    Terminating: 'is terminating',
    Terminated: 'is terminated',
    TerminateFailed: 'could not be terminated',
  };
  throw musterError('logical_cloud_not_ready', `Logical cloud '${cloud}' ${words[context ?? NO_CONTEXT]}`);
}
