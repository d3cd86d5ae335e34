import { foundSource } from '../../domain/configurations/layer-rules.ts';
import { holdSources } from '../../store/configurations/sources.ts';
import type { Db } from '../../store/connection/database.ts';

/**
 * Keeps sources from being deleted until the transaction ends.
 * Throws `source_unknown` for the first name that no source has.
 */
export async function holdKnownSources(trx: Db, names: readonly string[]): Promise<void> {
  const held = await holdSources(trx, names);
  for (const name of names) foundSource(name, held.has(name) ? name : null);
}
