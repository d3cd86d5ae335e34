/** API and worker as parts of the stack. */
import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';
import { join, resolve } from 'node:path';
import type { Environment } from '../../config/environment.ts';
import { environmentOfProcesses } from '../../config/file-settings.ts';
import { type ComponentPlan, NoAnswer } from './component.ts';
import { adminTokenFile } from './own-stack.ts';

/** The API itself waits 3 s for its servers. */
const PROBE_TIMEOUT_MS = 4_000;

/** What is run: Node 24 and its arguments. */
export interface MusterCommands {
  api: { file: string; args: string[] };
  worker: { file: string; args: string[] };
}

/** Where the servers are that the stack started itself; undefined: the environment names one that exists. */
export interface EmbeddedAddresses {
  databaseUrl: string | undefined;
  temporalAddress: string | undefined;
  temporalUiUrl: string | undefined;
}

/**
 * glibc's allocator gives each of a dozen threads a heap of its own, and with every large block that is freed it keeps larger ones for
 * itself: two heaps, and a limit that stands (bytes), keep a process some MB smaller, and from growing.
 */
const ALLOCATOR = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };

/**
 * Environment of API and worker: that of the stack, with the embedded servers filled in. What depends on "embedded" is
 * said in full, because a process that is given a database URL could not tell it from an outside one.
 */
export function childEnvironment(
  base: NodeJS.ProcessEnv,
  environment: Environment,
  { databaseUrl, temporalAddress, temporalUiUrl }: EmbeddedAddresses,
): NodeJS.ProcessEnv {
  return {
    ...ALLOCATOR,
    ...environmentOfProcesses(base),
    ...(environment.MUSTER_AUTH === 'token' ? { MUSTER_ADMIN_TOKEN_FILE: adminTokenFileOf(environment) } : {}),
    MUSTER_DATA_DIR: environment.MUSTER_DATA_DIR,
    MUSTER_DATABASE_URL: databaseUrl ?? environment.MUSTER_DATABASE_URL,
    MUSTER_TEMPORAL_ADDRESS: temporalAddress ?? environment.MUSTER_TEMPORAL_ADDRESS,
    MUSTER_TEMPORAL_UI_UPSTREAM: temporalUiUrl ?? environment.MUSTER_TEMPORAL_UI_UPSTREAM,
    MUSTER_ALLOW_LOCAL_CONNECTION: String(environment.MUSTER_ALLOW_LOCAL_CONNECTION),
    MUSTER_DEPLOY_ALLOW_LOOPBACK: String(environment.MUSTER_DEPLOY_ALLOW_LOOPBACK),
    MUSTER_REPOSITORY_SCHEMES: environment.MUSTER_REPOSITORY_SCHEMES.join(','),
  };
}

/** File with the administrator's token of this stack; the API makes it at its first start. */
export function adminTokenFileOf(environment: Environment): string {
  return resolve(environment.MUSTER_ADMIN_TOKEN_FILE ?? adminTokenFile(environment.MUSTER_DATA_DIR));
}

/** Address at which the API is reached from this machine, whatever it listens on. */
export function apiUrl({ MUSTER_API_HOST: host, MUSTER_API_PORT: port, MUSTER_TLS_CERT: cert }: Environment): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${cert === undefined ? 'http' : 'https'}://${reachable.includes(':') && !reachable.startsWith('[') ? `[${reachable}]` : reachable}:${port}`;
}

/** Files whose certificates a client of the API has to trust: its own, which may be signed by no authority, and those of the site. */
export function certificateFiles({ MUSTER_TLS_CERT: own, MUSTER_CA_FILE: ofSite }: Environment): string[] {
  return [own, ofSite].filter((file) => file !== undefined).map((file) => resolve(file));
}

/** Where a person finds Temporal's web UI: the embedded one behind the API. Null: no setting says where that of the outside server is. */
export function temporalUiUrl(environment: Environment): string | null {
  const own = environment.MUSTER_TEMPORAL_ADDRESS === undefined ? `${apiUrl(environment)}/temporal/` : null;
  return environment.MUSTER_TEMPORAL_UI_URL ?? own;
}

export function apiPlan(
  command: MusterCommands['api'],
  environment: Environment,
  env: NodeJS.ProcessEnv,
  root: string,
  version: string,
): ComponentPlan {
  return {
    name: 'api',
    ...command,
    env,
    cwd: root,
    logFile: join(environment.MUSTER_DATA_DIR, 'logs', 'api.log'),
    address: `${environment.MUSTER_API_HOST}:${environment.MUSTER_API_PORT}`,
    version,
    probe: () => probeHealth(`${apiUrl(environment)}/healthz`),
    stop: { signal: 'SIGTERM', graceMs: 10_000, forceSignal: 'SIGKILL' },
  };
}

/** The worker listens on nothing; it says `ready` to its parent when it polls its queues. */
export function workerPlan(
  command: MusterCommands['worker'],
  environment: Environment,
  env: NodeJS.ProcessEnv,
  root: string,
  version: string,
): ComponentPlan {
  return {
    name: 'worker',
    ...command,
    env,
    cwd: root,
    logFile: join(environment.MUSTER_DATA_DIR, 'logs', 'worker.log'),
    address: null,
    version,
    stop: { signal: 'SIGTERM', graceMs: 20_000, forceSignal: 'SIGKILL' },
  };
}

function probeHealth(url: string): Promise<string | null> {
  return new Promise((resolve, reject) => {
    // The certificate may be for another name than loopback, and nothing secret is sent or believed here.
    const get = url.startsWith('https:') ? getSecure : getPlain;
    const request = get(url, { timeout: PROBE_TIMEOUT_MS, rejectUnauthorized: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        body = (body + chunk).slice(0, 500);
      });
      response.on('end', () =>
        resolve(response.statusCode === 200 ? null : `/healthz answers ${response.statusCode}: ${body}`),
      );
      response.on('error', (error) => resolve(error.message));
    });
    request.on('timeout', () => request.destroy(new NoAnswer('/healthz does not answer')));
    request.on('error', (error) => (error instanceof NoAnswer ? reject(error) : resolve(error.message)));
  });
}
