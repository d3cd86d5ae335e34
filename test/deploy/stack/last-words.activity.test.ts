import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { loadEnvironment } from '../../../config/environment.ts';
import { prepareDataDirectory } from '../../../deploy/stack/data-directory.ts';
import { lastWarning, lastWords } from '../../../deploy/stack/last-words.ts';
import { differingSettings, settingDigests } from '../../../deploy/stack/started-settings.ts';

let dir: string;
let log: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-words-'));
  log = join(dir, 'api.log');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('the last words of a part are its sentence, without the trace of calls', () => {
  writeFileSync(
    log,
    [
      '{"level":30,"time":1,"msg":"listening"}',
      '{"level":40,"time":2,"msg":"this server is not set up yet","err":"no key"}',
      'Error: the port is taken',
      '    at Server.listen (node:net:1:1)',
      '',
      'Node.js v24.1.0',
      '',
    ].join('\n'),
  );
  expect(lastWords(log)).toBe('this server is not set up yet: no key Error: the port is taken');
  expect(lastWords(join(dir, 'none'))).toBe('');
});

test('the last warning is one of this life of the part', () => {
  writeFileSync(log, '{"level":40,"time":5,"msg":"old"}\n{"level":30,"time":9,"msg":"listening"}\n');
  expect(lastWarning(log, 6)).toBe('');
  expect(lastWarning(log, 4)).toBe('old');
});

test('a request that failed is not what a part said last', () => {
  writeFileSync(
    log,
    '{"level":40,"time":5,"msg":"waiting for the database"}\n{"level":40,"time":6,"method":"GET","path":"/healthz","status":500,"ms":2,"msg":"request"}\n',
  );
  expect(lastWarning(log, 4)).toBe('waiting for the database');
});

test.each(['/proc/muster', '/proc/a/b/c', '/sys/muster'])(
  'a data directory that cannot be made (%s) is refused at once',
  (path) => {
    expect(() => prepareDataDirectory(path)).toThrow(`The data directory ${path} cannot be used`);
  },
);

test('a data directory is made with all folders above it, for its owner alone', () => {
  prepareDataDirectory(join(dir, 'a', 'b', 'c'));
  prepareDataDirectory(join(dir, 'a', 'b', 'c'));
});

test('settings that a running stack does not have so are named; what is not given may be anything', () => {
  const running = settingDigests(loadEnvironment({ MUSTER_API_PORT: '8300', MUSTER_LOG_LEVEL: 'warn' }));
  expect(differingSettings({}, running)).toEqual([]);
  expect(differingSettings({ MUSTER_API_PORT: '8300', MUSTER_URL: 'http://elsewhere' }, running)).toEqual([]);
  expect(differingSettings({ MUSTER_API_PORT: '8400' }, running)).toEqual(['MUSTER_API_PORT']);
  expect(differingSettings({ MUSTER_API_PORT: '8300', MUSTER_LOG_LEVEL: 'info' }, running)).toEqual([
    'MUSTER_LOG_LEVEL',
  ]);
  expect(differingSettings({ MUSTER_API_PORT: '8400' }, undefined)).toEqual([]);
  expect(() => differingSettings({ MUSTER_API_PROT: '1' }, running)).toThrow('MUSTER_API_PROT: no such setting');
});
