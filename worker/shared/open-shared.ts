/** What all lanes of a worker stand on: settings, database, Temporal, the site's values, git, the runner of this machine. */
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { LaneSweep } from '../../activities/sweep-lanes.ts';
import type { dataPaths } from '../../config/data-paths.ts';
import { databaseSettings } from '../../config/database-settings.ts';
import { type Environment, EnvironmentError } from '../../config/environment.ts';
import { createDispatcher } from '../../control/sessions/dispatcher.ts';
import { createTell } from '../../control/temporal/tell.ts';
import { hostQueueOf } from '../../domain/engine/task-queues.ts';
import type { RunOwner } from '../../domain/runs/owner.ts';
import { createGit } from '../../drivers/git/create-git.ts';
import { findAnsible, pythonOf } from '../../drivers/local-runner/ansible-programs.ts';
import { createLocalRunner } from '../../drivers/local-runner/local-runner.ts';
import { createWarmAnsible } from '../../drivers/local-runner/warm-ansible.ts';
import { writeWarmNote } from '../../drivers/local-runner/warm-note.ts';
import { readHostId } from '../../drivers/machine/machine-id.ts';
import type { Db } from '../../store/connection/database.ts';
import { openBuiltInImages } from '../image-builder.ts';
import type { LaneSchedule } from '../schedules.ts';
import { openTrust } from '../trust.ts';
import type { openWorkerLog } from '../worker-log.ts';
import type { Site } from './open-site.ts';

/** How often the worker looks for sessions to start that nobody told it of, ms: that is the API's work. */
const OUTBOX_POLL_MS = 60_000;

export const ROOT = join(import.meta.dirname, '..', '..');

export interface Opened {
  env: Environment;
  /** The environment of this process, for git and for playbooks. */
  environment: Record<string, string | undefined>;
  log: ReturnType<typeof openWorkerLog>;
  paths: ReturnType<typeof dataPaths>;
  db: Parameters<typeof createDispatcher>[0]['db'] & Db;
  site: Site;
  client: Client;
  /** Makes the work of a started session part of a trace; undefined: tracing is off. */
  within: Parameters<typeof createDispatcher>[0]['within'];
}

export type WorkerShared = Awaited<ReturnType<typeof openShared>>;

export async function openShared({ env, environment, log, paths, db, site, client, within }: Opened) {
  const temporary = paths.temporary.worker;
  const tell = createTell({ client, log });
  const searchPath = environment.PATH ?? '';
  const ansible = await findAnsible({
    binDir: env.MUSTER_ANSIBLE_BIN_DIR,
    cacheDir: env.MUSTER_CACHE_DIR,
    searchPath,
  });
  if (ansible === null) throw new EnvironmentError('ansible-playbook was not found: set MUSTER_ANSIBLE_BIN_DIR');
  const hostId = await readHostId(env.MUSTER_DATA_DIR);
  const python = await pythonOf(ansible);
  // One after the other: the last one says how it is.
  let noted: Promise<void> = Promise.resolve();
  const warm =
    env.MUSTER_ANSIBLE_WARM === 'off'
      ? undefined
      : createWarmAnsible({
          program: join(ROOT, 'ansible', 'launcher', 'warm.py'),
          limit: env.MUSTER_LOCAL_RUNS,
          onChange: (processes) => {
            noted = noted.then(() => writeWarmNote(temporary, processes)).catch(() => undefined);
          },
        });
  return {
    env,
    environment,
    log,
    paths,
    temporary,
    searchPath,
    db,
    site,
    client,
    tell,
    clock: () => new Date(),
    database: databaseSettings(env),
    hostId,
    queue: hostQueueOf(hostId),
    ansible,
    python,
    runner: await createLocalRunner({
      runsDir: paths.runs,
      slots: env.MUSTER_LOCAL_RUNS,
      python,
      launcher: join(ROOT, 'ansible', 'launcher', 'launch.py'),
      warm,
    }),
    git: createGit({
      mirrorsDir: paths.mirrors,
      allowedSchemes: env.MUSTER_REPOSITORY_SCHEMES,
      tempDir: temporary,
      environment,
      log: (message) => log.info(message),
    }),
    trust: openTrust(env, {
      db,
      secrets: site.secrets,
      site: site.values,
      ca: site.platformCa,
      tempDir: temporary,
      searchPath,
    }),
    builtInImages: openBuiltInImages(env, { db, tell, log }),
    // The batcher's own sessions are started from here, whether or not an API runs.
    dispatcher: createDispatcher({ db, client, log, pollMs: OUTBOX_POLL_MS, ...(within ? { within } : {}) }),
    /** What the lanes offer for the clean-up of a machine and for the sweep of each minute; all of it is there when work begins. */
    owners: [] as RunOwner[],
    sweeps: [] as LaneSweep[],
  };
}

/** What a lane brings to the worker. */
export interface LaneParts {
  /** Activities on the queue of any worker, on that of this machine, and on that of workers with a cluster. */
  main?: object;
  machine?: object;
  cluster?: object;
  /** A queue of the lane's own: the activities there, and how many of them go on at once in this process. */
  own?: { queue: string; activities: object; places: number };
  /** Schedules of Temporal that there must be. */
  schedules?: readonly LaneSchedule[];
  /** Owners of this lane's runs. */
  owners?: readonly RunOwner[];
  /**
   * What it tidies when the sweep of each minute comes by. A lane that brings work to Temporal finds its records here that want something
   * and have no workflow, and tells again.
   */
  sweep?: LaneSweep['sweep'];
  /** What is started before any work, each with its name, and tried again until it is done. */
  begin?: readonly [what: string, work: () => Promise<unknown>][];
  /** What runs beside from then on; each returns its stop. */
  background?: readonly (() => () => void | Promise<void>)[];
}

export type WorkerLane = (shared: WorkerShared) => Promise<LaneParts> | LaneParts;
