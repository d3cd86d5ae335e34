/** Directories of records on the real API: export, change, diff, apply, prune. */
import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { cli } from '../support/stack/command-line.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const URL = 'https://git.example.test/one.git';
const KINDS = ['components', 'configurations', 'options', 'schedules', 'sources', 'webhooks'];

let api: TestApi;
let url: string;
let home: string;
let dir: string;

beforeEach(async () => {
  await open();
  home = await mkdtemp(join(tmpdir(), 'muster-directory-'));
  dir = join(home, 'site');
});
afterEach(async () => {
  await api.close();
  await rm(home, { recursive: true });
});

async function open(): Promise<void> {
  api = await createTestApi();
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
}

const run = (...args: string[]) => cli(args, { url });
const apply = (...more: string[]) => run('apply', '-f', dir, ...more);
const diff = (...more: string[]) => run('diff', '-f', dir, ...more);
const read = async (path: string) => (await api.call('GET', path)).body;

async function must(method: string, path: string, body?: unknown) {
  const answer = await api.call(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Changes the one record of a file. */
async function edit(file: string, change: (record: Record<string, unknown>) => object): Promise<void> {
  const path = join(dir, file);
  await writeFile(path, stringify(change(parse(await readFile(path, 'utf8')))));
}

async function put(file: string, ...records: object[]): Promise<void> {
  await mkdir(join(dir, file, '..'), { recursive: true });
  await writeFile(join(dir, file), records.map((record) => stringify(record)).join('---\n'));
}

const auditRows = async () => {
  const [row] = await api.database.db
    .selectFrom('audit')
    .select(({ fn }) => fn.countAll<string>().as('n'))
    .execute();
  return row?.n;
};

/** A record of each kind. */
async function fill(): Promise<void> {
  const credentials = { username: 'reader', password: 'hidden-password' };
  await must('POST', '/v3/sources', { name: 'site/one', clone_url: URL, credentials });
  await must('PATCH', '/api/v1/options', { batch_size: 7 });
  api.refs.set(`${URL} main`, 'a'.repeat(40));
  const layers = [{ name: 'base', source: 'site/one', playbook: 'site.yml', branch: 'main' }];
  await must('PUT', '/v3/configurations/web', { layers, muster: { rollout: { canary: 2 } } });
  await must('PUT', '/v3/components', [
    { id: 'n1', desired_config: 'web', enabled: false, tags: { role: 'a', rack: '1' } },
    { id: 'n2', desired_config: 'web', enabled: false },
  ]);
  await must('POST', '/api/v1/schedules', { name: 'day', cron: '0 3 * * *', action: { refresh: {} }, paused: true });
  const webhook = { name: 'hook', url: 'https://hooks.example.test/hidden-path', events: ['session.ended'] };
  await must('POST', '/api/v1/webhooks', webhook);
}

describe('export', () => {
  test('writes a file for each record, without values of secrets and what the API computes', async () => {
    await fill();
    const { exit, err } = await run('export', dir);
    expect([exit, err]).toEqual([
      0,
      `1 source, options, 1 configuration, 2 components, 1 schedule, 1 webhook written to ${dir}\n`,
    ]);
    const files = (await readdir(dir, { recursive: true })).filter((file) => file.endsWith('.yaml')).sort();
    expect(files).toEqual([
      'components/n1.yaml',
      'components/n2.yaml',
      'configurations/web.yaml',
      'options/options.yaml',
      'schedules/day.yaml',
      'secrets.yaml',
      'sources/site%2Fone.yaml',
      'webhooks/hook.yaml',
    ]);
    const texts = await Promise.all(files.map((file) => readFile(join(dir, file), 'utf8')));
    expect(texts.join('')).not.toMatch(/hidden-|last_updated|error_count|configuration_status|synced/);
    expect(parse(texts[0] ?? '')).toMatchObject({ id: 'n1', desired_config: 'web', tags: { role: 'a', rack: '1' } });
    expect(parse(texts[2] ?? '')).toMatchObject({ name: 'web', muster: { rollout: { canary: 2 } } });
    expect(parse(texts[4] ?? '')).toMatchObject({ name: 'day', paused: true });
    const [secret] = parse(texts[5] ?? '');
    expect(secret.keys.sort()).toEqual(['password', 'username']);
  });

  test('again names the files of records that are gone, and leaves them', async () => {
    await fill();
    await run('export', dir);
    await must('DELETE', '/v3/components/n2');
    const { exit, err } = await run('export', dir);
    expect([exit, err]).toEqual([0, expect.stringContaining(`left as they are: ${join(dir, 'components/n2.yaml')}`)]);
    await access(join(dir, 'components/n2.yaml'));
  });

  test('into what is no directory is refused', async () => {
    await writeFile(dir, 'x');
    const { exit, err } = await run('export', dir);
    expect([exit, err]).toEqual([2, expect.stringContaining(`cannot write ${join(dir, 'sources')}`)]);
  });
});

describe('a round trip', () => {
  beforeEach(async () => {
    await fill();
    await run('export', dir);
  });

  test('changes nothing', async () => {
    const rows = await auditRows();
    expect(await diff()).toEqual({ exit: 0, out: '', err: '0 records differ, 7 as in the directory\n' });
    expect(await apply()).toEqual({ exit: 0, out: '', err: '0 changed, 7 as in the directory\n' });
    expect(await auditRows()).toBe(rows);
  });

  test('leaves what was reached since, unless --with-state', async () => {
    const state = [{ clone_url: URL, playbook: 'site.yml', commit: 'b', status: 'applied', session_name: 's' }];
    await must('PATCH', '/v3/components/n1', { state, error_count: 2 });
    expect((await diff()).exit).toBe(0);
    await run('export', dir, '--with-state');
    await must('PATCH', '/v3/components/n1', { state: [], error_count: 0 });
    expect((await diff()).exit).toBe(0);
    expect((await diff('--with-state')).exit).toBe(1);
    await apply('--with-state');
    const after = await read('/v3/components/n1?state_details=true');
    expect(after).toMatchObject({ error_count: 2, state: [{ commit: 'b' }] });
  });

  test('shows what was edited, with what becomes of components, and applies it', async () => {
    await edit('components/n1.yaml', (record) => ({ ...record, desired_config: '', tags: { role: 'b' } }));
    await edit('options/options.yaml', (record) => ({ ...record, batch_size: 9 }));
    await edit('schedules/day.yaml', (record) => ({ ...record, cron: '0 4 * * *' }));
    await edit('webhooks/hook.yaml', (record) => ({ ...record, enabled: false }));
    const rows = await auditRows();
    const shown = await diff();
    expect(shown.exit).toBe(1);
    expect(shown.out).toContain('update options\n  batch_size: 7 -> 9\n');
    expect(shown.out).toMatch(/update component n1\n(?: {2}.*\n)* {2}desired_config: "web" -> ""\n/);
    expect(shown.out).toContain('1 component pending -> unconfigured: n1\n');
    expect(shown.out).toMatch(/update schedule day\n(?: {2}.*\n)*? {2}cron: "0 3 \* \* \*" -> "0 4 \* \* \*"/);
    expect(shown.err).toBe('4 records differ, 3 as in the directory\n');
    expect((await apply('--dry-run')).err).toContain('dry run: nothing was changed\n');
    expect(await auditRows()).toBe(rows);
    const done = await apply();
    expect([done.exit, done.err]).toEqual([0, '4 changed, 3 as in the directory\n']);
    expect(done.out).toBe('changed options\nchanged component n1\nchanged schedule day\nchanged webhook hook\n');
    expect((await read('/v3/components/n1')).tags).toEqual({ role: 'b' });
    expect(await read('/api/v1/schedules/day')).toMatchObject({ cron: '0 4 * * *', paused: true });
    expect((await diff()).exit).toBe(0);
  });

  test('shows where a branch is now, and applies it', async () => {
    api.refs.set(`${URL} main`, 'c'.repeat(40));
    const { exit, out } = await diff();
    expect([exit, out]).toEqual([1, expect.stringMatching(/commit: "a{40}" -> "c{40}" \(branch main\)/)]);
    const file = join(dir, 'configurations/web.yaml');
    const same = await run('configuration', 'diff', '-f', file);
    expect([same.exit, same.out]).toEqual([1, out]);
    await apply();
    expect((await read('/v3/configurations/web')).layers[0].commit).toBe('c'.repeat(40));
    expect((await run('configuration', 'diff', '-f', file)).exit).toBe(0);
  });

  test('says that a policy is removed, and what it shows is for programs too', async () => {
    await edit('configurations/web.yaml', ({ muster: _muster, ...record }) => record);
    const { out, err } = await diff('-o', 'json');
    expect(JSON.parse(out)).toMatchObject({
      different: true,
      unchanged: 6,
      differences: [{ kind: 'configurations', action: 'update', names: ['web'], refusal: null }],
    });
    expect(err).toContain('warning: this removes the rollout policy of web (canary 2)');
  });
});

describe('apply', () => {
  test('makes everything in an installation that is empty, in its order', async () => {
    await fill();
    await run('export', dir);
    await api.close();
    await open();
    api.refs.set(`${URL} main`, 'a'.repeat(40));
    await edit('webhooks/hook.yaml', (record) => ({ ...record, url: 'https://hooks.example.test/path' }));
    const shown = await diff();
    expect([shown.exit, shown.out]).toEqual([1, expect.stringContaining('refused as things are now: source_unknown')]);
    expect(shown.err).toMatch(/warning: there is no secret .*: `\.\/muster secret set .*=@FILE/);
    const done = await apply();
    expect([done.exit, done.err]).toEqual([0, expect.stringContaining('6 created, 1 changed, 0 as in the directory')]);
    expect(done.out).toMatch(
      /^created source site\/one\nchanged options\ncreated configuration web\ncreated component n1\n/,
    );
    expect(done.out).toMatch(/\nkey of the signatures of webhook hook, not shown again: \S+\n$/);
    expect(await read('/api/v1/schedules/day')).toMatchObject({ paused: true });
    expect((await apply()).err).toContain('0 changed, 7 as in the directory\n');
  });

  test('takes the kind of a record from its member, out of a file or a folder of any name', async () => {
    await put('all.yaml', { kind: 'Component', id: 'n1' }, { kind: 'options', batch_size: 3 });
    await put('more/of/it.json', { kind: 'component', id: 'n2' });
    await put('README.md', {});
    await put('.hidden/x.yaml', { nothing: true });
    expect((await apply()).out).toBe('changed options\ncreated component n1\ncreated component n2\n');
    expect((await run('apply', '-f', join(dir, 'all.yaml'))).err).toBe('0 changed, 2 as in the directory\n');
  });

  test.each<[string, Record<string, object>, RegExp]>([
    ['no kind', { 'x.yaml': { id: 'n1' } }, /x\.yaml: entry 0 has no kind/],
    [
      'an unknown kind',
      { 'x.yaml': { kind: 'sessions', id: 'n1' } },
      /x\.yaml: entry 0 has the unknown kind "sessions"/,
    ],
    [
      'the kind of another folder',
      { 'components/x.yaml': { kind: 'source', name: 'a' } },
      /its folder is for components/,
    ],
    ['no name', { 'components/x.yaml': { tags: {} } }, /x\.yaml: component 0 has no id/],
    [
      'the same record twice',
      { 'components/x.yaml': { id: 'n9' }, 'components/y.yaml': { id: 'n9' } },
      /component n9 stands twice: in .*x\.yaml and in .*y\.yaml/,
    ],
  ])('refuses %s before anything is changed', async (_, files, words) => {
    for (const [file, record] of Object.entries(files)) await put(file, record);
    await put('components/good.yaml', { id: 'good' });
    for (const { exit, err } of [await apply(), await diff()])
      expect([exit, err]).toEqual([2, expect.stringMatching(words)]);
    expect((await api.call('GET', '/v3/components/good')).status).toBe(404);
  });

  test('that the server refuses names what is made, and does not count what was so already', async () => {
    await put('configurations/web.yaml', {
      name: 'web',
      layers: [{ source: 'nope', branch: 'main', playbook: 'a.yml' }],
    });
    await put('options/options.yaml', { batch_size: 7 });
    const { exit, err } = await apply();
    expect(exit).not.toBe(0);
    expect(err).toMatch(/^1 changed, 0 as in the directory, 1 left; the same again makes the rest$/m);
    const again = await apply();
    expect(again.err).not.toContain('left; the same again');
  });

  test('that the server refuses names the file, and what is made already', async () => {
    await put('components/good.yaml', { id: 'good' });
    await put('schedules/bad.yaml', { name: 'bad', cron: 'never', action: { refresh: {} } });
    const { exit, err } = await apply();
    expect([exit, err]).toEqual([2, expect.stringContaining('schedules/bad.yaml: schedule bad: ')]);
    expect(err).toContain('1 created, 0 as in the directory, 1 left; the same again makes the rest\n');
  });

  test('of nothing does nothing', async () => {
    await put('components/empty.yaml');
    expect(await apply()).toMatchObject({ exit: 0, err: '0 changed, 0 as in the directory\n' });
    await rm(dir, { recursive: true });
    await mkdir(dir);
    expect((await apply()).exit).toBe(0);
    expect((await run('apply', '-f', join(home, 'absent'))).exit).toBe(2);
  });

  test('warns of a desired configuration that is not there', async () => {
    await put('components/n1.yaml', { id: 'n1', desired_config: 'nope' });
    expect((await apply()).err).toContain('warning: there is no configuration nope');
  });
});

describe('--prune', () => {
  beforeEach(async () => {
    await fill();
    await must('POST', '/api/v1/schedules', { name: 'night', cron: '0 1 * * *', action: { refresh: {} } });
    await run('export', dir);
  });
  const kinds = async () => {
    const lists = ['components', 'configurations', 'sources'].map(
      async (kind) => (await read(`/v3/${kind}`))[kind].length,
    );
    const own = ['schedules', 'webhooks'].map(async (kind) => (await read(`/api/v1/${kind}`))[kind].length);
    return Promise.all([...lists, ...own]);
  };

  test('deletes what the directory lacks, only of kinds with a folder', async () => {
    await rm(join(dir, 'schedules/night.yaml'));
    await rm(join(dir, 'webhooks'), { recursive: true });
    expect((await apply()).err).toBe('0 changed, 6 as in the directory\n');
    expect((await diff('--prune')).out).toBe('delete schedule night\n');
    expect((await apply('--prune')).out).toBe('deleted schedule night\n');
    expect(await kinds()).toEqual([2, 1, 1, 1, 1]);
  });

  test('deletes components only with a flag of its own', async () => {
    await rm(join(dir, 'components/n2.yaml'));
    const { out, err } = await apply('--prune');
    expect([out, err]).toEqual(['', expect.stringContaining('1 component of the API is not in the directory')]);
    expect((await apply('--prune-components')).exit).toBe(2);
    expect((await apply('--prune', '--prune-components')).out).toBe('deleted component n2\n');
  });

  test('of more than one record needs a yes, and begins with what names the others', async () => {
    for (const kind of KINDS) for (const file of await readdir(join(dir, kind))) await rm(join(dir, kind, file));
    const words = ['--prune', '--prune-components'];
    const asked = await apply(...words);
    expect([asked.exit, asked.err]).toEqual([2, expect.stringContaining('not_confirmed')]);
    expect(asked.err).toContain('Delete 1 webhook, 2 schedules, 2 components, 1 configuration, 1 source, which');
    expect(await kinds()).toEqual([2, 1, 1, 2, 1]);
    expect((await apply(...words, '--yes')).err).toContain('7 deleted, 0 as in the directory\n');
    expect(await kinds()).toEqual([0, 0, 0, 0, 0]);
  });
});
