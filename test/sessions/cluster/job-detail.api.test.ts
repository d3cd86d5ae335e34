import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { settleJob, waitedFor } from '../../../control/sessions/cluster/record-job.ts';
import type { JobView } from '../../../domain/sessions/cluster/cluster-job.ts';
import type { JobOutcome } from '../../../domain/sessions/cluster/job-outcome.ts';
import { saveSessionJob } from '../../../store/sessions/session-jobs.ts';
import { createTestApi, type TestApi } from '../../support/stack/test-api.ts';
import { addConfiguration, sessionId } from '../session-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await addConfiguration(api.deps.db, 'web', 1);
});
afterAll(() => api?.close());

async function make(): Promise<{ name: string; id: string }> {
  const name = `j-${randomUUID().slice(0, 8)}`;
  expect((await api.call('POST', '/v3/sessions', { configuration_name: 'web', name })).status).toBe(201);
  return { name, id: await sessionId(api.deps.db, name) };
}

async function makeWithJob(): Promise<{ name: string; id: string; job: string }> {
  const session = await make();
  const job = `cfs-${randomUUID()}`;
  const inventory = { files: { 'hosts/01-cfs-generated.yaml': 'all: {}\n' } };
  await saveSessionJob(
    api.deps.db,
    {
      sessionId: session.id,
      name: job,
      profile: 'restricted',
      inventory,
      leases: false,
    },
    new Date(),
  );
  return { ...session, job };
}

const jobOf = async (name: string) => (await api.call('GET', `/api/v1/sessions/${name}`)).body.job;

const view = (codes: Record<string, number | null>): JobView => ({
  name: 'x',
  sessionId: 'x',
  phase: 'failed',
  reason: '',
  message: '',
  containers: Object.entries(codes).map(([name, exitCode]) => ({
    name,
    state: 'terminated',
    reason: '',
    message: '',
    exitCode,
  })),
  trouble: null,
});

const OUT_OF_MEMORY: JobOutcome = { succeeded: 'false', code: 'out_of_memory', message: 'ansible needed too much' };

describe('the Job in the detail of a session', () => {
  test('is null where the session runs on a machine of a worker', async () => {
    const { name } = await make();
    expect(await jobOf(name)).toBeNull();
  });

  test('has nothing of its end while it goes on, and says since when it waits', async () => {
    const { name, id, job } = await makeWithJob();
    const times = { created_at: expect.any(String), ended_at: null };
    const going = { name: job, profile: 'restricted', exit_codes: {}, trouble: null, unverified: null, ...times };
    expect(await jobOf(name)).toEqual({ ...going, waiting_since: null });
    await waitedFor(api.deps.db, id, { waits: true }, new Date('2026-11-21T10:00:00Z'));
    expect(await jobOf(name)).toEqual({ ...going, waiting_since: '2026-11-21T10:00:00.000Z' });
  });

  test('has exit codes, the trouble and what was not verified once it has ended', async () => {
    const { name, id } = await makeWithJob();
    await waitedFor(api.deps.db, id, { waits: true }, new Date());
    const codes = { 'git-clone': 0, inventory: 0, ansible: 137, teardown: null };
    await settleJob(
      api.deps.db,
      id,
      { view: view(codes), outcome: OUT_OF_MEMORY, unverified: 'node not ready' },
      new Date(),
    );
    expect(await jobOf(name)).toMatchObject({
      exit_codes: codes,
      trouble: { code: 'out_of_memory', message: 'ansible needed too much' },
      unverified: 'node not ready',
      waiting_since: null,
      ended_at: expect.any(String),
    });
  });

  test('has no trouble when it succeeded', async () => {
    const { name, id } = await makeWithJob();
    const outcome: JobOutcome = { succeeded: 'true', code: null, message: 'complete' };
    await settleJob(api.deps.db, id, { view: view({ ansible: 0 }), outcome, unverified: null }, new Date());
    expect(await jobOf(name)).toMatchObject({ exit_codes: { ansible: 0 }, trouble: null, unverified: null });
  });

  test('is no part of what the CFS versions of the API answer', async () => {
    const { name } = await makeWithJob();
    for (const version of ['v2', 'v3']) {
      const { body } = await api.call('GET', `/${version}/sessions/${name}`);
      expect(Object.keys(body)).not.toContain('job');
    }
  });
});
