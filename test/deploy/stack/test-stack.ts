import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { type StartOptions, stackStatus, startStack, stopStack } from '../../../deploy/stack/background.ts';
import type { ComponentName, StackState } from '../../../deploy/stack/stack-state.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { processEnvironment } from '../../support/stack/process-environment.ts';
import { temporalBinary } from '../../support/temporal/temporal-binary.ts';

const STAND_INS = join(import.meta.dirname, 'stand-ins');

/** A stack of its own: data directory and ports nobody else has, real Postgres and Temporal, stand-ins for the rest. */
export class TestStack {
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;

  private constructor(dataDir: string, env: NodeJS.ProcessEnv) {
    this.dataDir = dataDir;
    this.env = env;
  }

  /** @param dataDir made when absent */
  static async create(dataDir?: string): Promise<TestStack> {
    dataDir ??= await mkdtemp(join(tmpdir(), 'muster-stack-'));
    return new TestStack(dataDir, {
      ...processEnvironment(),
      HOME: process.env.HOME,
      MUSTER_DATA_DIR: dataDir,
      MUSTER_API_PORT: String(await freePort()),
      MUSTER_POSTGRES_PORT: String(await freePort()),
      MUSTER_TEMPORAL_PORT: String(await freePort()),
      MUSTER_TEMPORAL_UI_PORT: String(await freePort()),
      MUSTER_TEMPORAL_BINARY: temporalBinary() ?? '',
    });
  }

  start(entry = 'stack', progress: Pick<StartOptions, 'onProgress' | 'signal'> = {}) {
    return startStack({ dataDir: this.dataDir, env: this.env, entry: join(STAND_INS, `${entry}.ts`), ...progress });
  }

  /** Starts and answers the state; fails with the stack's own message. */
  async up(): Promise<StackState> {
    const result = await this.start();
    if (result.outcome === 'failed') throw new Error(result.message);
    return result.state;
  }

  stop(keepRuns = false) {
    return stopStack({ dataDir: this.dataDir, keepRuns });
  }

  async status(): Promise<StackState> {
    const state = await stackStatus(this.dataDir);
    if (state === null) throw new Error('no stack.json');
    return state;
  }

  /** Pid of a part now. */
  async pidOf(name: ComponentName): Promise<number> {
    return eventually(`${name} has a process`, async () => (await this.status()).components[name]?.process?.pid);
  }

  /** Waits until the whole stack is healthy again and the part has been restarted. */
  async untilRestarted(name: ComponentName, oldPid: number): Promise<StackState> {
    return eventually(`${name} is restarted`, async () => {
      const state = await this.status();
      const pid = state.components[name]?.process?.pid;
      return state.state === 'running' && pid !== undefined && pid !== oldPid ? state : null;
    });
  }

  /** Runs one statement in the stack's database as the stack's own role. */
  async sql(text: string): Promise<unknown[]> {
    const passwords = JSON.parse(await readFile(join(this.dataDir, 'postgres-passwords.json'), 'utf8'));
    const client = new pg.Client({
      host: '127.0.0.1',
      port: Number(this.env.MUSTER_POSTGRES_PORT),
      user: 'muster',
      password: passwords.muster,
      database: 'muster',
    });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** What API and worker were told. */
  async addresses(): Promise<{ database: string; temporal: string }> {
    const response = await fetch(`http://127.0.0.1:${this.env.MUSTER_API_PORT}/`);
    return (await response.json()) as { database: string; temporal: string };
  }

  async temporal<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const connection = await Connection.connect({ address: `127.0.0.1:${this.env.MUSTER_TEMPORAL_PORT}` });
    try {
      return await work(new Client({ connection }));
    } finally {
      await connection.close();
    }
  }

  async remove(): Promise<void> {
    await this.stop(true);
    await rm(this.dataDir, { recursive: true, force: true });
  }
}
