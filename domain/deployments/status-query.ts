/** The parameters of a status query. */
import { musterError } from '../errors.ts';
import { type ClusterRef, isLabelValue, parseClusterName } from './naming.ts';

export const QUERY_TYPES = ['rsync', 'cluster', 'all'] as const;
export type QueryType = (typeof QUERY_TYPES)[number];

export const QUERY_OUTPUTS = ['summary', 'all', 'detail', 'apps', 'clusters'] as const;
export type QueryOutput = (typeof QUERY_OUTPUTS)[number];

export interface StatusQuery {
  type: QueryType;
  output: QueryOutput;
  /** The older published shape; `rsync` is an output of its own there. */
  legacy: boolean;
  legacyRsync: boolean;
  /** Null: the current one. */
  instance: string | null;
  /** Empty: every app. */
  apps: readonly string[];
  clusters: readonly ClusterRef[];
  resources: readonly string[];
}

/** All values of each parameter, in their order. */
export type GivenQuery = Readonly<Record<string, readonly string[] | undefined>>;

const INSTANCE_MAX = 32;

/** Returns what is asked for. Throws `bad_request` that begins with EMCO's words. */
export function readStatusQuery(given: GivenQuery): StatusQuery {
  const first = (name: string) => given[name]?.[0];
  const format = first('format');
  if (format !== undefined && format !== 'legacy')
    throw invalid('Invalid query format', `'${format}': known is legacy`);
  const legacy = format === 'legacy';
  const type = first('type');
  if (type !== undefined && (legacy || !isOf(QUERY_TYPES, type))) {
    const why = legacy ? 'format=legacy has no type' : `'${type}': known are ${QUERY_TYPES.join(', ')}`;
    throw invalid('Invalid query type', why);
  }
  const output = first('output') ?? 'all';
  const outputs: readonly string[] = legacy ? ['summary', 'all', 'detail', 'rsync'] : [...QUERY_OUTPUTS, 'rsync'];
  if (!outputs.includes(output)) throw invalid('Invalid query output', `'${output}': known are ${outputs.join(', ')}`);
  const isOldSpelling = output === 'rsync';
  return {
    type: legacy ? 'all' : isOldSpelling ? 'rsync' : ((type ?? 'rsync') as QueryType),
    output: isOldSpelling ? 'detail' : (output as QueryOutput),
    legacy,
    legacyRsync: legacy && isOldSpelling,
    instance: instanceOf(first('instance')),
    apps: names(given.app, 'Invalid app query'),
    clusters: (given.cluster ?? []).map(clusterOf),
    resources: names(given.resource, 'Invalid resources query'),
  };
}

function instanceOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (text !== '' && text.length <= INSTANCE_MAX) return text;
  throw invalid('Invalid query instance', text === '' ? 'it is empty' : `it is longer than ${INSTANCE_MAX} characters`);
}

function names(texts: readonly string[] = [], words: string): readonly string[] {
  const wrong = texts.find((text) => !isLabelValue(text));
  if (wrong !== undefined) throw invalid(words, `'${wrong.slice(0, 100)}' is no name`);
  return texts;
}

function clusterOf(text: string): ClusterRef {
  const cluster = parseClusterName(text);
  if (cluster !== null && isLabelValue(cluster.provider) && isLabelValue(cluster.cluster)) return cluster;
  const hint = text.includes('+')
    ? 'it must be <provider>+<cluster>, each of at most 63 characters'
    : 'a + must be sent as %2B: <provider>%2B<cluster>';
  throw invalid('Invalid cluster query', `'${text.slice(0, 150)}': ${hint}`);
}

function isOf(words: readonly string[], text: string): boolean {
  return words.includes(text);
}

function invalid(words: string, why: string) {
  return musterError('bad_request', `${words}: ${why}`);
}
