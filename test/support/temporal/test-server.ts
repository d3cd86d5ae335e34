/** Starts Temporal servers of which the programs are there already; a busy machine may take its time. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { probeTemporal } from '../../../deploy/stack/temporal-probe.ts';
import { SEARCH_ATTRIBUTES } from '../../../domain/engine/search-attributes.ts';
import { eventually } from '../eventually.ts';
import { findProgram } from '../find-program.ts';
import { freePort } from '../free-port.ts';
import { temporalBinary, temporalMissing } from './temporal-binary.ts';

const CACHE = process.env.MUSTER_CACHE_DIR ?? join(homedir(), '.cache', 'muster');
const PATIENCE_MS = 90_000;

export interface RunningServer {
  port: number;
  /** Answers when the server is gone: one that is still ending keeps the process of the tests from ending. */
  stop(): Promise<void>;
}

/** Why Temporal's time-skipping test server cannot be started here, `null` when it can. */
export function testServerMissing(): string | null {
  return testServerBinary() === null
    ? 'the time-skipping test server is not installed (it needs Java and Maven): run through "npm test"'
    : null;
}

/** Named by the set-up, else from the cache. */
function testServerBinary(): string | null {
  return process.env.MUSTER_TEST_SERVER_BINARY ?? cachedBinary();
}

function cachedBinary(): string | null {
  if (findProgram('java') === null || !existsSync(CACHE)) return null;
  const folder = readdirSync(CACHE).find((name) => /^temporal-test-server-[0-9.]+$/.test(name));
  return folder === undefined ? null : join(CACHE, folder, 'temporal-test-server');
}

/** The time-skipping test server. */
export function startTestServer(): Promise<RunningServer> {
  const path = testServerBinary();
  if (path === null) throw new Error(testServerMissing() ?? '');
  return start(path, (port) => [String(port)], takesConnections);
}

/** Frequent polls, so that a step of a workflow takes 20 ms instead of 100. */
const POLL_RPS = ['transfer', 'timer', 'visibility'].map((queue) => `history.${queue}ProcessorMaxPollRPS=2000`);

/** A real server, in memory, with Muster's search attributes. `dynamicConfig`: settings as `name=value`. */
export function startDevServer(dynamicConfig: string[]): Promise<RunningServer> {
  const path = temporalBinary();
  if (path === null) throw new Error(temporalMissing() ?? '');
  const words = [
    ...['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--log-level', 'never'],
    ...[...POLL_RPS, ...dynamicConfig].flatMap((setting) => ['--dynamic-config-value', setting]),
    ...SEARCH_ATTRIBUTES.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
  ];
  return start(
    path,
    (port) => [...words, '--port', String(port)],
    async (port) => (await probeTemporal(port, 'default', SEARCH_ATTRIBUTES)) === null,
  );
}

/** For a Java that lives for a minute on few cores: what it runs is compiled fast rather than well, and one thread collects garbage. */
const SHORT_LIVED = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';

async function start(
  path: string,
  argumentsFor: (port: number) => string[],
  isReady: (port: number) => Promise<boolean>,
): Promise<RunningServer> {
  const port = await freePort();
  // The CLI looks for settings in HOME and must not find the user's.
  const { PATH, GOGC } = process.env;
  const env = { PATH, GOGC, HOME: tmpdir(), JDK_JAVA_OPTIONS: SHORT_LIVED };
  const server = spawn(path, argumentsFor(port), { stdio: 'ignore', env });
  const gone = new Promise<void>((resolve) => server.once('exit', () => resolve()).once('error', () => resolve()));
  const kill = () => void server.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    kill();
    await gone;
    process.off('exit', kill);
  };
  await eventually(
    `${path} answers`,
    () => {
      if (server.exitCode !== null) throw new Error(`${path} ended with ${server.exitCode}`);
      return isReady(port);
    },
    PATIENCE_MS,
  );
  return { port, stop };
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const answer = (yes: boolean) => {
      socket.destroy();
      resolve(yes);
    };
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
  });
}
