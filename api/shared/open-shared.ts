/** Opens what all lanes of the API stand on: database, site, Temporal, git, live streams, the directory of images. */
import type { FastifyBaseLogger } from 'fastify';
import { clusterAddressRules } from '../../config/cluster-addresses.ts';
import { dataPaths } from '../../config/data-paths.ts';
import { databaseSettings } from '../../config/database-settings.ts';
import type { Environment } from '../../config/environment.ts';
import { temporalSettings } from '../../config/temporal-settings.ts';
import { createScheduleEngine } from '../../control/schedules/schedule-engine.ts';
import { createDispatcher } from '../../control/sessions/dispatcher.ts';
import { readQueues, readWorkers } from '../../control/sessions/read-workers.ts';
import { createSessionEngine } from '../../control/sessions/session-engine.ts';
import { connectTemporal } from '../../control/temporal/connect.ts';
import { openSigning } from '../../control/temporal/open-signing.ts';
import { createTell } from '../../control/temporal/tell.ts';
import { isBuilt, webFolder } from '../../deploy/stack/web-files.ts';
import { DEPLOYMENTS_QUEUE, MAIN_QUEUE } from '../../domain/engine/task-queues.ts';
import { packManifests } from '../../drivers/app-archives/pack-manifests.ts';
import { readArchive } from '../../drivers/app-archives/read-archive.ts';
import { createGit } from '../../drivers/git/create-git.ts';
import { keepOpeningImages } from '../../drivers/image-files/open-images.ts';
import { openAddresses } from '../../drivers/member-clusters/addresses.ts';
import { openKubeconfigs } from '../../drivers/member-clusters/kubeconfig.ts';
import { readYaml } from '../../drivers/propagation-content/read-yaml.ts';
import { findMacKey } from '../../drivers/secrets/mac-key.ts';
import { openHttpRegistry } from '../../drivers/tenants/http-registry.ts';
import { withoutRegistry } from '../../drivers/tenants/no-registry.ts';
import type { loadTracing } from '../../drivers/tracing/load-tracing.ts';
import { type Db, openDatabase } from '../../store/connection/database.ts';
import { connectionName } from '../../store/connection/process-names.ts';
import { openStreamFeed } from '../../store/runs/stream-feed.ts';
import { openSite, signsMessages } from '../../worker/shared/open-site.ts';
import { accessSettings } from './access-settings.ts';
import { apiSettings } from './api-settings.ts';
import type { ApiShared, ApiTemporal, TlsPair } from './api-shared.ts';

/** Longest time for one statement of a request, ms; as long as CFS tries again when others are in the way. */
const STATEMENT_MS = 60_000;

type Tracing = Awaited<ReturnType<typeof loadTracing>> | undefined;

export interface Process {
  /** The environment of this process, for git. */
  environment: Record<string, string | undefined>;
  log: FastifyBaseLogger;
  version: string;
  tls: TlsPair | undefined;
  tracing: Tracing;
  setup: ApiShared['setup'];
}

export type Opened = Awaited<ReturnType<typeof openShared>>;

/** Returns what is shared, what sets the installation up, and the stops of both. */
export async function openShared(env: Environment, { environment, log, version, tls, tracing, setup }: Process) {
  const paths = dataPaths(env.MUSTER_DATA_DIR);
  const database = databaseSettings(env);
  const name = connectionName('muster-api', { signs: signsMessages(env) });
  const db = openDatabase({ ...database, name, statementMs: STATEMENT_MS });
  const site = await openSite(env, db, paths);
  const registry = env.MUSTER_TENANT_REGISTRY_URL;
  const engine = openTemporal(env, { db, log, tracing });
  const streams = openStreamFeed(database);
  const images = env.MUSTER_IMAGE_SERVICE
    ? await keepOpeningImages(env.MUSTER_IMAGES_DIR ?? paths.images, (message) => log.warn(message))
    : undefined;
  const { cipher, secrets } = site;
  const { repositoryAccess, ansibleConfig } = site.values;
  const shared: ApiShared = {
    db,
    log,
    clock: () => new Date(),
    settings: apiSettings(env, tls, version),
    access: accessSettings(env, site.platformCa, (message) => log.warn(message)),
    site: { secrets, cipher, repositoryAccess, ansibleConfig },
    temporal: engine.temporal,
    git: createGit({
      mirrorsDir: paths.mirrors,
      allowedSchemes: env.MUSTER_REPOSITORY_SCHEMES,
      tempDir: paths.temporary.api,
      environment,
      log: (message) => log.info(message),
    }),
    tenants: registry === undefined ? withoutRegistry() : openHttpRegistry({ url: registry, ca: site.platformCa }),
    readYaml,
    readArchive,
    packManifests,
    readKubeconfig: openKubeconfigs(openAddresses(clusterAddressRules(env))),
    streams,
    imageFiles: () => images?.current() ?? null,
    webFiles: findWebFiles(env.MUSTER_DATA_DIR),
    setup,
    tracing,
  };
  return {
    shared,
    ...{ database, paths, site, follow: engine.follow },
    /** Ends what works by itself. */
    stopWork: () => images?.stop(),
    /** Ends what requests use, when all of them are answered. */
    close: async () => {
      await engine.close();
      await db.destroy();
    },
  };
}

/** Returns what finds the built web UI. It may be built while this process starts. */
function findWebFiles(dataDir: string): () => string | null {
  let folder: string | undefined;
  return () => {
    folder ??= webFolder(dataDir);
    return isBuilt(folder) ? folder : null;
  };
}

/** The connection to Temporal, what signs the messages on it, and what is told by it. */
function openTemporal(env: Environment, { db, log, tracing }: { db: Db; log: FastifyBaseLogger; tracing: Tracing }) {
  const paths = dataPaths(env.MUSTER_DATA_DIR);
  const keyFiles = { given: env.MUSTER_MAC_KEY_FILE, own: paths.macKey, secretKey: paths.secretKey };
  const signing = openSigning(db, signsMessages(env) ? () => findMacKey(keyFiles) : null, log);
  const { client, connection, health, close } = connectTemporal(
    temporalSettings(env, 'api'),
    tracing ? tracing.clientInterceptors : {},
    signing.signing && { ...signing.signing, log },
  );
  const dispatcher = createDispatcher({ db, client, log, ...(tracing ? { within: tracing.within } : {}) });
  const namespace = env.MUSTER_TEMPORAL_NAMESPACE;
  const temporal: ApiTemporal = {
    client,
    health: async () => {
      const reason = await health();
      return { ok: reason === null, reason };
    },
    workers: () => readWorkers(connection, { namespace, queue: MAIN_QUEUE, now: new Date() }),
    queues: () => readQueues(connection, { namespace, queues: [MAIN_QUEUE, DEPLOYMENTS_QUEUE] }),
    sessions: createSessionEngine({ db, client, clock: () => new Date() }),
    dispatcher,
    tell: createTell({ client, log }),
    schedules: createScheduleEngine(client),
  };
  return {
    temporal,
    follow: signing.follow,
    close: async () => {
      await dispatcher.stop();
      await signing.stop();
      await close();
    },
  };
}
