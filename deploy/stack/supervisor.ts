/** The embedded stack: starts Postgres and Temporal, then API and worker, and keeps them running until it is stopped. */
import { existsSync } from 'node:fs';
import type { Server } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { dataPaths } from '../../config/data-paths.ts';
import type { Environment } from '../../config/environment.ts';
import { someOf } from '../../domain/some-of.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { collectAfterStart } from '../../drivers/machine/collect-after-start.ts';
import { makePrivate } from '../../drivers/machine/private-files.ts';
import type { ComponentPlan } from './component.ts';
import { ownFiles, prepareDataDirectory } from './data-directory.ts';
import { lastWords } from './last-words.ts';
import { endLeftovers } from './leftovers.ts';
import { rotateLog } from './log-file.ts';
import {
  adminTokenFileOf,
  apiPlan,
  apiUrl,
  certificateFiles,
  childEnvironment,
  type MusterCommands,
  temporalUiUrl,
  workerPlan,
} from './muster-processes.ts';
import { portNeeds } from './port-needs.ts';
import { checkPorts } from './ports.ts';
import { type EmbeddedPostgres, embeddedPostgres } from './postgres.ts';
import { identify } from './process-identity.ts';
import { checkSecretKey } from './secret-key-check.ts';
import { StackError, startInterrupted } from './stack-error.ts';
import { lockDataDirectory } from './stack-lock.ts';
import {
  COMPONENT_NAMES,
  type ComponentName,
  type ComponentState,
  type StackState,
  writeStackState,
} from './stack-state.ts';
import { settingDigests } from './started-settings.ts';
import { SupervisedProcess } from './supervised-process.ts';
import { embeddedTemporal } from './temporal.ts';
import { settleRestore } from './unfinished-restore.ts';
import { ansibleVersion, musterVersion } from './versions.ts';
import { SMALL_YOUNG_GENERATION } from './young-generation.ts';

const ROOT = dirname(dirname(import.meta.dirname));
const ROTATE_EVERY_MS = 30_000;
const ADMIN_TOKEN_WITHIN_MS = 60_000;
/** A component that ends this often before the stack was ever up will not come up by trying again. */
const FRUITLESS_STARTS = 5;

export interface SupervisorOptions {
  environment: Environment;
  /** Variables handed on to API and worker. */
  env: NodeJS.ProcessEnv;
  commands: MusterCommands;
  /** Told at every change of any component. */
  onChange?: (state: StackState) => void;
  /** Told one sentence at a time about what is done before the components start. */
  onNote?: (text: string) => void;
  /** Called once the data directory is this stack's, and holds no restore that was broken off. */
  onDataDirectory?: () => void;
}

/** What the stack of this checkout runs. */
export const MUSTER_COMMANDS: MusterCommands = {
  api: { file: process.execPath, args: [SMALL_YOUNG_GENERATION, join(ROOT, 'api', 'main.ts')] },
  worker: { file: process.execPath, args: [SMALL_YOUNG_GENERATION, join(ROOT, 'worker', 'main.ts')] },
};

export class Supervisor {
  private readonly options: SupervisorOptions;
  private readonly parts = new Map<ComponentName, SupervisedProcess>();
  private readonly external = new Map<ComponentName, ComponentState>();
  private postgres: EmbeddedPostgres | null = null;
  private lock: Server | null = null;
  private state: StackState;
  private timer: NodeJS.Timeout | null = null;
  private wake: () => void = () => undefined;
  private stopped: Promise<void> | null = null;
  private quick = false;

  private constructor(options: SupervisorOptions, state: StackState) {
    this.options = options;
    this.state = state;
  }

  static async create(options: SupervisorOptions): Promise<Supervisor> {
    return new Supervisor(options, await firstState(options.environment));
  }

