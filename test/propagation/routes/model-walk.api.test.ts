/** The way of a user: a folder of definitions, resources, a connection, events, what is staged; by the command line, through a real API. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cli } from '../../support/stack/command-line.ts';
import { createTestApi, type TestApi } from '../../support/stack/test-api.ts';

let api: TestApi;
let url: string;
let folder: string;
beforeAll(async () => {
  api = await createTestApi();
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  folder = await mkdtemp(join(tmpdir(), 'muster-walk-'));
  await write('db/meta.yaml', 'handler: none\ninput: {ip: {schema: str!}, port: {schema: int!, value: 5432}}\n');
  const inputs = '{db_host: {schema: str!}, db_port: {schema: int!}, env: {schema: {}, value: {}}}';
  await write('web/meta.yaml', `version: 1.2.0\nhandler: shell\ninput: ${inputs}\n`);
  for (const action of ['run', 'update', 'remove', 'reload']) await write(`web/actions/${action}.sh`, 'exit 0\n');
});
afterAll(async () => {
  await api.close();
  await rm(folder, { recursive: true, force: true });
});

async function write(path: string, content: string): Promise<void> {
  await mkdir(join(folder, path, '..'), { recursive: true });
  await writeFile(join(folder, path), content);
}

/** Runs a command that is to succeed. Returns its data. */
async function done(...args: string[]): Promise<string> {
  const { exit, out, err } = await cli(args, { url });
  expect([args, exit, err]).toEqual([args, 0, err]);
  return out;
}

/** Runs a command that is to fail. Returns its exit status and its message. */
async function refused(...args: string[]): Promise<[number, string]> {
  const { exit, err } = await cli(args, { url });
  return [exit, err];
}

test('leads from definitions to staged changes and back', async () => {
  await done('repository', 'add', 'apps', folder);
  await done('repository', 'add', 'apps', folder);
  expect(await done('repository', 'get', 'apps')).toBe('DEFINITION  VERSIONS\ndb          1.0.0\nweb         1.2.0\n');

  await done('resource', 'create', 'db', 'apps/db', 'ip=10.0.0.5');
  await done('resource', 'create', 'web.1', 'apps/web:>=1.0.0', '--tag', 'zone=a');
  expect(await done('resource', 'list', '--tags', 'zone=a', '-o', 'name')).toBe('web.1\n');
  expect(await done('resource', 'get', 'web.1')).toContain('ERROR: web.1: {');

  const mapping = ['ip->db_host', 'port->db_port', 'ip->env:PGHOST'];
  expect(await done('connection', 'add', 'db', 'web.1', ...mapping)).toBe(
    'db::ip -> [web.1::db_host, web.1::env:PGHOST]\ndb::port -> [web.1::db_port]\n',
  );
  const shown = await done('resource', 'get', 'web.1');
  expect(shown).toMatch(/env +\{\} +\{"PGHOST":"10\.0\.0\.5"\} +PGHOST=db::ip\n/);
  expect(shown).not.toContain('ERROR');
  expect(await done('event', 'list', 'web.1')).toContain('react_on: db.run -> changed -> web.1.reload\n');
  expect(await done('event', 'add', 'on', 'web.1.run', 'failure', 'web.1.reload')).toBe(
    'react_on: web.1.run -> failure -> web.1.reload\n',
  );

  const staged = await done('change', 'stage', '-d');
  expect(staged).toMatch(/^log task=db\.run uid=[0-9a-f-]{36}\n\+\+ ip: 10\.0\.0\.5\n/);
  expect(staged).toContain('++ port: 5432\n');
  expect(await done('change', 'stage', '-d')).toBe(staged);
  expect((await done('change', 'list')).match(/task=\S+/g)).toEqual(['task=db.run', 'task=web.1.run']);
  expect(await done('change', 'history')).toBe('No history\n');

  await done('connection', 'remove', 'db', 'web.1', 'port');
  expect(await done('resource', 'remove', 'web.1')).toBe('web.1 removed from database\n');
  expect(await done('change', 'discard', '--all')).toMatch(/^log task=db\.run uid=\S+\n$/);
  expect(await done('change', 'list')).toBe('No changes\n');
  await done('repository', 'remove', 'apps/db:==1.0.0', 'apps');
});

test('ends with the exit status of what is wrong', async () => {
  expect(await refused('resource', 'get', 'none')).toEqual([3, expect.stringContaining('error: resource_not_found')]);
  expect(await refused('repository', 'get', 'none')).toEqual([3, expect.stringContaining('repository_not_found')]);
  expect(await refused('repository', 'add', 'muster', folder)).toEqual([5, expect.stringContaining('read_only')]);
  expect(await refused('repository', 'sync', 'muster')).toEqual([5, expect.stringContaining('read_only')]);
  expect(await refused('repository', 'sync', 'none')).toEqual([3, expect.stringContaining('repository_not_found')]);
  const address = ['--git', 'ext::sh -c id'];
  expect(await refused('repository', 'add', 'g', ...address)).toEqual([2, expect.stringContaining('url_refused')]);
  expect(await refused('event', 'add', 'on a.run odd b.run')).toEqual([2, expect.stringContaining('line 1')]);
  expect(await refused('connection', 'add', 'a', 'b')).toEqual([2, expect.stringContaining('not_supported')]);
  expect(await refused('change', 'discard', 'none')).toEqual([3, expect.stringContaining('change_not_found')]);
});
