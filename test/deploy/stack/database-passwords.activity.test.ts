import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { clusterFolder, readOrMakePasswords } from '../../../deploy/stack/postgres-cluster.ts';
import { StackError } from '../../../deploy/stack/stack-error.ts';

let dir: string;
let file: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-passwords-'));
  file = join(dir, 'postgres-passwords.json');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test('passwords are made once, for the user alone', async () => {
  const made = readOrMakePasswords(dir);
  expect(new Set(Object.values(made)).size).toBe(2);
  expect(readOrMakePasswords(dir)).toEqual(made);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

/** What a crash or a full disk may leave. */
const DAMAGED = ['', '{"superuser":"a', '{"superuser":"a"}', 'null'];

describe('without a database beside it', () => {
  test.each(DAMAGED)('a damaged file is made again: %j', async (text) => {
    await writeFile(file, text);
    const made = readOrMakePasswords(dir);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(made);
  });

  test("what is left of a start that was killed is in nobody's way", async () => {
    await writeFile(`${file}.new`, '{"sup');
    const made = readOrMakePasswords(dir);
    expect(readOrMakePasswords(dir)).toEqual(made);
  });
});

describe('with a database beside it', () => {
  beforeEach(() => mkdir(clusterFolder(dir)));

  test.each(DAMAGED)('a damaged file stays as it is, and is named: %j', async (text) => {
    await writeFile(file, text);
    expect(() => readOrMakePasswords(dir)).toThrow(StackError);
    expect(() => readOrMakePasswords(dir)).toThrow(`${file} is damaged, so nobody can log in`);
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  test('a missing file is not made again', () => {
    expect(() => readOrMakePasswords(dir)).toThrow(`${file} is missing, so nobody can log in`);
  });
});
