import type { SessionHost } from '../../../domain/sessions/detail-schema.ts';
import type { View } from '../../output/columns.ts';

/** One host in one layer's run. */
export type HostResultRow = SessionHost['layers'][number] & { host: string };

/** A host's layers as records of their own. */
export const resultsOf = ({ host, layers }: SessionHost): HostResultRow[] =>
  layers.map((layer) => ({ host, ...layer }));

export const hostResultView: View<HostResultRow> = {
  noun: 'hosts',
  name: (result) => result.host,
  columns: [
    { title: 'HOST', value: (result) => result.host },
    { title: 'LAYER', value: (result) => String(result.layer + 1), data: (result) => String(result.layer) },
    { title: 'ATTEMPT', value: (result) => String(result.attempt) },
    { title: 'OK', value: (result) => String(result.ok) },
    { title: 'CHANGED', value: (result) => String(result.changed) },
    { title: 'FAILED', value: (result) => String(result.failures) },
    { title: 'UNREACHABLE', value: (result) => String(result.unreachable) },
    { title: 'SKIPPED', value: (result) => String(result.skipped), wide: true },
    { title: 'RESCUED', value: (result) => String(result.rescued), wide: true },
    { title: 'IGNORED', value: (result) => String(result.ignored), wide: true },
    { title: 'RECORDED', value: (result) => (result.recorded ? 'yes' : 'no'), wide: true },
    { title: 'RESULT', value: (result) => result.status },
  ],
};
