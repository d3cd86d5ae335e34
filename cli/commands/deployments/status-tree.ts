/** The status of a deployment for people: app, cluster, resource, each with its counts. */
import { oneLine } from '../../terminal/neutralise.ts';
import { type ClusterStatus, clusterOf, type DeploymentStatus, type ResourceRow, rowsOf } from './status-answer.ts';

/** Returns the tree; `isWide`: with the namespaces and whole messages. Text of clusters is made harmless. */
export function statusTree(title: string, status: DeploymentStatus, isWide: boolean): string {
  const rows = rowsOf(status);
  const lines = [headOf(title, status, rows)];
  for (const { name: app, clusters } of status.apps ?? []) {
    const own = rows.filter((row) => row.app === app);
    lines.push(`${app}  ${countsOf(own)}`);
    for (const cluster of clusters) {
      const here = own.filter((row) => row.cluster === clusterOf(cluster));
      lines.push(`  ${[clusterOf(cluster), countsOf(here), awayOf(cluster)].filter((text) => text !== '').join('  ')}`);
      for (const line of resourceLines(here, isWide)) lines.push(`    ${line}`);
    }
  }
  return lines.map((line) => `${oneLine(line).trimEnd()}\n`).join('');
}

function headOf(title: string, { state, status, ready }: DeploymentStatus, rows: readonly ResourceRow[]): string {
  const context = status === undefined ? '' : `AppContext ${status}`;
  const isReady = ready === undefined ? '' : ready ? 'ready' : 'not ready';
  return [title, state, context, countsOf(rows), isReady].filter((text) => text !== '').join('  ');
}

function countsOf(rows: readonly ResourceRow[]): string {
  const applied = counted(rows.map((row) => row.applied));
  const ready = counted(rows.map((row) => (row.ready === 'Ready' ? '' : row.ready)));
  return [...applied, ...ready].join(', ');
}

/** In the order in which each word comes first. */
function counted(words: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const word of words) if (word !== '') counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${count} ${word}`);
}

function awayOf({ connectivity, 'last-seen': seen }: ClusterStatus): string {
  if (connectivity === undefined) return '';
  return seen === undefined ? `${connectivity}, never seen` : `${connectivity}, last seen ${seen}`;
}

function resourceLines(rows: readonly ResourceRow[], isWide: boolean): string[] {
  const names = rows.map(({ kind, name, namespace }) =>
    isWide && namespace !== '' ? `${kind} ${namespace}/${name}` : `${kind} ${name}`,
  );
  const width = Math.max(0, ...names.map((name) => [...name].length));
  return rows.map((row, index) => {
    const name = names[index] ?? '';
    const states = [row.applied, row.present, row.ready].filter((state) => state !== '').join(' ');
    const why = [row.reason, isWide ? row.message : ''].filter((text) => text !== '').join(': ');
    return `${name}${' '.repeat(width - [...name].length)}  ${states}${why === '' ? '' : `  ${why}`}`;
  });
}
