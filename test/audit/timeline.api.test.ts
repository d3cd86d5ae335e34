/** What happened to one component, put together from all that is known of it. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { recordLayer } from '../../control/components/record-layer.ts';
import { addConfiguration, addRun, endSession, sessionId, setSession } from '../sessions/session-fixtures.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi({ access: { mode: 'none', actorHeader: 'x-who' } });
  await addConfiguration(api.database.db, 'site');
});
afterAll(() => api.close());

const WHO = { 'x-who': 'ann' };
const path = (id: string) => `/api/v1/components/${encodeURIComponent(id)}/timeline`;
const entriesOf = async (id: string) => (await api.call('GET', path(id))).body.entries;

/** A session that ran layer 0 on these hosts, as the engine leaves it. */
async function ran(
  name: string,
  results: { host: string; status: 'applied' | 'failed' | 'incomplete' }[],
): Promise<string> {
  await api.call('POST', '/v3/sessions', { name, configuration_name: 'site' });
  const id = await sessionId(api.database.db, name);
  const runId = await addRun(api.database.db, id, { layer: 0, exitCode: 0, results });
  await recordLayer(
    api.database.db,
    {
      runId,
      streamId: id,
      layer: 0,
      attempt: 1,
      sessionName: name,
      cloneUrl: 'https://git.example/a.git',
      playbook: 'p0.yml',
      commit: '0'.repeat(40),
    },
    new Date(),
  );
  await endSession(api.database.db, id, 'true');
  return id;
}

