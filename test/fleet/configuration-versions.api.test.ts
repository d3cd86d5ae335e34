/** What became of one configuration, and what uses it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { runPass } from '../../control/batches/run-pass.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

let api: TokenApi;
beforeAll(async () => {
  api = await createTokenApi();
});
afterAll(() => api.close());

const URL = 'https://git.example.test/one.git';
const [A, B, C] = ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(40)];
const layer = (commit: string, more: object = {}) => ({ clone_url: URL, playbook: 'site.yml', commit, ...more });
const PATH = '/v3/configurations/web';

/** Sends a request that goes well. */
async function send(method: string, path: string, body?: unknown, headers = {}) {
  const answer = await api.as(api.tokens.operator, method, path, body, headers);
  expect([path, answer.status < 300 ? 'well' : answer.body]).toEqual([path, 'well']);
  return answer.body;
}
const read = (path: string) => api.as(api.tokens.reader, 'GET', `/api/v1/configurations/${path}`);
const put = (commit: string, more: object = {}, headers = {}) =>
  send('PUT', PATH, { layers: [layer(commit)], ...more }, headers);
const history = async (query = '') => (await read(`web/history${query}`)).body;

/** What the tests look at of a version. */
interface Shown {
  id: string;
  version: string | null;
  action: string;
  reason: string | null;
  layers: { commit: string }[] | null;
  not_kept: string[];
}
const commitOf = ({ layers }: Shown) => layers?.[0]?.commit;

beforeEach(async () => {
  const { db } = api.database;
  for (const table of ['rollout_members', 'rollouts', 'outbox', 'sessions', 'schedules', 'components'] as const)
    await db.deleteFrom(table).execute();
  await db.deleteFrom('configurations').execute();
  await db.deleteFrom('audit').execute();
});

describe('the history', () => {
  test('has each version with who wrote it, when and why, the newest first', async () => {
    await put(A, { description: 'first' }, { 'muster-reason': encodeURIComponent('größer') });
    await put(B, { description: 'first' });
    await put(B, { muster: { rollout: { canary: 1 } } });
    const { versions, next, reaches_back_to } = await history();
    expect(versions.map((one: Shown) => [one.action, commitOf(one), one.reason])).toEqual([
      ['update', B, null],
      ['update', B, null],
      ['create', A, 'größer'],
    ]);
    expect(versions[0]).toMatchObject({ actor: 'token/ops', muster: { rollout: { canary: 1 } }, not_kept: [] });
    expect(versions[0]).not.toHaveProperty('description');
    expect(versions[1]).toMatchObject({ description: 'first' });
    expect(versions[1]).not.toHaveProperty('muster');
    expect(reaches_back_to).toBe(versions[2].time);
    expect(next).toBeNull();
  });

  test('names a version as its rollout does', async () => {
    await put(A, { muster: { rollout: { canary: 1 } } });
    await send('PUT', '/v3/components/x1', { desired_config: 'web', enabled: true });
    const log = { info: () => undefined, warn: () => undefined };
    await runPass({ db: api.deps.db, clock: api.deps.clock, dispatcher: { kick: () => undefined }, log });
    const { version } = await send('GET', '/api/v1/rollouts/web');
    const { versions } = await history();
    expect(version).toMatch(/^[\w-]{43}$/);
    expect(versions[0].version).toBe(version);
  });

  test('tells of a configuration that was deleted, and of the one that has its name now', async () => {
    await put(A);
    await send('DELETE', PATH);
    const gone = (await history()).versions;
    expect(gone.map((one: Shown) => [one.action, one.layers === null, one.version === null])).toEqual([
      ['delete', true, true],
      ['create', false, false],
    ]);
    await put(B);
    const { versions } = await history();
    expect(versions.map(({ action }: { action: string }) => action)).toEqual(['create', 'delete', 'create']);
    expect(versions[2].layers[0].commit).toBe(A);
  });

  test('comes in pages that do not overlap', async () => {
    for (const commit of [A, B, C, A, B]) await put(commit);
    const all = (await history()).versions;
    const found = [];
    for (let query = '?limit=2'; query !== ''; ) {
      const { versions, next } = await history(query);
      found.push(...versions);
      query = next === null ? '' : `?${new URLSearchParams(next)}`;
      expect(found.length).toBeLessThanOrEqual(all.length);
    }
    expect(found).toEqual(all);
    expect(all).toHaveLength(5);
  });

  test('begins before the oldest change that is kept with what that change replaced', async () => {
    await put(A);
    await put(B);
    await put(C);
    const { db } = api.database;
    await db.deleteFrom('audit').where('action', '=', 'create').execute();
    const { versions } = await history();
    expect(versions.map((one: Shown) => [one.id === 'earliest', commitOf(one)])).toEqual([
      [false, C],
      [false, B],
      [true, A],
    ]);
    expect(versions[2]).toMatchObject({ action: 'unknown', time: null, actor: null });
    await db.deleteFrom('audit').execute();
    const left = await history();
    expect(left).toMatchObject({ reaches_back_to: null, next: null });
    expect(left.versions).toHaveLength(1);
    // The record says itself who wrote it.
    expect(left.versions[0]).toMatchObject({ id: 'earliest', actor: 'token/ops', time: expect.any(String) });
  });

  test('says which members were too large for the audit', async () => {
    const many = Array.from({ length: 400 }, (_, index) => layer(A, { playbook: `${'p'.repeat(200)}-${index}.yml` }));
    await send('PUT', PATH, { description: 'large', layers: many });
    await put(B, { description: 'small' });
    const { versions } = await history();
    expect(versions.map((one: Shown) => [one.not_kept, one.layers === null])).toEqual([
      [[], false],
      [['layers'], true],
    ]);
    const { layers, not_kept, members } = (await read(`web/diff?from=${versions[1].id}`)).body;
    expect([layers, not_kept, members.map(({ member }: { member: string }) => member)]).toEqual([
      [],
      ['layers'],
      ['description'],
    ]);
  });

  test('of a name that nothing was of is 404; a wrong place is refused by name', async () => {
    expect((await read('none/history')).body.code).toBe('configuration_not_found');
    const wrong = await read('web/history?after_id=x');
    expect([wrong.status, wrong.body.code]).toEqual([400, 'bad_request']);
    expect(wrong.body.detail).toContain('after_id');
  });
});

