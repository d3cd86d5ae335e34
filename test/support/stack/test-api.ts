import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { createApp } from '../../../api/app.ts';
import type { ApiServer } from '../../../api/server/api-server.ts';
import type { ApiSettings, ApiShared, ApiSite, ApiTemporal } from '../../../api/shared/api-shared.ts';
import type { RefRequest } from '../../../domain/configurations/ports.ts';
import { musterError } from '../../../domain/errors.ts';
import type { ImageFiles } from '../../../domain/images/image-files.ts';
import { packManifests } from '../../../drivers/app-archives/pack-manifests.ts';
import { readArchive } from '../../../drivers/app-archives/read-archive.ts';
import { openImageDirectory } from '../../../drivers/image-files/image-directory.ts';
import { openAddresses } from '../../../drivers/member-clusters/addresses.ts';
import { openKubeconfigs } from '../../../drivers/member-clusters/kubeconfig.ts';
import { readYaml } from '../../../drivers/propagation-content/read-yaml.ts';
import { openSecretCipher } from '../../../drivers/secrets/secret-cipher.ts';
import { openStreamFeed } from '../../../store/runs/stream-feed.ts';
import { createSecretStore } from '../../../store/secrets/secrets.ts';
import { createTestDatabase, type TestDatabase } from '../postgres/test-database.ts';
import { fakeSchedules } from '../temporal/fake-schedules.ts';

/** Id of the directory of images of every test API. */
export const IMAGE_STORE = '11111111-2222-4333-8444-555555555555';

/** What a test API is made of: all that the lanes stand on, one beside the other, so that tests change single parts. */
export interface TestDependencies
  extends Omit<ApiShared, 'settings' | 'site' | 'temporal' | 'imageFiles'>,
    ApiSettings,
    ApiSite {
  engine: ApiTemporal['sessions'];
  dispatcher: ApiTemporal['dispatcher'];
  tell: ApiTemporal['tell'];
  schedules: ApiTemporal['schedules'];
  engineHealth: ApiTemporal['health'];
  readWorkers: ApiTemporal['workers'];
  readQueues: ApiTemporal['queues'];
  imageFiles: ImageFiles | null;
}

/** The API of these parts. */
export function createTestApp(deps: TestDependencies): ApiServer {
  const { engine, dispatcher, tell, schedules, engineHealth, readWorkers, readQueues, imageFiles } = deps;
  const temporal = { sessions: engine, dispatcher, tell, schedules };
  return createApp({
    ...deps,
    settings: deps,
    site: deps,
    temporal: { client: NO_CLIENT, health: engineHealth, workers: readWorkers, queues: readQueues, ...temporal },
    imageFiles: () => imageFiles,
  });
}

/** A client of Temporal with which nothing can be done. */
const NO_CLIENT = new Proxy({} as ApiTemporal['client'], {
  get: (_, name) => {
    throw new Error(`a test without Temporal asked its client for ${String(name)}`);
  },
});

export interface TestApi {
  app: ApiServer;
  deps: TestDependencies;
  database: TestDatabase;
  /** Commits that the fake remotes answer, by `url ref`; others are `branch_not_found`. */
  refs: Map<string, string>;
  /** What the fake remotes were asked. */
  asked: RefRequest[];
  /** How often the queue was poked. */
  pokes(): number;
  /** Lines of the log, parsed. */
  logged: Record<string, unknown>[];
  /** The clock; tests move it. */
  now: { value: Date };
  call(method: string, url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  close(): Promise<void>;
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
  headers: Record<string, string | string[] | number | undefined>;
}

/** The API on a database of its own with fakes for git and the engine; no listener. */
export async function createTestApi(overrides: Partial<TestDependencies> = {}): Promise<TestApi> {
  const database = await createTestDatabase();
  const dir = await mkdtemp(join(tmpdir(), `muster-test-api-${randomBytes(4).toString('hex')}-`));
  const cipher = openSecretCipher(join(dir, 'secret.key'));
  const secrets = createSecretStore(database.db, cipher, () => new Date());
  const refs = new Map<string, string>();
  const asked: RefRequest[] = [];
  const logged: Record<string, unknown>[] = [];
  const now = { value: new Date('2026-11-21T10:00:00Z') };
  let pokes = 0;
  const deps: TestDependencies = {
    db: database.db,
    git: {
      resolveRef: async (request) => {
        asked.push(request);
        const commit = refs.get(`${request.url} ${request.ref}`);
        if (commit === undefined) throw musterError('branch_not_found', `no branch '${request.ref}'`, 'branch');
        return commit;
      },
    },
    repositoryAccess: async () => ({}),
    ansibleConfig: async (name) => {
      if (name.startsWith('absent')) throw musterError('config_missing', `ConfigMap ${name} has no ansible.cfg`);
      return '';
    },
    secrets,
    cipher,
    tenants: { hasTenant: async (name) => name.startsWith('known') },
    readYaml,
    readArchive,
    packManifests,
    engine: {
      finishDebug: async () => undefined,
      retryInPlace: async () => undefined,
      pokeQueue: async () => {
        pokes++;
      },
    },
    dispatcher: { kick: () => undefined },
    tell: async () => undefined,
    imageFiles: await openImageDirectory(join(dir, 'images'), IMAGE_STORE),
    runner: 'local',
    allowsLocal: true,
    eventPolicy: 'full',
    repositorySchemes: ['https', 'http', 'ssh', 'git', 'file'],
    imageSettings: { maxBytes: 2 ** 20, keepFree: 0, dkms: true },
    schedules: fakeSchedules(),
    engineHealth: async () => ({ ok: true, reason: null }),
    readWorkers: async () => ({ ok: true, reason: null, count: 1 }),
    readQueues: async () => ['main', 'own'].map((name) => ({ name, depth: 0, oldestSeconds: 0, pollers: [] })),
    webFiles: () => null,
    setup: () => ({ ok: true, reason: null }),
    log: pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    clock: () => now.value,
    prefixes: ['', '/apis/cfs'],
    allowedHosts: [],
    access: { mode: 'none', actorHeader: undefined },
    tls: undefined,
    maxBody: 64 * 2 ** 20,
    maxRequests: 16,
    stallMs: 30_000,
    bodyMs: 300_000,
    publicUrl: 'http://127.0.0.1:8100',
    araUrl: undefined,
    temporalUiUpstream: undefined,
    temporalUiUrl: undefined,
    temporalNamespace: 'default',
    streams: openStreamFeed({ url: database.url }),
    tracing: undefined,
    version: '0.0.0-test',
    dataDir: dir,
    deployments: { staleAfterMs: 60_000 },
    readKubeconfig: openKubeconfigs(openAddresses({ allowLoopback: true, networks: [], own: [] })),
    ...overrides,
  };
  const app = createTestApp(deps);
  await app.ready();
  return {
    app,
    deps,
    database,
    refs,
    asked,
    pokes: () => pokes,
    logged,
    now,
    call: (method, url, body, headers) => call(app, method, url, body, headers),
    close: async () => {
      await app.close();
      await deps.streams.close();
      await database.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** One request; a body that is a string or bytes goes as it is, anything else as JSON. */
async function call(
  app: ApiServer,
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await app.inject({
    method: method as 'GET',
    url,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined
      ? {}
      : { payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
  });
  const text = response.body;
  const isJson = /json/.test(String(response.headers['content-type'] ?? ''));
  return {
    status: response.statusCode,
    body: isJson && text !== '' ? JSON.parse(text) : text,
    headers: response.headers,
  };
}
