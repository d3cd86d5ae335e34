/** Flags of `operator run`: those of the reference operator, and Muster's own. */
import { RESYNCS } from './watch-entry.ts';

interface FlagOf<Kind extends string, Value> {
  kind: Kind;
  /** Undefined: decided at the start. */
  default: Value | undefined;
  meaning: string;
  /** The flag of which this one is an older name. */
  aliasOf?: string;
  /** Accepted for the sake of existing commands; it changes nothing. */
  ignored?: true;
  /** Smallest and largest value. */
  range?: readonly [number, number];
  words?: readonly string[];
}
export type FlagDeclaration =
  | FlagOf<'text', string>
  | FlagOf<'integer', number>
  | FlagOf<'boolean', boolean>
  /** Text in the grammar of Go. */
  | FlagOf<'duration', string>;

type Extra = Pick<FlagDeclaration, 'aliasOf' | 'ignored' | 'range' | 'words'>;

const text = <V extends string | undefined>(value: V, meaning: string, extra: Extra = {}) => ({
  kind: 'text' as const,
  default: value,
  meaning,
  ...extra,
});
const integer = <V extends number | undefined>(value: V, range: readonly [number, number], meaning: string) => ({
  kind: 'integer' as const,
  default: value,
  meaning,
  range,
});
const boolean = (value: boolean, meaning: string, extra: Extra = {}) => ({
  kind: 'boolean' as const,
  default: value,
  meaning,
  ...extra,
});
const duration = <V extends string | undefined>(value: V, meaning: string, extra: Extra = {}) => ({
  kind: 'duration' as const,
  default: value,
  meaning,
  ...extra,
});

/** Verbosity of runs for which nothing else is said. */
export const DEFAULT_VERBOSITY = 2;

const IGNORED = { ignored: true } as const;
const PORT = [0, 65_535] as const;
const COUNT = [1, 2_147_483_647] as const;

export const FLAGS = {
  'watches-file': text('./watches.yaml', 'file that maps kinds to playbooks and roles'),
  'reconcile-period': duration('10h0m0s', 'time until a resource runs again without an event'),
  'max-concurrent-reconciles': integer(undefined, COUNT, 'reconciles of one kind at the same time; number of CPUs'),
  'ansible-verbosity': integer(DEFAULT_VERBOSITY, [0, 7], 'number of v of the command'),
  'ansible-roles-path': text('', 'exported as ANSIBLE_ROLES_PATH'),
  'ansible-collections-path': text('', 'exported as ANSIBLE_COLLECTIONS_PATH'),
  'ansible-args': text('', 'further arguments of ansible-playbook'),
  'ansible-log-events': text('tasks', 'nothing, tasks or everything of a playbook goes to the log'),
  'inject-owner-ref': boolean(true, 'objects that a playbook creates are marked as dependents'),
  'proxy-port': integer(8888, PORT, 'port of the proxy'),
  'metrics-bind-address': text(':8443', 'address of the metrics'),
  'metrics-addr': text(undefined, 'older name', { aliasOf: 'metrics-bind-address' }),
  'metrics-secure': boolean(false, 'metrics by https'),
  'metrics-require-rbac': boolean(false, 'metrics for those whom the cluster admits; needs --metrics-secure'),
  'health-probe-bind-address': text(':6789', 'address of /healthz and /readyz'),
  'leader-elect': boolean(false, 'accepted: one process of an operator watches in any case'),
  'enable-leader-election': boolean(false, 'older name', { aliasOf: 'leader-elect' }),
  'leader-election-id': text('', 'names the operator where --operator-name does not'),
  'leader-election-namespace': text('', 'accepted', IGNORED),
  'leader-elect-lease-duration': duration('15s', 'accepted', IGNORED),
  'leader-elect-renew-deadline': duration('10s', 'accepted', IGNORED),
  'leader-elect-resource-lock': text('leases', 'accepted', IGNORED),
  'enable-http2': boolean(false, 'accepted', IGNORED),
  'graceful-shutdown-timeout': duration(undefined, 'how long a stop waits for runs; 5s'),
  'zap-devel': boolean(false, 'accepted', IGNORED),
  'zap-encoder': text('json', 'accepted', IGNORED),
  'zap-log-level': text('info', 'accepted', IGNORED),
  'zap-stacktrace-level': text('error', 'accepted', IGNORED),
  'zap-time-encoding': text('epoch', 'accepted', IGNORED),
  'operator-name': text('', 'name of the operator'),
  'max-concurrent-runs': integer(undefined, COUNT, 'runs of one process, all kinds together; number of CPUs'),
  'mark-unsafe': boolean(false, 'default of markUnsafe for entries that say nothing'),
  'runner-env': text(undefined, 'names of what a run gets of the environment, with commas; all'),
  'resync-on-start': text('stale', 'which resources run after a start', { words: RESYNCS }),
  'keep-reconciles': integer(50, [1, 100], 'records that are kept of each resource'),
  'user-metrics-port': integer(5050, PORT, 'port for metrics of playbooks; 0: off'),
  'event-transport': text('files', 'how events of a run arrive', { words: ['files', 'socket'] }),
} as const satisfies Record<string, FlagDeclaration>;

export type FlagName = keyof typeof FLAGS;
