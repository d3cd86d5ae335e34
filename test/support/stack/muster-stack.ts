import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { stackStatus, startStack, stopStack } from '../../../deploy/stack/background.ts';
import type { ComponentName, StackState } from '../../../deploy/stack/stack-state.ts';
import { webFolder } from '../../../deploy/stack/web-files.ts';
import { endRun } from '../../../drivers/local-runner/end-run.ts';
import { runPaths } from '../../../drivers/local-runner/run-files.ts';
import { isAlive, signal } from '../../../drivers/machine/process-table.ts';
import { ansibleBin, ansibleMissing } from '../ansible/ansible.ts';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { createRepository, type TestRepository } from '../git/git-repository.ts';
import { temporalBinary, temporalMissing } from '../temporal/temporal-binary.ts';
import { putBundle } from '../temporal/test-bundles.ts';
import { processEnvironment } from './process-environment.ts';
import { processesOfSession } from './processes-of-session.ts';
import { placeOnServers } from './shared-servers.ts';

/** A whole stack, everything real: Postgres, Temporal, API, worker, Ansible. */
export interface MusterStack {
  readonly dataDir: string;
  readonly url: string;
  readonly env: Record<string, string>;
  /** Sends a request; the answer's body is parsed when it is JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** A repository in the stack's folder. */
  repository(name: string): Promise<TestRepository>;
  /** Stores a configuration of one layer a playbook, and components on a local connection. */
  configure(name: string, url: string, playbooks: string[], hosts: string[]): Promise<void>;
  /** Creates a session and answers its name. */
  create(name: string, configuration: string, more?: object): Promise<string>;
  /** Muster's own view of a session. */
  session(name: string): Promise<Answer['body']>;
  /** Waits for `status` complete and answers Muster's view. */
  untilComplete(name: string, withinMs?: number): Promise<Answer['body']>;
  /** Waits until a line with this text is in the file; answers the file. */
  untilWritten(file: string, text: string, withinMs?: number): Promise<string>;
  pidOf(name: ComponentName): Promise<number>;
  kill(name: ComponentName): Promise<void>;
  /** Kills the supervisor and every part at once. */
  killAll(): Promise<void>;
  start(): Promise<StackState>;
  stop(): Promise<void>;
  /** URL of its database, with the password. */
  databaseUrl(): Promise<string>;
  sql<T>(text: string, values?: unknown[]): Promise<T[]>;
  temporal<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** Processes of a session's runs. */
  processes(sessionId: string): Promise<number[]>;
  remove(): Promise<void>;
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
}

/** Why no stack can be started here; null when one can. */
export function stackMissing(): string | null {
  return temporalMissing() ?? ansibleMissing();
}

/**
 * Starts a stack in a folder and on ports of its own. Postgres and Temporal are those of the test run, with a database and a namespace
 * of its own, which saves a third of the start; `own`: its own embedded ones, for tests that break them or look at them. It has no web UI unless
 * one is asked for: to build it takes a second of a core.
 */
