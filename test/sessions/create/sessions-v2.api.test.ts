import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../../support/stack/test-api.ts';
import { addConfiguration, endSession, sessionId } from '../session-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await addConfiguration(api.deps.db, 'web', 3);
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.database.db.deleteFrom('sessions').execute();
  await api.database.db.deleteFrom('options').execute();
  api.now.value = new Date('2026-11-21T10:00:00Z');
});

const post = (body: object) => api.call('POST', '/v2/sessions', { name: 's1', configurationName: 'web', ...body });
const patch = (session: object) => api.call('PATCH', '/v2/sessions/s1', { status: { session } });
const get = async (path: string) => (await api.call('GET', path)).body;
const names = (list: { name: string }[]) => list.map((one) => one.name);

const RECORD = {
  name: 's1',
  configuration: { name: 'web', limit: '' },
  ansible: { config: 'cfs-default-ansible-cfg', limit: null, verbosity: 0, passthrough: null },
  target: { definition: 'dynamic', groups: null, image_map: null },
  status: {
    artifacts: [],
    session: {
      job: null,
      startTime: '2026-11-21T10:00:00',
      completionTime: null,
      status: 'pending',
      succeeded: 'none',
    },
  },
  tags: {},
};

describe('create', () => {
  test('answers 200 with the record in v2 names; what was left out of Ansible is null', async () => {
    const answer = await post({});
    expect([answer.status, answer.body]).toEqual([200, RECORD]);
    expect(await get('/v2/sessions/s1')).toEqual(RECORD);
    expect(await get('/apis/cfs/v2/sessions/s1')).toEqual(RECORD);
    expect((await get('/v3/sessions/s1')).ansible).toMatchObject({ limit: null, passthrough: null });
    const again = await post({});
    expect([again.status, again.body.title]).toEqual([409, 'Conflicting session name']);
  });

  test('all members', async () => {
    const answer = await post({
      configurationLimit: '0,2',
      ansibleLimit: 'x1,x2',
      ansibleConfig: 'own-cfg',
      ansibleVerbosity: 4,
      ansiblePassthrough: '-e a=b',
      target: {
        definition: 'spec',
        groups: [{ name: 'Compute', members: ['x1'], extra_key: 1 }],
        image_map: [{ source_id: 'a', result_name: 'b' }],
      },
      tags: { some_tag: 'v' },
    });
    expect(answer.body).toEqual({
      ...RECORD,
      configuration: { name: 'web', limit: '0,2' },
      ansible: { config: 'own-cfg', limit: 'x1,x2', verbosity: 4, passthrough: '-e a=b' },
      target: {
        definition: 'spec',
        groups: [{ name: 'Compute', members: ['x1'] }],
        image_map: [{ source_id: 'a', result_name: 'b' }],
      },
      tags: { some_tag: 'v' },
    });
    const { status: _, ...v3 } = await get('/v3/sessions/s1');
    const { status: __, ...shown } = answer.body;
    expect(v3).toMatchObject(shown);
  });

  test.each<[object, string, string]>([
    [{ configuration_name: 'web' }, 'Bad Request', 'configuration_name'],
    [{ configurationName: undefined }, 'Bad Request', "'configurationName' is a required property"],
    [{ configurationName: null }, 'Bad Request', "'configurationName'"],
    [{ configurationName: 'none' }, 'Invalid configuration', 'No configurations exist named none'],
    [{ configurationName: '' }, 'Invalid configuration', 'No configurations exist named'],
    [{ configurationName: 'n'.repeat(5_000) }, 'Invalid configuration', 'nnn'],
    [{ configurationName: 'debug_noop' }, 'Invalid configuration', 'debug_noop'],
    [{ name: 'x'.repeat(46) }, 'Bad Request', "'name'"],
    [{ name: 'A' }, 'Bad Request', "'name'"],
    [{ debugOnFailure: true }, 'Bad Request', 'debugOnFailure'],
    [{ debug_on_failure: true }, 'Bad Request', 'debug_on_failure'],
    [{ muster: {} }, 'Bad Request', 'muster'],
    [{ ansible_limit: 'x' }, 'Bad Request', 'ansible_limit'],
    [{ ansibleLimit: 'a b' }, 'Bad Request', "'ansibleLimit'"],
    [{ ansibleLimit: null }, 'Bad Request', "'ansibleLimit'"],
    [{ ansibleLimit: '@/etc/passwd' }, 'Bad Request', "- 'ansibleLimit'"],
    [{ ansibleVerbosity: 5 }, 'Bad Request', "'ansibleVerbosity'"],
    [{ ansiblePassthrough: '--check' }, 'Bad Request', "- 'ansiblePassthrough'"],
    [{ ansiblePassthrough: '-e "a' }, 'Bad Request', "- 'ansiblePassthrough'"],
    [{ target: { definition: 'spec' } }, 'Bad Request', "- 'target.groups'"],
    [{ target: { imageMap: [] }, tags: { some_tag: 1 } }, 'Bad Request', "'tags.some_tag'"],
    [{ target: { image_map: [{ sourceId: 'a' }] } }, 'Bad Request', "'target.image_map.0'"],
  ])('%j is refused', async (body, title, named) => {
    const answer = await post(body);
    expect([answer.status, answer.body.title]).toEqual([400, title]);
    expect(answer.body.detail).toContain(named);
    expect(await get('/v2/sessions')).toEqual([]);
  });

  test('a session of v3 shows no member that only v3 has', async () => {
    await api.call('POST', '/v3/sessions', { name: 's1', configuration_name: 'debug_noop', debug_on_failure: true });
    expect(await get('/v2/sessions/s1')).toEqual({
      ...RECORD,
      configuration: { name: 'debug_noop', limit: '' },
      ansible: { ...RECORD.ansible, limit: '', passthrough: '' },
    });
  });
});

