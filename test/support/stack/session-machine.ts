/** A machine that works on sessions: the real activities on a real database, its own data directory, real processes. */

import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import {
  createHostActivities,
  createSessionRecords,
  type SessionActivityDependencies,
} from '../../../activities/sessions/activities.ts';
import type { RunRef } from '../../../activities/sessions/contract.ts';
import type { ImageKeys } from '../../../control/sessions/images/image-keys.ts';
import { DEFAULT_OPTIONS } from '../../../domain/configurations/default-options.ts';
import { runIdOf } from '../../../domain/sessions/run-id.ts';
import { createAnsibleHosts } from '../../../drivers/inventory/ansible-hosts.ts';
import { createLocalRunner } from '../../../drivers/local-runner/local-runner.ts';
import { createMissingRequirements } from '../../../drivers/local-runner/missing-requirements.ts';
import { createWorkspaces } from '../../../drivers/local-runner/workspaces.ts';
import { baseEnvironment } from '../../../worker/base-environment.ts';
import { findAnsible } from '../ansible/ansible.ts';
import { LAUNCHER, PYTHON } from '../ansible/local-runs.ts';
import { openWarm } from '../ansible/warm.ts';
import { SITE, TRUST } from '../kubernetes/site-stand-ins.ts';
import { createTestDatabase, type TestDatabase } from '../postgres/test-database.ts';
import { COMMIT, makeSession, signalClient, snapshotLayer } from '../temporal/engine-sessions.ts';

type Given = NonNullable<Parameters<typeof makeSession>[1]>;

export interface SessionMachine {
  database: TestDatabase;
  deps: SessionActivityDependencies;
  /** The activities of a worker; `instead` replaces some of its dependencies. */
  worker(instead?: Partial<SessionActivityDependencies>): ReturnType<typeof createHostActivities>;
  records: ReturnType<typeof createSessionRecords>;
  /** An admitted session of one layer whose repository holds `files`; its inventory is `hosts`. */
  session(files: Record<string, string>, given?: Given & { hosts?: string }): Promise<string>;
  /** Its first layer's first attempt. */
  ref(sessionId: string, given?: Partial<RunRef>): RunRef & { hosts: 'all' };
  /** Ends its run as a cancelled session's workflow does. */
  cancelRun(sessionId: string): Promise<void>;
  runId(sessionId: string, attempt?: number): string;
  /** Everything that its runs have printed. */
  output(sessionId: string): Promise<string>;
  events(sessionId: string): Promise<{ type: string; host: string | null; data: Record<string, unknown> }[]>;
  close(): Promise<void>;
}

export const HOSTS = `h1
h2
h3
[all:vars]
ansible_connection=local
ansible_python_interpreter="{{ ansible_playbook_python }}"
`;

/** Of an installation in which no session works on images. */
const NO_IMAGE_KEYS: ImageKeys = {
  read: async () => null,
  ensure: async () => {
    throw new Error('nobody needs a key');
  },
  remove: async () => undefined,
};

/** A place for one activity. Its failures are wanted, so the log stays quiet. */
export function activityEnvironment(): MockActivityEnvironment {
  return new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
}

/** Runs an activity as Temporal does. */
export async function perform<T>(work: () => Promise<T>, environment = activityEnvironment()): Promise<T> {
  return environment.run(work) as Promise<T>;
}

