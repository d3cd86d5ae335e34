import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { cli } from '../support/stack/command-line.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { fakeSchedules } from '../support/temporal/fake-schedules.ts';

let api: TestApi;
let url: string;
let folder: string;

beforeEach(async () => {
  api = await createTestApi({ schedules: fakeSchedules() });
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  folder = await mkdtemp(join(tmpdir(), 'muster-apply-'));
});
afterEach(async () => {
  await api.close();
  await rm(folder, { recursive: true });
});

const run = (args: string[], stdin = '') => cli(args, { url, stdin });
const apply = (noun: string, text: string, ...words: string[]) => run([noun, 'apply', '-f', '-', ...words], text);
const shown = async (...words: string[]) => (await run([...words])).out;

/** What the component reached, with its errors. */
async function reached(id: string): Promise<unknown> {
  const { state, error_count } = JSON.parse(await shown('component', 'get', id, '-o', 'json'));
  return { state, error_count };
}
async function patch(path: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}${path}`, { method: 'PATCH', headers, body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
}
const layer = (commit: string) => ({
  ...{ clone_url: 'https://git.example.test/one.git', playbook: 'site.yml', status: 'applied', session_name: 's' },
  commit,
});
const auditRows = async () =>
  (
    await api.database.db
      .selectFrom('audit')
      .select(({ fn }) => fn.countAll<string>().as('n'))
      .execute()
  )[0]?.n;

describe('components', () => {
  beforeEach(async () => {
    await apply(
      'component',
      '[{"id":"n1","desired_config":"web","tags":{"a":"1","b":"2"},"retry_policy":4},{"id":"n2"}]',
    );
    await patch('/v3/components/n1', { state: [layer('old')], error_count: 2 });
  });

  test.each(['json', 'yaml'])('an export in %s that is applied later leaves what was reached since', async (form) => {
    const one = await shown('component', 'get', 'n1', '-o', form);
    const list = await shown('component', 'list', '-o', form);
    await patch('/v3/components/n1', { state: [layer('new')], error_count: 0 });
    const [now, rows] = [await reached('n1'), await auditRows()];
    const first = await apply('component', one);
    expect(first).toMatchObject({ exit: 0, out: 'n1\n' });
    expect(first.err).toBe(
      'state and error_count of the file are not written: only runs report them (--with-state writes them)\n0 changed: 1 component as in the file\n',
    );
    expect((await apply('component', list)).err).toContain('0 changed: 2 components as in the file\n');
    expect(await reached('n1')).toEqual(now);
    expect(await auditRows()).toBe(rows);
  });

  test('--with-state writes what was reached, also with another desired configuration', async () => {
    const old = JSON.parse(await shown('component', 'get', 'n1', '-o', 'json'));
    await patch('/v3/components/n1', { state: [layer('new')] });
    const again = await apply('component', JSON.stringify({ ...old, desired_config: 'db' }), '--with-state');
    expect(again.err).toMatch(/^1 component changed\. Warning: there is no configuration db;/);
    expect(await reached('n1')).toMatchObject({ error_count: 2, state: [{ commit: 'old' }] });
    const same = await apply('component', await shown('component', 'get', 'n1', '-o', 'json'), '--with-state');
    expect(same.err).toBe('0 changed: 1 component as in the file\n');
  });

  test('a new component of the file begins without what the file says it reached', async () => {
    const { err } = await apply('component', JSON.stringify([{ id: 'n9', state: [layer('x')], error_count: 3 }]));
    expect(err).toBe(
      'state and error_count of the file are not written, and 1 new component created without them: only runs report them (--with-state writes them)\n1 component created (PUT)\n',
    );
    expect(await reached('n9')).toEqual({ state: [], error_count: 0 });
    await apply('component', JSON.stringify([{ id: 'n10', state: [layer('x')], error_count: 3 }]), '--with-state');
    expect(await reached('n10')).toMatchObject({ error_count: 3, state: [{ commit: 'x' }] });
  });

  test('--replace starts from nothing and takes no state of the file either', async () => {
    const old = await shown('component', 'get', 'n1', '-o', 'json');
    const { err } = await apply('component', old, '--replace');
    expect(err).toContain('1 component replaced (PUT)');
    expect(await reached('n1')).toEqual({ state: [], error_count: 0 });
    await apply('component', old, '--replace', '--with-state');
    expect(await reached('n1')).toMatchObject({ error_count: 2, state: [{ commit: 'old' }] });
  });

  test('only what differs is sent', async () => {
    const record = JSON.parse(await shown('component', 'get', 'n1', '-o', 'json'));
    const wanted = { ...record, enabled: true, tags: { a: '1', b: '', c: '3', d: '' } };
    const file = join(folder, 'records');
    await writeFile(file, JSON.stringify([wanted, { id: 'n2', enabled: false }]));
    const dry = await run(['component', 'apply', '-f', file, '--dry-run=request']);
    expect(JSON.parse(dry.out.slice(dry.out.indexOf('\n')))).toEqual([
      { id: 'n1', enabled: true, tags: { b: '', c: '3' } },
    ]);
    expect((await run(['component', 'apply', '-f', file])).err).toContain('1 component changed\n');
    const after = JSON.parse(await shown('component', 'get', 'n1', '-o', 'json'));
    // The desired configuration was not sent, so the errors are as they were.
    expect(after).toMatchObject({ enabled: true, tags: { a: '1', c: '3' }, error_count: 2 });
  });

  test('a component that stands twice in the file ends as the later record says', async () => {
    await apply('component', '[{"id":"n2","enabled":true},{"id":"n2","enabled":false}]');
    expect(JSON.parse(await shown('component', 'get', 'n2', '-o', 'json')).enabled).toBe(false);
  });
});

describe('other kinds', () => {
  const layers = [
    { name: 'base', clone_url: 'https://git.example.test/one.git', playbook: 'site.yml', commit: 'a'.repeat(40) },
  ];

  test.each([
    ['configuration', 'web', { name: 'web', layers }, { name: 'web', layers, description: 'other' }],
    [
      'source',
      'https://git.example.test/two.git',
      { clone_url: 'https://git.example.test/two.git', credentials: { username: 'u', password: 'p' } },
      { clone_url: 'https://git.example.test/two.git', description: 'other' },
    ],
    [
      'schedule',
      'nightly',
      { name: 'nightly', cron: '0 3 * * *', action: { refresh: {} } },
      { name: 'nightly', cron: '0 4 * * *', action: { refresh: {} } },
    ],
  ])('an export of a %s that is applied again changes nothing', async (noun, name, record, other) => {
    expect(await apply(noun, JSON.stringify(record))).toMatchObject({ exit: 0 });
    const exported = await shown(noun, 'get', name, '-o', 'json');
    const [rows, before] = [await auditRows(), JSON.parse(exported)];
    for (const text of [exported, await shown(noun, 'list', '-o', 'yaml')]) {
      const { exit, err } = await apply(noun, text);
      expect(exit).toBe(0);
      expect(err).toContain(`${noun} ${name} unchanged\n`);
      expect(err).toContain(`0 changed: 1 ${noun} as in the file\n`);
    }
    expect(await auditRows()).toBe(rows);
    expect(JSON.parse(await shown(noun, 'get', name, '-o', 'json'))).toEqual(before);
    const { err } = await apply(noun, JSON.stringify(other));
    expect(err).not.toContain('0 changed');
    expect(err).not.toContain('unchanged');
  });
});
