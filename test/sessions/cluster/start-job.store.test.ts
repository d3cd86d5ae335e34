import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type StartDependencies, startJob } from '../../../activities/sessions/cluster/start-job.ts';
import { endJob } from '../../../activities/sessions/cluster/watch-job.ts';
import type { Options } from '../../../domain/configurations/schema.ts';
import type { JobSpec, RunnerProfile } from '../../../domain/sessions/cluster/cluster-job.ts';
import { type FakeCluster, fakeCluster } from '../../support/kubernetes/fake-cluster.ts';
import { recordedJob } from '../../support/kubernetes/recorded-jobs.ts';
import { SITE, TRUST } from '../../support/kubernetes/site-stand-ins.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { snapshotLayer } from '../../support/temporal/engine-sessions.ts';

let database: TestDatabase;
let cluster: FakeCluster;
let started: JobSpec[];

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database?.close());
beforeEach(() => {
  cluster = fakeCluster();
  started = [];
  cluster.start = async (spec) => {
    started.push(spec);
    return null;
  };
});

const deps = (): StartDependencies => ({
  db: database.db,
  cluster,
  site: SITE,
  trust: TRUST,
  imageKeys: { read: async () => null },
  publicKeyOf: async () => 'line',
  patience: { waiting: 60_000, impossible: 60_000 },
  ingestUrl: undefined,
  clock: () => new Date(),
  readOptions: async () => ({ session_ttl: '', session_timeout: 0, debug_wait_time: 60 }) as Options,
});

const hosts = (count: number) => Array.from({ length: count }, (_, at) => `x1000c0s${at}b0n0`).join(',');

/** Starts the Job of a session with this limit whose Job is not there yet. */
async function start(profile: RunnerProfile, ansibleLimit: string, ansiblePassthrough?: string): Promise<void> {
  const { sessionId, name } = await recordedJob(database.db, cluster, 'open', {
    ansibleLimit,
    ansibleVerbosity: 1,
    ...(ansiblePassthrough === undefined ? {} : { ansiblePassthrough }),
  });
  await database.db.updateTable('session_jobs').set({ profile }).where('name', '=', name).execute();
  cluster.put(name, { phase: 'gone' });
  await startJob(deps(), sessionId, new AbortController().signal);
}

describe('the words that the Job of a session is started with', () => {
  test.each(['restricted', 'compatible'] as const)('name a limit of a few hosts, in profile %s', async (profile) => {
    await start(profile, hosts(2));
    expect(started).toMatchObject([{ ansibleArgs: '-v --limit=x1000c0s0b0n0,x1000c0s1b0n0' }]);
  });

  test('name the file of a limit of 20,000 hosts where a layer is an order with that file', async () => {
    await start('restricted', hosts(20_000));
    expect(started).toMatchObject([{ ansibleArgs: '-v --limit=@/muster/work/limit' }]);
    expect(JSON.stringify(started).length).toBeLessThan(10_000);
  });

  test('of a foreign image may have what Linux takes, and are refused beyond', async () => {
    await start('compatible', hosts(7_000));
    expect(started).toMatchObject([{ ansibleArgs: `-v --limit=${hosts(7_000)}` }]);
    await expect(start('compatible', hosts(20_000))).rejects.toMatchObject({
      code: 'container_config_invalid',
      detail: expect.stringMatching(/^the limit and pass-through of Ansible would take \d+ bytes in a container/),
    });
    expect(started).toHaveLength(1);
  });

  test.each([
    ['a', '--start-at-task="Install nginx"', '--start-at-task=Install nginx'],
    ['a', '-t "x -i /other"', '--tags=x -i /other'],
    ['a', `-t "it's"`, "--tags=it's"],
    ['a, b', undefined, '--limit=a, b'],
    ['a\tb', undefined, '--limit=a\tb'],
  ])(
    'of a foreign image, which splits them by itself, may not be split otherwise: %j %j',
    async (limit, words, word) => {
      await expect(start('compatible', limit, words)).rejects.toMatchObject({
        code: 'container_config_invalid',
        detail: `${word}: a runner image of profile compatible would take this word apart at its blanks and quotes`,
      });
      expect(started).toEqual([]);
      await start('restricted', limit, words);
      expect(started).toHaveLength(1);
    },
  );
});

