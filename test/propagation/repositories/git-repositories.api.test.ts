/** Repositories that are read from git over REST: what is asked, what is shown, what is refused. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { failSync } from '../../../control/propagation/sync-repository.ts';
import { takeDefinitions } from '../../../control/propagation/take-definitions.ts';
import { createTestApi, type TestApi } from '../../support/stack/test-api.ts';
import { MODEL_TABLES, type ModelApi, modelApi, PART_FILES, said } from '../routes/model-api.ts';

let api: TestApi;
let model: ModelApi;
const told: string[] = [];
beforeAll(async () => {
  api = await createTestApi({
    tell: async (wanted) => void told.push(...wanted.map(({ workflowId }) => workflowId)),
    repositorySchemes: ['https', 'ssh'],
  });
  model = modelApi(api.call);
});
afterAll(() => api.close());
beforeEach(async () => {
  await sql.raw(`truncate ${MODEL_TABLES.join(', ')}, sources cascade`).execute(api.database.db);
  told.length = 0;
});

const url = 'https://git.test/defs.git';
const rowOf = async (name: string) =>
  api.deps.db.selectFrom('propagation_repositories').selectAll().where('name', '=', name).executeTakeFirstOrThrow();

test('is being read at once, shows how that ended, and is read again', async () => {
  const made = await model.call('POST', '/repositories', { name: 'site', url, ref: 'main', path: 'defs/' });
  const shown = { name: 'site', kind: 'git', url, ref: 'main', path: 'defs', source: null };
  expect([made.status, made.body]).toEqual([
    201,
    expect.objectContaining({ ...shown, state: 'syncing', commit: null, synced_at: null, code: null, reason: null }),
  ]);
  const { id } = await rowOf('site');
  expect(told).toEqual([`sync-repository/${id}`]);

  const files = new Map(Object.entries(PART_FILES).map(([path, text]) => [path, Buffer.from(text)]));
  const found = { folders: ['part'], read: async () => files };
  const repository = { id, name: 'site', path: 'defs' };
  await takeDefinitions(api.deps, { repository, sync: 1, commit: 'c1', found });
  expect(await model.made('GET', '/repositories/site')).toMatchObject({
    ...shown,
    ...{ state: 'synced', commit: 'c1', synced_at: '2026-11-21T10:00:00.000Z', definitions: { part: ['1.0.0'] } },
  });
  await model.made('POST', '/resources', { name: 'a', from: 'site/part' });

  const again = await model.call('POST', '/repositories/site/sync');
  expect([again.status, again.body.state, told.length]).toEqual([202, 'syncing', 2]);
  await failSync(api.deps, { repository: id, sync: 2, code: 'branch_not_found', reason: 'no branch main' });
  const { repositories } = await model.made('GET', '/repositories');
  expect(repositories).toContainEqual(
    expect.objectContaining({ state: 'failed', commit: 'c1', code: 'branch_not_found', reason: 'no branch main' }),
  );
  expect(said(await model.call('DELETE', '/repositories/site'))).toEqual([409, 'repository_in_use']);
});

describe('is refused', () => {
  test.each([
    [{ name: 'g', ref: 'main' }, [422, 'validation_failed']],
    [{ name: 'g', source: 's' }, [422, 'validation_failed']],
    [{ name: 'g', url: 'ext::sh -c id' }, [400, 'repository_url_refused']],
    [{ name: 'g', url: 'file:///etc' }, [400, 'repository_url_refused']],
    [{ name: 'g', url: 'https://ada:hunter2@git.test/x' }, [400, 'password_in_address']],
    [{ name: 'g', url, ref: '--all' }, [422, 'validation_failed']],
    [{ name: 'g', url, path: '../x' }, [422, 'validation_failed']],
    [{ name: 'g', url, source: 'none' }, [400, 'source_unknown']],
    [{ name: 'a/b', url }, [422, 'validation_failed']],
    [{ name: 'muster', url }, [409, 'repository_exists']],
    [{ name: 'g', url: '' }, [400, 'bad_request']],
    [{ name: 'g', url, branch: 'main' }, [400, 'bad_request']],
  ] as const)('%j', async (body, expected) => {
    const answer = await model.call('POST', '/repositories', body);
    expect(said(answer)).toEqual(expected);
    expect(JSON.stringify(answer.body)).not.toContain('hunter2');
    expect([told, (await model.made('GET', '/repositories')).repositories.length]).toEqual([[], 1]);
  });

  test('a sync of what is not read from git', async () => {
    await model.definition();
    expect(said(await model.call('POST', '/repositories/apps/sync'))).toEqual([422, 'validation_failed']);
    expect(said(await model.call('POST', '/repositories/muster/sync'))).toEqual([409, 'repository_read_only']);
    expect(said(await model.call('POST', '/repositories/none/sync'))).toEqual([404, 'repository_not_found']);
  });

  test('an upload into it', async () => {
    await model.made('POST', '/repositories', { name: 'site', url });
    const put = await model.call('PUT', '/repositories/site/definitions/part/1.0.0', { files: PART_FILES });
    expect(said(put)).toEqual([409, 'repository_read_only']);
  });
});

test('its source is in use, and is free when the repository is removed', async () => {
  const credentials = { username: 'ada', password: 'word' };
  const made = await api.call('POST', '/v3/sources', { name: 'git', clone_url: 'https://git.test/a.git', credentials });
  expect(made.status).toBe(201);
  await model.made('POST', '/repositories', { name: 'site', url, source: 'git' });
  const refused = await api.call('DELETE', '/v3/sources/git');
  expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining('site')]);
  await model.call('DELETE', '/repositories/site');
  expect((await api.call('DELETE', '/v3/sources/git')).status).toBe(204);
});
