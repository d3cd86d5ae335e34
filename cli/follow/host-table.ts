import type { SessionDetail, SessionHost } from '../../domain/sessions/detail-schema.ts';
import type { View } from '../output/columns.ts';
import { oneLine } from '../terminal/neutralise.ts';

/** What one host reached in a whole session, in one line. */
export interface HostSummary {
  host: string;
  /** Layers in which it had a task result. */
  layers: number;
  ok: number;
  changed: number;
  failed: number;
  unreachable: number;
  skipped: number;
  rescued: number;
  ignored: number;
  /** The worst of its layers; of a check what it was found to be. */
  result: SessionHost['result'] | 'drifted' | 'in_sync' | 'cancelled';
}

/** The sums over a host's layers, each by its last attempt as the API answers it. `isCancelled`: what was at work was broken off. */
export function summariseHost(
  { host, result, layers }: SessionHost,
  { check = false, isCancelled = false } = {},
): HostSummary {
  const sum = (value: (layer: SessionHost['layers'][number]) => number): number =>
    layers.reduce((total, layer) => total + value(layer), 0);
  return {
    host,
    layers: layers.length,
    ok: sum((layer) => layer.ok),
    changed: sum((layer) => layer.changed),
    failed: sum((layer) => layer.failures),
    unreachable: sum((layer) => layer.unreachable),
    skipped: sum((layer) => layer.skipped),
    rescued: sum((layer) => layer.rescued),
    ignored: sum((layer) => layer.ignored),
    result:
      isCancelled && result === 'incomplete'
        ? 'cancelled'
        : check && result === 'applied'
          ? sum((layer) => layer.changed - (layer.uncertain ?? 0)) > 0
            ? 'drifted'
            : 'in_sync'
          : result,
  };
}

const WORST_FIRST: readonly HostSummary['result'][] = [
  'failed',
  'incomplete',
  'cancelled',
  'not_reached',
  'running',
  'drifted',
];

/** Those that failed first, then those that were not finished or not reached; hosts of one result stay in their order. */
export function worstFirst(hosts: readonly HostSummary[]): HostSummary[] {
  const rank = ({ result }: HostSummary) => {
    const place = WORST_FIRST.indexOf(result);
    return place < 0 ? WORST_FIRST.length : place;
  };
  return hosts.toSorted((a, b) => rank(a) - rank(b));
}

/** Whether a retry of the failed hosts takes it. */
export const isToRetry = ({ result }: HostSummary): boolean =>
  result === 'failed' || result === 'incomplete' || result === 'cancelled' || result === 'not_reached';

/** Hosts that failed alike: `3 hosts (n1, n2, n3): Install: rc 100: E: ...`. */
export function failureLine({ message, count, hosts }: SessionDetail['failures'][number]): string {
  const more = count > hosts.length ? `, ${count - hosts.length} more` : '';
  return `${count === 1 ? '1 host' : `${count} hosts`} (${hosts.map(oneLine).join(', ')}${more}): ${oneLine(message)}`;
}

export const hostSummaryView: View<HostSummary> = {
  noun: 'hosts',
  name: (host) => host.host,
  columns: [
    { title: 'HOST', value: (host) => host.host },
    { title: 'LAYERS', value: (host) => String(host.layers) },
    { title: 'OK', value: (host) => String(host.ok) },
    { title: 'CHANGED', value: (host) => String(host.changed) },
    { title: 'FAILED', value: (host) => String(host.failed) },
    { title: 'UNREACHABLE', value: (host) => String(host.unreachable) },
    { title: 'SKIPPED', value: (host) => String(host.skipped), wide: true },
    { title: 'RESCUED', value: (host) => String(host.rescued), wide: true },
    { title: 'IGNORED', value: (host) => String(host.ignored), wide: true },
    { title: 'RESULT', value: (host) => host.result },
  ],
};
