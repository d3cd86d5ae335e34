import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import { RUNNERS, type RunnerKind } from '../../../domain/runs/runner.ts';
import type { Session, SessionCreate, TargetDefinition } from '../../../domain/sessions/schema.ts';
import type { ApiClient, ApiRequest } from '../../client/api-client.ts';
import { mayBeDone } from '../../client/transport-failure.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, interrupted, usage } from '../../failure.ts';
import { goingOn } from '../../follow/follow-session.ts';
import { type EndOptions, followToEnd } from '../../follow/session-end.ts';
import { isForAnsible } from '../../input/limit-hosts.ts';
import { count, type Group, group, pair, seconds } from '../../input/pairs.ts';
import { apiOf, type WriteOptions, withDryRun, withOutput } from '../../options.ts';
import { writeList } from '../../output/render.ts';
import { previewRequests } from '../../preview.ts';
import { expandHosts } from '../components/component-selection.ts';
import { sessionView } from './session-view.ts';

export interface RunSessionOptions extends EndOptions, WriteOptions {
  configuration: string;
  limit?: string;
  layers?: string;
  config?: string;
  verbose: number;
  tag?: Record<string, string>;
  target?: TargetDefinition;
  group?: Group[];
  imageMap?: Record<string, string>;
  passthrough?: string;
  debugOnFailure?: boolean;
  check?: boolean;
  runner?: RunnerKind;
  reconfigure?: boolean;
  detach?: boolean;
}

/** In the order of the help. */
const TARGETS = ['dynamic', 'spec', 'repo', 'image'] satisfies TargetDefinition[];

/** Adds `session run`. */
export function runCommand(noun: Command, context: CliContext): void {
  withDryRun(withOutput(noun.command('run')))
    .description('run a configuration and follow it to its end; Ctrl-C only stops following')
    .argument('[name]', 'name of the session; one is made when absent')
    .requiredOption('--configuration <name>', 'what to run')
    .option('--limit <hosts>', 'only these hosts: a hostlist, as n[1-4],!n3 or @role=compute, or a pattern of Ansible')
    .option('--layers <names>', 'only these layers: names, or indices as in the API, from 0; comma-separated')
    .option('--config <name>', 'Ansible configuration to use instead of the default one')
    .option('-v, --verbose', 'verbosity of Ansible, up to -vvvv', count, 0)
    .option('--tag <name=value>', 'tag of the session (may be repeated)', pair)
    .addOption(new Option('--target <kind>', 'where hosts come from').choices(TARGETS))
    .option(
      '--group <name=host,host>',
      'group of a spec or image target: its hosts, or ids of images (may be repeated)',
      group,
    )
    .option('--image-map <image=name>', 'name of what comes of an image (may be repeated)', pair)
    .option('--passthrough <words>', 'further words for ansible-playbook: -e, -f, -t, --skip-tags, --start-at-task')
    .option('--debug-on-failure', 'keep everything in place after a failure, for a look and a retry')
    .option('--check', 'only look what would change: no host and no component is changed')
    .option('--reconfigure', 'with --check: let what drifted be configured again')
    .addOption(new Option('--runner <runner>', "where its layers run; default: the installation's").choices(RUNNERS))
    .option('--detach', 'create it and do not follow')
    .option('--require-hosts', 'exit status 1 when no host ran any task')
    .option('--timeout <seconds>', 'stop following after so long (exit status 6); the session goes on', seconds)
    .action((name: string | undefined, options: RunSessionOptions) => runSession(context, name, options));
}

/** Creates the session and, unless detached, follows it to its end. */
async function runSession(context: CliContext, given: string | undefined, asked: RunSessionOptions): Promise<void> {
  const api = apiOf(context, asked);
  const options = { ...asked, ...(asked.limit === undefined ? {} : { limit: await limitOf(api, asked.limit) }) };
  const name = given ?? generatedName(options.configuration, randomBytes(4).toString('hex'));
  const request: ApiRequest = { method: 'POST', path: '/v3/sessions', body: sessionBody(name, options) };
  if (options.dryRun) return previewRequests(context, api, [request], options);
  const session = await api.json<Session>(request).catch((error: unknown) => {
    const open = `while session ${name} was being created: it may exist`;
    if (context.signal.aborted) throw interrupted(`${open}; ${goingOn(name)}`);
    // Who runs it again without its name would have two sessions on the same hosts.
    if (!(error instanceof CliFailure) || !mayBeDone(error)) throw error;
    throw new CliFailure(error.code, `${error.message} ${open}`, error.exit, goingOn(name));
  });
  if (options.detach) {
    await writeList(context, sessionView(context.now()), [session], options);
    say(context, goingOn(session.name));
    return;
  }
  say(context, `session ${session.name} created`);
  await followToEnd(context, api, session.name, options);
}

