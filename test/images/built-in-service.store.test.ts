/** Muster's own image service as sessions use it. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createBuiltInImages } from '../../control/images/built-in-service.ts';
import { createImage, newImage } from '../../control/images/create-image.ts';
import { takeImageRunTurn } from '../../control/images/run-image-job.ts';
import type { ImageService } from '../../domain/images/image-service.ts';
import { shellState } from '../../domain/sessions/images/image-jobs.ts';
import { markImageJobsDeleted, noteImageWorker } from '../../store/images/image-jobs.ts';
import { endImageTurn } from '../../store/images/image-turns.ts';
import { insertImage } from '../../store/images/images.ts';
import { takeImagePort } from '../../store/images/shell-ports.ts';
import { imageServiceContract } from '../support/images/image-service-contract.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { PUBLIC_KEY } from './fixtures.ts';

const STORE = randomUUID();
let database: TestDatabase;
let service: ImageService;
const clock = () => new Date();
// Temporal is away: what is recorded is told later.
const tell = async () => undefined;
const deps = () => ({ db: database.db, clock });
const worker = (able: boolean, reason = '') =>
  noteImageWorker(database.db, { store_id: STORE, queue: 'q', able, reason, seen_at: clock() });

beforeAll(async () => {
  database = await createTestDatabase();
  await worker(true);
  service = createBuiltInImages({
    db: database.db,
    tell,
    imageFiles: null,
    imageSettings: { maxBytes: 1, keepFree: 0, dkms: true },
    clock,
    log: { warn: () => undefined },
  });
});
afterAll(() => database.close());

async function addImage(name: string): Promise<string> {
  const id = randomUUID();
  const file = { store_id: STORE, format: 'tar' as const, size: 1, sha256: 'x' };
  await insertImage(database.db, { ...newImage(deps(), { actor: null }, name, 'x86_64', id), ...file });
  return id;
}

describe('keeps the contract', () => {
  imageServiceContract(() => ({ service, addImage }));
});

const never = new AbortController().signal;

test('where nobody can customise images now, a session may try again', async () => {
  const imageId = await addImage('a');
  const publicKeyId = await service.createPublicKey('k', PUBLIC_KEY, never);
  const wanted = { imageId, resultName: 'r', publicKeyId, shellName: 's', requireDkms: false };
  await worker(false, 'only root may work on root file systems');
  await expect(service.createJob(wanted, never)).rejects.toMatchObject({
    code: 'image_service_unavailable',
    detail: expect.stringContaining('only root'),
  });
  await worker(true);
  const elsewhere = await createImage(deps(), { actor: null }, { name: 'elsewhere' });
  await expect(service.createJob({ ...wanted, imageId: elsewhere.id }, never)).rejects.toMatchObject({
    code: 'image_service_refused',
  });
});

test('a name that no image can have is refused before anything is unpacked', async () => {
  const publicKeyId = await service.createPublicKey('k', PUBLIC_KEY, never);
  const wanted = { imageId: await addImage('named'), publicKeyId, shellName: 'named', requireDkms: false };
  const jobsNow = async () =>
    (await service.listJobs(never)).filter(({ shells }) => shells[0]?.name === 'named').length;
  for (const resultName of ['', 'n'.repeat(601), '\u{1f600}'.repeat(3_000)]) {
    await expect(service.createJob({ ...wanted, resultName }, never)).rejects.toMatchObject({
      code: 'image_service_refused',
      detail: expect.stringMatching(/^The name of the new image '.{0,130}' must have 1 to 600 characters$/),
    });
  }
  expect(await jobsNow()).toBe(0);
  // The longest that is taken can be recorded.
  const resultName = '\u{1f600}'.repeat(600);
  expect(await service.createJob({ ...wanted, resultName }, never)).toMatchObject({ resultName });
  await addImage(resultName);
});

test('a session sees of its job that it waits for its turn, and that it has it', async () => {
  await markImageJobsDeleted(database.db, {}, clock());
  const publicKeyId = await service.createPublicKey('k', PUBLIC_KEY, never);
  const wanted = { imageId: await addImage('turn'), publicKeyId, requireDkms: false };
  const [first, second] = [
    await service.createJob({ ...wanted, resultName: 'r', shellName: 'first' }, never),
    await service.createJob({ ...wanted, resultName: 'r', shellName: 'second' }, never),
  ];
  const imageLimits = { working: 1, open: 10, stepSeconds: 60, userSeconds: 60, queueSeconds: 60 };
  const deps = { db: database.db, tell, clock, since: clock(), imageLimits };
  const ask = (id: string) => takeImageRunTurn(deps, id, 'fetching_image');
  const queued = async () => {
    const state = shellState(await service.getJob(second.id, never), 'second');
    return state.state === 'not yet' && state.queued;
  };
  expect(await ask(first.id)).toMatchObject({ state: 'go' });
  expect(await ask(second.id)).toMatchObject({ state: 'wait' });
  expect(await queued()).toBe(true);
  await endImageTurn(database.db, first.id);
  expect(await ask(second.id)).toMatchObject({ state: 'go' });
  expect(await queued()).toBe(false);
});

test('a port is nobody else’s while a job has it, and for some time after', async () => {
  const now = Date.now();
  const wanted = { queue: 'ports', from: 100, to: 101, avoid: [] };
  const take = (jobId: string, minutesAgo: number) =>
    takeImagePort(database.db, { ...wanted, jobId, freeSince: new Date(now - minutesAgo * 60_000) });
  const ports = await Promise.all([1, 2, 3].map(() => take(randomUUID(), 10)));
  expect(ports.sort()).toEqual([100, 101, null]);
  await database.db
    .updateTable('image_ports')
    .set({ released_at: new Date(now - 5 * 60_000) })
    .where('port', '=', 101)
    .execute();
  expect(await take(randomUUID(), 10)).toBeNull();
  expect(await take(randomUUID(), 4)).toBe(101);
});
