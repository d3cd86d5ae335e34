import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkDrift } from '../../control/schedules/check-drift.ts';
import { CHECK_SIZE } from '../../domain/schedules/plan-checks.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
let kicks = 0;
const COMMIT = 'a'.repeat(40);

beforeAll(async () => {
  api = await createTestApi({ dispatcher: { kick: () => void kicks++ } });
  for (const name of ['web', 'db', 'other']) {
    const layers = [{ clone_url: 'https://git.test/plays.git', playbook: 'site.yml', commit: COMMIT }];
    expect((await api.call('PUT', `/v3/configurations/${name}`, { layers })).status).toBe(200);
  }
});
afterAll(() => api.close());

let count = 0;
async function session(muster: unknown): Promise<{ status: number; body: Record<string, unknown>; name: string }> {
  const name = `s-${++count}`;
  const answer = await api.call('POST', '/v3/sessions', { name, configuration_name: 'web', muster });
  return { ...answer, name };
}

describe('a session that checks', () => {
  test('is shown with what was set, in version 3 alone', async () => {
    const { status, body, name } = await session({ check: true });
    expect([status, body.muster]).toEqual([201, { check: true }]);
    expect((await api.call('GET', `/v3/sessions/${name}`)).body.muster).toEqual({ check: true });
    expect((await api.call('GET', `/api/v1/sessions/${name}`)).body.muster).toEqual({ check: true });
    expect((await api.call('GET', `/v3/sessions?name_contains=${name}`)).body.sessions[0].muster).toEqual({
      check: true,
    });
    expect((await api.call('GET', `/v2/sessions/${name}`)).body).not.toHaveProperty('muster');
    const both = await session({ check: true, reconfigure: true });
    expect(both.body.muster).toEqual({ check: true, reconfigure: true });
  });

  test.each([[{}], [{ check: false }], [{ check: false, reconfigure: false }], [undefined]])(
    'not with %j, which sets nothing',
    async (muster) => {
      const { status, body, name } = await session(muster);
      expect(status).toBe(201);
      expect(body).not.toHaveProperty('muster');
      expect((await api.call('GET', `/v3/sessions/${name}`)).body).not.toHaveProperty('muster');
    },
  );

  test.each([
    [{ check: 'yes' }, 'muster.check'],
    [{ check: true, mode: 'x' }, 'mode'],
    [{ reconfigure: true }, 'muster'],
    [{ check: false, reconfigure: true }, 'muster'],
    [[], 'muster'],
    [null, 'muster'],
    ['check', 'muster'],
  ])('not with %j, and nothing is made', async (muster, field) => {
    const { status, body, name } = await session(muster);
    expect([status, body.code]).toEqual([400, 'bad_request']);
    expect(body.detail).toContain(field);
    expect((await api.call('GET', `/v3/sessions/${name}`)).status).toBe(404);
  });

  test('is not to be had in version 2', async () => {
    const body = { name: 'old', configurationName: 'web', muster: { check: true } };
    expect((await api.call('POST', '/v2/sessions', body)).status).toBe(400);
  });

  test('takes the pass-through as any other, and --check is still none of it', async () => {
    const body = { name: 'passes', configuration_name: 'web', ansible_passthrough: '--check' };
    expect((await api.call('POST', '/v3/sessions', body)).status).toBe(400);
  });
});

const check = (body: unknown, headers?: Record<string, string>) =>
  api.call('POST', '/api/v1/drift/checks', body, headers);

