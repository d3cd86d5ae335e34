/** Everything the environment decides, read once by the composition roots. Each field says unit, default and why. */
import { availableParallelism, homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { ACCESS_VARIABLES, accessMistakes } from './access-variables.ts';
import { databaseMistakes } from './database-tls.ts';
import { IMAGE_BUILDER_VARIABLES } from './image-builder-variables.ts';
import { IMS_VARIABLES, imsMistakes } from './ims-variables.ts';
import { RUNNER_VARIABLES, runnerMistakes } from './runner-variables.ts';
import { TRUST_VARIABLES } from './trust-variables.ts';
import { flag, list } from './variable-forms.ts';

const port = z.coerce.number().int().min(1).max(65535);
/** What is not escaped in a password ends up in another part of the URL; sockets of this machine have none. */
function isDatabaseUrl(value: string): boolean {
  if (/^(socket:|\/)/.test(value)) return true;
  const url = URL.parse(value);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) return false;
  return url.hash === '' && !`${url.pathname}${url.search}`.includes('@');
}
const hostAndPort = z.string().regex(/^(?:[^\s:[\]]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}$/, 'must be host:port');
const bytes = z
  .string()
  .regex(/^[0-9]+(KiB|MiB|GiB)?$/, 'must be a number, with KiB, MiB or GiB if not bytes')
  .transform((value) => {
    const unit = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }[value.slice(-3)] ?? 1;
    return Number.parseInt(value, 10) * unit;
  });

