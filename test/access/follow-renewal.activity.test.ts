import { writeFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { loadEnvironment } from '../../config/environment.ts';
import { startFiles } from '../../config/start-files.ts';
import { rememberPemFiles } from '../../drivers/certificates/follow-renewal.ts';
import { eventually } from '../support/eventually.ts';
import { findProgram } from '../support/find-program.ts';
import { makeCertificates } from '../support/git/git-http-server.ts';
import { describeNeeding } from '../support/requirement.ts';

const EVERY_MS = 20;
const SERVER = 'postgres://muster@db.example.com/muster';
const NAMES = ['ca.crt', 'tls.crt', 'tls.key'] as const;

describeNeeding(findProgram('openssl') ? null : 'openssl is not installed', 'certificates of a process', () => {
  let made: string;
  let mounted: string;
  let version: number;
  let stops: number;
  let log: { fields: object; text: string }[];
  let end: () => void;
  let stoppedAt: number;
  /** Called with each line of the log. */
  let atNote: () => void;
  const path = (name: (typeof NAMES)[number]) => join(mounted, name);

  beforeAll(async () => {
    made = await mkdtemp(join(tmpdir(), 'muster-renewal-'));
    for (const name of ['old', 'new']) {
      makeCertificates(join(made, name));
      for (const [from, to] of [
        ['ca.pem', 'ca.crt'],
        ['server.pem', 'tls.crt'],
        ['server.key', 'tls.key'],
      ] as const) {
        await copyFile(join(made, name, from), join(made, name, to));
      }
    }
  });
  afterAll(() => rm(made, { recursive: true, force: true }));
  beforeEach(async () => {
    mounted = await mkdtemp(join(made, 'mounted-'));
    version = 0;
    await mount('old');
    for (const name of NAMES) await symlink(join('..data', name), path(name));
    stops = 0;
    log = [];
    atNote = () => undefined;
  });
  afterEach(() => end());

  /** As Kubernetes renews a Secret: a new folder, and one link that is moved to it at once. */
  async function mount(which: 'old' | 'new'): Promise<void> {
    version += 1;
    await mkdir(join(mounted, `..${version}`));
    for (const name of NAMES) await copyFile(join(made, which, name), join(mounted, `..${version}`, name));
    await symlink(`..${version}`, join(mounted, '..data_tmp'));
    await rename(join(mounted, '..data_tmp'), join(mounted, '..data'));
  }
  /** Files of their own, as on a machine without mounts. */
  async function unmount(): Promise<void> {
    for (const name of NAMES) {
      await rm(path(name));
      await copyFile(join(made, 'old', name), path(name));
    }
  }
  const readNew = (name: (typeof NAMES)[number]) => readFile(join(made, 'new', name), 'utf8');

  async function follow(waits = 0, everyMs = EVERY_MS, isIdle?: () => Promise<boolean>): Promise<void> {
    const note = (fields: object, text: string) => {
      log.push({ fields, text });
      atNote();
    };
    const env = loadEnvironment({
      MUSTER_DATABASE_URL: SERVER,
      MUSTER_DATABASE_CA_FILE: path('ca.crt'),
      MUSTER_TEMPORAL_TLS_CERT: path('tls.crt'),
      MUSTER_TEMPORAL_TLS_KEY: path('tls.key'),
    });
    const files = await rememberPemFiles(startFiles(env, 'worker'));
    const stop = () => {
      stops += 1;
      stoppedAt = performance.now();
    };
    end = files.stopWhenRenewed({
      stop,
      log: { info: note, warn: note },
      everyMs,
      waitMs: () => waits,
      ...(isIdle && { isIdle }),
    });
  }
  const looks = (count: number) => pause(count * 2 * EVERY_MS);

  test('that are renewed by a link stop it once, with a line that names them', async () => {
    await follow();
    await looks(5);
    expect([stops, log]).toEqual([0, []]);
    await mount('new');
    await eventually('it is stopped', () => stops > 0);
    await looks(5);
    expect(stops).toBe(1);
    const files = [
      `MUSTER_DATABASE_CA_FILE: ${path('ca.crt')}`,
      `MUSTER_TEMPORAL_TLS_CERT: ${path('tls.crt')}`,
      `MUSTER_TEMPORAL_TLS_KEY: ${path('tls.key')}`,
    ];
    expect(log).toEqual([{ fields: { files, seconds: 0 }, text: expect.stringContaining('to be started again') }]);
  });

  test('that are renewed between start and first look stop it too', async () => {
    await follow();
    await mount('new');
    await eventually('it is stopped', () => stops > 0);
  });

  test('that are the same again stop nothing, nor does a link to the same', async () => {
    await unmount();
    await follow();
    // Over the old text, not after an end of it: that it is half written is another thing.
    await writeFile(path('ca.crt'), await readFile(path('ca.crt')), { flag: 'r+' });
    await looks(5);
    await rm(path('tls.crt'));
    await rm(path('tls.key'));
    for (const name of ['tls.crt', 'tls.key'] as const) await symlink(join('..data', name), path(name));
    await mount('old');
    await looks(5);
    expect([stops, log]).toEqual([0, []]);
  });

  test('of which one is missing stop nothing until it is there', async () => {
    await unmount();
    await follow();
    await rm(path('tls.key'));
    await looks(5);
    await writeFile(path('tls.crt'), await readNew('tls.crt'));
    await looks(5);
    expect([stops, log]).toEqual([0, []]);
    await writeFile(path('tls.key'), await readNew('tls.key'));
    await eventually('it is stopped', () => stops > 0);
  });

  test('that are half written, or do not fit yet, are told once and stop nothing until they do', async () => {
    await unmount();
    await follow();
    const ca = await readNew('ca.crt');
    await writeFile(path('ca.crt'), ca.slice(0, ca.length / 2));
    await eventually('it is told', () => log.length > 0);
    // Before the authority is whole: with the old pair it would be a renewal.
    await writeFile(path('tls.crt'), await readNew('tls.crt'));
    await writeFile(path('ca.crt'), ca);
    await eventually('it is told', () => log.length > 1);
    await looks(5);
    expect(stops).toBe(0);
    expect(log.map(({ fields }) => fields)).toEqual([
      { reason: 'MUSTER_DATABASE_CA_FILE holds no whole certificates' },
      { reason: 'MUSTER_TEMPORAL_TLS_KEY is not the key of the certificate in MUSTER_TEMPORAL_TLS_CERT' },
    ]);
    await writeFile(path('tls.key'), await readNew('tls.key'));
    await eventually('it is stopped', () => stops > 0);
  });

  test('that change at every look stop nothing before they stay', async () => {
    await unmount();
    const ca = await readNew('ca.crt');
    let looked = 0;
    const { setTimeout: start } = globalThis;
    // The file changes when a look is over and the next one is set.
    const startTimer = (work: () => void, ms?: number) => {
      if (ms === EVERY_MS) {
        looked += 1;
        if (looked <= 20) writeFileSync(path('ca.crt'), `${looked}\n${ca}`);
      }
      return start(work, ms);
    };
    const timers = jest.spyOn(globalThis, 'setTimeout').mockImplementation(startTimer as typeof setTimeout);
    try {
      await follow();
      await eventually('it is stopped', () => stops > 0);
    } finally {
      timers.mockRestore();
    }
    // The text of the 20th is that of the 21st too.
    expect(looked).toBe(21);
  });

  test('leave it the time that it is given, and none to one that ends meanwhile', async () => {
    let toldAt = Number.NaN;
    atNote = () => {
      toldAt = performance.now();
    };
    await follow(300);
    await mount('new');
    await eventually('it is stopped', () => stops > 0);
    // Node's timers know whole milliseconds.
    expect(stoppedAt - toldAt).toBeGreaterThanOrEqual(299);
    expect(log[0]?.fields).toMatchObject({ seconds: 1 });

    await mount('old');
    await follow(300);
    atNote = () => queueMicrotask(end);
    await mount('new');
    await eventually('it is told', () => log.length > 1);
    await pause(500);
    expect(stops).toBe(1);
  });

  test('wait for a process that must not be interrupted, also while nobody can say whether it works', async () => {
    const answers: (() => Promise<boolean>)[] = [
      async () => false,
      () => Promise.reject(new Error('away')),
      async () => false,
    ];
    await follow(0, EVERY_MS, () => (answers.shift() ?? (async () => true))());
    await mount('new');
    await eventually('it is stopped', () => stops > 0);
    expect(answers).toEqual([]);
    expect(log.map(({ text }) => text)).toEqual([
      expect.stringContaining('as soon as its work allows it'),
      expect.stringContaining('to be started again'),
    ]);
  });

  test('wait for nothing once the old ones are about to end', async () => {
    await follow(0, EVERY_MS, async () => false);
    await mount('new');
    await eventually('it waits', () => log.length > 0);
    const now = Date.now;
    Date.now = () => now() + 10 * 86_400_000;
    try {
      await eventually('it is stopped', () => stops > 0);
    } finally {
      Date.now = now;
    }
  });
});

test('a process looks at the files that it has read, and no others', () => {
  const env = loadEnvironment({
    MUSTER_CA_FILE: '/a',
    MUSTER_DATABASE_URL: SERVER,
    MUSTER_DATABASE_CA_FILE: '/b',
    MUSTER_TEMPORAL_TLS_CA: '/c',
    MUSTER_TEMPORAL_TLS_CERT: '/d',
  });
  const servers = { MUSTER_DATABASE_CA_FILE: '/b', MUSTER_TEMPORAL_TLS_CA: '/c', MUSTER_TEMPORAL_TLS_CERT: '/d' };
  expect(startFiles(env, 'images')).toEqual({ files: servers, pair: undefined });
  expect(startFiles(env, 'api')).toEqual({ files: { ...servers, MUSTER_CA_FILE: '/a' }, pair: undefined });
});