describe('POST /api/v1/drift/checks', () => {
  beforeAll(async () => {
    const many = Array.from({ length: CHECK_SIZE + 1 }, (_, index) => ({
      id: `web${1000 + index}`,
      desired_config: 'web',
    }));
    const few = [
      { id: 'db1', desired_config: 'db', tags: { role: 'db' }, enabled: true },
      { id: 'db2', desired_config: 'db', tags: { role: 'db' }, enabled: false },
      { id: 'none', tags: { role: 'none' } },
      { id: 'web[1:3]', desired_config: 'db', tags: { role: 'pattern' } },
      { id: 'lost', desired_config: 'gone', tags: { role: 'lost' } },
    ];
    expect((await api.call('PUT', '/v3/components', [...many, ...few])).status).toBe(200);
  });

  test('makes one session for every so many components of what they desire', async () => {
    const before = kicks;
    const { status, body } = await check({ filter: {} });
    expect(status).toBe(201);
    expect(body.components).toBe(CHECK_SIZE + 3);
    expect(body.sessions).toHaveLength(3);
    expect(kicks).toBe(before + 1);
    const sessions = [];
    for (const name of body.sessions) sessions.push((await api.call('GET', `/v3/sessions/${name}`)).body);
    expect(sessions.map(({ configuration }) => configuration.name)).toEqual(['db', 'web', 'web']);
    expect(sessions.map(({ ansible }) => ansible.limit.split(',').length)).toEqual([2, CHECK_SIZE, 1]);
    expect(sessions.map(({ muster }) => muster)).toEqual(Array(3).fill({ check: true }));
    // Number 2 was of the configuration that is gone.
    const key = /^check-db-([0-9a-f]{12})-1$/.exec(body.sessions[0])?.[1];
    expect(body.sessions).toEqual([`check-db-${key}-1`, `check-web-${key}-3`, `check-web-${key}-4`]);
    expect(body.left_out).toEqual([
      { reason: 'no configuration is desired', components: 1, first: ['none'] },
      { reason: 'no host can have this name', components: 1, first: ['web[1:3]'] },
      { reason: 'No configurations exist named gone', components: 1, first: ['lost'] },
    ]);
  });

  test.each([
    [{ configuration: 'db' }, 'db1,db2'],
    [{ filter: { config_name: 'db', enabled: true } }, 'db1'],
    [{ filter: { tags: 'role=db', ids: 'db2,web1000' } }, 'db2'],
    [{ filter: { status: 'pending', tags: 'role=db' }, reconfigure: true }, 'db1,db2'],
  ])('%j', async (body, limit) => {
    const answer = await check(body);
    expect(answer.status).toBe(201);
    const { body: made } = await api.call('GET', `/v3/sessions/${answer.body.sessions[0]}`);
    expect(made.ansible.limit).toBe(limit);
    expect(made.muster).toEqual({ check: true, ...('reconfigure' in body ? { reconfigure: true } : {}) });
  });

  test('of nothing makes nothing', async () => {
    const answer = await check({ filter: { ids: 'nobody' } });
    expect([answer.status, answer.body]).toEqual([201, { sessions: [], components: 0, left_out: [] }]);
    expect((await check({ configuration: 'other' })).body.sessions).toEqual([]);
  });

  test.each([
    [{}, 400, 'bad_request'],
    [{ filter: {}, configuration: 'web' }, 400, 'bad_request'],
    [{ configuration: 'nothing' }, 404, 'configuration_not_found'],
    [{ configuration: '' }, 400, 'bad_request'],
    [{ configuration: 7 }, 400, 'bad_request'],
    [{ filter: { colour: 'red' } }, 400, 'bad_request'],
    [{ filter: { status: 'broken' } }, 400, 'bad_request'],
    [{ filter: { tags: 'a=b=c' } }, 400, 'bad_tags'],
    [{ filter: [] }, 400, 'bad_request'],
    [{ filter: {}, reconfigure: 'yes' }, 400, 'bad_request'],
    [{ filter: {}, more: 1 }, 400, 'bad_request'],
    [[], 400, 'bad_request'],
  ])('%j is refused', async (body, status, code) => {
    const sessions = await api.deps.db.selectFrom('sessions').select('id').execute();
    const answer = await check(body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(await api.deps.db.selectFrom('sessions').select('id').execute()).toHaveLength(sessions.length);
  });

  test('sent again under its key, and called again by its id, makes nothing', async () => {
    const headers = { 'idempotency-key': 'again' };
    const first = await check({ configuration: 'db' }, headers);
    expect((await check({ configuration: 'db' }, headers)).body).toEqual(first.body);
    const by = { actor: 'schedule/nightly' };
    const request = {
      filter: { config_name: 'db' },
      reconfigure: false,
      runId: 'nightly-1',
    };
    const made = await Promise.all([1, 2, 3].map(() => checkDrift(api.deps, by, request)));
    expect(made[1]).toEqual(made[0]);
    expect(made[2]).toEqual(made[0]);
    const name = made[0]?.sessions[0] ?? '';
    const rows = await api.deps.db.selectFrom('sessions').select('actor').where('name', '=', name).execute();
    expect(rows).toEqual([{ actor: 'schedule/nightly' }]);
    await api.call('DELETE', `/v3/sessions/${name}`);
    expect(await checkDrift(api.deps, by, request)).toEqual(made[0]);
    expect((await api.call('GET', `/v3/sessions/${name}`)).status).toBe(404);
    expect((await checkDrift(api.deps, by, { ...request, runId: 'nightly-2' })).sessions).not.toEqual(
      made[0]?.sessions,
    );
  });
});

describe('what is known', () => {
  test('is nothing before the first check', async () => {
    expect((await api.call('GET', '/api/v1/drift')).body).toEqual({ drift: [], next: null });
    const answer = await api.call('GET', '/api/v1/drift/db1');
    expect([answer.status, answer.body.code]).toEqual([404, 'drift_not_found']);
    expect(answer.body.detail).toContain('db1');
  });

  test('comes in pages', async () => {
    const ids = ['db1', 'db2', 'none'];
    await api.deps.db
      .insertInto('drift')
      .values(
        ids.map((component_id) => ({
          component_id,
          clone_url: 'u',
          playbook: 'p',
          commit: COMMIT,
          configuration: 'db',
          layer: 0,
          status: component_id === 'db2' ? ('in_sync' as const) : ('drifted' as const),
          changed: 1,
          changes: '[]',
          changes_left_out: 2,
          session_id: crypto.randomUUID(),
          session_name: 'check-1',
          checked_at: new Date('2026-11-21T10:00:00Z'),
        })),
      )
      .execute();
    const first = (await api.call('GET', '/api/v1/drift?limit=1&status=drifted&config_name=db')).body;
    expect(first.drift).toEqual([
      {
        id: 'db1',
        status: 'drifted',
        configuration: 'db',
        changed: 1,
        uncertain: 0,
        checked_at: '2026-11-21T10:00:00.000Z',
        layers: [
          {
            layer: 0,
            clone_url: 'u',
            playbook: 'p',
            commit: COMMIT,
            status: 'drifted',
            changed: 1,
            uncertain: 0,
            session_name: 'check-1',
            checked_at: '2026-11-21T10:00:00.000Z',
          },
        ],
      },
    ]);
    expect(first.next).toEqual({ status: 'drifted', config_name: 'db', ids: '', limit: 1, after_id: 'db1' });
    const query = new URLSearchParams(first.next);
    const second = (await api.call('GET', `/api/v1/drift?${query}`)).body;
    expect([second.drift.map(({ id }: { id: string }) => id), second.next]).toEqual([['none'], null]);
    const detail = (await api.call('GET', '/api/v1/drift/db1')).body;
    expect(detail.layers[0]).toMatchObject({ changes: [], changes_left_out: 2 });
    for (const bad of ['status=broken', 'limit=0', 'limit=x']) {
      expect((await api.call('GET', `/api/v1/drift?${bad}`)).status).toBe(400);
    }
  });
});
