/** The API server: composition root. */

import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { isOnLoopback } from '../config/access.ts';
import { dataPaths } from '../config/data-paths.ts';
import { databaseSettings } from '../config/database-settings.ts';
import { type Environment, EnvironmentError, loadEnvironment } from '../config/environment.ts';
import { startFiles } from '../config/start-files.ts';
import { temporalSettings } from '../config/temporal-settings.ts';
import { tlsSettings } from '../config/tls-settings.ts';
import { attributeTo } from '../control/access/attribute-writes.ts';
import { ensureAdminToken } from '../control/access/ensure-admin-token.ts';
import { followLoggingLevel } from '../control/configurations/logging-level.ts';
import { readNotices } from '../control/configurations/read-notices.ts';
import { ensureSiteValues } from '../control/configurations/site-values.ts';
import { keepSourceSecretsTidy } from '../control/configurations/source-secrets.ts';
import { createImageEngine } from '../control/images/image-engine.ts';
import { createRunEngine } from '../control/runs/run-engine.ts';
import { createScheduleEngine } from '../control/schedules/schedule-engine.ts';
import { changeSecretKey, ensureSecretKey } from '../control/secrets/secret-key.ts';
import { createSecretUsers } from '../control/service/secret-users.ts';
import { createDispatcher } from '../control/sessions/dispatcher.ts';
import { readWorkers } from '../control/sessions/read-workers.ts';
import { createSessionEngine } from '../control/sessions/session-engine.ts';
import { connectTemporal } from '../control/temporal/connect.ts';
import { openSigning } from '../control/temporal/open-signing.ts';
import { openAddressSeal } from '../control/webhooks/address-seal.ts';
import { MAIN_QUEUE } from '../domain/engine/task-queues.ts';
import { isMusterError } from '../domain/errors.ts';
import { messageOf } from '../domain/text/message-of.ts';
import { rememberPemFiles } from '../drivers/certificates/follow-renewal.ts';
import { createGit } from '../drivers/git/create-git.ts';
import { keepOpeningImages } from '../drivers/image-files/open-images.ts';
import { collectAfterStart } from '../drivers/machine/collect-after-start.ts';
import { createJwtVerifier } from '../drivers/oidc/verify-jwt.ts';
import { findMacKey } from '../drivers/secrets/mac-key.ts';
import { makeSshPrivateKey } from '../drivers/secrets/ssh-key-pair.ts';
import { openHttpRegistry } from '../drivers/tenants/http-registry.ts';
import { withoutRegistry } from '../drivers/tenants/no-registry.ts';
import { loadTracing } from '../drivers/tracing/load-tracing.ts';
import { openDatabase } from '../store/connection/database.ts';
import { connectionName } from '../store/connection/process-names.ts';
import { migrate } from '../store/migrations/index.ts';
import { openStreamFeed } from '../store/runs/stream-feed.ts';
import { openSite, signsMessages } from '../worker/shared/open-site.ts';
import { createApp } from './app.ts';
import type { AccessSettings, EngineHealth } from './dependencies.ts';
import { createIngestApp } from './ingest/ingest-app.ts';
import { followTlsFiles } from './server/access/tls-listener.ts';
import { type Doors, listen } from './server/listen.ts';

const ROOT = join(import.meta.dirname, '..');
/** Longest time for one statement of a request, ms; as long as CFS tries again when others are in the way. */
const STATEMENT_MS = 60_000;
/** Longest pause of a client in the middle of a body or of an answer, ms. */
const STALL_MS = 30_000;
/** So long `/readyz` says that it is stopping before a process that goes by itself stops, ms: some looks of whoever asks it. */
const UNREADY_MS = 8_000;
/** So long requests that are under way may take to be answered when the process stops, ms. */
const ANSWER_MS = 3_000;
/** After this time, ms, such a process is gone, whatever still comes in or goes out. */
const LEAVE_MS = 60_000;
/** A body that is held must be there after this time, ms: the largest list over a slow line. */
const BODY_MS = 300_000;