test.each([
  ['restricted', '-v --limit=a --extra-vars=@/muster/work/extra-vars-0 --extra-vars=@/muster/work/extra-vars-1', {}],
  [
    'compatible',
    '-v --limit=a --extra-vars=@/muster/extra-vars/0 --extra-vars=@/muster/extra-vars/1',
    { 'extra-vars-0': '{"pw": "CANARY it\'s"}', 'extra-vars-1': '{"pw":"CANARY"}' },
  ],
] as const)('extra variables stand in no manifest of a Job: %s', async (profile, ansibleArgs, files) => {
  await start(profile, 'a', `-e "{\\"pw\\": \\"CANARY it's\\"}" -e pw=CANARY`);
  const [{ secret, ...seen }] = started as [JobSpec];
  expect(seen).toMatchObject({ ansibleArgs, extraVarsFiles: Object.keys(files).length });
  expect(JSON.stringify(seen)).not.toContain('CANARY');
  expect(secret).toMatchObject(files);
});

test('a password in the address of a repository is in the Secret of the Job alone', async () => {
  const layers = [snapshotLayer(0, { url: 'https://u:s3cret@git.test/plays.git' })];
  const inventory = { url: 'https://u:s3cret@git.test/hosts.git', source: null, commit: 'c'.repeat(40) };
  const snapshot = { layers, additional_inventory: inventory, debug_playbook: null, ansible_config: 'cfg' };
  const { sessionId, name } = await recordedJob(database.db, cluster, 'open', { snapshot });
  cluster.put(name, { phase: 'gone' });
  await startJob(deps(), sessionId, new AbortController().signal);
  const [{ secret, ...seen }] = started as [JobSpec];
  expect(JSON.stringify(seen)).toContain('git.test/plays.git');
  expect(JSON.stringify(seen)).not.toContain('s3cret');
  expect(secret['credentials.json']).toContain('u:s3cret@git.test');
});

test('a Job whose Secret Kubernetes would not take is not made', async () => {
  const { db } = database;
  const { sessionId, name } = await recordedJob(db, cluster);
  cluster.put(name, { phase: 'gone' });
  const site = { ...SITE, ssh: async () => ({ privateKey: 'key', knownHosts: 'x'.repeat(2 ** 20) }) };
  await expect(startJob({ ...deps(), site }, sessionId, new AbortController().signal)).rejects.toMatchObject({
    code: 'container_config_invalid',
    detail: expect.stringContaining('known_hosts 1048576'),
  });
  expect(started).toEqual([]);
});

test('a try that the engine has given up makes no Job when the session was ended meanwhile', async () => {
  const { db } = database;
  const { sessionId, name } = await recordedJob(db, cluster);
  cluster.put(name, { phase: 'gone' });
  const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { site, ...rest } = deps();
  const vaultPassword = async () => {
    asked.resolve();
    await goOn.promise;
    return null;
  };
  const late = startJob({ ...rest, site: { ...site, vaultPassword } }, sessionId, new AbortController().signal);
  await asked.promise;
  await endJob({ ...deps(), cluster, logMaxBytes: 2 ** 20 }, sessionId, new AbortController().signal);
  goOn.resolve();
  await late;
  expect(started).toEqual([]);
});

test('a Job that somebody else has made under its name is not taken for its own', async () => {
  const { sessionId, name } = await recordedJob(database.db, cluster);
  const start = () => startJob(deps(), sessionId, new AbortController().signal);
  await start();
  expect(started).toEqual([]);
  cluster.put(name, { sessionId: 'of-another' });
  await start();
  // The driver refuses it.
  expect(started).toMatchObject([{ name, sessionId }]);
});