  /**
   * Takes the data directory and starts everything; answers when all parts are healthy.
   * @throws {StackError} when something is wrong with the machine or the settings, a part does not come up, or `stop` was
   *   called meanwhile; nothing runs then
   */
  async start(): Promise<void> {
    await this.takeDataDirectory();
    this.options.onDataDirectory?.();
    try {
      await this.startParts();
    } catch (error) {
      const interrupted = this.stopped !== null;
      await this.stop();
      if (interrupted) throw startInterrupted();
      this.write({ state: 'failed', reason: messageOf(error) });
      throw error;
    }
  }

  /** What `<data>/stack.json` says now. */
  current(): StackState {
    return this.state;
  }

  /** Stops all in order: worker, API, Temporal, Postgres. A second call in a hurry kills what is left. */
  async stop(quick = false): Promise<void> {
    if (quick && !this.quick) {
      this.quick = true;
      for (const name of COMPONENT_NAMES) void this.parts.get(name)?.stop(true);
    }
    this.stopped ??= this.stopInOrder();
    await this.stopped;
  }

  private async takeDataDirectory(): Promise<void> {
    const { MUSTER_DATA_DIR: dataDir } = this.options.environment;
    prepareDataDirectory(dataDir);
    this.lock = await lockDataDirectory(dataDir);
    if (this.lock === null) throw new StackError(`A stack runs already in ${dataDir}: see "./muster status".`, 5);
    settleRestore(dataDir);
    const ended = await endLeftovers(dataDir);
    if (ended.length > 0) this.options.onNote?.(`ended what an earlier stack left behind: ${someOf(ended)}`);
    for (const reason of await makePrivate(ownFiles(dataDir))) this.options.onNote?.(`others may read ${reason}`);
    // From here on another `up` or `down` knows of this start.
    this.write({});
  }

  private async startParts(): Promise<void> {
    const { environment, env, commands } = this.options;
    const { MUSTER_DATA_DIR: dataDir } = environment;
    await checkPorts(portNeeds(environment));
    const [postgres, temporal] = await Promise.all([
      environment.MUSTER_DATABASE_URL ? null : embeddedPostgres(dataDir, environment.MUSTER_POSTGRES_PORT),
      environment.MUSTER_TEMPORAL_ADDRESS
        ? null
        : embeddedTemporal({
            dataDir,
            binary: environment.MUSTER_TEMPORAL_BINARY,
            namespace: environment.MUSTER_TEMPORAL_NAMESPACE,
            port: environment.MUSTER_TEMPORAL_PORT,
            uiPort: environment.MUSTER_TEMPORAL_UI_PORT,
          }),
    ]);
    this.postgres = postgres;
    const childEnv = childEnvironment(env, environment, {
      databaseUrl: postgres?.url,
      temporalAddress: temporal?.plan.address ?? undefined,
      temporalUiUrl: temporal?.uiUrl,
    });
    const version = this.state.versions.muster;
    const plans = [
      workerPlan(commands.worker, environment, childEnv, ROOT, version),
      apiPlan(commands.api, environment, childEnv, ROOT, version),
      ...(temporal ? [temporal.plan] : []),
      ...(postgres ? [postgres.plan] : []),
    ];
    const hungAfterMs = Number(env.MUSTER_TEST_HUNG_SECONDS ?? 60) * 1_000;
    const supervise = (plan: ComponentPlan) => new SupervisedProcess(plan, () => this.changed(), hungAfterMs);
    for (const plan of plans) this.parts.set(plan.name, supervise(plan));
    if (!temporal) this.external.set('temporal', outside(environment.MUSTER_TEMPORAL_ADDRESS ?? ''));
    if (!postgres) this.external.set('postgres', outside(hostOf(environment.MUSTER_DATABASE_URL ?? '')));
    this.timer = setInterval(() => this.rotateLogs(), ROTATE_EVERY_MS).unref();
    await this.bringUp(['postgres', 'temporal']);
    await postgres?.ensureDatabase();
    if (postgres && environment.MUSTER_SECRETS === 'database') {
      await checkSecretKey(dataPaths(dataDir).secretKey, postgres.url);
    }
    await this.bringUp(['api', 'worker']);
    if (environment.MUSTER_AUTH === 'token') await untilThere(adminTokenFileOf(environment));
    collectAfterStart();
  }

