/** What an app's archive may hold, and what of it is a manifest. */
import { musterError } from '../errors.ts';

export const ARCHIVE_LIMITS = {
  packedBytes: 16 * 1024 * 1024,
  unpackedBytes: 64 * 1024 * 1024,
  entries: 10_000,
  manifestBytes: 1024 * 1024,
} as const;

export interface ArchiveEntry {
  path: string;
  type: string;
  size: number;
}

/** Whether an entry is a file with manifests. */
export function isManifestFile(path: string): boolean {
  return /\.ya?ml$/i.test(path);
}

const TEMPLATES = '/templates/';

/** Returns the folder of a Helm chart among paths, empty for the top; null without one. */
function chartAmong(paths: readonly string[]): string | null {
  const plain = paths.map((path) => path.replace(/^(\.\/)+/, ''));
  const folders = plain.filter((path) => `/${path}`.endsWith('/Chart.yaml'));
  const charts = new Set(folders.map((path) => path.slice(0, -'Chart.yaml'.length)));
  if (charts.size === 0) return null;
  // There may be very many paths, and very long ones: each is cut twice at most.
  const parents = plain.flatMap((path) => {
    const within = `/${path}`;
    return [within.indexOf(TEMPLATES), within.lastIndexOf(TEMPLATES)].map((at) => (at < 0 ? null : path.slice(0, at)));
  });
  return parents.find((parent) => parent !== null && charts.has(parent)) ?? null;
}

/** Throws `render_failed` where the paths of an archive have a Helm chart: its templates are no manifests. */
export function checkNoChart(paths: readonly string[]): void {
  const chart = chartAmong(paths);
  if (chart === null) return;
  const where = chart === '' ? '' : ` in '${chart.slice(0, 200)}'`;
  throw refused(`it has a Helm chart${where}, and charts are not rendered: pack the output of 'helm template'`);
}

/**
 * Returns the check of one archive's entries, in their order. It throws `render_failed` for an entry that is not allowed.
 * `mostBytes`: less than the limit where others have used some of it.
 */
export function archiveCheck(mostBytes: number = ARCHIVE_LIMITS.unpackedBytes): (entry: ArchiveEntry) => void {
  let entries = 0;
  let bytes = 0;
  return ({ path, type, size }) => {
    entries += 1;
    bytes += size;
    if (entries > ARCHIVE_LIMITS.entries) throw refused(`it has more than ${ARCHIVE_LIMITS.entries} entries`);
    if (bytes > mostBytes) throw refused(`it is larger than ${mostBytes} bytes${hasShared(mostBytes)}`);
    if (isOutside(path)) throw refused(`the path of an entry leads out of the archive: '${path.slice(0, 200)}'`);
    if (type === 'pax-global-header' || type === 'pax-header') return;
    if (type !== 'file' && type !== 'contiguous-file' && type !== 'directory') {
      throw refused(`'${path.slice(0, 200)}' is no plain file but a ${type}`);
    }
    if (isManifestFile(path) && size > ARCHIVE_LIMITS.manifestBytes) {
      throw refused(`'${path.slice(0, 200)}' is larger than ${ARCHIVE_LIMITS.manifestBytes} bytes`);
    }
  };
}

function hasShared(mostBytes: number): string {
  const { unpackedBytes } = ARCHIVE_LIMITS;
  return mostBytes < unpackedBytes ? `, which the archives before it have left of ${unpackedBytes}` : '';
}

function isOutside(path: string): boolean {
  return path.startsWith('/') || path.includes('\\') || path.includes('\0') || path.split('/').includes('..');
}

function refused(why: string) {
  return musterError('render_failed', `The archive is refused: ${why}`);
}