const VariablesSchema = z.object({
  /** Folder of everything that lasts. Default `.muster`: beside the checkout, so that two checkouts do not meet. */
  MUSTER_DATA_DIR: z.string().min(1).default('.muster'),
  /** Folder of the checkout, for scripts and units of the site, which Muster itself does not read. */
  MUSTER_HOME: z.string().optional(),
  /** Address the API listens on. Default loopback: without `MUSTER_AUTH` nobody else may reach it. */
  MUSTER_API_HOST: z.string().min(1).default('127.0.0.1'),
  /** Base of links to this API in answers. Default: its own address, which others cannot use when it is a wildcard. */
  MUSTER_PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .transform((value) => value.replace(/\/+$/, ''))
    .optional(),
  /** API that the command line talks to. Read by it alone; known here, so that a stack starts with it set. */
  MUSTER_URL: z.url().optional(),
  /** Port of the API; the embedded servers take the next ones unless told otherwise. */
  MUSTER_API_PORT: port.default(8100),
  /** Path prefixes under which the CFS routes answer. Default: root and CFS's gateway prefix. */
  MUSTER_API_PREFIXES: z
    .string()
    .default(',/apis/cfs')
    .transform((value) => value.split(',')),
  /** Host names the API answers to besides its own address and loopback names. */
  MUSTER_ALLOWED_HOSTS: list.default([]),
  /** Largest request body. Default 64 MiB: a bulk PUT of 100,000 components. */
  MUSTER_MAX_BODY: bytes.default(64 * 2 ** 20),
  /**
   * Requests of single records that are worked on at once; others wait for a moment or are answered 503. Default 16: it keeps
   * one process and its connections to the database busy, more only make each slower. Raise it with the database's cores.
   */
  MUSTER_MAX_REQUESTS: z.coerce.number().int().min(1).default(16),
  ...ACCESS_VARIABLES,
  ...TRUST_VARIABLES,
  ...IMAGE_BUILDER_VARIABLES,
  /** Largest file of an image that comes in. Default 64 GiB. */
  MUSTER_IMAGE_MAX: bytes.default(64 * 2 ** 30),
  ...IMS_VARIABLES,
  /** Base of links to ARA in CFS records; default: the API's own pages. */
  MUSTER_ARA_URL: z
    .url({ protocol: /^https?$/ })
    .transform((value) => value.replace(/\/+$/, ''))
    .optional(),
  /** Base URL of an ARA server that runs report to as well. Default: none. */
  MUSTER_ARA_SERVER_URL: z
    .url({ protocol: /^https?$/ })
    .transform((value) => value.replace(/\/+$/, ''))
    .refine((value) => new URL(value).username === '', 'must hold no credentials: use MUSTER_ARA_CREDENTIALS_FILE')
    .optional(),
  /** JSON file with `username` and `password` for that server. Default: it asks for none. */
  MUSTER_ARA_CREDENTIALS_FILE: z.string().min(1).optional(),

  /** Where secrets are kept. `database`: in Postgres, encrypted with the data directory's key; `kubernetes`: as Secrets. */
  MUSTER_SECRETS: z.enum(['database', 'kubernetes']).default('database'),
  /** Where ConfigMaps are. `directory`: in the data directory; `kubernetes`: in the cluster, which is only read. */
  MUSTER_CONFIGMAPS: z.enum(['directory', 'kubernetes']).default('directory'),
  /** Namespace of those Secrets and ConfigMaps. The cluster is that of KUBECONFIG, or the one that Muster runs in. */
  MUSTER_SECRETS_NAMESPACE: z.string().min(1).default('muster'),

  /** Postgres; unset: the embedded one. A line break at its end, as a Secret made from a file has, is no part of it. */
  MUSTER_DATABASE_URL: z
    .string()
    .trim()
    .refine(
      isDatabaseUrl,
      'must be postgres://user:password@host:port/database; in user and password / ? # @ : % are written %2F %3F %23 %40 %3A %25',
    )
    .optional(),
  /** PEM file of the CA of an outside Postgres. */
  MUSTER_DATABASE_CA_FILE: z.string().optional(),
  /** Port of the embedded Postgres. Default: API port + 1. */
  MUSTER_POSTGRES_PORT: port.optional(),
  /** host:port of a Temporal server; unset: the embedded one. */
  MUSTER_TEMPORAL_ADDRESS: z.string().min(1).optional(),
  MUSTER_TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  /** How long a namespace that we make keeps workflows that have ended, days. One that exists stays as it is. */
  MUSTER_TEMPORAL_RETENTION_DAYS: z.coerce.number().int().min(1).max(365).default(7),
  /** Port of the embedded Temporal server. Default: API port + 2. */
  MUSTER_TEMPORAL_PORT: port.optional(),
  /** Port of the embedded Temporal server's web UI, at an address of 127.0.0.0/8 that is drawn at each start. Default: API port + 3. */
  MUSTER_TEMPORAL_UI_PORT: port.optional(),
  /** Base URL, with the path `/temporal`, of a Temporal web UI that the API hands on at `/temporal/`; the stack sets it for the embedded one. */
  MUSTER_TEMPORAL_UI_UPSTREAM: z.url({ protocol: /^http$/ }).optional(),
  /** Base of links to the Temporal web UI. Default: `/temporal` of the API where it hands one on. */
  MUSTER_TEMPORAL_UI_URL: z.url().optional(),
  /** API key of a Temporal server (turns TLS on). */
  MUSTER_TEMPORAL_API_KEY: z.string().min(1).optional(),
  /** PEM files for TLS to a Temporal server: its CA, and a client certificate with key. */
  MUSTER_TEMPORAL_TLS_CA: z.string().optional(),
  MUSTER_TEMPORAL_TLS_CERT: z.string().optional(),
  MUSTER_TEMPORAL_TLS_KEY: z.string().optional(),
  /**
   * File with the key by which API and workers know what goes through Temporal as their own, the same for all of them: at least 32
   * characters. Default: `mac.key` in the data directory; without one, where secrets are kept in a cluster, nothing is signed.
   */
  MUSTER_MAC_KEY_FILE: z.string().min(1).optional(),
  /** Turns TLS to Temporal on without any file. Default: on when a file or key above is set. */
  MUSTER_TEMPORAL_TLS: flag.optional(),
  /** Path of the `temporal` program for the embedded server. */
  MUSTER_TEMPORAL_BINARY: z.string().optional(),

  ...RUNNER_VARIABLES,
  /** Playbooks at once on this machine. Default: its cores. */
  MUSTER_LOCAL_RUNS: z.coerce.number().int().min(1).default(availableParallelism()),
  /** Folder with ansible-playbook. Default: found in the cache, then PATH. */
  MUSTER_ANSIBLE_BIN_DIR: z.string().optional(),
  /** Program run in place of ansible-playbook (measuring Muster's own share). */
  MUSTER_PLAYBOOK_COMMAND: z.string().optional(),
  /** Provider of dynamic inventories: `components` of Muster, or a hardware state manager. */
  MUSTER_INVENTORY: z.enum(['components', 'hsm']).default('components'),
  /** Base URL of the hardware state manager. */
  MUSTER_HSM_URL: z.url().default('http://cray-smd/hsm/v2'),
  /** Base URL of a hardware state manager whose nodes become components. Default: none, nothing is made by itself. */
  MUSTER_HARDWARE_SYNC_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Base URL of the registry that knows the tenants; unset: there are none. */
  MUSTER_TENANT_REGISTRY_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Vault in which tenants keep the secrets of their playbooks; unset: sessions have no `VAULT_TOKEN`. */
  MUSTER_TENANT_VAULT_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Role of the login there by Kubernetes, with `{tenant}` where the tenant's name goes. */
  MUSTER_TENANT_VAULT_ROLE: z.string().min(1).default('{tenant}'),
  /** PEM file of the site's CAs, trusted besides the public ones for all but database and Temporal, and sources with their own. */
  MUSTER_CA_FILE: z.string().optional(),
  /** Whether a component may say `ansible_connection=local`. Default: only on an embedded stack. */
  MUSTER_ALLOW_LOCAL_CONNECTION: flag.optional(),
  /** Schemes of repository URLs. Default: https, http, ssh, git and, on an embedded stack, file. */
  MUSTER_REPOSITORY_SCHEMES: list.optional(),
  /** Largest stored log of a layer; head and tail are kept. */
  MUSTER_LOG_MAX: bytes.default(64 * 2 ** 20),
  /** Port that takes in runs executed elsewhere, each by a token of its own. Default: none is opened. */
  MUSTER_INGEST_PORT: port.optional(),
  /** Address of that port. Default loopback; pods need another one, and then TLS or a network of their own. */
  MUSTER_INGEST_HOST: z.string().min(1).default('127.0.0.1'),
  /** How long after the end of a run its token is good, seconds. Default: an hour, for what a runner could not deliver before. */
  MUSTER_INGEST_SPOOL: z.coerce.number().int().min(0).default(3_600),
  /** Token of the CFS that `muster import` reads. Read by the command line alone; known here as MUSTER_URL is. */
  MUSTER_IMPORT_TOKEN: z.string().min(1).optional(),
  /** How long audit records are kept, days. */
  MUSTER_AUDIT_DAYS: z.coerce.number().int().min(1).max(36_500).default(90),
  /** How many are kept at most, the newest; a million takes about 0.5 GiB. */
  MUSTER_AUDIT_ROWS: z.coerce.number().int().min(1_000).default(10_000_000),
  /** Free disk below which no session is admitted, and no image taken in or worked on; open image jobs end, the largest first. */
  MUSTER_MIN_FREE: bytes.default(2 ** 30),
  /** Downloads and builds shared by all checkouts. */
  MUSTER_CACHE_DIR: z
    .string()
    .min(1)
    .default(join(homedir(), '.cache', 'muster')),
  /** Base URL of an OpenTelemetry collector (OTLP over HTTP). Default: nothing is traced. */
  MUSTER_TRACES_URL: z
    .url({ protocol: /^https?$/ })
    .transform((value) => value.replace(/\/+$/, ''))
    .optional(),
  /** host:port on which the worker shows the metrics of Temporal's SDK to Prometheus. Default: it does not. */
  MUSTER_TEMPORAL_METRICS: hostAndPort.optional(),
  /** What a worker does: `images`, only the work on images of its machine; `sessions`, all but that. Default: everything. */
  MUSTER_WORKER_ROLE: z.enum(['all', 'images', 'sessions']).default('all'),
  /** host:port at which the worker tells those who run it whether it lives and works. Default: nowhere. */
  MUSTER_WORKER_PROBES: hostAndPort.optional(),
  /** Least severe level that processes log before the options say otherwise. */
  MUSTER_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
});

