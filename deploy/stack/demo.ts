/**
 * `npm run demo [-- --exit]`: the stack, a repository made of examples/quickstart, and one real session on it. Then it
 * stays up until Ctrl-C, which cancels the sessions of the demo; with `--exit` it stops at once. The exit status is the
 * session's.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { applyQuickstart, cancelSessionsSince, type DemoApi } from './demo-api.ts';
import { type ForegroundStack, startInForeground } from './foreground.ts';
import { outliveReader } from './lost-reader.ts';
import { adminTokenFileOf } from './muster-processes.ts';
import { readAdminToken } from './own-stack.ts';
import { makeQuickstartRepository } from './quickstart-repository.ts';
import { linksOf } from './run-stack.ts';
import { StackError } from './stack-error.ts';
import { trustCertificates } from './trusted-certificates.ts';

const ROOT = dirname(dirname(import.meta.dirname));
const QUICKSTART = join(ROOT, 'examples', 'quickstart');
const INTERRUPTED = 130;

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

async function demo(args: string[]): Promise<number> {
  const unknown = args.filter((arg) => arg !== '--exit');
  if (unknown.length > 0) throw new StackError(`Usage: npm run demo [-- --exit] (not known: ${unknown.join(' ')})`);
  const startedAt = new Date();
  say('Starting the stack');
  const stack = await startInForeground({ env: process.env, say: (line) => say(`  ${line}`) });
  try {
    const status = await showSession(stack);
    if (stack.interrupted.aborted) return INTERRUPTED;
    say(status === 0 ? '\nThe session succeeded.' : `\nThe session did not succeed (status ${status}).`);
    for (const line of linksOf(stack.state)) say(`  ${line}`);
    if (args.includes('--exit')) return status;
    say('Ctrl-C stops everything. In another terminal: ./muster session list, ./muster status');
    await untilAborted(stack.interrupted);
    return status;
  } finally {
    // Ctrl-C leaves the cursor behind ^C or in the live line of the session.
    say(`${stack.interrupted.aborted ? '\n' : ''}Stopping the stack`);
    const cancelled = await cancelSessionsSince(await apiOf(stack), startedAt).catch((error: Error) => {
      say(`  sessions could not be cancelled: ${error.message}`);
      return [];
    });
    for (const name of cancelled) say(`  cancelled session ${name}`);
    await stack.stop();
  }
}

/** Runs one session and shows it to its end with the command line's own view; answers its exit status. */
async function showSession(stack: ForegroundStack): Promise<number> {
  const { api } = stack.state.links;
  const folder = join(stack.environment.MUSTER_DATA_DIR, 'demo', 'quickstart');
  const repository = await makeQuickstartRepository(QUICKSTART, folder);
  await applyQuickstart(await apiOf(stack), QUICKSTART, repository);
  if (stack.interrupted.aborted) return INTERRUPTED;
  say(`\nRunning a session of configuration quickstart, cloned from ${repository.url}`);
  const args = ['session', 'run', '--url', api, '--configuration', 'quickstart', '--require-hosts'];
  // In a process group of its own: Ctrl-C is ours, and a follower that is told too would say how to go on following.
  const follower = spawn(process.execPath, [join(ROOT, 'cli', 'main.ts'), ...args], {
    stdio: 'inherit',
    detached: true,
  });
  const end = once(follower, 'exit');
  const stopFollowing = (): void => void follower.kill('SIGKILL');
  stack.interrupted.addEventListener('abort', stopFollowing);
  if (stack.interrupted.aborted) stopFollowing();
  const [status] = (await end) as [ChildProcess['exitCode']];
  stack.interrupted.removeEventListener('abort', stopFollowing);
  return status ?? 1;
}

/** The demo is a client like any other: it has a token where one is needed, and trusts the stack's own certificate. */
async function apiOf({ state, environment }: ForegroundStack): Promise<DemoApi> {
  const { MUSTER_DATA_DIR: dataDir } = environment;
  trustCertificates(state.certificates ?? []);
  const url = state.links.api;
  if (environment.MUSTER_AUTH === 'none') return { url, token: null };
  return { url, token: await readAdminToken(dataDir, url, adminTokenFileOf(environment)) };
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

outliveReader();
try {
  process.exitCode = await demo(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof StackError)) throw error;
  say(error.message);
  process.exitCode = error.exit;
}
process.exit();