export async function startMusterStack(
  settings: Record<string, string> = {},
  servers: 'own' | 'shared' = 'shared',
  web: 'built' | 'none' = 'none',
): Promise<MusterStack> {
  const place = servers === 'own' || settings.MUSTER_DATABASE_URL !== undefined ? null : await placeOnServers();
  const dataDir = await mkdtemp(join(tmpdir(), 'muster-e2e-'));
  const env: Record<string, string> = {
    ...processEnvironment(),
    HOME: process.env.HOME ?? '/',
    MUSTER_DATA_DIR: dataDir,
    MUSTER_API_PORT: String(await freePort()),
    MUSTER_POSTGRES_PORT: String(await freePort()),
    MUSTER_TEMPORAL_PORT: String(await freePort()),
    MUSTER_TEMPORAL_UI_PORT: String(await freePort()),
    MUSTER_TEMPORAL_BINARY: temporalBinary() ?? '',
    MUSTER_ANSIBLE_BIN_DIR: ansibleBin(),
    ...(process.env.MUSTER_TEST_WARM === '0' ? { MUSTER_ANSIBLE_WARM: 'off' } : {}),
    ...place?.settings,
    ...settings,
  };
  const url = `http://127.0.0.1:${env.MUSTER_API_PORT}`;
  const status = async () => {
    const state = await stackStatus(dataDir);
    if (state === null) throw new Error('no stack.json');
    return state;
  };
  let database: pg.Pool | undefined;
  const stack: MusterStack = {
    dataDir,
    url,
    env,
    call: (method, path, body, headers) => call(url, method, path, body, headers),
    repository: (name) => createRepository(join(dataDir, 'repositories', name)),
    configure: async (name, repository, playbooks, hosts) => {
      const layers = playbooks.map((playbook) => ({ clone_url: repository, playbook, branch: 'main' }));
      expectStatus(await stack.call('PUT', `/v3/configurations/${name}`, { layers }), 200);
      const components = hosts.map((id) => ({ id, enabled: false, tags: { ansible_connection: 'local' } }));
      expectStatus(await stack.call('PUT', '/v3/components', components), 200);
    },
    create: async (name, configuration, more = {}) => {
      // One request, also where an answer was lost and it is sent again.
      const key = { 'idempotency-key': randomUUID() };
      const answer = await retried(() =>
        stack.call('POST', '/v3/sessions', { name, configuration_name: configuration, ...more }, key),
      );
      expectStatus(answer, 201);
      return name;
    },
    session: async (name) => (await retried(() => stack.call('GET', `/api/v1/sessions/${name}`))).body,
    untilComplete: (name, withinMs = 150_000) =>
      eventually(
        `session ${name} is complete`,
        async () => {
          const session = await stack.session(name);
          return session?.status?.session?.status === 'complete' ? session : null;
        },
        withinMs,
      ),
    untilWritten: (file, text, withinMs = 150_000) =>
      eventually(
        `${text} is in ${file}`,
        async () => {
          const content = await readFile(file, 'utf8').catch(() => '');
          return content.includes(text) ? content : null;
        },
        withinMs,
      ),
    pidOf: (name) => eventually(`${name} has a process`, async () => (await status()).components[name]?.process?.pid),
    kill: async (name) => process.kill(await stack.pidOf(name), 'SIGKILL') && undefined,
    killAll: async () => {
      const { supervisor } = await status();
      // First who would start others in the place of those that end.
      signal(supervisor.pid, 'SIGKILL');
      const { components } = await status();
      const parts = Object.values(components).flatMap((part) => (part.process ? [part.process] : []));
      for (const { pid } of parts) signal(pid, 'SIGKILL');
      // A process that was killed is still there for a moment, and a start would take the stack for a running one.
      await eventually('all are gone', async () => {
        for (const part of [supervisor, ...parts]) if (await isAlive(part)) return false;
        return true;
      });
    },
    start: async () => {
      const result = await startStack({ dataDir, env });
      if (result.outcome === 'failed') throw new Error(result.message);
      return result.state;
    },
    stop: async () => void (await stopStack({ dataDir, keepRuns: true })),
    databaseUrl: async () => {
      if (env.MUSTER_DATABASE_URL !== undefined) return env.MUSTER_DATABASE_URL;
      const { muster } = JSON.parse(await readFile(join(dataDir, 'postgres-passwords.json'), 'utf8'));
      return `postgres://muster:${muster}@127.0.0.1:${env.MUSTER_POSTGRES_PORT}/muster`;
    },
    sql: async (text, values) => {
      database ??= openPool(await stack.databaseUrl());
      return (await database.query(text, values)).rows;
    },
    temporal: async (work) => {
      const address = env.MUSTER_TEMPORAL_ADDRESS ?? `127.0.0.1:${env.MUSTER_TEMPORAL_PORT}`;
      const connection = await Connection.connect({ address });
      try {
        return await work(new Client({ connection, namespace: env.MUSTER_TEMPORAL_NAMESPACE ?? 'default' }));
      } finally {
        await connection.close();
      }
    },
    processes: processesOfSession,
    remove: async () => {
      await stack.stop();
      // Playbooks outlive their stack; here nobody comes back for them.
      const runs = join(dataDir, 'runs');
      const ids = existsSync(runs) ? readdirSync(runs) : [];
      await Promise.all(ids.map((id) => endRun(runPaths(runs, id), id)));
      await database?.end();
      await place?.remove();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  await putBundle(dataDir);
  // A folder that is there is not built again, and one without files is no web UI.
  if (web === 'none') await mkdir(webFolder(dataDir), { recursive: true });
  await stack.start();
  return stack;
}

/** A new login takes both sides several milliseconds, so a connection stays for the next questions; one that breaks is not used again. */
function openPool(connectionString: string): pg.Pool {
  return new pg.Pool({ connectionString, max: 4, idleTimeoutMillis: 10_000 }).on('error', () => undefined);
}

/** Files of a run, for tests that look at what the launcher left. */
export function filesOfRun(stack: MusterStack, runId: string) {
  return runPaths(join(stack.dataDir, 'runs'), runId);
}

async function call(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, body: isJson && text !== '' ? JSON.parse(text) : text };
}

/**
 * A client that goes on while parts of the stack are away: connection refused and 503 are tried again for a minute, and so is what an
 * API has begun that was killed, which holds the request for 20 s.
 */
async function retried(work: () => Promise<Answer>): Promise<Answer> {
  let last = 'nothing';
  const attempt = async () => {
    try {
      const answer = await work();
      if (answer.status !== 503 && answer.body?.code !== 'request_in_progress') return answer;
      last = JSON.stringify(answer.body);
    } catch (error) {
      last = error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error);
    }
    return null;
  };
  return eventually('the API answers', attempt, 240_000).catch((error) => {
    throw new Error(`${error.message}; its last word: ${last}`);
  });
}

function expectStatus(answer: Answer, status: number): void {
  if (answer.status !== status) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
}