/** Names of all settings, in the order in which they are declared. */
export const SETTINGS: readonly string[] = Object.keys(VariablesSchema.shape);

const EnvironmentSchema = VariablesSchema.transform((env) => {
  const embedded = env.MUSTER_DATABASE_URL === undefined && env.MUSTER_TEMPORAL_ADDRESS === undefined;
  return {
    ...env,
    MUSTER_DATA_DIR: resolve(env.MUSTER_DATA_DIR),
    MUSTER_POSTGRES_PORT: env.MUSTER_POSTGRES_PORT ?? env.MUSTER_API_PORT + 1,
    MUSTER_TEMPORAL_PORT: env.MUSTER_TEMPORAL_PORT ?? env.MUSTER_API_PORT + 2,
    MUSTER_TEMPORAL_UI_PORT: env.MUSTER_TEMPORAL_UI_PORT ?? env.MUSTER_API_PORT + 3,
    MUSTER_ALLOW_LOCAL_CONNECTION: env.MUSTER_ALLOW_LOCAL_CONNECTION ?? embedded,
    MUSTER_REPOSITORY_SCHEMES: env.MUSTER_REPOSITORY_SCHEMES ?? [
      'https',
      'http',
      'ssh',
      'git',
      ...(embedded ? ['file'] : []),
    ],
  };
}).superRefine((env, context) => {
  const mistakes = [...accessMistakes(env), ...databaseMistakes(env), ...runnerMistakes(env), ...imsMistakes(env)];
  for (const [name, message] of mistakes) {
    context.addIssue({ code: 'custom', path: [name], message });
  }
});

