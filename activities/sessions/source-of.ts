import { sourceUnknown } from '../../domain/configurations/layer-rules.ts';
import type { Source } from '../../domain/configurations/schema.ts';
import type { SiteValues } from '../../domain/sessions/ports.ts';

/** Returns the source of a repository as it is now; null where the repository names none. Throws `source_unknown` for a source that is gone. */
export async function sourceOf(
  site: Pick<SiteValues, 'source'>,
  { source: name }: { source: string | null },
): Promise<Source | null> {
  if (name === null) return null;
  const source = await site.source(name);
  if (source === null) throw sourceUnknown(name);
  return source;
}
