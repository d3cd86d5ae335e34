import { createHash } from 'node:crypto';
import { desiredText } from '../../domain/batches/batch-key.ts';
import type { DesiredLayerFacts } from '../../domain/components/status.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { readDesiredLayers } from '../components/desired-layers.ts';

/** What stands for the desired layers of a component: equal as long as no commit and no playbook of them changes. */
export function desiredDigest(layers: readonly DesiredLayerFacts[], { default_playbook }: Options): string {
  return createHash('sha256').update(desiredText(layers, default_playbook)).digest('base64url');
}

/** The digests of configurations as they are now; one that does not exist has no layers. */
export async function readDesiredDigests(
  db: Db,
  configurations: Iterable<string>,
  options: Options,
): Promise<Map<string, string>> {
  const layers = await readDesiredLayers(db, [...new Set(configurations)]);
  return new Map([...layers].map(([name, found]) => [name, desiredDigest(found ?? [], options)]));
}
