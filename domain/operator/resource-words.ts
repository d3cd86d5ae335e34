/** What a resource is doing. `deleting`: it is deleted and its finalizer is to run. `gone`: it is no more. */
export const PHASES = ['waiting', 'queued', 'running', 'backing_off', 'paused', 'deleting', 'gone'] as const;
export type Phase = (typeof PHASES)[number];

/** How a reconcile ended. */
export const RECONCILE_OUTCOMES = ['ok', 'failed', 'cancelled', 'interrupted', 'gone', 'refused'] as const;
export type ReconcileOutcome = (typeof RECONCILE_OUTCOMES)[number];

/** How the finalizer of a resource goes that is drained: after its run, or at once. */
export const DRAINS = ['run', 'now'] as const;
export type DrainMode = (typeof DRAINS)[number];

/** Whether the kind of an entry can be watched. */
export const WATCH_STATES = ['starting', 'watching', 'missing', 'forbidden', 'failing'] as const;
export type WatchState = (typeof WATCH_STATES)[number];

/** A process of an operator that has said nothing for so long (ms) gets no runs. What it did by then has ended, unless its runs outlive it. */
export const SEEN_MS = 45_000;

/** Kind of the owner of an operator's runs. */
export const RECONCILE_KIND = 'reconcile';

/** Kind of the machines whose runs are those of operators. */
export const OPERATOR_MACHINES = 'operator';
