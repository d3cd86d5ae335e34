import type { Acting } from '../../domain/access/acting.ts';
import { patchAfterBoot, requireStateWithBoot, tellsBoot } from '../../domain/components/boot.ts';
import type { Component, ComponentBody } from '../../domain/components/schema.ts';
import {
  patchComponent as patched,
  patchedMembers,
  type WritableMember,
} from '../../domain/components/write-component.ts';
import { musterError } from '../../domain/errors.ts';
import {
  findComponentVersion,
  readSessionsSince,
  updateComponentVersion,
} from '../../store/components/component-version.ts';
import { lockComponents, updateComponents } from '../../store/components/components.ts';
import { inSlices } from '../changes/in-slices.ts';
import { requiredId, type WriteComponentsDependencies } from './put-components.ts';
import { componentNotFound } from './read-components.ts';

/**
 * Changes one component; patches of one component follow one another, none is lost. Reads and writes without a lock, which
 * takes half the round trips; when somebody else wrote in between it does it again under one.
 */
export async function patchComponent(
  deps: WriteComponentsDependencies,
  by: Acting,
  id: string,
  body: ComponentBody,
): Promise<Component> {
  if (body.id !== undefined && body.id !== id) {
    throw musterError('bad_request', `The id ${body.id} differs from ${id} in the path`, 'id');
  }
  requireStateWithBoot(body);
  const read = await findComponentVersion(deps.db, id, body.state_append?.session_name);
  if (read === undefined) throw componentNotFound(id);
  const now = deps.clock();
  const boots = tellsBoot(read.component, body);
  const component = patched(read.component, patchAfterBoot(read.component, body, { ...read, now, boots }), now);
  const booted = new Set(boots ? [id] : []);
  const update = { now, actor: by.actor, members: patchedMembers(body), booted };
  if (await updateComponentVersion(deps.db, { component, version: read.version }, update)) return component;
  const [later] = await patchComponents(deps, by, [{ ...body, id }], (stepped) => stepped);
  if (later === undefined) throw componentNotFound(id);
  return later;
}

/**
 * The list form: all or nothing, in the order given; an id may come several times (cfs-api 6.4). Answers of each step what
 * `keep` takes of the component as it is then: with the whole records of many steps of one component memory would grow with
 * the square of their number.
 */
export async function patchComponents<Kept>(
  deps: WriteComponentsDependencies,
  by: Acting,
  bodies: readonly ComponentBody[],
  keep: (component: Component) => Kept,
): Promise<Kept[]> {
  const steps = bodies.map((body, index) => ({ id: requiredId(body, index), body }));
  if (steps.length === 0) return [];
  for (const { body } of steps) requireStateWithBoot(body);
  const reporters = [...new Set(steps.flatMap(({ body }) => body.state_append?.session_name ?? []))];
  return deps.db.transaction().execute(async (trx) => {
    const components = await lockComponents(trx, [...new Set(steps.map((step) => step.id))]);
    const since = reporters.length === 0 ? NO_SESSIONS : await readSessionsSince(trx, reporters);
    const now = deps.clock();
    const members = new Set<WritableMember>();
    const booted = new Set<string>();
    const results = await inSlices(steps, ({ id, body }) => {
      const stored = components.get(id);
      if (stored === undefined) throw componentNotFound(id);
      const { component, bootedAt } = stored;
      const sessionSince = since.get(body.state_append?.session_name ?? '') ?? null;
      const boots = tellsBoot(component, body);
      const next = patched(component, patchAfterBoot(component, body, { bootedAt, sessionSince, now, boots }), now);
      if (boots) booted.add(id);
      components.set(id, { component: next, bootedAt: boots ? now : bootedAt });
      for (const member of patchedMembers(body)) members.add(member);
      return keep(next);
    });
    const after = [...components.values()].map(({ component }) => component);
    await updateComponents(trx, after, { now, actor: by.actor, members, booted });
    return results;
  });
}

const NO_SESSIONS: ReadonlyMap<string, Date> = new Map();
