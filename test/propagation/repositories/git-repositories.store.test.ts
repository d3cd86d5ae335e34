/** Records of repositories that are read from git: what is asked of them, how syncs end, which of them count. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { deleteSource } from '../../../control/configurations/delete-source.ts';
import {
  createRepository,
  removeDefinition,
  removeRepository,
} from '../../../control/propagation/create-repository.ts';
import { createResource } from '../../../control/propagation/create-resource.ts';
import { putDefinition } from '../../../control/propagation/put-definition.ts';
import { getRepository } from '../../../control/propagation/read-definitions.ts';
import {
  beginSync,
  failSync,
  requestSync,
  sweepSyncs,
  wantedSync,
} from '../../../control/propagation/sync-repository.ts';
import { takeDefinitions } from '../../../control/propagation/take-definitions.ts';
import { findRepositoryOfSource } from '../../../store/propagation/repository-syncs.ts';
import { type GitBench, openGitBench } from './git-bench.ts';

let bench: GitBench;
beforeAll(async () => {
  bench = await openGitBench();
});
afterAll(() => bench.close());
beforeEach(async () => {
  await sql`truncate propagation_repositories, propagation_definitions, propagation_contents, propagation_resources,
    audit cascade`.execute(bench.db);
  bench.told.length = 0;
});

const refusal = (code: string, text = '') => expect.objectContaining({ code, message: expect.stringContaining(text) });
const url = 'https://git.example.com/defs.git';
const add = (name = 'site') => bench.add({ name, url, ref: 'main' });
/** A commit with these versions of one definition; the script tells their content. */
const commitOf = (versions: Record<string, string>) => ({
  folders: Object.keys(versions).map((version) => `web/${version}`),
  read: async (folder: string) => {
    const version = folder.slice(4);
    const script = versions[version] ?? '';
    const files = { 'meta.yaml': `version: ${version}\nhandler: shell\n`, 'actions/run.sh': script };
    return new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
  },
});
async function take(name: string, versions: Record<string, string>, { commit = 'c1', sync = 0 } = {}) {
  const wanted = await bench.idOf(name);
  const repository = { id: wanted.repository, name, path: '' };
  return takeDefinitions(bench.deps, { repository, sync: sync || wanted.sync, commit, found: commitOf(versions) });
}
const fail = async (name: string, sync?: number) => {
  const wanted = await bench.idOf(name);
  await failSync(bench.deps, { ...wanted, sync: sync ?? wanted.sync, code: 'clone_failed', reason: 'no answer' });
};

describe('a repository', () => {
  test('is being read from the moment it is made, and Temporal is told', async () => {
    const { id } = await add();
    expect(bench.told).toEqual([wantedSync(id)]);
    expect(await beginSync(bench.db, id)).toBe(1);
    expect(await getRepository(bench.db, 'site')).toMatchObject({
      ...{ kind: 'git', state: 'syncing', url, ref: 'main', path: '', source: null },
      ...{ commit: null, synced_at: null, code: null, reason: null, definitions: {} },
    });
  });

  test('without a url takes uploads, and is not synced', async () => {
    expect(await bench.add({ name: 'apps' })).toMatchObject({ kind: 'uploaded', state: 'ready' });
    await expect(requestSync(bench.deps, 'apps')).rejects.toEqual(refusal('validation_failed', 'not read from git'));
    await expect(requestSync(bench.deps, 'none')).rejects.toEqual(refusal('repository_not_found'));
    await expect(requestSync(bench.deps, 'muster')).rejects.toEqual(refusal('repository_read_only'));
    expect(await getRepository(bench.db, 'apps')).not.toHaveProperty('commit');
    expect(bench.told).toEqual([]);
  });

  test('takes no uploads', async () => {
    await add();
    const key = { repository: 'site', name: 'web', version: '1.0.0' };
    const put = putDefinition(bench.deps, { ...key, files: { 'meta.yaml': '' }, overwrite: true });
    await expect(put).rejects.toEqual(refusal('repository_read_only', 'read from git'));
  });

  test('has a name of its own', async () => {
    await createRepository(bench.deps, { name: 'site' });
    await expect(add()).rejects.toEqual(refusal('repository_exists'));
    await expect(add('muster')).rejects.toEqual(refusal('repository_exists'));
    await expect(add('a/b')).rejects.toEqual(refusal('validation_failed'));
    expect(bench.told).toEqual([]);
  });

  test('names a source of its own server, which is not deleted meanwhile', async () => {
    const account = { username: 'ada', password: 'word' };
    await bench.source('own', 'https://git.example.com/other.git', account);
    await bench.source('foreign', 'https://git.example.org/defs.git', account);
    await expect(bench.add({ name: 'g', url, source: 'none' })).rejects.toEqual(refusal('source_unknown'));
    await expect(bench.add({ name: 'g', url, source: 'foreign' })).rejects.toEqual(
      refusal('validation_failed', 'another server'),
    );
    await bench.add({ name: 'site', url, source: 'own' });
    const { db, secrets } = bench;
    const deps = { db, secrets, log: bench.deps.log };
    const users = [async (trx: typeof db, source: string) => findRepositoryOfSource(trx, source)];
    await expect(deleteSource(deps, 'own', users)).rejects.toEqual(refusal('source_in_use', 'site'));
    await deleteSource(deps, 'foreign', users);
    await removeRepository(bench.deps, 'site');
    await deleteSource(deps, 'own', users);
  });
});

