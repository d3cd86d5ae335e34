/** The sweep of a machine's directory of images: what goes, what stays, and what cannot be removed. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cleanImageHost } from '../../activities/images/clean-machine.ts';
import type { ImageFiles } from '../../domain/images/image-files.ts';
import { createImageBuilder } from '../../drivers/image-builder/create-image-builder.ts';
import { openImageDirectory } from '../../drivers/image-files/image-directory.ts';
import { markImageJobCleaned, moveImageJob } from '../../store/images/image-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { newImageJob } from './new-image-job.ts';

const STORE = randomUUID();
let database: TestDatabase;
let dir: string;
let files: ImageFiles;
beforeAll(async () => {
  database = await createTestDatabase();
  dir = await mkdtemp(join(tmpdir(), 'muster-clean-images-'));
  files = await openImageDirectory(join(dir, 'files'), STORE);
});
afterAll(async () => {
  await database.close();
  await rm(dir, { recursive: true, force: true });
});

const jobsDir = () => join(dir, 'jobs');
const clean = async (stuck: string[] = []) => {
  const builder = createImageBuilder({ jobsDir: jobsDir() });
  const told: object[] = [];
  await cleanImageHost({
    db: database.db,
    imageFiles: {
      ...files,
      discard: (token) => (stuck.includes(token) ? Promise.reject(new Error('stuck')) : files.discard(token)),
      setAside: (id) => (stuck.includes(id) ? Promise.reject(new Error('stuck')) : files.setAside(id)),
    },
    imageBuilder: {
      ...builder,
      remove: (id) => (stuck.includes(id) ? Promise.reject(new Error('stuck')) : builder.remove(id)),
    },
    minFreeDisk: 0,
    log: { warn: (fields) => void ('err' in fields && told.push(fields)) },
  });
  return told;
};
/** A folder that nobody has touched for two hours. */
async function oldFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  const then = new Date(Date.now() - 2 * 3_600_000);
  await utimes(path, then, then);
}
const inOrder = () => [randomUUID(), randomUUID(), randomUUID()].sort();

test('the empty place of a new image stays for as long as its job packs', async () => {
  const job = await newImageJob(database.db, { storeId: STORE });
  const { token } = await files.fileForJob(job.id, 'tar');
  const incoming = join(dir, 'files/incoming');
  await oldFolder(join(incoming, token));
  await oldFolder(join(incoming, randomUUID()));
  expect(await clean()).toEqual([]);
  expect(await readdir(incoming)).toEqual([job.id]);
  await moveImageJob(database.db, job.id, 'error', { message: 'ended' });
  expect(await clean()).toEqual([]);
  expect(await readdir(incoming)).toEqual([job.id]);
  await markImageJobCleaned(database.db, job.id, new Date());
  await clean();
  expect(await readdir(incoming)).toEqual([]);
});

test.each(['jobs', 'files/images', 'files/incoming'])(
  'one that cannot be removed from %s keeps no other',
  async (where) => {
    const [first = '', stuck = '', last = ''] = inOrder();
    for (const id of [first, stuck, last]) await oldFolder(join(dir, where, id));
    const after = randomUUID();
    await oldFolder(join(dir, 'files/incoming', after));
    expect(await clean([stuck])).toEqual([{ id: stuck, err: 'Error: stuck' }]);
    expect(await readdir(join(dir, where))).toEqual([stuck]);
    expect(await readdir(join(dir, 'files/incoming'))).not.toContain(after);
    expect(await clean()).toEqual([]);
    expect(await readdir(join(dir, where))).toEqual([]);
  },
);
