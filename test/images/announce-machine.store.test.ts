/** What a machine says of itself, and how often it looks whether that is so. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createAnnouncement } from '../../control/images/announce-machine.ts';
import { listImageWorkers } from '../../store/images/image-jobs.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

/** Words from one look to the next. */
const WORDS = 30;
let database: TestDatabase;
let storeId: string;
let claim: (own: string) => Promise<string>;
let check: () => Promise<string[]>;
let asked: { claims: number; checks: number };
const warnings: string[] = [];
const log = { warn: (_: object, message: string) => void warnings.push(message), info: () => undefined };
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => {
  storeId = randomUUID();
  claim = async (own) => own;
  check = async () => [];
  asked = { claims: 0, checks: 0 };
  warnings.length = 0;
});

const announcement = () =>
  createAnnouncement(
    {
      db: database.db,
      clock: () => new Date(),
      log,
      check: () => {
        asked.checks += 1;
        return check();
      },
      imageFiles: {
        storeId,
        claim: (own) => {
          asked.claims += 1;
          return claim(own);
        },
      },
    },
    { queue: 'here', ports: [100, 102] },
  );
const said = async () => (await listImageWorkers(database.db, storeId)).map(({ able, reason }) => ({ able, reason }));

test('a directory that cannot be written is a reason, said once, and looked at again with each word', async () => {
  claim = () => Promise.reject(new Error('EROFS: read-only file system'));
  const say = announcement();
  await say();
  await say();
  const reason = 'the directory of images (MUSTER_IMAGES_DIR) cannot be used: EROFS: read-only file system';
  expect(await said()).toEqual([{ able: false, reason }]);
  expect([warnings, asked.claims]).toEqual([[reason], 2]);
  claim = async (own) => own;
  await say();
  expect(await said()).toEqual([{ able: true, reason: '' }]);
});

test('one that is its own is looked at as seldom as the machine', async () => {
  const say = announcement();
  for (let word = 0; word < WORDS; word += 1) await say();
  expect(asked).toEqual({ claims: 1, checks: 1 });
  claim = async () => randomUUID();
  await say();
  expect(await said()).toMatchObject([{ able: false, reason: expect.stringContaining('belongs to the installation') }]);
  await say();
  expect(asked).toEqual({ claims: 3, checks: 2 });
});

test('a look that failed is no word, and the next word looks again', async () => {
  check = () => Promise.reject(new Error('no more processes'));
  const say = announcement();
  await expect(say()).rejects.toThrow('no more processes');
  expect(await said()).toEqual([]);
  check = async () => ['no squashfs-tools'];
  await say();
  expect(await said()).toEqual([{ able: false, reason: 'no squashfs-tools' }]);
});

test('while one word hangs no other begins', async () => {
  let goOn = (): void => undefined;
  claim = (own) =>
    new Promise((resolve) => {
      goOn = () => resolve(own);
    });
  const say = announcement();
  const hanging = say();
  await eventually('it asks whose the directory is', () => asked.claims === 1 || null);
  for (let word = 0; word < 5; word += 1) await say();
  expect(await said()).toEqual([]);
  expect(asked).toEqual({ claims: 1, checks: 1 });
  goOn();
  await hanging;
  expect(await said()).toEqual([{ able: true, reason: '' }]);
});
