/** What ended sessions have left at an image service, when that has troubles of its own. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { releaseLeftImages } from '../../../activities/sessions/images/release-images.ts';
import { createImageKeys } from '../../../control/sessions/images/image-keys.ts';
import type { ImageService } from '../../../domain/images/image-service.ts';
import { createHttpImageService } from '../../../drivers/image-service/http-image-service.ts';
import { saveSessionImages } from '../../../store/sessions/session-images.ts';
import { createMemorySecretStore } from '../../support/fakes/memory-secret-store.ts';
import { type FakeImageService, startImageService } from '../../support/images/image-service-server.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { makeSession } from '../../support/temporal/engine-sessions.ts';

const { signal } = new AbortController();
let database: TestDatabase;
let service: FakeImageService;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  service = await startImageService();
});
afterEach(async () => {
  await service.close();
  await database.db.deleteFrom('session_images').execute();
});
afterAll(() => database.close());

const client = (timeoutMs: number) => createHttpImageService({ url: service.url, timeoutMs });
const deps = (imageService: ImageService) => ({
  db: database.db,
  clock: () => new Date(),
  imageService,
  imageKeys: createImageKeys({
    secrets: createMemorySecretStore(),
    makeKeyPair: async () => ({ privateKey: 'private', publicKey: 'public' }),
  }),
});

/** Ended sessions that have left a job and a key each; the jobs' ids. */
async function leave(count: number): Promise<string[]> {
  const { db } = database;
  const jobs: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { id } = await makeSession(db);
    await db.updateTable('sessions').set({ stage: 'ended' }).where('id', '=', id).execute();
    await saveSessionImages(db, id, [{ image: randomUUID(), resultName: 'result' }], new Date());
    const job = randomUUID();
    const change = { job_id: job, public_key_id: randomUUID() };
    await db.updateTable('session_images').set(change).where('session_id', '=', id).execute();
    jobs.push(job);
  }
  return jobs;
}

async function countLeft(): Promise<number> {
  const rows = await database.db
    .selectFrom('session_images')
    .select('job_id')
    .where('released_at', 'is', null)
    .execute();
  return rows.length;
}

describe('what ended sessions have left', () => {
  test('is left to the next sweep by the first that meets a hung service', async () => {
    await leave(5);
    service.trouble = () => ({ kind: 'silent' });
    expect(await releaseLeftImages(deps(client(2_000)), signal)).toHaveLength(1);
    expect(service.requests).toHaveLength(2);
    service.trouble = () => null;
    expect(await releaseLeftImages(deps(client(30_000)), signal)).toEqual([]);
    expect(await countLeft()).toBe(0);
  });

  test('takes so long at most, and the rest goes with later sweeps', async () => {
    await leave(4);
    const plain = client(30_000);
    let asked = 0;
    const slow: ImageService = {
      ...plain,
      deleteJob: async (id, limit) => {
        asked += 1;
        // The second one takes longer than the sweep may.
        if (asked > 1 && !limit.aborted) await once(limit, 'abort');
        await plain.deleteJob(id, limit);
      },
    };
    await releaseLeftImages(deps(slow), signal, 1_000);
    expect(asked).toBeLessThanOrEqual(2);
    expect(await countLeft()).toBeGreaterThanOrEqual(3);
    await releaseLeftImages(deps(plain), signal);
    expect(await countLeft()).toBe(0);
  });

  test('goes although one of them can never be ended', async () => {
    const [stuck] = await leave(4);
    service.trouble = (_method, path) => (path.endsWith(`/${stuck}`) ? { kind: 'status', status: 500 } : null);
    for (let sweeps = 0; sweeps < 100 && (await countLeft()) > 1; sweeps += 1) {
      await releaseLeftImages(deps(client(30_000)), signal);
    }
    expect(await countLeft()).toBe(1);
  });
});