/** Opens the machine; `playbookCommand` stands in for ansible-playbook. */
export async function openMachine(instead: Partial<SessionActivityDependencies> = {}): Promise<SessionMachine> {
  const database = await createTestDatabase();
  const { db } = database;
  const dir = await mkdtemp(join(tmpdir(), 'muster-machine-'));
  const ansible = findAnsible() ?? '/usr/bin';
  const root = join(import.meta.dirname, '../../..');
  const warm = openWarm();
  const runner = await createLocalRunner({
    ...{ runsDir: join(dir, 'runs'), slots: 8, python: PYTHON, launcher: LAUNCHER },
    warm,
  });
  const workspaces = createWorkspaces({ dir: join(dir, 'workspaces'), shortDir: dir });
  const deps: SessionActivityDependencies = {
    db,
    client: signalClient().client,
    readOptions: async () => DEFAULT_OPTIONS,
    freeDisk: workspaces.free,
    minFreeDisk: 0,
    clock: () => new Date(),
    clones: { clone: async () => ({ commit: COMMIT, warnings: [] }) },
    runner,
    requirements: createMissingRequirements({
      python: join(ansible, 'python3'),
      script: join(root, 'ansible', 'muster_run', 'requirements_check.py'),
    }),
    workspaces,
    site: { ...SITE, ansibleConfig: () => readFile(join(root, 'ansible', 'ansible.cfg'), 'utf8') },
    trust: TRUST,
    imageKeys: NO_IMAGE_KEYS,
    inventories: { write: async () => ({ hosts: 3, limit: null, warnings: [] }) },
    ansibleHosts: createAnsibleHosts({
      binDir: ansible,
      python: 'python3',
      readInventory: join(root, 'ansible', 'launcher', 'read_inventory.py'),
      tempDir: dir,
    }),
    hostId: 'test-host',
    playbookCommand: join(ansible, 'ansible-playbook'),
    debugPlaybooks: join(root, 'ansible', 'debug'),
    baseEnvironment: baseEnvironment({ PATH: process.env.PATH, HOME: dir }, ansible),
    logMaxBytes: 64 * 2 ** 20,
    startPauses: [],
    ...instead,
  };
  return {
    database,
    deps,
    worker: (other = {}) => createHostActivities({ ...deps, ...other }),
    records: createSessionRecords(deps),
    session: async (files, { hosts = HOSTS, ...given } = {}) => {
      const { id } = await makeSession(db, given);
      await db.updateTable('sessions').set({ stage: 'admitted', status: 'running' }).where('id', '=', id).execute();
      const paths = await workspaces.make(id);
      await workspaces.writePrivate(paths.ansibleConfig, await deps.site.ansibleConfig(''));
      const all = {
        'hosts/hosts': hosts,
        ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`layer0/${name}`, text])),
      };
      for (const [name, text] of Object.entries(all)) {
        await mkdir(dirname(join(paths.dir, name)), { recursive: true });
        await writeFile(join(paths.dir, name), text);
      }
      return id;
    },
    ref: (sessionId, given = {}) => ({ sessionId, layer: 0, attempt: 1, hosts: 'all', ...given }),
    cancelRun: async (sessionId) => {
      await db.updateTable('sessions').set({ cancel_requested_at: new Date() }).where('id', '=', sessionId).execute();
      await perform(() => createHostActivities(deps).endRun({ sessionId, layer: 0, attempt: 1 }));
    },
    runId: (sessionId, attempt = 1) => runIdOf(sessionId, attempt, 0),
    output: async (sessionId) => {
      const rows = await db
        .selectFrom('output')
        .select('text')
        .where('stream_id', '=', sessionId)
        .orderBy('seq')
        .execute();
      return rows.map(({ text }) => text).join('');
    },
    events: (sessionId) =>
      db
        .selectFrom('events')
        .select(['type', 'host', 'data'])
        .where('stream_id', '=', sessionId)
        .orderBy('seq')
        .execute(),
    close: async () => {
      warm?.close();
      for (const runId of await runner.list()) await runner.end(runId);
      await database.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** A machine on which a playbook's text is a shell script, which gets the other arguments. */
export async function openShellMachine(): Promise<SessionMachine> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-sh-'));
  const playbookCommand = join(dir, 'playbook');
  await writeFile(playbookCommand, '#!/bin/sh\nexec /bin/sh "$@"\n');
  await chmod(playbookCommand, 0o755);
  const machine = await openMachine({ playbookCommand });
  return {
    ...machine,
    close: async () => {
      await machine.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export { COMMIT, snapshotLayer };