/** The limit as Ansible takes it. Throws for a hostlist without a name: no limit would mean all hosts. */
async function limitOf(api: ApiClient, limit: string): Promise<string> {
  if (isForAnsible(limit)) return limit;
  const names = await expandHosts(api, limit);
  if (names.length === 0) throw usage(`--limit ${limit} names no host`);
  return names.join(',');
}

/** Body of the request (cfs-api 9); members that were not asked for are left to the server's defaults. */
export function sessionBody(name: string, options: RunSessionOptions): SessionCreate {
  const { group: groups, target, imageMap } = options;
  const grouped = target === 'spec' || target === 'image';
  if (grouped && !groups) {
    throw usage(`target ${target} needs at least one --group name=${target === 'image' ? 'image,image' : 'host,host'}`);
  }
  if (imageMap && target !== 'image') throw usage('--image-map belongs to --target image');
  requireNames(imageMap ?? {}, groups ?? []);
  if (options.reconfigure && !options.check) throw usage('--reconfigure belongs to --check');
  if (groups && !grouped) throw usage('--group belongs to --target spec or image');
  return {
    name,
    configuration_name: options.configuration,
    ...(options.layers === undefined ? {} : { configuration_limit: options.layers }),
    ...(options.limit === undefined ? {} : { ansible_limit: options.limit }),
    ...(options.config === undefined ? {} : { ansible_config: options.config }),
    ...(options.verbose === 0 ? {} : { ansible_verbosity: options.verbose }),
    ...(options.passthrough === undefined ? {} : { ansible_passthrough: options.passthrough }),
    ...(target === undefined ? {} : { target: targetOf(target, groups, imageMap) }),
    ...(options.tag === undefined ? {} : { tags: options.tag }),
    ...(options.debugOnFailure ? { debug_on_failure: true } : {}),
    ...musterOf(options),
  };
}

/** A name for an image that is not worked on, or an empty one, would be no name at all. */
function requireNames(names: Record<string, string>, groups: Group[]): void {
  // Of the id of an image hyphens are optional and case does not count.
  const plain = (id: string) => id.replaceAll('-', '').toLowerCase();
  const images = groups.flatMap(({ members }) => members.map(plain));
  for (const [id, name] of Object.entries(names)) {
    if (name === '') throw usage(`--image-map ${id}= says no name`, 'write it as image=name');
    if (!images.includes(plain(id))) throw usage(`--image-map ${id}: no --group has this image`);
  }
}

function musterOf({ check, reconfigure, runner }: RunSessionOptions): Pick<SessionCreate, 'muster'> {
  const muster = {
    ...(check ? { check } : {}),
    ...(reconfigure ? { reconfigure } : {}),
    ...(runner === undefined ? {} : { runner }),
  };
  return Object.keys(muster).length === 0 ? {} : { muster };
}

function targetOf(
  definition: NonNullable<RunSessionOptions['target']>,
  groups?: Group[],
  names?: Record<string, string>,
) {
  const map = Object.entries(names ?? {}).map(([source_id, result_name]) => ({ source_id, result_name }));
  return { definition, ...(groups ? { groups } : {}), ...(map.length > 0 ? { image_map: map } : {}) };
}

/** A valid session name (cfs-api 9) from the configuration's and eight hexadecimal digits: `web-servers-1f2e3d4c`. */
export function generatedName(configuration: string, hex8: string): string {
  const stem = configuration
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 36)
    .replace(/^-+|-+$/g, '');
  return `${stem || 'session'}-${hex8}`;
}
