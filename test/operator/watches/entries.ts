import { type LoadedWatches, loadWatches } from '../../../domain/operator/load-watches.ts';
import { parseYaml } from '../../../drivers/operator-home/read-home.ts';

export const HOME = '/home/op';

export interface Surroundings {
  /** Paths that exist, below the home unless they are absolute. */
  paths?: string[];
  env?: Record<string, string | undefined>;
  markUnsafe?: boolean;
}

/** What loading makes of a file; `pb.yml` and `roles/myrole` exist in the home unless other paths are named. */
export function load(
  text: string,
  { paths = ['pb.yml', 'roles/myrole'], env = {}, markUnsafe = true }: Surroundings = {},
): LoadedWatches {
  const there = new Set(paths.map((path) => (path.startsWith('/') ? path : `${HOME}/${path}`)));
  return loadWatches({
    text,
    home: HOME,
    env,
    files: { exists: (path) => there.has(path) },
    parseYaml,
    defaults: { maxConcurrentReconciles: 4, verbosity: 2, markUnsafe, resyncOnStart: 'stale' },
  });
}

/** Codes of the errors with entry and field, in their order. */
export const codes = ({ errors }: LoadedWatches): string[] =>
  errors.map(({ code, entry, field }) => [code, ...(entry === null ? [] : [`${entry}`]), field ?? []].flat().join(' '));
