import type { Acting } from '../../domain/access/acting.ts';
import type { Component, ComponentBody } from '../../domain/components/schema.ts';
import { putComponent as put } from '../../domain/components/write-component.ts';
import { musterError } from '../../domain/errors.ts';
import { upsertComponents } from '../../store/components/components.ts';
import type { Db } from '../../store/connection/database.ts';
import { inSlices } from '../changes/in-slices.ts';
import { inLockOrder } from './lock-order.ts';

export interface WriteComponentsDependencies {
  db: Db;
  clock(): Date;
}

/** Creates or replaces one component; the id of the path wins over one in the body (cfs-api 6.3.6). */
export async function putComponent(
  deps: WriteComponentsDependencies,
  by: Acting,
  id: string,
  body: ComponentBody,
): Promise<Component> {
  const now = deps.clock();
  const component = put(id, body, now);
  await upsertComponents(deps.db, [component], now, by.actor);
  return component;
}

/** Creates or replaces components, all or none; of two with one id the later stands. Answers them in the order given. */
export async function putComponents(
  deps: WriteComponentsDependencies,
  by: Acting,
  bodies: readonly ComponentBody[],
): Promise<Component[]> {
  const now = deps.clock();
  const components = await inSlices(bodies, (body, index) => put(requiredId(body, index), body, now));
  const last = new Map(components.map((component) => [component.id, component]));
  const sorted = inLockOrder([...last.values()]);
  await deps.db.transaction().execute((trx) => upsertComponents(trx, sorted, now, by.actor));
  return components;
}

/** The id of an entry of a list, or `bad_data` (cfs-api 2). */
export function requiredId(body: ComponentBody, index: number): string {
  if (body.id === undefined) throw musterError('bad_data', `Each entry needs an id; entry ${index} has no 'id'`);
  return body.id;
}
