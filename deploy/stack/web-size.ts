/** How much script of the web UI a browser loads, and the bar of that. */

/** Most bytes (gzip): of all that the first page needs, of any file that is loaded later, of all together. */
export const WEB_SIZE_BAR: WebSizes = { first: 170 * 1024, later: 90 * 1024, all: 350 * 1024 };

/** The page that `/ui/` shows. */
const FIRST_PAGE = 'src/fleet/fleet-page.tsx';

/** Bytes of script, compressed. */
export interface WebSizes {
  first: number;
  later: number;
  all: number;
}

/** A file of Vite's manifest: what it loads with it, and what later. */
export interface ManifestFile {
  file: string;
  isEntry?: boolean;
  imports?: string[];
}

/**
 * Returns how large the scripts of a build are.
 * @param manifest Vite's, by source
 * @param bytes compressed size of each script, by its path in the build; workers too, which the manifest does not have
 * @throws {Error} for a manifest without the entry or without the first page: the bar would measure nothing
 */
export function webSizes(
  manifest: Readonly<Record<string, ManifestFile>>,
  bytes: ReadonlyMap<string, number>,
): WebSizes {
  const entry = Object.keys(manifest).find((source) => manifest[source]?.isEntry);
  if (entry === undefined || manifest[FIRST_PAGE] === undefined) {
    throw new Error(`the build has no ${entry === undefined ? 'entry' : FIRST_PAGE}`);
  }
  const first = new Set<string>();
  const visit = (source: string) => {
    const found = manifest[source];
    if (found === undefined || first.has(found.file)) return;
    first.add(found.file);
    for (const next of found.imports ?? []) visit(next);
  };
  visit(entry);
  visit(FIRST_PAGE);
  const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0);
  const later = [...bytes].filter(([file]) => !first.has(file)).map(([, size]) => size);
  return {
    first: sum([...first].map((file) => bytes.get(file) ?? 0)),
    later: Math.max(0, ...later),
    all: sum([...bytes.values()]),
  };
}

/** Returns what is larger than its bar, in words; nothing when all fits. */
export function overSize(sizes: WebSizes, bar: WebSizes = WEB_SIZE_BAR): string[] {
  const words = { first: 'scripts of the first page', later: 'the largest later script', all: 'all scripts' } as const;
  return (Object.keys(words) as (keyof WebSizes)[])
    .filter((what) => sizes[what] > bar[what])
    .map((what) => `${words[what]}: ${kib(sizes[what])} KiB of ${kib(bar[what])}`);
}

function kib(bytes: number): string {
  return (bytes / 1024).toFixed(1);
}