async function main(): Promise<void> {
  const env = loadEnvironment(process.env);
  const log = pino({ name: 'muster-api', level: env.MUSTER_LOG_LEVEL });
  const paths = dataPaths(env.MUSTER_DATA_DIR);
  const temporary = paths.temporary.api;
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));

  const pemFiles = await rememberPemFiles(startFiles(env, 'api'));
  const database = databaseSettings(env);
  const tls = tlsSettings(env);
  for (const warning of tls?.warnings ?? []) log.warn(warning);
  if (env.MUSTER_AUTH === 'token' && tls === undefined && !isOnLoopback(env)) {
    log.warn(
      { host: env.MUSTER_API_HOST },
      'tokens cross the network in the clear: set MUSTER_TLS_CERT and MUSTER_TLS_KEY',
    );
  }
  const signs = signsMessages(env);
  const db = openDatabase({ ...database, name: connectionName('muster-api', { signs }), statementMs: STATEMENT_MS });
  const { cipher, secrets, configMaps, platformCa, values: site } = await openSite(env, db, paths);
  const registry = env.MUSTER_TENANT_REGISTRY_URL;
  const tracing = env.MUSTER_TRACES_URL && (await loadTracing(env.MUSTER_TRACES_URL, 'muster-api', version));
  const keyFiles = { given: env.MUSTER_MAC_KEY_FILE, own: paths.macKey, secretKey: paths.secretKey };
  const signing = openSigning(db, signs ? () => findMacKey(keyFiles) : null, log);
  const temporal = connectTemporal(
    temporalSettings(env, 'api'),
    tracing ? tracing.clientInterceptors : {},
    signing.signing && { ...signing.signing, log },
  );
  const dispatcher = createDispatcher({
    db,
    client: temporal.client,
    log,
    ...(tracing ? { within: tracing.within } : {}),
  });
  const streams = openStreamFeed(database);
  let setup: EngineHealth = { ok: false, reason: 'it is being set up' };
  const images = env.MUSTER_IMAGE_SERVICE
    ? await keepOpeningImages(env.MUSTER_IMAGES_DIR ?? paths.images, (message) => log.warn(message))
    : undefined;
  const host = env.MUSTER_API_HOST.includes(':') ? `[${env.MUSTER_API_HOST}]` : env.MUSTER_API_HOST;
  const publicUrl = env.MUSTER_PUBLIC_URL ?? `${tls === undefined ? 'http' : 'https'}://${host}:${env.MUSTER_API_PORT}`;
  const app = createApp({
    db,
    git: createGit({
      mirrorsDir: paths.mirrors,
      allowedSchemes: env.MUSTER_REPOSITORY_SCHEMES,
      tempDir: temporary,
      environment: process.env,
      log: (message) => log.info(message),
    }),
    repositoryAccess: site.repositoryAccess,
    ansibleConfig: site.ansibleConfig,
    secrets,
    addressSeal: openAddressSeal(db, secrets, cipher),
    secretUsers: createSecretUsers({ db, secrets }),
    changeSecretKey: () => changeSecretKey(db, cipher),
    tenants: registry === undefined ? withoutRegistry() : openHttpRegistry({ url: registry, ca: platformCa }),
    engine: createSessionEngine({ db, client: temporal.client }),
    dispatcher,
    runEngine: createRunEngine(temporal.client, { taskQueue: MAIN_QUEUE }),
    imageEngine: createImageEngine(temporal.client, { taskQueue: MAIN_QUEUE }),
    get imageFiles() {
      return images?.current() ?? null;
    },
    imageSettings: { maxBytes: env.MUSTER_IMAGE_MAX, keepFree: env.MUSTER_MIN_FREE, dkms: env.MUSTER_IMAGE_DKMS },
    schedules: createScheduleEngine(temporal.client),
    engineHealth: async () => {
      const reason = await temporal.health();
      return { ok: reason === null, reason };
    },
    readWorkers: () =>
      readWorkers(temporal.connection, {
        namespace: env.MUSTER_TEMPORAL_NAMESPACE,
        queue: MAIN_QUEUE,
        now: new Date(),
      }),
    setup: () => setup,
    log,
    clock: () => new Date(),
    prefixes: env.MUSTER_API_PREFIXES,
    allowedHosts: [
      ...env.MUSTER_ALLOWED_HOSTS,
      ...(env.MUSTER_PUBLIC_URL === undefined ? [] : [new URL(env.MUSTER_PUBLIC_URL).hostname]),
    ],
    access: accessSettings(env, platformCa, (message) => log.warn(message)),
    tls: tls?.pair,
    maxBody: env.MUSTER_MAX_BODY,
    maxRequests: env.MUSTER_MAX_REQUESTS,
    stallMs: STALL_MS,
    bodyMs: BODY_MS,
    publicUrl,
    araUrl: env.MUSTER_ARA_URL,
    temporalUiUpstream: env.MUSTER_TEMPORAL_UI_UPSTREAM,
    temporalUiUrl:
      env.MUSTER_TEMPORAL_UI_URL ??
      (env.MUSTER_TEMPORAL_UI_UPSTREAM === undefined ? undefined : `${publicUrl}/temporal`),
    temporalNamespace: env.MUSTER_TEMPORAL_NAMESPACE,
    streams,
    tracing: tracing || undefined,
    version,
  });

  const ingest =
    env.MUSTER_INGEST_PORT === undefined
      ? undefined
      : createIngestApp({
          db,
          log,
          clock: () => new Date(),
          spoolSeconds: env.MUSTER_INGEST_SPOOL,
          logMax: env.MUSTER_LOG_MAX,
          tls: tls?.pair,
        });

  const stopFollowing = followLoggingLevel({ db, database, log });
  const servers = ingest === undefined ? [app] : [app, ingest];
  const stopTls = tls === undefined ? [] : servers.map((server) => followTlsFiles(server, tls.files, tls.pair, log));
  const stopTidying = keepSourceSecretsTidy({ db, secrets, log });
  let stopping = false;
  let doors: Doors | undefined;
  /** Nobody told who sends requests here that they are to go elsewhere, and nobody ends a process that goes by itself. */
  const leave = async () => {
    setup = { ok: false, reason: 'it is stopping' };
    await delay(UNREADY_MS);
    setTimeout(() => process.exit(0), LEAVE_MS);
    await stop();
  };
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    setup = { ok: false, reason: 'it is stopping' };
    stopTidying();
    images?.stop();
    for (const stopFollowingFiles of stopTls) stopFollowingFiles();
    await stopFollowing();
    await streams.close();
    await Promise.all(servers.map((server) => server.close()));
    await doors?.answered(ANSWER_MS);
    await dispatcher.stop();
    await signing.stop();
    await temporal.close();
    await db.destroy();
    if (tracing) await tracing.close();
    process.exit(0);
  };
  pemFiles.stopWhenRenewed({ stop: () => void leave(), log });
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);

  doors = await listen(app, { host: env.MUSTER_API_HOST, port: env.MUSTER_API_PORT });
  log.info({ host: env.MUSTER_API_HOST, port: env.MUSTER_API_PORT, version }, 'listening');
  if (ingest !== undefined) {
    const listener = { host: env.MUSTER_INGEST_HOST, port: env.MUSTER_INGEST_PORT };
    await ingest.listen(listener);
    log.info(listener, 'taking in runs that are executed elsewhere');
  }
  await prepareDatabase();

  /** Until the database is there and in shape, requests are answered 503; nothing else waits for it. */
  async function prepareDatabase(): Promise<void> {
    for (let pause = 100; !stopping; pause = Math.min(5_000, pause * 2)) {
      try {
        const unlimited = openDatabase({ ...database, name: 'muster-migration', poolSize: 2 });
        await migrate(unlimited).finally(() => unlimited.destroy());
        const shippedAnsibleConfig = await readFile(join(ROOT, 'ansible', 'ansible.cfg'), 'utf8');
        const file = env.MUSTER_ADMIN_TOKEN_FILE;
        if (cipher !== null) await ensureSecretKey(db, cipher, paths.secretKey);
        await signing.follow();
        await attributeTo('setup', async () => {
          await ensureSiteValues({ db, secrets, configMaps, makeSshKey: makeSshPrivateKey, shippedAnsibleConfig });
          if (file !== undefined) await ensureAdminToken({ db, clock: () => new Date(), file, log });
        });
        for (const notice of await readNotices({ db, secrets })) log.warn(notice);
        setup = { ok: true, reason: null };
        collectAfterStart();
        return;
      } catch (error) {
        // No waiting brings a key back.
        if (isMusterError(error) && error.code === 'secret_unreadable') fail(new EnvironmentError(error.message));
        const reason = messageOf(error);
        setup = { ok: false, reason };
        log.warn({ err: reason }, 'this server is not set up yet');
        await delay(pause);
      }
    }
  }
}

