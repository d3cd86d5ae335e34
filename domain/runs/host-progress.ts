import type { HostStatus } from './schema.ts';

/** Of a host whose layer goes on, and of one that a play was for and that no task reached before its playbook ended. */
export const UNFINISHED_WORDS = ['running', 'not_reached'] as const;

/** How a host stands in a session: as its worst layer, `running` while one goes on and none is worse. */
export type HostResultWord = HostStatus | (typeof UNFINISHED_WORDS)[number];

const WORST_FIRST: readonly HostResultWord[] = ['failed', 'incomplete', 'running', 'not_reached', 'applied'];

/** The overall result of a host from its layers, each by its latest attempt. */
export function overallResult(layers: readonly { status: HostResultWord }[]): HostResultWord {
  return WORST_FIRST.find((word) => layers.some((layer) => layer.status === word)) ?? 'running';
}