describe('patch', () => {
  test('names are camelCase, snake_case and unknown ones are ignored', async () => {
    await post({});
    const answer = await patch({
      status: 'running',
      job: 'cfs-1',
      completionTime: '2026-11-21T11:00:00',
      startTime: '2026-11-21T09:00:00',
      completion_time: '2020-01-01T00:00:00',
      start_time: '2020-01-01T00:00:00',
      ims_job: 'x',
      imsJob: 'y',
      message: 'z',
    });
    const session = {
      job: 'cfs-1',
      startTime: '2026-11-21T09:00:00',
      completionTime: '2026-11-21T11:00:00',
      status: 'running',
      succeeded: 'none',
    };
    expect([answer.status, answer.body]).toEqual([200, { ...RECORD, status: { artifacts: [], session } }]);
    const v3 = (await get('/v3/sessions/s1')).status.session;
    expect(v3).toMatchObject({ ims_job: null, completion_time: '2026-11-21T11:00:00', start_time: session.startTime });
    expect(v3.message).not.toBe('z');
  });

  test('only snake_case changes nothing, nor does an empty patch', async () => {
    await post({});
    expect((await patch({ completion_time: '2020-01-01T00:00:00' })).body).toEqual(RECORD);
    expect((await api.call('PATCH', '/v2/sessions/s1', {})).body).toEqual(RECORD);
    expect((await patch({ startTime: '', job: null, status: 'bogus' })).body).toEqual(RECORD);
    const empty = { status: { artifacts: {}, session: null } };
    expect((await api.call('PATCH', '/v2/sessions/s1', empty)).body).toEqual(RECORD);
  });

  test('the job may be replaced in v2, not in v3', async () => {
    await post({});
    await patch({ job: 'one' });
    expect((await patch({ job: 'two' })).body.status.session.job).toBe('two');
    const v3 = await api.call('PATCH', '/v3/sessions/s1', { status: { session: { job: 'two' } } });
    expect([v3.status, v3.body.title]).toEqual([409, 'Session patch conflict.']);
    expect((await patch({ job: 'two' })).status).toBe(200);
  });

  test('artifacts are appended as they come, equal ones once', async () => {
    await post({});
    const artifacts = [{ image_id: 'a', result_id: 'b', type: 'ims_customized_image' }];
    for (let time = 0; time < 2; time++) {
      const answer = await api.call('PATCH', '/v2/sessions/s1', { status: { artifacts } });
      expect(answer.body.status.artifacts).toEqual(artifacts);
    }
  });

  test('status moves forward only', async () => {
    await post({});
    await patch({ status: 'complete', succeeded: 'true' });
    expect((await patch({ status: 'pending', succeeded: 'false' })).body.status.session).toMatchObject({
      status: 'complete',
      succeeded: 'true',
    });
  });

  test.each<[unknown, string]>([
    [{ name: 'x' }, 'Only status can be updated after session creation'],
    [{ status: 'complete' }, "'status'"],
    [{ status: { session: 'x' } }, "'status.session'"],
    [{ status: { session: { startTime: 'yesterday' } } }, "- 'status.session.startTime'"],
    [{ status: { session: { completionTime: 7 } } }, "- 'status.session.completionTime'"],
    [{ status: { artifacts: { a: 1 } } }, "'status.artifacts'"],
    [[], 'not an object'],
    ['{', 'Request body is not valid JSON'],
  ])('%j is 400', async (body, named) => {
    await post({});
    const answer = await api.call('PATCH', '/v2/sessions/s1', body);
    expect([answer.status, answer.body.title]).toEqual([400, 'Bad Request']);
    expect(answer.body.detail).toContain(named);
    expect(await get('/v2/sessions/s1')).toEqual(RECORD);
  });

  test('no content type is demanded', async () => {
    await post({});
    const headers = { 'content-type': 'text/plain' };
    const answer = await api.call('PATCH', '/v2/sessions/s1', '{"status":{"session":{"job":"j"}}}', headers);
    expect(answer.body.status.session.job).toBe('j');
    expect((await api.call('PATCH', '/v2/sessions/none', {})).status).toBe(404);
  });
});

