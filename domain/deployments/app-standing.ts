/** Whether an app of an AppContext may begin in a phase: it waits until the apps before it have ended well on all their clusters. */
import { someOf } from '../some-of.ts';
import type { Phase } from './context-state.ts';
import { allBefore, reversed, type Waits } from './dependencies.ts';
import type { RsyncStatus } from './resource-status.ts';

/** A status that at least one resource of an app has. */
export interface AppStatus {
  app: string;
  status: RsyncStatus;
}

/** `message`: what is waited for, or what has failed. */
export type Standing = { is: 'ready' } | { is: 'waiting'; message: string } | { is: 'failed'; message: string };

const WELL: Readonly<Record<Phase, RsyncStatus>> = { apply: 'Applied', delete: 'Deleted' };

/** Returns what the apps wait for in a phase: a deletion goes the other way round. `given`: names of apps by app, as they were frozen. */
export function waitsIn(phase: Phase, given: Readonly<Record<string, readonly string[]>> = {}): Waits {
  const waits = new Map(Object.entries(given));
  return phase === 'apply' ? waits : reversed(waits);
}

/**
 * Returns whether an app may begin. What failed before another app that it waits for stops it too.
 * `statuses`: of all apps that it waits for, also by way of others.
 */
export function standingOf(phase: Phase, app: string, waits: Waits, statuses: readonly AppStatus[]): Standing {
  const before = allBefore(app, waits);
  const having = (isSo: (status: RsyncStatus) => boolean) => {
    const found = new Set(statuses.filter(({ status }) => isSo(status)).map((one) => one.app));
    return before.filter((name) => found.has(name));
  };
  const failed = having((status) => status === 'Failed');
  if (failed.length > 0) return { is: 'failed', message: `${nameApps(failed)} failed` };
  const open = having((status) => status !== WELL[phase]);
  return open.length === 0 ? { is: 'ready' } : { is: 'waiting', message: `waits for ${nameApps(open)}` };
}

function nameApps(names: readonly string[]): string {
  return `${names.length === 1 ? 'app' : 'apps'} ${someOf(names)}`;
}
