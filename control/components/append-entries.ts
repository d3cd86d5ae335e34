import type { Component, StateLayer } from '../../domain/components/schema.ts';
import { appendStateLayer } from '../../domain/components/state-layers.ts';
import { wireTime } from '../../domain/text/times.ts';
import { updateComponents } from '../../store/components/components.ts';
import type { Db } from '../../store/connection/database.ts';
import { fitComponents } from './fit-components.ts';

/** What is appended to a component's state, in this order, and what is added to its error count. */
export interface EntriesToAppend {
  id: string;
  entries: Omit<StateLayer, 'last_updated'>[];
  errors: number;
}

/** Appends to the states of components that the transaction has locked, each entry as a `state_append` would (cfs-api 6.3). */
export async function appendEntries(
  trx: Db,
  locked: ReadonlyMap<string, { component: Component }>,
  writes: readonly EntriesToAppend[],
  { actor, now }: { actor: string; now: Date },
): Promise<void> {
  const time = wireTime(now);
  const changed = writes.flatMap(({ id, entries, errors }) => {
    const stored = locked.get(id)?.component;
    if (stored === undefined) return [];
    const state = entries.reduce(
      (reached, entry) => appendStateLayer(reached, { ...entry, last_updated: time }),
      stored.state,
    );
    const after = { ...stored, state, error_count: stored.error_count + errors };
    return [{ after, session: entries.at(-1)?.session_name ?? '' }];
  });
  const fitted: Component[] = [];
  for (const [session, group] of Map.groupBy(changed, (one) => one.session)) {
    fitted.push(
      ...(await fitComponents(
        trx,
        group.map(({ after }) => after),
        session,
      )),
    );
  }
  if (fitted.length === 0) return;
  await updateComponents(trx, fitted, { now, actor, members: new Set(['state', 'error_count']) });
}