  private async bringUp(names: ComponentName[]): Promise<void> {
    const parts = names.map((name) => this.parts.get(name)).filter((part) => part !== undefined);
    if (!this.stopped) for (const part of parts) part.start();
    while (!parts.every((part) => part.state.state === 'healthy')) {
      if (this.stopped) throw new Error('stopped while starting');
      const failed = parts.find((part) => part.fruitlessStarts >= FRUITLESS_STARTS);
      if (failed) {
        const { name, logFile } = failed.plan;
        const words = lastWords(logFile);
        const said = words === '' ? '' : ` It said: ${words}`;
        throw new StackError(`${name} does not start: it ${failed.state.last_exit}.${said} Its log: ${logFile}`, 1);
      }
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  private changed(): void {
    const states = new Map([...this.external, ...[...this.parts].map(([name, part]) => [name, part.state] as const)]);
    const ill = [...states].filter(([, part]) => part.state !== 'healthy' && part.state !== 'external');
    const reason = ill.map(([name, part]) => `${name}: ${part.reason ?? part.state}`).join('; ') || null;
    const wasUp = this.state.state === 'running' || this.state.state === 'degraded';
    const state = this.stopped ? 'stopping' : ill.length === 0 ? 'running' : wasUp ? 'degraded' : 'starting';
    this.write({ state, reason, components: Object.fromEntries(states) });
    this.wake();
  }

  private write(part: Partial<StackState>): void {
    this.state = { ...this.state, ...part };
    const failure = writeStackState(this.options.environment.MUSTER_DATA_DIR, this.state);
    if (failure) this.options.onNote?.(`stack.json could not be written: ${failure.message}`);
    this.options.onChange?.(this.state);
  }

  private rotateLogs(): void {
    for (const part of this.parts.values()) rotateLog(part.plan.logFile);
    rotateLog(join(this.options.environment.MUSTER_DATA_DIR, 'logs', 'stack.log'));
  }

  private async stopInOrder(): Promise<void> {
    this.write({ state: 'stopping', reason: 'being stopped' });
    this.wake();
    if (this.timer) clearInterval(this.timer);
    for (const name of COMPONENT_NAMES) {
      if (name === 'postgres') await this.postgres?.close();
      await this.parts.get(name)?.stop(this.quick);
    }
    this.write({ state: 'stopped', reason: null });
    await new Promise((resolve) => (this.lock ? this.lock.close(resolve) : resolve(undefined)));
  }
}

/** The API makes the file when its database is ready, which may be a moment after it answers. */
async function untilThere(file: string): Promise<void> {
  for (let waited = 0; !existsSync(file); waited += 50) {
    if (waited >= ADMIN_TOKEN_WITHIN_MS) throw new StackError(`The API has not made ${file}: see its log.`, 1);
    await delay(50);
  }
}

async function firstState(environment: Environment): Promise<StackState> {
  const supervisor = await identify(process.pid);
  if (supervisor === null) throw new Error('/proc does not show this process');
  const url = apiUrl(environment);
  return {
    state: 'starting',
    reason: 'starting',
    supervisor,
    started_at: new Date().toISOString(),
    versions: {
      muster: musterVersion(ROOT),
      node: process.versions.node,
      ansible: ansibleVersion(environment.MUSTER_ANSIBLE_BIN_DIR),
    },
    links: { api: url, ui: `${url}/ui/`, docs: `${url}/docs`, temporal_ui: temporalUiUrl(environment) },
    certificates: certificateFiles(environment),
    settings: settingDigests(environment),
    components: {},
  };
}

function outside(address: string): ComponentState {
  return {
    state: 'external',
    reason: null,
    process: null,
    address,
    version: null,
    restarts: 0,
    started_at: null,
    last_exit: null,
  };
}

/** Host and port of a database URL, without role and password. */
function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return 'outside';
  }
}
