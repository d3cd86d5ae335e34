import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SEARCH_ATTRIBUTES } from '../../domain/engine/search-attributes.ts';
import type { ComponentPlan } from './component.ts';
import { StackError } from './stack-error.ts';
import { probeTemporal } from './temporal-probe.ts';

const HOST = '127.0.0.1';

/**
 * The development server polls its shard 20 times a second at most, which makes every step of a workflow wait; with
 * these limits a workflow of five activities takes 60-100 ms instead of 550.
 */
const POLL_RPS = ['transfer', 'timer', 'visibility', 'outbound'].map(
  (queue) => `history.${queue}ProcessorMaxPollRPS=2000`,
);

/**
 * The server's HTTP door has no check of its own and cannot be left out. It answers to this host alone, which no page can have: a page
 * of another site could give a name of its own the address of this machine.
 */
const HTTP_HOSTS = 'frontend.httpAllowedHosts=["closed.invalid"]';

/** Path of the web UI, there and behind the API. */
const UI_PATH = '/temporal';

/** Write-ahead log and fewer syncs: twice the workflows a second, and safe when a process is killed. */
const PRAGMAS = ['journal_mode=WAL', 'synchronous=NORMAL'];

export interface TemporalOptions {
  dataDir: string;
  binary: string | undefined;
  namespace: string;
  port: number;
  uiPort: number;
}

export interface EmbeddedTemporal {
  plan: ComponentPlan;
  /** Where the API finds the web UI, which has no login: an address that a web page cannot guess. */
  uiUrl: string;
}

/** The embedded Temporal server with its web UI and its store in one file. */
export async function embeddedTemporal({
  dataDir,
  binary,
  namespace,
  port,
  uiPort,
}: TemporalOptions): Promise<EmbeddedTemporal> {
  if (binary === undefined || !existsSync(binary)) {
    throw new StackError(
      `The Temporal program is missing (${binary ?? 'MUSTER_TEMPORAL_BINARY is not set'}). Start with "npm start" or ` +
        '"./muster up", which install it, or set MUSTER_TEMPORAL_ADDRESS to use a server that exists.',
    );
  }
  const store = join(dataDir, 'temporal.db');
  const uiHost = `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
  const args = [
    'server',
    'start-dev',
    '--ip',
    HOST,
    '--port',
    String(port),
    '--ui-ip',
    uiHost,
    '--ui-port',
    String(uiPort),
    '--ui-public-path',
    UI_PATH,
  ];
  args.push('--db-filename', store, '--namespace', namespace, '--log-level', 'warn');
  for (const value of [...POLL_RPS, HTTP_HOSTS]) args.push('--dynamic-config-value', value);
  for (const pragma of PRAGMAS) args.push('--sqlite-pragma', pragma);
  for (const name of SEARCH_ATTRIBUTES) args.push('--search-attribute', `${name}=Keyword`);
  const plan: ComponentPlan = {
    name: 'temporal',
    // The server makes its store with the modes that the umask leaves.
    file: '/bin/sh',
    args: ['-c', 'umask 077; exec "$0" "$@"', binary, ...args],
    // HOME: the CLI looks for settings of its own there and must not find the user's.
    env: { PATH: process.env.PATH, HOME: dataDir, TMPDIR: process.env.TMPDIR },
    cwd: dataDir,
    logFile: join(dataDir, 'logs', 'temporal.log'),
    address: `${HOST}:${port}`,
    version: await versionOf(binary),
    probe: () => probeTemporal(port, namespace, SEARCH_ATTRIBUTES),
    stop: { signal: 'SIGTERM', graceMs: 10_000, forceSignal: 'SIGKILL' },
  };
  return { plan, uiUrl: `http://${uiHost}:${uiPort}${UI_PATH}` };
}

/** Version of the server inside, for people; null when the program does not tell. */
async function versionOf(binary: string): Promise<string | null> {
  const { stdout } = await promisify(execFile)(binary, ['--version']);
  return /Server ([\d.]+)/.exec(stdout)?.[1] ?? null;
}