export type Environment = z.infer<typeof EnvironmentSchema>;

/** All mistakes of the environment in one message, one line each: the variable and what is wrong. */
export class EnvironmentError extends Error {
  override name = 'EnvironmentError';
}

/** Reads and checks the variables; unknown `MUSTER_*` names are mistakes too, so that a misspelt one is noticed. */
export function loadEnvironment(env: Record<string, string | undefined>): Environment {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const known = new Set(SETTINGS);
  const unknown = Object.keys(given).filter(
    (name) => name.startsWith('MUSTER_') && !/^MUSTER_(TEST|RUN)_/.test(name) && !known.has(name),
  );
  const parsed = EnvironmentSchema.safeParse(given);
  const lines = [
    ...unknown.map((name) => `${name}: no such setting`),
    ...(parsed.success ? [] : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)),
  ];
  if (lines.length > 0) throw new EnvironmentError(`The environment has mistakes:\n  ${lines.join('\n  ')}`);
  if (!parsed.success) throw parsed.error;
  return parsed.data;
}

/** Those that are secret as a whole; a URL may hold a password besides. */
export const SECRET_SETTINGS: ReadonlySet<string> = new Set([
  'MUSTER_TOKEN',
  'MUSTER_IMS_TOKEN',
  'MUSTER_IMPORT_TOKEN',
  'MUSTER_TEMPORAL_API_KEY',
]);

/** The settings for people: secrets and passwords in URLs replaced by ********. */
export function printableEnvironment(env: Environment): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => {
      if (value !== undefined && SECRET_SETTINGS.has(name)) return [name, '********'];
      return [name, typeof value === 'string' ? value.replace(/:\/\/([^:@/]*):[^@]*@/, '://$1:********@') : value];
    }),
  );
}
