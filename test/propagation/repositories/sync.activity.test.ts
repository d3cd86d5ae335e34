/** Syncs of repositories with real git: branches that move, versions that never change, what is refused, private sources. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { createResource } from '../../../control/propagation/create-resource.ts';
import { getDefinition } from '../../../control/propagation/read-definitions.ts';
import { findContents } from '../../../store/propagation/definitions.ts';
import { findProgram } from '../../support/find-program.ts';
import { type GitHttpServer, makeCertificates, startGitHttpServer } from '../../support/git/git-http-server.ts';
import type { TestRepository } from '../../support/git/git-repository.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { definitionAt, type GitBench, openGitBench } from './git-bench.ts';

let bench: GitBench;
let origin: TestRepository;
let count = 0;
beforeAll(async () => {
  bench = await openGitBench();
});
afterAll(() => bench.close());
beforeEach(async () => {
  await sql`truncate propagation_repositories, propagation_definitions, propagation_contents, propagation_resources
    cascade`.execute(bench.db);
  origin = await bench.origin(`defs-${count++}`);
});

const counted = async (table: 'propagation_definitions' | 'propagation_contents') =>
  (await bench.db.selectFrom(table).selectAll().execute()).length;

describe('a branch', () => {
  test('is taken in whole, and its versions stay when it moves', async () => {
    const first = await origin.commit({ ...definitionAt('web'), ...definitionAt('group/db/2.0.0', '2.0.0') });
    await bench.add({ name: 'site', url: origin.url, ref: 'main' });
    expect(await bench.sync('site')).toMatchObject({
      ...{ kind: 'git', state: 'synced', commit: first, code: null, reason: null, ref: 'main', path: '' },
      definitions: { db: ['2.0.0'], web: ['1.0.0'] },
    });
    const key = { repository: 'site', name: 'web', version: '1.0.0' };
    const before = await getDefinition(bench.db, key);
    await createResource(bench.deps, { name: 'a', from: 'site/web' });

    const second = await origin.commit(definitionAt('web', '1.1.0', 'exit 1\n'));
    expect(await bench.again('site')).toMatchObject({ commit: second, definitions: { web: ['1.0.0', '1.1.0'] } });
    expect(await getDefinition(bench.db, key)).toEqual(before);
    const { files } = await bench.db
      .selectFrom('propagation_definitions')
      .selectAll()
      .where('version', '=', '1.0.0')
      .executeTakeFirstOrThrow();
    const contents = await findContents(bench.db, Object.values(files));
    expect([...contents.values()].map(String)).toContain('exit 0\n');
    expect(await bench.left()).toEqual([]);
  });

  test('that has not moved changes nothing', async () => {
    await origin.commit(definitionAt('web'));
    await bench.add({ name: 'site', url: origin.url });
    const once = await bench.sync('site');
    const stored = [await counted('propagation_definitions'), await counted('propagation_contents')];
    expect(await bench.again('site')).toMatchObject({ commit: once.commit, definitions: once.definitions });
    expect([await counted('propagation_definitions'), await counted('propagation_contents')]).toEqual(stored);
  });

  test.each(['v1', 'tags', 'commit'])('may be a %s too', async (what) => {
    const first = await origin.commit(definitionAt('web'));
    await origin.git('tag', '--annotate', '--message', 'one', 'v1');
    await origin.git('tag', 'tags');
    await origin.commit(definitionAt('web', '2.0.0'));
    await bench.add({ name: 'site', url: origin.url, ref: what === 'commit' ? first.slice(0, 12) : what });
    expect(await bench.sync('site')).toMatchObject({ commit: first, definitions: { web: ['1.0.0'] } });
  });

  test('is read below a folder alone, and a definition there has its name or that of the repository', async () => {
    await origin.commit({ ...definitionAt('defs/web'), ...definitionAt('other/db'), 'defs/README': 'x' });
    await bench.add({ name: 'site', url: origin.url, path: 'defs/' });
    expect((await bench.sync('site')).definitions).toEqual({ web: ['1.0.0'] });
    await bench.add({ name: 'single', url: origin.url, path: 'other/db' });
    expect((await bench.sync('single')).definitions).toEqual({ db: ['1.0.0'] });
    const alone = await bench.origin(`alone-${count++}`);
    await alone.commit({ 'meta.yaml': 'version: 3.0.0\n' });
    await bench.add({ name: 'whole', url: alone.url });
    expect((await bench.sync('whole')).definitions).toEqual({ whole: ['3.0.0'] });
  });

  test('a definition that it has no more stays', async () => {
    await origin.commit({ ...definitionAt('web'), ...definitionAt('db') });
    await bench.add({ name: 'site', url: origin.url });
    await bench.sync('site');
    await origin.git('rm', '-r', '--quiet', 'db');
    await origin.commit({});
    expect((await bench.again('site')).definitions).toEqual({ db: ['1.0.0'], web: ['1.0.0'] });
  });
});

describe('a commit is refused whole', () => {
  const made = async (files: Record<string, string>, links: Record<string, string> = {}) => {
    await origin.commit({ ...definitionAt('good'), ...files }, links);
    await bench.add({ name: 'site', url: origin.url });
    return bench.sync('site');
  };

  test('where a stored version has other content; the last commit stays', async () => {
    const first = await made({});
    const { commit } = first;
    await origin.commit({ ...definitionAt('good', '1.0.0', 'exit 7\n'), ...definitionAt('new') });
    const failed = await bench.again('site');
    expect(failed).toMatchObject({
      state: 'failed',
      code: 'definition_exists',
      commit,
      definitions: first.definitions,
    });
    expect(failed.reason).toMatch(
      /^commit [0-9a-f]{12}: good: site\/good:1\.0\.0 is stored with other content: give it another version$/,
    );
    const third = await origin.commit(definitionAt('good', '1.0.1', 'exit 7\n'));
    expect(await bench.again('site')).toMatchObject({ state: 'synced', commit: third, code: null, reason: null });
  });

  const bomb = [
    'version: 1.0.0',
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...['b', 'c', 'd', 'e', 'f', 'g'].map((name, index) => {
      const before = 'abcdefg'[index];
      return `${name}: &${name} [${Array(9).fill(`*${before}`).join(',')}]`;
    }),
  ].join('\n');

  test.each<[string, Record<string, string>, Record<string, string>, string, RegExp]>([
    ['a mistake in a definition', { 'bad/meta.yaml': 'handler: none\ninput: 3\n' }, {}, 'validation_failed', /bad: /],
    ['a part that is not built', { 'bad/meta.yaml': 'handler: puppet\n' }, {}, 'not_supported', /puppet/],
    ['aliases that grow', { 'bad/meta.yaml': bomb }, {}, 'validation_failed', /aliases/],
    ['text that is no YAML', { 'bad/meta.yaml': 'a: [' }, {}, 'validation_failed', /no YAML/],
    [
      'a file that is not there',
      { 'bad/meta.yaml': 'handler: shell\nactions: {run: x}\n' },
      {},
      'validation_failed',
      /x/,
    ],
    ['a file outside', { 'bad/meta.yaml': 'handler: shell\nactions: {run: ../../x}\n' }, {}, 'validation_failed', /x/],
    ['a link out of the repository', {}, { 'good/actions/passwd': '/etc/passwd' }, 'validation_failed', /passwd/],
    ['a link by ..', {}, { 'good/actions/up': '../../../../etc/passwd' }, 'validation_failed', /up is no file/],
    [
      'a link out of the definition',
      { 'shared/x': '1' },
      { 'good/x': '../shared/x' },
      'validation_failed',
      /good: x is no/,
    ],
    ['a link to a folder', { 'shared/x': '1' }, { 'good/dir': 'actions' }, 'validation_failed', /dir is no file/],
    ['a link to nothing', {}, { 'good/none': 'nothing' }, 'validation_failed', /none is no file/],
    ['a meta.yaml that leads out', {}, { 'bad/meta.yaml': '/etc/hostname' }, 'validation_failed', /meta\.yaml/],
    ['a name that is none', definitionAt('-bad'), {}, 'invalid_spec', /-bad/],
    ['a version twice', definitionAt('group/good'), {}, 'validation_failed', /is in the folder good as well/],
    [
      'content that is too large',
      { 'bad/meta.yaml': '', 'bad/x': 'x'.repeat(17 * 2 ** 20) },
      {},
      'value_too_large',
      /bytes/,
    ],
  ])('for %s', async (_what, files, links, code, reason) => {
    const failed = await made(files, links);
    expect(failed).toMatchObject({ state: 'failed', code, reason: expect.stringMatching(reason), definitions: {} });
    expect([await counted('propagation_definitions'), await counted('propagation_contents')]).toEqual([0, 0]);
    expect(await bench.left()).toEqual([]);
  });

  test('for too many files', async () => {
    const many = Array.from({ length: 2_001 }, (_, index) => [`good/files/${index}`, ''] as const);
    expect(await made(Object.fromEntries(many))).toMatchObject({ state: 'failed', code: 'value_too_large' });
  });

  test('for too many definitions', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => [`many/d${index}/meta.yaml`, ''] as const);
    const failed = await made(Object.fromEntries(many));
    expect(failed).toMatchObject({ state: 'failed', code: 'value_too_large', definitions: {} });
    expect(failed.reason).toMatch(/more than 1000 definitions/);
  });

  test('with all mistakes in one reason', async () => {
    const { reason } = await made({ 'b/meta.yaml': 'handler: no', 'a/meta.yaml': 'input: 3' });
    expect(reason).toMatch(/: a: meta\.yaml .*; b: meta\.yaml /s);
  });

  test('without a single definition, and without the folder', async () => {
    await origin.commit({ README: 'x' });
    await bench.add({ name: 'site', url: origin.url });
    expect(await bench.sync('site')).toMatchObject({ state: 'failed', code: 'definition_not_found' });
    await bench.add({ name: 'other', url: origin.url, path: 'none' });
    expect(await bench.sync('other')).toMatchObject({ state: 'failed', code: 'validation_failed' });
  });
});

test('links to files of the definition count as these files', async () => {
  await origin.commit(definitionAt('web'), { 'web/actions/update.sh': 'run.sh' });
  await bench.add({ name: 'site', url: origin.url });
  expect(await bench.sync('site')).toMatchObject({ state: 'synced' });
  const { files, actions } = await getDefinition(bench.db, { repository: 'site', name: 'web', version: '1.0.0' });
  expect([files, Object.keys(actions)]).toEqual([
    ['actions/run.sh', 'actions/update.sh', 'meta.yaml'],
    ['run', 'update'],
  ]);
});

test('what git refuses is the end of the sync', async () => {
  await bench.add({ name: 'gone', url: `file://${bench.root}/nothing` });
  expect(await bench.sync('gone')).toMatchObject({ state: 'failed', code: 'repository_not_found', commit: null });
  await origin.commit(definitionAt('web'));
  await bench.add({ name: 'site', url: origin.url, ref: 'no-such-branch' });
  expect(await bench.sync('site')).toMatchObject({ state: 'failed', code: 'branch_not_found' });
});

test('a sync that is broken off leaves nothing, and is made again', async () => {
  await origin.commit(definitionAt('web'));
  await bench.add({ name: 'site', url: origin.url });
  const stop = AbortSignal.abort(new Error('broken off'));
  await expect(bench.sync('site', stop)).rejects.toThrow('broken off');
  expect([await counted('propagation_definitions'), await bench.left()]).toEqual([0, []]);
  expect(await bench.sync('site')).toMatchObject({ state: 'synced' });
});

describeNeeding(findProgram('openssl') ? null : 'openssl is not installed', 'a private source', () => {
  const account = { username: 'ada', password: "hunter'2 $(touch x)" };
  let server: GitHttpServer;
  let ca: string;
  const url = () => `${server.origin}/private/.git`;
  beforeAll(async () => {
    const certificates = makeCertificates(join(bench.root, 'certificates'));
    ca = await readFile(certificates.caFile, 'utf8');
    server = await startGitHttpServer({ root: join(bench.root, 'served'), account, tls: certificates.tls });
    await bench.configMaps.put('services', 'git-ca', 'ca.pem', ca);
    await (await bench.origin('private')).commit(definitionAt('web'));
  });
  afterAll(() => server?.stop());

  const repositoryWith = async (credentials: typeof account, configMap?: string) => {
    const source = `source-${count++}`;
    await bench.source(source, url(), credentials, configMap);
    await bench.add({ name: 'site', url: url(), source });
    return bench.sync('site');
  };

  test('is read with its credentials and its own CA, and its password is kept nowhere', async () => {
    expect(await repositoryWith(account, 'git-ca')).toMatchObject({
      ...{ state: 'synced', url: url(), definitions: { web: ['1.0.0'] } },
    });
    const rows = await bench.db.selectFrom('propagation_repositories').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain('hunter');
    const { rows: audit } = await sql`select * from audit`.execute(bench.db);
    expect(JSON.stringify(audit)).not.toContain('hunter');
  });

  test.each([
    ['a wrong password', { ...account, password: 'not-the-word' }, 'git-ca', 'repository_auth_failed'],
    ['no CA', account, undefined, 'repository_untrusted'],
  ] as const)('with %s is refused, and says no secret', async (_what, credentials, configMap, code) => {
    const failed = await repositoryWith(credentials, configMap);
    expect(failed).toMatchObject({ state: 'failed', code });
    expect(failed.reason).not.toMatch(/hunter|not-the-word/);
  });

  test('that is not named is not used: the common credentials stay where no host is named', async () => {
    await bench.secrets.put('vcs-user-credentials', 'vcs_username', account.username);
    await bench.secrets.put('vcs-user-credentials', 'vcs_password', account.password);
    const plain = await startGitHttpServer({ root: join(bench.root, 'served'), account });
    await bench.add({ name: 'site', url: `${plain.origin}/private/.git` });
    expect(await bench.sync('site')).toMatchObject({ state: 'failed', code: 'credentials_withheld' });
    await plain.stop();
  });
});
