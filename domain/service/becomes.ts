/** Which components change their status, by the statuses before and after. */
import type { DryRunBecomes } from './dry-run-schema.ts';

/** Components of a change that are named. */
const NAMED = 20;

interface Standing {
  id: string;
  status: string;
}

export interface Becomes {
  /** Takes a component with its status before and after; null on the side on which there is none of it. */
  note(id: string, from: string | null, to: string | null): void;
  /** Returns the changes so far, the most frequent first. */
  all(): DryRunBecomes[];
}

/** Counts changes of status. A component whose status stays is none. */
export function createBecomes(): Becomes {
  const changes = new Map<string, DryRunBecomes>();
  return {
    note(id, from, to) {
      if (from === to) return;
      const key = `${from} ${to}`;
      const change = changes.get(key) ?? { from, to, count: 0, ids: [] };
      change.count += 1;
      if (change.ids.length < NAMED) change.ids.push(id);
      changes.set(key, change);
    },
    all: () => [...changes.values()].sort((one, other) => other.count - one.count),
  };
}

/**
 * Returns the changes of status, the most frequent first. A component of one side alone was created or deleted; one whose status stays is
 * none.
 */
export function becomesOf(before: readonly Standing[], after: readonly Standing[]): DryRunBecomes[] {
  const then = new Map(after.map(({ id, status }) => [id, status]));
  const becomes = createBecomes();
  for (const { id, status } of before) {
    becomes.note(id, status, then.get(id) ?? null);
    then.delete(id);
  }
  for (const [id, status] of then) becomes.note(id, null, status);
  return becomes.all();
}
