/** The fields of a schedule as options of `create` and `update`. */
import { type Command, Option } from 'commander';
import { CONFIGURATION_STATUSES } from '../../../domain/components/schema.ts';
import { OVERLAP_POLICIES } from '../../../domain/schedules/schedule-schema.ts';
import { usage } from '../../failure.ts';
import { integer, pair, tagFilter } from '../../input/pairs.ts';

export interface FieldOptions {
  description?: string;
  cron?: string;
  timeZone?: string;
  jitter?: number;
  overlap?: string;
  catchUp?: number;
  reconfigure?: boolean;
  check?: boolean;
  refresh?: true | string[];
  session?: string;
  ids?: string;
  status?: string;
  config?: string;
  tag?: Record<string, string>;
  enabled?: boolean;
  desired?: string;
  reconfigureDrifted?: boolean;
  limit?: string;
  prefix?: string;
}

/** Adds the options that say when and what. */
export const withFields = (command: Command): Command =>
  command
    .option('--cron <expression>', 'minute, hour, day of month, month, day of week: "0 3 * * mon-fri"')
    .option('--time-zone <name>', 'of the IANA database, such as Europe/Berlin (default: UTC)')
    .option('--jitter <seconds>', 'begin up to so much later', integer(0))
    .addOption(new Option('--overlap <policy>', 'when the run before goes on').choices([...OVERLAP_POLICIES]))
    .option('--catch-up <seconds>', 'make up for a time that was missed not longer ago', integer(10))
    .option('--description <text>')
    .option('--reconfigure', 'configure the components that match again')
    .option('--check', 'check the components that match for drift')
    .option('--refresh [name...]', 'resolve the branches of these configurations, or of all')
    .option('--session <configuration>', 'run a session of this configuration')
    .option('--ids <id,id>', 'components: only these')
    .addOption(new Option('--status <status>', 'components: only such').choices([...CONFIGURATION_STATUSES]))
    .option('--config <name>', 'components: only those that want this configuration')
    .option('--tag <name=value>', 'components: only those with the tag (may be repeated)', pair)
    .option('--enabled', 'components: only enabled ones')
    .option('--no-enabled', 'components: only disabled ones')
    .option('--desired <configuration>', 'with --reconfigure: what they are to want from then on')
    .option('--reconfigure-drifted', 'with --check: configure again what drifted')
    .option('--limit <hosts>', 'with --session: the hosts')
    .option('--prefix <name>', 'with --session: how its name begins');

/**
 * The members that the options name; `action` where one of its options was given. Throws a `usage` failure for more than one action,
 * and for an option whose action is not there.
 */
export function fieldsOf(options: FieldOptions): Record<string, unknown> {
  const action = actionOf(options);
  const fields = {
    description: options.description,
    cron: options.cron,
    time_zone: options.timeZone,
    jitter: options.jitter,
    overlap: options.overlap,
    catchup_window: options.catchUp,
    action,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Options that mean something with some of the actions only: how they are written, and with which. */
const BELONGING: [option: keyof FieldOptions, written: string, to: ('reconfigure' | 'check' | 'session')[]][] = [
  ['ids', '--ids', ['reconfigure', 'check']],
  ['status', '--status', ['reconfigure', 'check']],
  ['config', '--config', ['reconfigure', 'check']],
  ['tag', '--tag', ['reconfigure', 'check']],
  ['enabled', '--enabled and --no-enabled', ['reconfigure', 'check']],
  ['desired', '--desired', ['reconfigure']],
  ['reconfigureDrifted', '--reconfigure-drifted', ['check']],
  ['limit', '--limit', ['session']],
  ['prefix', '--prefix', ['session']],
];

/** An option that is left out of the request unsaid may make it one about all components. */
function requireActions(options: FieldOptions): void {
  for (const [option, written, actions] of BELONGING) {
    if (options[option] === undefined || actions.some((action) => options[action] !== undefined)) continue;
    const belongs = written.includes(' ') ? 'belong' : 'belongs';
    throw usage(`${written} ${belongs} to ${actions.map((action) => `--${action}`).join(' or ')}`);
  }
}

function actionOf(options: FieldOptions): object | undefined {
  requireActions(options);
  const filter = {
    ids: options.ids,
    status: options.status,
    config_name: options.config,
    tags: tagFilter(options.tag),
    enabled: options.enabled,
  };
  const { desired, reconfigureDrifted, limit, prefix, refresh } = options;
  const wanted = [
    options.reconfigure && { reconfigure: { filter, ...(desired === undefined ? {} : { desired_config: desired }) } },
    options.check && { check: { filter, ...(reconfigureDrifted ? { reconfigure: true } : {}) } },
    refresh && { refresh: refresh === true ? {} : { configurations: refresh } },
    options.session && {
      session: { configuration_name: options.session, ansible_limit: limit, name_prefix: prefix },
    },
  ].filter((action) => typeof action === 'object');
  if (wanted.length > 1) throw usage('name one action: --reconfigure, --check, --refresh or --session');
  return wanted[0];
}
