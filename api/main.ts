/** The API server: composition root. */

import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { isOnLoopback } from '../config/access.ts';
import { dataPaths } from '../config/data-paths.ts';
import { type Environment, EnvironmentError, loadEnvironment } from '../config/environment.ts';
import { startFiles } from '../config/start-files.ts';
import { tlsSettings } from '../config/tls-settings.ts';
import { followLoggingLevel } from '../control/configurations/logging-level.ts';
import { keepSourceSecretsTidy } from '../control/configurations/source-secrets.ts';
import { isMusterError } from '../domain/errors.ts';
import { rememberPemFiles } from '../drivers/certificates/follow-renewal.ts';
import { collectAfterStart } from '../drivers/machine/collect-after-start.ts';
import { loadTracing } from '../drivers/tracing/load-tracing.ts';
import { createApp } from './app.ts';
import { openIngest } from './ingest/open-ingest.ts';
import { followTlsFiles } from './server/access/tls-listener.ts';
import { type Doors, listen } from './server/listen.ts';
import type { EngineHealth } from './shared/api-shared.ts';
import { openShared } from './shared/open-shared.ts';
import { setUp } from './shared/set-up.ts';

/** So long `/readyz` says that it is stopping before a process that goes by itself stops, ms: some looks of a probe. */
const UNREADY_MS = 8_000;
/** So long requests that are under way may take to be answered when the process stops, ms. */
const ANSWER_MS = 3_000;
/** After this time, ms, such a process is gone, whatever still comes in or goes out. */
const LEAVE_MS = 60_000;

async function main(): Promise<void> {
  const env = loadEnvironment(process.env);
  const log = pino({ name: 'muster-api', level: env.MUSTER_LOG_LEVEL });
  const temporary = dataPaths(env.MUSTER_DATA_DIR).temporary.api;
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8'));
  const pemFiles = await rememberPemFiles(startFiles(env, 'api'));
  const tls = tlsSettings(env);
  warnOfTls(env, tls, log);
  const tracing = env.MUSTER_TRACES_URL ? await loadTracing(env.MUSTER_TRACES_URL, 'muster-api', version) : undefined;
  let setup: EngineHealth = { ok: false, reason: 'it is being set up' };
  const process_ = { environment: process.env, log, version, tls: tls?.pair, tracing, setup: () => setup };
  const opened = await openShared(env, process_);
  const { shared } = opened;
  const app = createApp(shared);
  const ingest = openIngest(env, shared);
  const servers = ingest === undefined ? [app] : [app, ingest.server];
  const stops = [
    keepSourceSecretsTidy({ db: shared.db, secrets: shared.site.secrets, clock: shared.clock, log }),
    opened.stopWork,
    ...(tls === undefined ? [] : servers.map((server) => followTlsFiles(server, tls.files, tls.pair, log))),
    followLoggingLevel({ db: shared.db, database: opened.database, log }),
    shared.streams.close,
  ];
  let doors: Doors | undefined;
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    setup = { ok: false, reason: 'it is stopping' };
    for (const stopPart of stops) await stopPart();
    await Promise.all(servers.map((server) => server.close()));
    await doors?.answered(ANSWER_MS);
    await opened.close();
    if (tracing) await tracing.close();
    process.exit(0);
  };
  /** No sender of requests knows that it is to go elsewhere, and no supervisor ends a process that goes by itself. */
  const leave = async () => {
    setup = { ok: false, reason: 'it is stopping' };
    await delay(UNREADY_MS);
    setTimeout(() => process.exit(0), LEAVE_MS);
    await stop();
  };
  pemFiles.stopWhenRenewed({ stop: () => void leave(), log });
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  doors = await listen(app, { host: env.MUSTER_API_HOST, port: env.MUSTER_API_PORT });
  log.info({ host: env.MUSTER_API_HOST, port: env.MUSTER_API_PORT, version }, 'listening');
  await ingest?.listen();
  await setUp(env, { opened, tell: (now) => (setup = now), isStopping: () => stopping });
  collectAfterStart();
}

/** Says what is weak about the certificate, or that there is none. */
function warnOfTls(env: Environment, tls: ReturnType<typeof tlsSettings>, log: Logger): void {
  for (const warning of tls?.warnings ?? []) log.warn(warning);
  if (env.MUSTER_AUTH === 'token' && tls === undefined && !isOnLoopback(env)) {
    log.warn(
      { host: env.MUSTER_API_HOST },
      'tokens cross the network in the clear: set MUSTER_TLS_CERT and MUSTER_TLS_KEY',
    );
  }
}

/** Ends the process with what is wrong. */
function fail(error: unknown): never {
  const isExpected = error instanceof EnvironmentError || isMusterError(error);
  process.stderr.write(`${isExpected ? error.message : error instanceof Error ? error.stack : error}\n`);
  process.exit(isExpected ? 2 : 1);
}

main().catch(fail);
