import { type Command, Option } from 'commander';
import { DRIFT_STATUSES, type DriftDetail, type DriftItem } from '../../../domain/components/drift-schema.ts';
import { CONFIGURATION_STATUSES, type ConfigurationStatus } from '../../../domain/components/schema.ts';
import type { DriftCheck, DriftCheckAnswer } from '../../../domain/schedules/drift-check-schema.ts';
import { type ApiClient, segment } from '../../client/api-client.ts';
import { namedRecords } from '../../client/named-records.ts';
import { type CliContext, say } from '../../context.ts';
import { EXIT, exitOfSession, usage } from '../../failure.ts';
import { followSession, goingOn } from '../../follow/follow-session.ts';
import { pair, tagFilter } from '../../input/pairs.ts';
import {
  apiOf,
  type OutputOptions,
  perform,
  type WatchOptions,
  type WriteOptions,
  withDryRun,
  withLimit,
  withOutput,
  withServer,
  withWait,
  withWatch,
} from '../../options.ts';
import { someOf } from '../../output/names.ts';
import { renderOne, writeData, writeList } from '../../output/render.ts';
import { oneLine } from '../../terminal/neutralise.ts';
import { watching } from '../../watch.ts';
import { expandHosts, hostsOf } from '../components/component-selection.ts';
import { driftDetails, driftView } from './drift-view.ts';

const PATH = '/api/v1/drift';

interface ListOptions extends OutputOptions, WatchOptions {
  status?: string;
  config?: string;
  ids?: string;
  limit?: number;
}

/** Which components a check looks at. */
export interface CheckOptions {
  config?: string;
  ids?: string;
  tag?: Record<string, string>;
  status?: ConfigurationStatus;
  enabled?: boolean;
  all?: boolean;
  reconfigure?: boolean;
}

type CheckCommandOptions = CheckOptions & WriteOptions & { wait?: boolean; timeout?: number };

/** `muster drift ...` */
export function driftCommands(program: Command, context: CliContext): void {
  const noun = program.command('drift').description('what differs on machines from what they were configured to');

  withWait(withDryRun(withServer(noun.command('check'))))
    .description('make sessions that look what their playbooks would change, and change nothing')
    .option('--config <name>', 'components that want this configuration')
    .argument('[hosts...]', 'only these: a hostlist, as n[1-4],!n3 or @role=compute; - for stdin')
    .option('--ids <hosts>', 'another name of the hostlist')
    .option('--tag <name=value>', 'only those with the tag (may be repeated)', pair)
    .addOption(new Option('--status <status>', 'only those').choices(CONFIGURATION_STATUSES))
    .option('--enabled', 'only enabled ones')
    .option('--no-enabled', 'only disabled ones')
    .option('--all', 'all components')
    .option('--reconfigure', 'let what drifted be configured again')
    .action((words: string[], options: CheckCommandOptions) => check(context, words, options));

  withWatch(withLimit(withOutput(noun.command('list'))))
    .description('list what the last checks found, by component')
    .addOption(new Option('--status <status>').choices(DRIFT_STATUSES))
    .option('--config <name>', 'only components that were checked against it')
    .argument('[hosts...]', 'only these: a hostlist, as n[1-4],!n3 or @role=compute; - for stdin')
    .option('--ids <hosts>', 'another name of the hostlist')
    .action(async (words: string[], options: ListOptions) => {
      const api = apiOf(context, options);
      const names = await namesOf(context, api, words, options.ids);
      const query = { status: options.status, config_name: options.config };
      const list = { path: PATH, kind: 'drift', query, names };
      await watching(context, options, async () => {
        const items = await namedRecords<DriftItem>(api, list, options.limit);
        await writeList(context, driftView, items, options);
      });
    });

  withOutput(noun.command('get'))
    .description('show the tasks that would change a component, and what they would change')
    .argument('<id>')
    .action(async (id: string, options: OutputOptions) => {
      const item = await apiOf(context, options).json<DriftDetail>({ method: 'GET', path: `${PATH}/${segment(id)}` });
      writeData(context, await renderOne(driftView, item, options.output, () => driftDetails(item)));
    });
}

/** Body of the request; something has to say which components are meant. */
export function checkBody(options: CheckOptions): DriftCheck {
  const { config, ids, tag, status, enabled, all, reconfigure } = options;
  const order = reconfigure ? { reconfigure } : {};
  const filter = {
    ...(ids === undefined ? {} : { ids }),
    ...(tag === undefined ? {} : { tags: tagFilter(tag) ?? '' }),
    ...(status === undefined ? {} : { status }),
    ...(enabled === undefined ? {} : { enabled }),
  };
  const narrowed = Object.keys(filter).length > 0;
  if (all && (narrowed || config !== undefined))
    throw usage('--all means all components; leave the other options away');
  if (config !== undefined && !narrowed) return { configuration: config, ...order };
  if (!all && !narrowed) throw usage('name the components: a hostlist, --config, --tag, --status, --enabled or --all');
  return { filter: { ...filter, ...(config === undefined ? {} : { config_name: config }) }, ...order };
}

/** The names of a hostlist; undefined when none was given. */
async function namesOf(
  context: CliContext,
  api: ApiClient,
  words: readonly string[],
  ids: string | undefined,
): Promise<string[] | undefined> {
  const hosts = await hostsOf(context, words, ids);
  return hosts === undefined ? undefined : expandHosts(api, hosts);
}

async function check(context: CliContext, words: string[], options: CheckCommandOptions): Promise<void> {
  const api = apiOf(context, options);
  const names = await namesOf(context, api, words, options.ids);
  // The server takes no ids for all components.
  if (names?.length === 0) throw usage('the hostlist means no component', 'it takes away every name that it has');
  const body = checkBody({ ...options, ...(names === undefined ? {} : { ids: names.join(',') }) });
  const request = { method: 'POST', path: `${PATH}/checks`, body } as const;
  const answer = await perform<DriftCheckAnswer>(context, api, request, options);
  if (answer === undefined) return;
  for (const { reason, components, first } of answer.left_out) {
    const names = someOf(first, ', ', components);
    say(context, `left out: ${components} (${oneLine(reason)}): ${oneLine(names)}`);
  }
  const count = answer.sessions.length;
  say(context, `${answer.components} components are looked at by ${count} session${count === 1 ? '' : 's'}`);
  writeData(context, answer.sessions.map((name) => `${name}\n`).join(''));
  if (options.wait) await waitFor(context, api, answer.sessions, options);
}

/** Follows the sessions one after the other, within one timeout for all; the exit status is the worst of theirs. */
async function waitFor(
  context: CliContext,
  api: ApiClient,
  sessions: readonly string[],
  options: { timeout?: number },
): Promise<void> {
  const since = context.now();
  for (const name of sessions) {
    const end = await followSession(context, api, name, { ...options, since });
    if (end === undefined) {
      say(context, `detached: session ${name} goes on; ${goingOn(name)}`);
      context.exit = EXIT.interrupted;
      return;
    }
    say(context, `session ${name}: ${oneLine(end.message)}`);
    context.exit = Math.max(context.exit, exitOfSession(end.succeeded));
  }
}
