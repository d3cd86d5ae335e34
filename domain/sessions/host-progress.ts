import type { HostStatus } from '../runs/schema.ts';

/** How a host stands in a session: as its worst layer, `running` while one goes on and none is worse. */
export type HostResultWord = HostStatus | 'running';

const WORST_FIRST: readonly HostResultWord[] = ['failed', 'incomplete', 'running', 'applied'];

/** The overall result of a host from its layers, each by its latest attempt. */
export function overallResult(layers: readonly { status: HostResultWord }[]): HostResultWord {
  return WORST_FIRST.find((word) => layers.some((layer) => layer.status === word)) ?? 'running';
}
