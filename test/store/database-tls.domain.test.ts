import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { databaseSettings } from '../../config/database-settings.ts';
import { EnvironmentError, loadEnvironment } from '../../config/environment.ts';

const SERVER = 'postgres://muster:p%40ss@db.example.com:5432/muster';

let dir: string;
let caFile: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-database-'));
  caFile = join(dir, 'ca.pem');
  writeFileSync(caFile, 'the CA');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const settings = (url: string, more: Record<string, string> = { MUSTER_DATABASE_CA_FILE: caFile }) =>
  databaseSettings(loadEnvironment({ MUSTER_DATABASE_URL: url, ...more }));

test.each([
  ['', ''],
  ['?sslmode=require', ''],
  ['?sslmode=verify-ca', ''],
  ['?sslmode=verify-full', ''],
  ['?ssl=true', ''],
  ['?ssl=1&sslmode=require', ''],
  ['?ssl%6Dode=require', ''],
  ['?application_name=a%20b%2Bc&sslmode=require&options=-c%20x%3D1', '?application_name=a%20b%2Bc&options=-c%20x%3D1'],
  ['?sslmode=require&sslnegotiation=postgres', '?sslnegotiation=postgres'],
  ['?sslmode=verify-full&host=/run/a&host=/run/b', '?host=/run/a&host=/run/b'],
])('beside a CA, an address that ends in "%s" ends in "%s"', (written, used) => {
  expect(settings(`${SERVER}${written}`)).toEqual({ url: `${SERVER}${used}`, ca: 'the CA' });
});

test.each(['sslcert=/a/cert.pem', 'sslkey=/a/key.pem', 'sslnegotiation=direct'])(
  '%s beside a CA is refused, with the way in which the driver takes both',
  (parameter) => {
    const [name] = parameter.split('=');
    const { message } = refusalOf(`${SERVER}?sslmode=verify-full&${parameter}`);
    expect(message).toMatch(new RegExp(`MUSTER_DATABASE_URL: ${name} .*sslrootcert.*MUSTER_DATABASE_CA_FILE`));
  },
);

test.each([
  'sslmode=disable',
  'sslmode=no-verify',
  'sslmode=allow',
  'sslmode=prefer',
  'sslmode=require&sslmode=disable',
  'ssl=false',
  'ssl=0',
  'ssl=no-verify',
])('%s beside a CA is refused, with both settings and the way out', (parameters) => {
  const { message } = refusalOf(`${SERVER}?application_name=a&${parameters}`);
  const [last = ''] = parameters.split('&').slice(-1);
  expect(message).toContain(`MUSTER_DATABASE_URL: ${last} `);
  expect(message).toMatch(/MUSTER_DATABASE_CA_FILE: .*sslmode=verify-full/);
  expect(message).not.toContain('p%40ss');
});

test('two CAs are refused', () => {
  const { message } = refusalOf(`${SERVER}?sslmode=verify-full&sslrootcert=/etc/ca.pem`);
  expect(message).toMatch(/MUSTER_DATABASE_URL: sslrootcert .*MUSTER_DATABASE_CA_FILE/);
});

test.each(['sslmode=disable', 'sslmode=prefer&sslkey=', 'ssl=0', 'sslmode=verify-full&sslrootcert=CA'])(
  'without a CA %s stays what it is',
  (parameters) => {
    const url = `${SERVER}?${parameters.replace('CA', caFile)}`;
    expect(settings(url, {})).toEqual({ url, ca: undefined });
  },
);

test.each(['sslrootcert', 'sslcert', 'sslkey'])('a file that is not there is told at once: %s', (parameter) => {
  const { message } = refusalOf(`${SERVER}?sslmode=verify-full&${parameter}=${dir}/none.pem`, {});
  expect(message).toContain(`MUSTER_DATABASE_URL: ${parameter} names a file that cannot be read: ENOENT`);
  expect(message).toContain(`${dir}/none.pem`);
});

test('a CA that is not there is told at once', () => {
  const { message } = refusalOf(SERVER, { MUSTER_DATABASE_CA_FILE: `${dir}/none.pem` });
  expect(message).toContain('MUSTER_DATABASE_CA_FILE: names a file that cannot be read: ENOENT');
});

test('a CA for the embedded Postgres is refused, with the way out', () => {
  expect(() => loadEnvironment({ MUSTER_DATABASE_CA_FILE: caFile })).toThrow(
    /MUSTER_DATABASE_CA_FILE: is for a Postgres of your own.*MUSTER_DATABASE_URL/,
  );
});

function refusalOf(url: string, more?: Record<string, string>): Error {
  try {
    settings(url, more);
  } catch (error) {
    if (error instanceof EnvironmentError) return error;
    throw error;
  }
  throw new Error('it is taken');
}
