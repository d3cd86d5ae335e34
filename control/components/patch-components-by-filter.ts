import type { Acting } from '../../domain/access/acting.ts';
import { namesNewBoot, patchAfterBoot, requireStateWithBoot } from '../../domain/components/boot.ts';
import { MAX_COMPONENT_BYTES, requireComponentSize } from '../../domain/components/component-size.ts';
import type {
  Component,
  ComponentBody,
  ComponentFilter,
  ComponentFilterPatch,
} from '../../domain/components/schema.ts';
import { patchComponent as patched, patchedMembers } from '../../domain/components/write-component.ts';
import { readSessionsSince } from '../../store/components/component-version.ts';
import { largeComponents, lockComponents, readBootTimes, updateComponents } from '../../store/components/components.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import type { WriteComponentsDependencies } from './put-components.ts';
import { selectComponents, selectionOf } from './select-components.ts';

export interface FilterPatchDependencies extends WriteComponentsDependencies {
  /** Writes more in the same transaction, when the components are written; gets the sorted ids of all that matched. */
  alongside?(trx: Db, ids: string[]): Promise<void>;
}

/**
 * The filter form: one transaction over all that match, empty filters mean all (cfs-api 6.4). Answers the sorted ids of all that matched.
 * No reporter patches by filter, so only a boot that is named is told of.
 */
export async function patchComponentsByFilter(
  deps: FilterPatchDependencies,
  by: Acting,
  { patch, filters }: ComponentFilterPatch,
): Promise<string[]> {
  const { configName, ...rest } = filters;
  const filter: ComponentFilter = { ...rest, config_name: rest.config_name || configName };
  const selection = selectionOf(filter);
  requireStateWithBoot(patch);
  const reporter = patch.state_append?.session_name;
  return deps.db.transaction().execute(async (trx) => {
    const now = deps.clock();
    const members = patchedMembers(patch);
    const batches = selectComponents({
      db: trx,
      options: await readOptions(trx),
      selection,
      status: filter.status,
      afterId: '',
      lock: members.has('state') ? 'whole' : 'stateless',
    });
    const since = reporter === undefined ? undefined : (await readSessionsSince(trx, [reporter])).get(reporter);
    const ids: string[] = [];
    for await (const { components } of batches) {
      const batch = components.map(({ id }) => id);
      const bootTimes = since === undefined ? undefined : await readBootTimes(trx, batch);
      const after = components.map((component) => {
        const facts = {
          bootedAt: bootTimes?.get(component.id) ?? null,
          sessionSince: since ?? null,
          now,
          boots: namesNewBoot(component, patch),
        };
        return patched(component, patchAfterBoot(component, patch, facts), now);
      });
      const booted = new Set(components.filter((component) => namesNewBoot(component, patch)).map(({ id }) => id));
      await updateComponents(trx, after, { now, actor: by.actor, members, booted });
      if (members.has('tags') && !members.has('state')) await requireSizes(trx, components, patch);
      for (const id of batch) ids.push(id);
    }
    await deps.alongside?.(trx, ids);
    return ids;
  });
}

/** Refuses tags that make a component too large, where its state, the other large part, was not read. */
async function requireSizes(trx: Db, before: Component[], patch: ComponentBody): Promise<void> {
  const large = await largeComponents(
    trx,
    before.map(({ id }) => id),
    MAX_COMPONENT_BYTES / 2,
  );
  if (large.length === 0) return;
  const tags = new Map(before.map((component) => [component.id, component.tags]));
  for (const { component } of (await lockComponents(trx, large)).values()) {
    requireComponentSize({ ...component, tags: tags.get(component.id) ?? {} }, component, patch);
  }
}
