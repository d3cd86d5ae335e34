import { expect, test } from '@jest/globals';
import { EnvironmentError, loadEnvironment } from '../../config/environment.ts';

const read = (url: string) => loadEnvironment({ MUSTER_DATABASE_URL: url }).MUSTER_DATABASE_URL;

test.each([
  'postgres://muster@db/muster',
  'postgresql://muster:p%40ss%2F%23@db.example.com:5432/muster?sslmode=require',
  'postgres://muster:100%25@[fd00::1]:5432/muster',
  'postgres:///muster?host=/run/postgresql',
  'socket:/run/postgresql?db=muster',
  '/run/postgresql muster',
])('%s names a database', (url) => {
  expect(read(url)).toBe(url);
});

test('a line break at the end, as of a Secret that was made from a file, is no part of it', () => {
  expect(read('postgres://muster:p%20w@db/muster\n')).toBe('postgres://muster:p%20w@db/muster');
});

test.each([
  ['in which the password holds a #', 'postgres://muster:pa#ss@db:5432/muster'],
  ['in which the password holds a /', 'postgres://muster:pa/ss@db:5432/muster'],
  ['in which it holds @ and /', 'postgres://muster:p@ss/word@db:5432/muster'],
  ['in which it holds @ and ?', 'postgres://muster:p@ss?word@db:5432/muster'],
  ['of something else', 'https://muster:pass@db/muster'],
  ['that is none', 'host=db password=pass'],
])('a URL %s is refused by its name, with what to do and without the secret', (_which, url) => {
  let words = '';
  try {
    read(url);
  } catch (error) {
    expect(error).toBeInstanceOf(EnvironmentError);
    words = String(error);
  }
  expect(words).toMatch(/MUSTER_DATABASE_URL: must be postgres:.*%23/);
  expect(words).not.toMatch(/pa[#/]ss|ss.word|pass@|=pass/);
});