describe('a sync', () => {
  test('is told again until it has ended, and then no more', async () => {
    const { id } = await add();
    bench.told.length = 0;
    await sweepSyncs(bench.deps);
    expect(bench.told).toEqual([wantedSync(id)]);
    await take('site', { '1.0.0': 'a' });
    bench.told.length = 0;
    await sweepSyncs(bench.deps);
    expect([bench.told, await beginSync(bench.db, id)]).toEqual([[], null]);
    await requestSync(bench.deps, 'site');
    expect([bench.told, await beginSync(bench.db, id)]).toEqual([[wantedSync(id)], 2]);
  });

  test('that is asked for while another goes on is made after it', async () => {
    const { id } = await add();
    await requestSync(bench.deps, 'site');
    await take('site', { '1.0.0': 'a' }, { sync: 1 });
    expect((await getRepository(bench.db, 'site')).state).toBe('syncing');
    expect(await beginSync(bench.db, id)).toBe(2);
    await take('site', { '1.0.0': 'a' }, { commit: 'c2', sync: 2 });
    expect(await getRepository(bench.db, 'site')).toMatchObject({ state: 'synced', commit: 'c2' });
  });

  test('that is late, or comes twice, changes nothing', async () => {
    await add();
    await requestSync(bench.deps, 'site');
    expect(await take('site', { '1.0.0': 'a' }, { sync: 2 })).toEqual(['web:1.0.0']);
    const before = await getRepository(bench.db, 'site');
    expect(await take('site', { '3.0.0': 'a' }, { sync: 1, commit: 'late' })).toBeNull();
    expect(await take('site', { '3.0.0': 'a' }, { sync: 2, commit: 'twice' })).toBeNull();
    await fail('site', 2);
    expect(await getRepository(bench.db, 'site')).toEqual(before);
  });

  test('made by two workers at once is made once', async () => {
    await add();
    const both = await Promise.all([take('site', { '1.0.0': 'a' }), take('site', { '1.0.0': 'a' })]);
    expect(both.filter((stored) => stored !== null)).toEqual([['web:1.0.0']]);
  });

  test('of a repository that is removed, or made again, ends without a word', async () => {
    await add();
    const { repository: id, sync } = await bench.idOf('site');
    await removeRepository(bench.deps, 'site');
    await add();
    const gone = { repository: { id, name: 'site', path: '' }, sync, commit: 'c', found: commitOf({ '1.0.0': 'a' }) };
    expect(await takeDefinitions(bench.deps, gone)).toBeNull();
    await failSync(bench.deps, { repository: id, sync, code: 'x', reason: 'y' });
    expect(await beginSync(bench.db, id)).toBeNull();
    expect(await getRepository(bench.db, 'site')).toMatchObject({ state: 'syncing', code: null, definitions: {} });
  });

  test('that failed keeps what is there, and says why until a sync succeeds', async () => {
    await add();
    await take('site', { '1.0.0': 'a' });
    await requestSync(bench.deps, 'site');
    await fail('site');
    expect(await getRepository(bench.db, 'site')).toMatchObject({
      ...{ state: 'failed', code: 'clone_failed', reason: 'no answer', commit: 'c1' },
      definitions: { web: ['1.0.0'] },
    });
    await requestSync(bench.deps, 'site');
    expect(await getRepository(bench.db, 'site')).toMatchObject({ state: 'syncing', code: 'clone_failed' });
    await take('site', { '1.0.0': 'a' }, { commit: 'c3' });
    expect(await getRepository(bench.db, 'site')).toMatchObject({ state: 'synced', code: null, reason: null });
  });

  test('that failed with words that cannot be stored is recorded', async () => {
    await add();
    const wanted = await bench.idOf('site');
    await failSync(bench.deps, { ...wanted, code: 'validation_failed', reason: `a \0 b ${'x'.repeat(9_000)}` });
    const { state, reason } = await getRepository(bench.db, 'site');
    expect([state, reason?.slice(0, 6), reason?.length]).toEqual(['failed', 'a \ufffd b ', 4_000]);
  });

  test('never changes a stored version, and stores all or none', async () => {
    await add();
    await take('site', { '1.0.0': 'a' });
    await createResource(bench.deps, { name: 'r', from: 'site/web' });
    await requestSync(bench.deps, 'site');
    const other = take('site', { '1.0.0': 'b', '2.0.0': 'c' });
    await expect(other).rejects.toEqual(refusal('definition_exists', 'resource r uses it'));
    expect((await getRepository(bench.db, 'site')).definitions).toEqual({ web: ['1.0.0'] });
    expect(await take('site', { '1.0.0': 'a', '2.0.0': 'c' })).toEqual(['web:2.0.0']);
  });

  test('takes in no more than 256 MiB', async () => {
    await add();
    const [wanted, large] = [await bench.idOf('site'), Buffer.alloc(16_000_000)];
    const found = {
      folders: Array.from({ length: 17 }, (_, index) => `d${index}`),
      read: async () => new Map(Object.entries({ 'meta.yaml': Buffer.from(''), large })),
    };
    const repository = { id: wanted.repository, name: 'site', path: '' };
    const taken = takeDefinitions(bench.deps, { repository, sync: wanted.sync, commit: 'c', found });
    await expect(taken).rejects.toEqual(refusal('value_too_large', '268435456 bytes'));
    expect((await getRepository(bench.db, 'site')).definitions).toEqual({});
  });

  test('brings back a version that was removed', async () => {
    await add();
    await take('site', { '1.0.0': 'a' });
    await removeDefinition(bench.deps, { repository: 'site', name: 'web', version: '1.0.0' });
    await requestSync(bench.deps, 'site');
    expect(await take('site', { '1.0.0': 'b' })).toEqual(['web:1.0.0']);
  });
});

test('the audit has what users asked for, and by whom definitions came', async () => {
  await add();
  await take('site', { '1.0.0': 'a' });
  await requestSync({ ...bench.deps, actor: 'bob' }, 'site');
  await take('site', { '1.0.0': 'a', '1.1.0': 'b' });
  await requestSync({ ...bench.deps, actor: 'bob' }, 'site');
  await fail('site');
  await removeRepository(bench.deps, 'site');
  const { rows } = await sql<Record<string, string>>`select action, kind, name, actor from audit order by id`.execute(
    bench.db,
  );
  expect(rows.slice(0, 5).map(({ action, kind, name, actor }) => [action, kind, name, actor])).toEqual([
    ['create', 'repository', 'site', 'ann'],
    ['create', 'definition', 'site/web/1.0.0', 'ann'],
    ['sync', 'repository', 'site', 'bob'],
    ['create', 'definition', 'site/web/1.1.0', 'bob'],
    ['sync', 'repository', 'site', 'bob'],
  ]);
});
