import type { Acting } from '../../domain/access/acting.ts';
import { requireStateWithBoot } from '../../domain/components/boot.ts';
import { isChanged, patchOfAction } from '../../domain/components/component-actions.ts';
import type { ComponentBody } from '../../domain/components/schema.ts';
import type { ActionAnswer, ActionBody } from '../../domain/components/selection-schema.ts';
import { patchComponent, patchedMembers } from '../../domain/components/write-component.ts';
import { deleteComponents, lockComponents, updateComponents } from '../../store/components/components.ts';
import { findConfiguration } from '../../store/configurations/configurations.ts';
import type { Db } from '../../store/connection/database.ts';
import { inSlices } from '../changes/in-slices.ts';
import { inLockOrder } from './lock-order.ts';
import type { WriteComponentsDependencies } from './put-components.ts';
import { selectedIds } from './select-once.ts';

/** Components that one statement reads and writes; bounds the memory of an action. */
const BATCH = 2_000;

/**
 * Does the same to many components, in one transaction. A component that is so already is not written. What vanished since it was chosen is
 * named, and the others are done. Throws `selection_gone`, `bad_hostlist`, `hostlist_too_large`, `bad_tags`.
 */
export async function actOnSelection(
  deps: WriteComponentsDependencies,
  by: Acting,
  body: ActionBody,
): Promise<ActionAnswer> {
  const ids = await selectedIds(deps, body.selection);
  const patch = patchOfAction(body);
  if (patch !== null) requireStateWithBoot(patch);
  return deps.db.transaction().execute(async (trx) => {
    const answer: ActionAnswer = { changed: 0, unchanged: 0, vanished: [], warnings: [] };
    const write = patch === null ? deleteBatch : patchBatch(patch, { now: deps.clock(), actor: by.actor });
    // Every writer locks in the order of ids.
    const ordered = inLockOrder(ids.map((id) => ({ id })));
    for (let start = 0; start < ordered.length; start += BATCH) {
      const batch = ordered.slice(start, start + BATCH).map(({ id }) => id);
      const { found, changed } = await write(trx, batch);
      answer.changed += changed;
      answer.unchanged += found.size - changed;
      answer.vanished.push(...batch.filter((id) => !found.has(id)));
    }
    const wanted = patch?.desired_config;
    if (answer.changed > 0 && wanted && (await findConfiguration(trx, wanted)) === undefined)
      answer.warnings.push(`There is no configuration ${wanted}.`);
    return answer;
  });
}

interface Written {
  /** Ids of the components that were there. */
  found: ReadonlySet<string>;
  changed: number;
}

async function deleteBatch(trx: Db, ids: string[]): Promise<Written> {
  await lockComponents(trx, ids);
  const deleted = await deleteComponents(trx, ids);
  return { found: new Set(deleted), changed: deleted.length };
}

const patchBatch =
  (patch: ComponentBody, { now, actor }: { now: Date; actor: string | null }) =>
  async (trx: Db, ids: string[]): Promise<Written> => {
    const members = patchedMembers(patch);
    const stored = await lockComponents(trx, ids);
    const steps = await inSlices([...stored.values()], ({ component }) => ({
      before: component,
      after: patchComponent(component, patch, now),
    }));
    const changed = steps.filter(({ before, after }) => isChanged(before, after, members)).map(({ after }) => after);
    await updateComponents(trx, changed, { now, actor, members });
    return { found: new Set(stored.keys()), changed: changed.length };
  };
