import { execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { type ComponentPlan, NoAnswer } from './component.ts';
import {
  clearPostmasterFile,
  clusterFolder,
  ensureCluster,
  type Passwords,
  postgresPrograms,
  readOrMakePasswords,
} from './postgres-cluster.ts';
import { launchAs, postgresUser } from './postgres-user.ts';
import { reachablePrograms } from './reachable-programs.ts';

const HOST = '127.0.0.1';
const DATABASE = 'muster';
/** Roles that every stack makes. */
export const OWN_ROLES = ['postgres', 'muster', 'muster_operator'] as const;

/** Settings that differ from Postgres's own defaults, for a machine that runs everything. */
const SETTINGS = {
  listen_addresses: HOST,
  unix_socket_directories: '',
  max_connections: '100',
  // A hundred thousand components with their states stay in memory.
  shared_buffers: '512MB',
  // What is read is in memory or on a flash disk.
  random_page_cost: '1.1',
  // Indexes are read without their tables only where those were vacuumed.
  autovacuum_naptime: '10s',
  // An accepted session must survive a power cut.
  synchronous_commit: 'on',
  // Queries are short; compiling them costs more than it saves.
  jit: 'off',
  // Containers often have a small /dev/shm, which parallel queries would exhaust.
  max_parallel_workers_per_gather: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] %q%a ',
};

export interface EmbeddedPostgres {
  plan: ComponentPlan;
  /** URL for API and worker; holds the password. */
  url: string;
  /** URL of the same database with a superuser's rights. */
  superuserUrl: string;
  /** Makes role and database when they are missing; needs a healthy server. */
  ensureDatabase(): Promise<void>;
  /** Closes the connection of the health probe. */
  close(): Promise<void>;
}

/** Prepares the embedded Postgres of a data directory, making its files at the first start (about 1 s). */
export async function embeddedPostgres(dataDir: string, port: number): Promise<EmbeddedPostgres> {
  const installed = await postgresPrograms();
  const version = /([\d.]+)\s*$/.exec(execFileSync(installed.postgres, ['--version'], { encoding: 'utf8' }))?.[1] ?? '';
  const major = version.split('.')[0] ?? '';
  const user = postgresUser();
  const programs = reachablePrograms(installed, version, user);
  const folder = clusterFolder(dataDir);
  const launch = launchAs(user, dataDir, [folder, programs.postgres]);
  const passwords = readOrMakePasswords(dataDir);
  await ensureCluster(dataDir, programs, major, launch, user, passwords.superuser);
  const settings = Object.entries({ ...SETTINGS, port: String(port) }).flatMap(([key, value]) => [
    '-c',
    `${key}=${value}`,
  ]);
  const { file, args } = launch.command(programs.postgres, ['-D', folder, ...settings]);
  const probe = new PostgresProbe(connection(port, 'postgres', passwords.superuser, 'postgres'));
  return {
    url: databaseUrl(port, passwords),
    superuserUrl: superuserUrl(port, passwords),
    ensureDatabase: () => ensureDatabase(connection(port, 'postgres', passwords.superuser, 'postgres'), passwords),
    close: () => probe.close(),
    plan: {
      name: 'postgres',
      file,
      args,
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
      cwd: '/',
      user: launch.user,
      logFile: join(dataDir, 'logs', 'postgres.log'),
      address: `${HOST}:${port}`,
      version,
      probe: () => probe.check(),
      prepare: () => clearPostmasterFile(dataDir),
      // INT is "fast": sessions are ended, the last checkpoint is written. QUIT leaves that to the next start.
      stop: { signal: 'SIGINT', graceMs: 15_000, forceSignal: 'SIGQUIT' },
    },
  };
}

/** URL of the embedded database for API and workers. */
export function databaseUrl(port: number, passwords: Passwords): string {
  return connection(port, 'muster', passwords.muster, DATABASE);
}

/** URL of the embedded database with a superuser's rights. */
export function superuserUrl(port: number, passwords: Passwords): string {
  return connection(port, 'postgres', passwords.superuser, DATABASE);
}

function connection(port: number, role: string, password: string, database: string): string {
  return `postgres://${role}:${encodeURIComponent(password)}@${HOST}:${port}/${database}`;
}

/** Asks over one lasting connection, since each new login costs both sides several milliseconds of hashing. */
class PostgresProbe {
  private readonly url: string;
  private client: pg.Client | null = null;

  constructor(url: string) {
    this.url = url;
  }

  async check(): Promise<string | null> {
    try {
      // Connections that exist are served by processes of their own: who takes in new ones is asked too.
      await greet(this.url);
      const client = this.client ?? (await this.connect());
      await client.query('select 1');
      return null;
    } catch (error) {
      await this.close();
      if (error instanceof NoAnswer || /timeout/i.test(error instanceof Error ? error.message : '')) {
        throw new NoAnswer('does not answer');
      }
      return error instanceof Error && error.message ? error.message : 'does not answer';
    }
  }

  async close(): Promise<void> {
    const { client } = this;
    this.client = null;
    await client?.end().catch(() => undefined);
  }

  private async connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.url,
      connectionTimeoutMillis: 2_000,
      query_timeout: 3_000,
      application_name: 'muster-stack',
    });
    client.on('error', () => {
      if (this.client === client) this.client = null;
    });
    await client.connect();
    this.client = client;
    return client;
  }
}

/** The request for TLS, which the server answers with one letter before anybody logs in. */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const GREETING_MS = 3_000;

/** Opens a new connection as far as the first word of the server, which costs neither side a login. */
function greet(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.setTimeout(GREETING_MS, () => socket.destroy(new NoAnswer('does not answer')));
    socket.once('connect', () => socket.write(TLS_REQUEST));
    socket.once('data', () => {
      socket.end();
      resolve();
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('does not answer')));
  });
}

async function ensureDatabase(url: string, passwords: Passwords): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // A statement that fails would be logged with the password in it.
    await client.query('set log_min_error_statement = panic');
    const role = await client.query("select 1 from pg_roles where rolname = 'muster'");
    if (role.rowCount === 0) {
      await client.query(`create role muster login createdb password ${client.escapeLiteral(passwords.muster)}`);
    }
    // Logins of operators are its members; the migrations give it its rights.
    const operators = await client.query("select 1 from pg_roles where rolname = 'muster_operator'");
    if (operators.rowCount === 0) await client.query('create role muster_operator nologin');
    const database = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (database.rowCount === 0) await client.query(`create database ${DATABASE} owner muster`);
  } finally {
    await client.end();
  }
}
