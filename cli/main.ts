/** Composition root of the command line: arguments, streams, signals and environment of this process. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ownCertificates, readOwnStack } from '../deploy/stack/own-stack.ts';
import { trustCertificates } from '../deploy/stack/trusted-certificates.ts';
import { openBrowser } from './browser.ts';
import type { CliContext } from './context.ts';
import { openContextStore, profileInUse } from './context-file.ts';
import { CliFailure, EXIT } from './failure.ts';
import { readGlobals } from './globals.ts';
import { operatorHome } from './operator-home.ts';
import { outputNotWritten, processSink } from './process-sink.ts';
import { printFailure, runCli } from './program.ts';
import { embeddedStack } from './stack.ts';
import { openStackToken, openTokens } from './token.ts';

/** One press arrives twice when the launcher passes it on too; a second press later than this (ms) ends at once. */
const SAME_PRESS = 500;

/**
 * Aborts at Ctrl-C, so that commands can say how to go on; a second press ends the process. So does the first after `commandEnded`,
 * when only what was written is waited for.
 */
function interruptSignal(): { signal: AbortSignal; release(): void; commandEnded(): void } {
  const controller = new AbortController();
  let first: number | undefined;
  let ended = false;
  const interrupt = (): void => {
    const again = first === undefined ? ended : performance.now() - first > SAME_PRESS;
    if (again) process.exit(EXIT.interrupted);
    first ??= performance.now();
    controller.abort();
  };
  const listen = (): void => {
    process.on('SIGINT', interrupt);
    process.on('SIGTERM', interrupt);
  };
  const release = (): void => {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  };
  listen();
  return {
    signal: controller.signal,
    release,
    commandEnded: () => {
      ended = true;
      release();
      listen();
    },
  };
}

const { env } = process;
const given = process.argv.slice(2);
const { words, globals } = readGlobals(given);
// Messages that nobody can read any more (`2>&1 | head`, a terminal that is gone) end nothing.
process.stderr.on('error', () => undefined);
const err = processSink(process.stderr, env, globals.color ?? 'auto', () => undefined);
let status: number = EXIT.done;
// A reader that has seen enough (`| head`) is no failure, and hides none.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(status);
  printFailure({ err }, outputNotWritten(error));
  process.exit(EXIT.failed);
});
const out = processSink(process.stdout, env, globals.color ?? 'auto', (error) => {
  throw outputNotWritten(error);
});

const interrupts = interruptSignal();
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as {
  version: string;
};
const dataDir = resolve(env.MUSTER_DATA_DIR || '.muster');
const contexts = openContextStore(env);
const profile = await profileInUse(contexts, globals.context ?? (env.MUSTER_CONTEXT || undefined), words).catch(
  (error: unknown) => {
    if (!(error instanceof CliFailure)) throw error;
    printFailure({ err }, error);
    process.exit(error.exit);
  },
);
const certificates = ownCertificates(dataDir, Boolean(env.MUSTER_DATA_DIR));
trustCertificates([env.MUSTER_CA_FILE, env.MUSTER_TLS_CERT, profile?.ca_file, ...certificates]);
const ownUrl = (): string => `${env.MUSTER_TLS_CERT ? 'https' : 'http'}://127.0.0.1:${env.MUSTER_API_PORT || 8100}`;
const isNamed = globals.context !== undefined;
const defaultUrl =
  (isNamed && profile?.url) ||
  env.MUSTER_URL ||
  (!env.MUSTER_API_PORT && (profile?.url || readOwnStack(dataDir)?.url)) ||
  ownUrl();
const tokenFor = openTokens(env, dataDir, { tokenFile: globals.tokenFile, profile, isNamed });
const context: CliContext = {
  out,
  err,
  stdin: process.stdin,
  version,
  defaultUrl,
  tokenFor,
  stackTokenFor: openStackToken(env, dataDir, { tokenFor, defaultUrl }),
  importToken: env.MUSTER_IMPORT_TOKEN || undefined,
  signal: interrupts.signal,
  now: () => Date.now(),
  exit: 0,
  noInput: Boolean(env.MUSTER_NO_INPUT),
  defaults: {
    output: env.MUSTER_OUTPUT || profile?.defaults?.output,
    time: env.MUSTER_TIME || profile?.defaults?.time,
  },
  profile,
  contexts,
  browse: (url) => openBrowser(url, env),
  stack: embeddedStack({
    env,
    dataDir,
    releaseSignals: interrupts.release,
  }),
  operatorHome: operatorHome(env),
};
status = await runCli(given, context);
interrupts.commandEnded();
await Promise.all([out.flushed(), err.flushed()]);
process.exit(status);
