/** Definitions on a real Postgres: what is stored, what never changes, what resources keep of it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import {
  createRepository,
  removeDefinition,
  removeRepository,
} from '../../../control/propagation/create-repository.ts';
import { createResource } from '../../../control/propagation/create-resource.ts';
import { type PutDefinition, putDefinition } from '../../../control/propagation/put-definition.ts';
import { getDefinition, getRepository, pageOfRepositories } from '../../../control/propagation/read-definitions.ts';
import { findContents } from '../../../store/propagation/definitions.ts';
import { type ModelBench, openModel } from './model-bench.ts';

let model: ModelBench;
beforeAll(async () => {
  model = await openModel();
});
afterAll(() => model.close());
beforeEach(() =>
  sql`truncate propagation_repositories, propagation_definitions, propagation_contents, propagation_resources cascade`.execute(
    model.db,
  ),
);

const refusal = (code: string, text = '') => expect.objectContaining({ code, message: expect.stringContaining(text) });
const FILES = { 'meta.yaml': 'version: 1.2.3\nhandler: shell\n', 'actions/run.sh': 'exit 0\n' };
const KEY = { repository: 'apps', name: 'web', version: '1.2.3' };
const put = (files: PutDefinition['files'] = FILES, more: Partial<PutDefinition> = {}) =>
  putDefinition(model.deps, { ...KEY, files, overwrite: false, ...more });
const repository = (name = 'apps') => createRepository(model.deps, { name });

describe('a definition', () => {
  test('is stored once, by its content', async () => {
    await repository();
    const first = await put();
    expect(first).toMatchObject({ stored: true, definition: { handler: 'shell' } });
    const inBase64 = { base64: Buffer.from('exit 0\n').toString('base64') };
    expect(await put({ ...FILES, 'actions/run.sh': inBase64 })).toMatchObject({ stored: false, hash: first.hash });
    expect(await getDefinition(model.db, KEY)).toMatchObject({
      hash: first.hash,
      files: ['actions/run.sh', 'meta.yaml'],
    });
    const row = await model.db.selectFrom('propagation_definitions').select('files').executeTakeFirstOrThrow();
    const contents = await findContents(model.db, Object.values(row.files));
    expect([...contents.values()].map(String).sort()).toEqual(Object.values(FILES).sort());
  });

  test('with other content is refused, and takes its place with overwrite while no resource uses it', async () => {
    await repository();
    await put();
    const other = { ...FILES, 'actions/run.sh': 'exit 1\n' };
    await expect(put(other)).rejects.toEqual(refusal('definition_exists'));
    expect(await put(other, { overwrite: true })).toMatchObject({ stored: true });
    await createResource(model.deps, { name: 'a', from: 'apps/web' });
    await expect(put(FILES, { overwrite: true })).rejects.toEqual(refusal('definition_exists', 'resource a uses it'));
    expect(await put(other)).toMatchObject({ stored: false });
  });

  test('put by many at once is stored once, and one content wins', async () => {
    await repository();
    const contents = ['a', 'b', 'a', 'b', 'a', 'b'].map((text) => put({ ...FILES, x: text }));
    const results = await Promise.allSettled(contents);
    const stored = results.filter((one) => one.status === 'fulfilled');
    expect(stored.filter(({ value }) => value.stored)).toHaveLength(1);
    expect(new Set(stored.map(({ value }) => value.hash)).size).toBe(1);
    for (const one of results) if (one.status === 'rejected') expect(one.reason).toEqual(refusal('definition_exists'));
  });

  test.each<[string, string, Partial<PutDefinition>]>([
    ['into a repository that is not there', 'repository_not_found', { repository: 'none' }],
    ['into the repository that comes with Muster', 'repository_read_only', { repository: 'muster' }],
    ['under another version', 'validation_failed', { version: '9.9.9' }],
    ['under a name that is none', 'invalid_spec', { name: 'a/b' }],
    ['with a path that leads out', 'validation_failed', { files: { ...FILES, '../x': '' } }],
    ['without meta.yaml', 'validation_failed', { files: { 'actions/run.sh': '' } }],
    ['with text that is no YAML', 'validation_failed', { files: { 'meta.yaml': 'a: [' } }],
    ['with a key twice', 'validation_failed', { files: { 'meta.yaml': 'version: 1.2.3\nversion: 1.2.3' } }],
    ['with a file that is not in base64', 'validation_failed', { files: { ...FILES, x: { base64: 'ä' } } }],
  ])('%s is %s, and nothing is stored', async (_what, code, more) => {
    await repository();
    await expect(put(FILES, more)).rejects.toEqual(refusal(code));
    expect(await model.db.selectFrom('propagation_definitions').select('name').execute()).toEqual([]);
  });

  test('of aliases in aliases is refused before it grows', async () => {
    await repository();
    const levels = Array.from({ length: 30 }, (_, level) => `a${level + 1}: &a${level + 1} [*a${level}, *a${level}]`);
    const bomb = ['version: 1.2.3', 'a0: &a0 [x]', ...levels].join('\n');
    await expect(put({ 'meta.yaml': bomb })).rejects.toEqual(refusal('validation_failed', 'aliases'));
  });

  test('that is deep or long is refused', async () => {
    await repository();
    for (const depth of [200, 200_000]) {
      const deep = `a: ${'['.repeat(depth)}${']'.repeat(depth)}`;
      await expect(put({ 'meta.yaml': deep })).rejects.toEqual(refusal('validation_failed', 'deep'));
    }
    await expect(put({ 'meta.yaml': `# ${'x'.repeat(1_048_576)}` })).rejects.toEqual(refusal('value_too_large'));
    for (const text of ['"\\0"', '"\\ud800"']) {
      await expect(put({ 'meta.yaml': `id: ${text}` })).rejects.toEqual(refusal('validation_failed'));
    }
  });

  test('has a version that is text, whatever YAML takes it for', async () => {
    await repository();
    await expect(put({ 'meta.yaml': 'version: 1.0' })).rejects.toEqual(refusal('validation_failed', 'version'));
  });

  test('leaves a resource as it was made', async () => {
    await repository();
    await put();
    await createResource(model.deps, { name: 'a', from: 'apps/web:>=1.0.0' });
    await put({ 'meta.yaml': 'version: 2.0.0\nhandler: none' }, { version: '2.0.0' });
    await createResource(model.deps, { name: 'b', from: 'apps/web' });
    const rows = await model.db
      .selectFrom('propagation_resources')
      .select(['name', 'version', 'handler'])
      .orderBy('name')
      .execute();
    expect(rows).toEqual([
      { name: 'a', version: '1.2.3', handler: 'shell' },
      { name: 'b', version: '2.0.0', handler: 'none' },
    ]);
  });
});

describe('a repository', () => {
  test('shows its definitions, and the one that comes with Muster is there without a step', async () => {
    await repository();
    await put();
    await put({ 'meta.yaml': 'version: 1.10.0' }, { version: '1.10.0' });
    await put({ 'meta.yaml': 'version: 1.9.0' }, { version: '1.9.0' });
    expect(await getRepository(model.db, 'apps')).toMatchObject({ definitions: { web: ['1.2.3', '1.9.0', '1.10.0'] } });
    expect(await getRepository(model.db, 'muster')).toMatchObject({
      kind: 'shipped',
      definitions: { node: ['1.0.0'] },
    });
    expect(await getDefinition(model.db, { repository: 'muster', name: 'none', version: '1.0.0' })).toMatchObject({
      handler: 'none',
    });
    await repository('zoo');
    const page = await pageOfRepositories(model.db, '', 2);
    expect([page.records.map(({ name }) => name), page.more]).toEqual([['apps', 'muster'], true]);
    expect((await pageOfRepositories(model.db, 'muster', 2)).records.map(({ name }) => name)).toEqual(['zoo']);
  });

  test('goes with its definitions, unless a resource uses them', async () => {
    await repository();
    await put();
    await createResource(model.deps, { name: 'a', from: 'apps/web' });
    await expect(removeRepository(model.deps, 'apps')).rejects.toEqual(refusal('repository_in_use', 'resource a'));
    await expect(removeDefinition(model.deps, KEY)).rejects.toEqual(refusal('repository_in_use', 'resource a'));
    await sql`truncate propagation_resources cascade`.execute(model.db);
    await removeDefinition(model.deps, KEY);
    await expect(removeDefinition(model.deps, KEY)).rejects.toEqual(refusal('definition_not_found'));
    await removeRepository(model.deps, 'apps');
    await expect(removeRepository(model.deps, 'apps')).rejects.toEqual(refusal('repository_not_found'));
    await expect(removeRepository(model.deps, 'muster')).rejects.toEqual(refusal('repository_read_only'));
  });

  test('has one name', async () => {
    await repository();
    await expect(repository()).rejects.toEqual(refusal('repository_exists'));
    await expect(repository('muster')).rejects.toEqual(refusal('repository_exists'));
    await expect(repository('a/b')).rejects.toEqual(refusal('validation_failed'));
  });
});

describe('a spec', () => {
  test('without a repository is looked up in resources, then among what comes with Muster', async () => {
    await createResource(model.deps, { name: 'shipped', from: 'node', inputs: { ip: '10.0.0.1' } });
    await repository('resources');
    await put({ 'meta.yaml': 'version: 3.0.0' }, { repository: 'resources', name: 'node', version: '3.0.0' });
    await createResource(model.deps, { name: 'own', from: 'node' });
    await createResource(model.deps, { name: 'named', from: 'muster/node' });
    const rows = await model.db
      .selectFrom('propagation_resources')
      .select(['name', 'repository'])
      .orderBy('name')
      .execute();
    expect(rows.map(({ repository }) => repository)).toEqual(['muster', 'resources', 'muster']);
  });

  test.each([
    ['none/web', 'repository_not_found'],
    ['web', 'definition_not_found'],
    ['muster/node:>1.0.0', 'definition_not_found'],
    ['./web', 'invalid_spec'],
  ])('%s is %s', async (from, code) => {
    await expect(createResource(model.deps, { name: 'a', from })).rejects.toEqual(refusal(code));
  });
});