describe('the difference', () => {
  test('is told by layer and member, from any version to any other', async () => {
    await put(A, { description: 'first' });
    await send('PUT', PATH, { layers: [layer(C, { playbook: 'new.yml' }), layer(B)] });
    const [now, before] = (await history()).versions;
    const { layers, members } = (await read(`web/diff?from=${before.id}`)).body;
    expect(layers).toEqual([
      { from: null, to: 0, moved: false, title: `${URL} new.yml`, members: [] },
      { from: 0, to: 1, moved: false, title: `${URL} site.yml`, members: [{ member: 'commit', before: A, after: B }] },
    ]);
    expect(members).toEqual([{ member: 'description', before: 'first', after: null }]);
    const back = (await read(`web/diff?from=current&to=${before.id}`)).body;
    expect(back.layers.map(({ to }: { to: number | null }) => to)).toEqual([0, null]);
    const same = (await read(`web/diff?from=${now.id}&to=current`)).body;
    expect(same.layers.every((one: { members: [] }) => one.members.length === 0)).toBe(true);
  });

  test.each([
    ['from=1-1', 404, 'configuration_version_not_found'],
    ['from=x', 400, 'bad_request'],
    ['', 400, 'bad_request'],
  ])('with %j is %i %s', async (query, status, code) => {
    await put(A);
    const answer = await read(`web/diff?${query}`);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test('of a name that nothing was of is 404', async () => {
    expect((await read('none/diff?from=current')).body.code).toBe('configuration_not_found');
  });
});

describe('the usage', () => {
  test('counts components by status, schedules that name it, and sessions that have not ended', async () => {
    await put(A);
    const state = [{ clone_url: URL, playbook: 'site.yml', commit: A, status: 'applied', session_name: 's' }];
    await send('PUT', '/v3/components', [
      { id: 'x1', desired_config: 'web', enabled: true, state },
      { id: 'x2', desired_config: 'web', enabled: false },
      { id: 'x3', desired_config: 'other' },
    ]);
    const nightly = { cron: '0 3 * * *' };
    const actions = {
      'a-session': { session: { configuration_name: 'web' } },
      'b-refresh': { refresh: { configurations: ['db', 'web'] } },
      'c-check': { check: { filter: { config_name: 'web' } } },
      'd-other': { refresh: {} },
      'e-desire': { reconfigure: { filter: {}, desired_config: 'web' } },
    };
    for (const [name, action] of Object.entries(actions))
      await send('POST', '/api/v1/schedules', { name, ...nightly, action });
    await send('POST', '/v3/sessions', { name: 'one', configuration_name: 'web' });
    expect((await read('web/usage')).body).toEqual({
      exists: true,
      components: { total: 2, disabled: 1, by_status: { configured: 1, pending: 1, failed: 0, unconfigured: 0 } },
      schedules: { count: 4, names: ['a-session', 'b-refresh', 'c-check', 'e-desire'] },
      sessions: { count: 1, names: ['one'] },
    });
  });

  test('of a configuration that is gone has the components that still want it', async () => {
    await send('PUT', '/v3/components', [{ id: 'x1', desired_config: 'lost' }]);
    expect((await read('lost/usage')).body).toMatchObject({ exists: false, components: { total: 1 } });
  });

  test('is in the counts of the fleet, by configuration', async () => {
    await put(A);
    const state = [{ clone_url: URL, playbook: 'site.yml', commit: A, status: 'applied', session_name: 's' }];
    await send('PUT', '/v3/components', [
      { id: 'x1', desired_config: 'web', state },
      { id: 'x2', desired_config: 'web' },
      { id: 'x3' },
    ]);
    const { by_configuration } = await send('GET', '/api/v1/fleet');
    expect(by_configuration).toEqual([
      { configuration: 'web', count: 2, configured: 1 },
      expect.objectContaining({ configuration: '', count: 1 }),
    ]);
  });
});