/** Who is let in; `ca` is trusted for the issuer besides the public certificates. */
function accessSettings(env: Environment, ca: string | undefined, warn: (message: string) => void): AccessSettings {
  if (env.MUSTER_AUTH === 'none') return { mode: 'none', actorHeader: env.MUSTER_ACTOR_HEADER };
  const { MUSTER_OIDC_ISSUER: issuer, MUSTER_OIDC_AUDIENCE: audience } = env;
  if (issuer === undefined || audience === undefined) return { mode: 'token', issuer: undefined };
  return {
    mode: 'token',
    issuer: {
      verify: createJwtVerifier({ issuer, audience, jwksUrl: env.MUSTER_OIDC_JWKS_URL, ca, log: warn }),
      rules: {
        rolesClaim: env.MUSTER_OIDC_ROLES_CLAIM,
        roleMap: env.MUSTER_OIDC_ROLE_MAP,
        componentClaim: env.MUSTER_OIDC_COMPONENT_CLAIM,
      },
    },
  };
}

/** Ends the process with what is wrong. */
function fail(error: unknown): never {
  const isExpected = error instanceof EnvironmentError || isMusterError(error);
  process.stderr.write(`${isExpected ? error.message : error instanceof Error ? error.stack : error}\n`);
  process.exit(isExpected ? 2 : 1);
}

main().catch(fail);
