/** Composition root of the command line: arguments, streams, signals and environment of this process. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readOwnStack } from '../deploy/stack/own-stack.ts';
import { trustCertificates } from '../deploy/stack/trusted-certificates.ts';
import type { CliContext, Sink } from './context.ts';
import { EXIT } from './failure.ts';
import { runCli } from './program.ts';
import { embeddedStack } from './stack.ts';
import { openTokens } from './token.ts';

/** One press arrives twice when the launcher passes it on too; a second press later than this (ms) ends at once. */
const SAME_PRESS = 500;

const sink = (stream: NodeJS.WriteStream): Sink => ({
  write: (text) => {
    stream.write(text);
  },
  terminal: stream.isTTY === true && process.env.TERM !== 'dumb',
  columns: () => stream.columns || 80,
});

/** Aborts at Ctrl-C, so that commands can say how to go on; a second press ends the process. */
function interruptSignal(): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  let first: number | undefined;
  const interrupt = (): void => {
    if (first !== undefined && performance.now() - first > SAME_PRESS) process.exit(EXIT.interrupted);
    first ??= performance.now();
    controller.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  return {
    signal: controller.signal,
    release: () => {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', interrupt);
    },
  };
}

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const interrupts = interruptSignal();
const { env } = process;
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as {
  version: string;
};
const dataDir = resolve(env.MUSTER_DATA_DIR || '.muster');
trustCertificates([env.MUSTER_CA_FILE, env.MUSTER_TLS_CERT]);
const ownUrl = (): string => `${env.MUSTER_TLS_CERT ? 'https' : 'http'}://127.0.0.1:${env.MUSTER_API_PORT || 8100}`;
const defaultUrl = env.MUSTER_URL || (!env.MUSTER_API_PORT && readOwnStack(dataDir)?.url) || ownUrl();
const context: CliContext = {
  out: sink(process.stdout),
  err: sink(process.stderr),
  stdin: process.stdin,
  version,
  defaultUrl,
  tokenFor: openTokens(env, dataDir),
  importToken: env.MUSTER_IMPORT_TOKEN || undefined,
  signal: interrupts.signal,
  now: () => Date.now(),
  exit: 0,
  stack: embeddedStack({
    env,
    dataDir,
    releaseSignals: interrupts.release,
  }),
};
process.exit(await runCli(process.argv.slice(2), context));
