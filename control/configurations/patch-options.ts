import type { Acting } from '../../domain/access/acting.ts';
import { wrongOption } from '../../domain/configurations/option-rules.ts';
import type { QueuePoker } from '../../domain/configurations/ports.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import { musterError } from '../../domain/errors.ts';
import { lockOptions, mergeOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import { holdKnownSources } from './hold-known-sources.ts';

export interface PatchOptionsDependencies {
  db: Db;
  engine: QueuePoker;
  clock(): Date;
  log: { warn(object: object, message: string): void };
}

/** Members of the options to set; which of them a client may set is the business of its schema. */
export type OptionsChange = { [K in keyof Options]?: Options[K] | undefined };

/**
 * Merges members into the options and answers all of them (cfs-api 5). Both kinds of additional inventory at once, or an
 * unknown source, are refused, and so is an address of no repository. Another limit of running sessions, or leave to overlap, is told
 * to the sessions that wait, without waiting for that: they also look by themselves.
 */
export async function patchOptions(deps: PatchOptionsDependencies, by: Acting, patch: OptionsChange): Promise<Options> {
  const wrong = wrongOption(patch);
  if (wrong !== null) throw wrong;
  const { before, after } = await deps.db.transaction().execute(async (trx) => {
    const stored = await lockOptions(trx);
    const merged = { ...stored, ...patch } as Options;
    if (merged.additional_inventory_url && merged.additional_inventory_source) {
      const field = patch.additional_inventory_source ? 'additional_inventory_source' : 'additional_inventory_url';
      throw musterError('bad_request', 'The additional inventory has a URL or a source, not both: empty one', field);
    }
    const source = patch.additional_inventory_source;
    if (source) await holdKnownSources(trx, [source]);
    if (Object.keys(patch).length > 0) await mergeOptions(trx, patch as Partial<Options>, deps.clock(), by.actor);
    return { before: stored, after: merged };
  });
  const { max_running_sessions: limit, allow_overlap: overlap } = before;
  if (after.max_running_sessions !== limit || after.allow_overlap !== overlap) {
    deps.engine.pokeQueue().catch((error: unknown) => {
      deps.log.warn({ err: error }, 'waiting sessions could not be told about the new options');
    });
  }
  return after;
}
