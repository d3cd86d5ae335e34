import { foundSource } from '../../domain/configurations/layer-rules.ts';
import type { Source } from '../../domain/configurations/schema.ts';
import type { SiteValues } from '../../domain/sessions/ports.ts';

/** Returns the source of a repository as it is now; null where the repository names none. Throws `source_unknown` for a source that is gone. */
export async function sourceOf(
  site: Pick<SiteValues, 'source'>,
  { source: name }: { source: string | null },
): Promise<Source | null> {
  return name === null ? null : foundSource(name, await site.source(name));
}
