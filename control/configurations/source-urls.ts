import type { Source } from '../../domain/configurations/schema.ts';

/** The clone URLs of sources by their names. */
export function urlsOf(sources: ReadonlyMap<string, Source>): Map<string, string> {
  return new Map([...sources].map(([name, source]) => [name, source.clone_url]));
}