describe('lists and deletion', () => {
  beforeEach(async () => {
    const make = (name: string, body: object, time: string) => {
      api.now.value = new Date(time);
      return post({ name, ...body });
    };
    await make('b-old', {}, '2026-11-19T10:00:00Z');
    await make('a-new', { tags: { k: 'v' } }, '2026-11-21T09:30:00Z');
    await make('c-new', {}, '2026-11-21T09:59:00Z');
    api.now.value = new Date('2026-11-21T10:00:00Z');
    await endSession(api.deps.db, await sessionId(api.deps.db, 'b-old'), 'true');
  });

  test.each([
    ['', ['a-new', 'b-old', 'c-new']],
    ['?status=pending', ['a-new', 'c-new']],
    ['?status=complete', ['b-old']],
    ['?succeeded=true', ['b-old']],
    ['?succeeded=none', ['a-new', 'c-new']],
    ['?name_contains=new', ['a-new', 'c-new']],
    ['?nameContains=new&minAge=1d', ['a-new', 'b-old', 'c-new']],
    ['?tags=k=v', ['a-new']],
    ['?min_age=1D', ['b-old']],
    ['?age=20m', ['a-new', 'b-old']],
    ['?age=1m&min_age=1d', ['b-old']],
    ['?max_age=1h', ['a-new', 'c-new']],
    ['?max_age=1h&min_age=10m', ['a-new']],
    ['?min_age=&max_age=', ['a-new', 'b-old', 'c-new']],
    ['?min_age=999999999d', []],
    ['?limit=1&after_id=b', ['a-new', 'b-old', 'c-new']],
  ])('GET %s', async (query, expected) => {
    const answer = await api.call('GET', `/v2/sessions${query}`);
    expect([answer.status, names(answer.body)]).toEqual([200, expected]);
  });

  test.each([
    'status=',
    'succeeded=',
    'status=Pending',
    'status=pending,complete',
    'succeeded=yes',
    'min_age=1',
    'max_age=1y',
    'age=x',
    'age=12345678901d',
    'tags=a',
  ])('?%s is 400, in a list and in a deletion', async (query) => {
    expect((await api.call('GET', `/v2/sessions?${query}`)).status).toBe(400);
    expect((await api.call('DELETE', `/v2/sessions?${query}`)).status).toBe(400);
    expect(await get('/v2/sessions')).toHaveLength(3);
  });

  test('a list above default_page_size is refused', async () => {
    await api.call('PATCH', '/v3/options', { default_page_size: 2 });
    const answer = await api.call('GET', '/v2/sessions');
    expect([answer.status, answer.body.title]).toEqual([400, 'The response size is too large']);
    expect(await get('/v2/sessions?status=pending')).toHaveLength(2);
  });

  test.each([
    ['', ['a-new', 'c-new']],
    ['?status=pending', ['b-old']],
    ['?age=1m', ['a-new', 'c-new']],
    ['?name_contains=new', ['a-new', 'b-old', 'c-new']],
    ['?status=pending&tags=k=v', ['b-old', 'c-new']],
    ['?status=pending&age=20m', ['b-old', 'c-new']],
  ])('DELETE %s leaves %j and answers 204', async (query, left) => {
    const answer = await api.call('DELETE', `/v2/sessions${query}`);
    expect([answer.status, answer.body]).toEqual([204, '']);
    expect(names(await get('/v2/sessions'))).toEqual(left);
    expect((await api.call('DELETE', `/v2/sessions${query}`)).status).toBe(204);
  });

  test('DELETE of one is 204, then 404', async () => {
    expect((await api.call('DELETE', '/v2/sessions/a-new')).status).toBe(204);
    const answer = await api.call('DELETE', '/v2/sessions/a-new');
    expect([answer.status, answer.body.title]).toEqual([404, 'Session not found.']);
  });
});

test('a list of several batches is sent while it is read', async () => {
  const all = Array.from({ length: 1_200 }, (_, index) => `n${String(index).padStart(4, '0')}`);
  for (const name of all) await post({ name });
  await api.call('PATCH', '/v3/options', { default_page_size: 1_200 });
  expect(names(await get('/v2/sessions'))).toEqual(all);
  await api.call('PATCH', '/v3/options', { default_page_size: 1_199 });
  expect((await get('/v2/sessions')).title).toBe('The response size is too large');
});
