/** What output of a session is asked for: filters that can match nothing are refused, since nothing would look like silence. */
import { type Command, Option } from 'commander';
import { RESULT_WORDS } from '../../../domain/runs/event-summary.ts';
import type { SessionDetail, SessionHost } from '../../../domain/sessions/detail-schema.ts';
import type { ApiClient, Query } from '../../client/api-client.ts';
import { pages } from '../../client/pages.ts';
import { CliFailure, EXIT } from '../../failure.ts';
import { integer } from '../../input/pairs.ts';
import { someOf } from '../../output/names.ts';

/** Types of the events of a session. */
const EVENT_TYPES = ['play_start', 'task_start', 'host_result', 'stats', 'warning', 'error'] as const;

export interface RowOptions {
  follow?: boolean;
  layer?: number;
  attempt?: number;
  host?: string;
  tail?: number;
}

/** Adds the filters that logs and events share. */
export const withRows = (command: Command): Command =>
  command
    .option('-f, --follow', 'go on until the session has ended')
    .option('--layer <index>', 'only this layer of the configuration', integer(0))
    .option('--attempt <number>', 'only this attempt', integer(1));

/** Adds the filters of events alone. */
export const withEvents = (command: Command): Command =>
  command
    .addOption(new Option('--type <type>', 'only events of this type').choices(EVENT_TYPES))
    .addOption(new Option('--result <word>', 'only results of tasks that are so').choices(RESULT_WORDS));

/** The filters as members of a query. */
export const rowQuery = ({ layer, attempt, host, tail }: RowOptions): Query => ({ layer, attempt, host, tail });

/**
 * Looks whether the session has the layer, the attempt and the host that are asked for; `path` is that of the session. A session that goes on may
 * come to an attempt or to a host yet. Throws `layer_not_found`, `attempt_not_found` or `host_not_found`, and what the API says of the session.
 */
export async function requireRows(api: ApiClient, path: string, name: string, options: RowOptions): Promise<void> {
  const { layer, attempt, host } = options;
  if (layer === undefined && attempt === undefined && host === undefined) return;
  const session = await api.json<SessionDetail>({ method: 'GET', path });
  const layers = session.snapshot.layers.map(({ index }) => index);
  if (layer !== undefined && layers.length > 0 && !layers.includes(layer)) {
    const known = layers.length === 1 ? `its layer is ${layers[0]}` : `its layers are ${someOf(layers.map(String))}`;
    throw absent('layer_not_found', `session ${name} has no layer ${layer}`, known);
  }
  if (session.status.session.status !== 'complete') return;
  if (attempt !== undefined && attempt > session.attempt) {
    const known = session.attempt === 1 ? 'it has the attempt 1' : `it has the attempts 1 to ${session.attempt}`;
    throw absent('attempt_not_found', `session ${name} has no attempt ${attempt}`, known);
  }
  if (host !== undefined && !(await hasHost(api, path, host))) {
    const fix = `\`./muster session hosts ${name}\` lists its hosts`;
    throw absent('host_not_found', `session ${name} did nothing on a host ${host}`, fix);
  }
}

async function hasHost(api: ApiClient, path: string, host: string): Promise<boolean> {
  for await (const one of pages<SessionHost>(api, `${path}/hosts`, 'hosts')) if (one.host === host) return true;
  return false;
}

const absent = (code: string, detail: string, fix: string): CliFailure =>
  new CliFailure(code, detail, EXIT.notFound, fix);