describe('a timeline', () => {
  test('shows changes with who made them, and layers of sessions with what they counted', async () => {
    await api.call('PUT', '/v3/components/t1', { desired_config: 'site' }, WHO);
    const failed = await ran('t-one', [{ host: 't1', status: 'failed' }]);
    const broken = await ran('t-two', [{ host: 't1', status: 'incomplete' }]);
    await api.call('PATCH', '/v3/components/t1', { error_count: 0 }, WHO);
    const entries = await entriesOf('t1');
    expect(entries).toEqual([
      expect.objectContaining({ type: 'change', actor: 'ann', before: { error_count: 1 }, after: { error_count: 0 } }),
      expect.objectContaining({ type: 'layer', session: 't-two', session_id: broken, taken_as: 'incomplete' }),
      {
        id: expect.stringMatching(/^\d+-layer-/),
        time: expect.stringMatching(/Z$/),
        type: 'layer',
        session: 't-one',
        session_id: failed,
        configuration: 'site',
        layer: 0,
        attempt: 1,
        clone_url: 'https://git.example/a.git',
        playbook: 'p0.yml',
        commit: '0'.repeat(40),
        status: 'failed',
        is_check: false,
        message: null,
        taken_as: 'failed',
        ok: 1,
        changed: 0,
        failures: 1,
        unreachable: 0,
        skipped: 0,
        rescued: 0,
        ignored: 0,
      },
      expect.objectContaining({ type: 'change', action: 'create', actor: 'ann', before: null }),
    ]);
  });

  test('shows one type alone, by pages too, also of a component that is gone', async () => {
    await api.call('PUT', '/v3/components/t9', {}, WHO);
    await ran('t-nine', [{ host: 't9', status: 'failed' }]);
    await ran('t-ten', [{ host: 't9', status: 'failed' }]);
    for (const enabled of [false, true]) await api.call('PATCH', '/v3/components/t9', { enabled }, WHO);
    const one = (await api.call('GET', `${path('t9')}?type=layer&limit=1`)).body;
    expect(one.entries).toMatchObject([{ type: 'layer', session: 't-ten' }]);
    const two = (await api.call('GET', `${path('t9')}?${new URLSearchParams(one.next)}`)).body;
    expect([two.entries, two.next]).toMatchObject([[{ type: 'layer', session: 't-nine' }], null]);
    await api.call('DELETE', '/v3/components/t9', undefined, WHO);
    expect((await api.call('GET', `${path('t9')}?type=drift`)).body.entries).toEqual([]);
    expect((await api.call('GET', `${path('nobody')}?type=drift`)).body.code).toBe('component_not_found');
    expect((await api.call('GET', `${path('t9')}?type=walk`)).status).toBe(400);
  });

  test('says that a component that booted since did not take the layer', async () => {
    await api.call('PUT', '/v3/components/t2', {}, WHO);
    await api.call('POST', '/v3/sessions', { name: 't-boot', configuration_name: 'site' });
    const told = await api.call('PATCH', '/v3/components/t2', { state: [], muster: { boot: 'b2' } });
    expect(told.body).toMatchObject({ state: [], muster: { boot: 'b2' } });
    const db = api.database.db;
    await db
      .updateTable('components')
      .set({ booted_at: new Date(Date.now() + 60_000) })
      .where('id', '=', 't2')
      .execute();
    await setSession(db, await sessionId(db, 't-boot'), { deleted_at: new Date() });
    await ran('t-boot', [{ host: 't2', status: 'failed' }]);
    const [layer, , boot] = await entriesOf('t2');
    expect(layer).toMatchObject({ type: 'layer', status: 'failed', taken_as: 'incomplete' });
    expect(boot).toMatchObject({ type: 'change', before: { boot: null, booted_at: null }, after: { boot: 'b2' } });
  });

  test('shows the batch that it is in, those that it was in, and what checks found', async () => {
    const { db } = api.database;
    await api.call('PUT', '/v3/components/t3', {}, WHO);
    const id = await ran('batcher-t3', [{ host: 'other', status: 'applied' }]);
    await setSession(db, id, { actor: 'batcher', ansible_limit: 't2,t3,t4' });
    const batch = (values: object) =>
      db
        .insertInto('batches')
        .values({ id: randomUUID(), key: 'k', configuration: 'site', layers: '0', opened_at: new Date(), ...values })
        .returning('id')
        .executeTakeFirstOrThrow();
    const ended = {
      state: 'ended',
      session_id: id,
      session_name: 'batcher-t3',
      ended_at: new Date(Date.now() + 1_000),
    };
    const past = await batch({ ...ended, result: 'failure', reason: 'session_failed', tries: 2 } as const);
    const now = await batch({ state: 'open' });
    await sql`insert into batch_members (component_id, batch_id, joined_at)
      values ('t3', ${now.id}::uuid, ${new Date(Date.now() + 2_000)})`.execute(db);
    await sql`insert into drift (component_id, clone_url, playbook, commit, configuration, layer, status, changed, changes,
        changes_left_out, session_id, session_name, checked_at)
      values ('t3', 'https://ann:pw@git.example/a.git', 'p0.yml', 'c', 'site', 0, 'drifted', 2, '[]', 0, ${id}::uuid, 'check-1',
        ${new Date(Date.now() + 3_000)})`.execute(db);
    expect(await entriesOf('t3')).toEqual([
      expect.objectContaining({
        type: 'drift',
        status: 'drifted',
        changed: 2,
        session: 'check-1',
        clone_url: 'https://ann:***@git.example/a.git',
      }),
      expect.objectContaining({ type: 'batch', batch: now.id, state: 'open', session: null }),
      expect.objectContaining({
        type: 'batch',
        batch: past.id,
        state: 'ended',
        session: 'batcher-t3',
        tries: 2,
        result: 'failure',
        reason: 'session_failed',
      }),
      expect.objectContaining({ type: 'change', action: 'create' }),
    ]);
    expect((await entriesOf('t4'))[0]).toMatchObject({ type: 'batch', batch: past.id });
  });

  test('comes in pages that miss and repeat nothing, whatever happens meanwhile', async () => {
    const { db } = api.database;
    await api.call('PUT', '/v3/components/t5', {}, WHO);
    for (const step of [1, 2, 3]) await ran(`t-page-${step}`, [{ host: 't5', status: 'applied' }]);
    for (const step of [1, 2, 3, 4]) await api.call('PATCH', '/v3/components/t5', { tags: { step: String(step) } });
    // All at one moment.
    await sql`update audit set at = '2026-11-21T10:00:00Z' where name = 't5'`.execute(db);
    await sql`update host_results set stored_at = '2026-11-21T10:00:00Z' where host = 't5'`.execute(db);
    const all: { id: string }[] = await entriesOf('t5');
    expect(all).toHaveLength(8);
    const seen: string[] = [];
    let query = '?limit=3';
    for (let page = 0; page < 3; page++) {
      const { entries, next } = (await api.call('GET', `${path('t5')}${query}`)).body;
      seen.push(...entries.map(({ id }: { id: string }) => id));
      await api.call('PATCH', '/v3/components/t5', { tags: { meanwhile: String(page) } });
      query = next === null ? '' : `?limit=3&after_id=${encodeURIComponent(next.after_id)}`;
      expect(next === null).toBe(page === 2);
    }
    expect(seen).toEqual(all.map(({ id }) => id));
  });

  test('stays when the component is deleted; of one that never was there is none', async () => {
    await api.call('PUT', '/v3/components/t6', {}, WHO);
    await api.call('DELETE', '/v3/components/t6', undefined, WHO);
    expect((await entriesOf('t6')).map(({ action, actor }: Record<string, string>) => [action, actor])).toEqual([
      ['delete', 'ann'],
      ['create', 'ann'],
    ]);
    const none = await api.call('GET', path('never'));
    expect(none.status).toBe(404);
    expect(none.body.code).toBe('component_not_found');
  });

  test.each(['x', '1-layer', '1-layer-a b', '1-CHANGE-x', "1-layer-'; drop table audit; --", '99999999999999-layer-x'])(
    'refuses the place %s',
    async (place) => {
      const answer = await api.call('GET', `${path('t1')}?after_id=${encodeURIComponent(place)}`);
      expect(answer.status).toBe(400);
    },
  );

  test.each(["'; drop table audit; --", 'ä,ö', 'a/b', '%', '_'.repeat(600)])('takes the id %s as it is', async (id) => {
    const url = `/v3/components/${encodeURIComponent(id)}`;
    expect((await api.call('PUT', url, {}, WHO)).status).toBe(200);
    expect(await entriesOf(id)).toEqual([expect.objectContaining({ type: 'change', action: 'create' })]);
  });
});
