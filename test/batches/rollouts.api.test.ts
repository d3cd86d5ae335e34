import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { runPass } from '../../control/batches/run-pass.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  const { db } = api.deps;
  for (const table of ['batch_members', 'batches', 'rollout_members', 'rollouts', 'component_leases'] as const) {
    await db.deleteFrom(table).execute();
  }
  await db.deleteFrom('components').execute();
  await db.deleteFrom('configurations').execute();
});

const LAYERS = [{ clone_url: 'https://git.example.test/one.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
const put = (name: string, rollout?: object, layers: object[] = LAYERS) =>
  api.call('PUT', `/v3/configurations/${name}`, { layers, ...(rollout === undefined ? {} : { muster: { rollout } }) });
const stored = async (name: string) => (await api.call('GET', `/v3/configurations/${name}`)).body;

async function pass(): Promise<void> {
  api.now.value = new Date(api.now.value.getTime() + 10_000);
  const log = { info: () => undefined, warn: () => undefined };
  await runPass({ db: api.deps.db, clock: api.deps.clock, dispatcher: { kick: () => undefined }, log });
}

/** A configuration with a policy and some components that are behind. */
async function begun(name: string, count = 3): Promise<void> {
  expect((await put(name, { canary: 1, max_at_once: '50%', max_failed: 0 })).status).toBe(200);
  const components = Array.from({ length: count }, (_, n) => ({
    id: `${name}-${n}`,
    desired_config: name,
    enabled: true,
  }));
  expect((await api.call('PUT', '/v3/components', components)).status).toBe(200);
  await pass();
}

describe('the policy', () => {
  test.each([
    [{ max_at_once: 5 }],
    [{ max_at_once: '10%', canary: 2, max_failed: '0%' }],
    [{ max_failed: 0 }],
    [{ canary: { ids: ['x1', 'x2'] } }],
    [{ canary: { count: 1, ids: ['x1', 'x2'] } }],
    [{ canary: { count: 3, tags: { stage: 'first' } } }],
    [{ canary: { group: 'stage_first' } }],
    [{ max_at_once: '100%', max_failed: '100%' }],
    [{}],
  ])('%j is stored and answered', async (rollout) => {
    const answer = await put('one', rollout);
    expect(answer.status).toBe(200);
    expect(answer.body.muster).toEqual({ rollout });
    expect((await stored('one')).muster).toEqual({ rollout });
    const list = await api.call('GET', '/v3/configurations');
    expect(list.body.configurations[0].muster).toEqual({ rollout });
  });

  test.each([
    [{ rollout: { max_at_once: 0 } }, 'muster.rollout.max_at_once'],
    [{ rollout: { max_at_once: '0%' } }, 'muster.rollout.max_at_once'],
    [{ rollout: { max_at_once: '101%' } }, 'muster.rollout.max_at_once'],
    [{ rollout: { max_at_once: '7' } }, 'muster.rollout.max_at_once'],
    [{ rollout: { max_at_once: 1.5 } }, 'muster.rollout.max_at_once'],
    [{ rollout: { canary: 0 } }, 'muster.rollout.canary'],
    [{ rollout: { canary: '1%' } }, 'muster.rollout.canary'],
    [{ rollout: { canary: {} } }, 'muster.rollout.canary'],
    [{ rollout: { canary: { count: 2 } } }, 'muster.rollout.canary'],
    [{ rollout: { canary: { count: 0, ids: ['a'] } } }, 'muster.rollout.canary'],
    [{ rollout: { canary: { count: 2, ids: ['a'] } } }, 'muster.rollout.canary'],
    [{ rollout: { canary: { ids: [] } } }, 'muster.rollout.canary'],
    [{ rollout: { canary: { ids: ['a', 'a'] } } }, 'muster.rollout.canary'],
    [{ rollout: { canary: { ids: ['a'], group: 'b' } } }, 'muster.rollout.canary'],
    [{ rollout: { canary: { tags: {} } } }, 'muster.rollout.canary'],
    [{ rollout: { canary: { group: 'stage=first' } } }, 'muster.rollout.canary'],
    [{ rollout: { canary: ['a'] } }, 'muster.rollout.canary'],
    [{ rollout: { max_failed: -1 } }, 'muster.rollout.max_failed'],
    [{ rollout: { max_failed: '5 %' } }, 'muster.rollout.max_failed'],
    [{ rollout: { max_failed: null } }, 'muster.rollout.max_failed'],
    [{ rollout: { other: 1 } }, 'muster.rollout'],
    [{ check: true }, 'muster'],
    [[], 'muster'],
  ])('%j is refused and changes nothing', async (muster, field) => {
    const answer = await api.call('PUT', '/v3/configurations/one', { layers: LAYERS, muster });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(field.split('.').at(-1));
    expect((await api.call('GET', '/v3/configurations/one')).status).toBe(404);
  });

  test('is not there unless it was set, and a PUT without it takes it away', async () => {
    expect((await put('one')).body).not.toHaveProperty('muster');
    await put('one', { canary: 1 });
    await put('one');
    expect(await stored('one')).not.toHaveProperty('muster');
  });

  test('version 2 neither shows nor takes it, and keeps it', async () => {
    await put('one', { canary: 1 });
    expect((await api.call('GET', '/v2/configurations/one')).body).not.toHaveProperty('muster');
    expect((await api.call('PUT', '/v2/configurations/one', { layers: [], muster: {} })).status).toBe(400);
    const layer = { cloneUrl: 'https://git.example.test/two.git', playbook: 'site.yml', commit: 'b'.repeat(40) };
    const answer = await api.call('PUT', '/v2/configurations/one', { layers: [layer] });
    expect(answer.status).toBe(200);
    expect(answer.body).not.toHaveProperty('muster');
    expect((await stored('one')).muster).toEqual({ rollout: { canary: 1 } });
  });

  test('a refresh of branches keeps it', async () => {
    await put('one', { canary: 1 });
    expect((await api.call('PATCH', '/v3/configurations/one')).body.muster).toEqual({ rollout: { canary: 1 } });
  });

  test('an import from a CFS keeps it, one from another Muster brings it', async () => {
    await put('one', { canary: 1 });
    const record = (await stored('one')) as Record<string, unknown>;
    const { muster: _, ...plain } = record;
    const body = (records: unknown[]) => ({ records });
    const path = '/api/v1/import/configurations';
    expect((await api.call('POST', path, body([{ ...plain, description: 'new' }]))).status).toBe(200);
    expect(await stored('one')).toMatchObject({ description: 'new', muster: { rollout: { canary: 1 } } });
    await api.call('POST', path, body([{ ...plain, muster: { rollout: { canary: 2 } } }]));
    expect((await stored('one')).muster).toEqual({ rollout: { canary: 2 } });
  });
});

describe('/api/v1/rollouts', () => {
  test('a rollout is shown while it goes on', async () => {
    await begun('one');
    const shown = await api.call('GET', '/api/v1/rollouts/one');
    expect(shown.status).toBe(200);
    expect(shown.body).toMatchObject({
      configuration: 'one',
      state: 'canary',
      stage: 'canary',
      current: true,
      policy: { canary: 1, max_at_once: '50%', max_failed: 0 },
      components: 3,
      configured: 0,
      pending: 3,
      in_sessions: 0,
    });
    await pass();
    expect((await api.call('GET', '/api/v1/rollouts')).body).toMatchObject({
      rollouts: [{ configuration: 'one', in_sessions: 1 }],
      next: null,
    });
  });

  test('stop and resume name who asked, and the batcher says why it waits', async () => {
    await begun('one');
    const stopped = await api.call('POST', '/api/v1/rollouts/one/stop', { reason: 'power work' });
    expect(stopped.body).toMatchObject({ state: 'stopped', reason: 'power work', stage: 'canary' });
    expect((await api.call('POST', '/api/v1/rollouts/one/stop')).body).toMatchObject({ reason: 'power work' });
    await pass();
    const resumed = await api.call('POST', '/api/v1/rollouts/one/resume');
    expect(resumed.body).toMatchObject({ state: 'canary', reason: null });
    expect(resumed.body.resumed_at).not.toBeNull();
    expect(await api.call('POST', '/api/v1/rollouts/one/resume')).toMatchObject({
      status: 409,
      body: { code: 'rollout_not_stopped' },
    });
  });

  test.each([
    ['GET', '/api/v1/rollouts/none', undefined, 404],
    ['POST', '/api/v1/rollouts/none/stop', undefined, 404],
    ['POST', '/api/v1/rollouts/none/resume', undefined, 404],
    ['POST', '/api/v1/rollouts/none/stop', { reason: '' }, 400],
    ['POST', '/api/v1/rollouts/none/stop', { why: 'x' }, 400],
    ['POST', '/api/v1/rollouts/none/stop', [], 400],
    ['GET', '/api/v1/rollouts?limit=0', undefined, 400],
    ['GET', '/api/v1/rollouts?state=gone', undefined, 400],
    ['GET', '/api/v1/rollouts?after_id=x', undefined, 400],
  ] as const)('%s %s %j is %i', async (method, path, body, status) => {
    const answer = await api.call(method, path, body);
    expect(answer.status).toBe(status);
    if (status === 404) expect(answer.body).toMatchObject({ code: 'rollout_not_found' });
  });

  test('a manual session is not gated', async () => {
    await begun('one');
    await api.call('POST', '/api/v1/rollouts/one/stop');
    const session = { name: 'by-hand', configuration_name: 'one', ansible_limit: 'one-0' };
    expect((await api.call('POST', '/v3/sessions', session)).status).toBe(201);
  });

  test('pages go from new to old, past ones only on demand', async () => {
    await begun('one');
    await begun('two');
    await put('one', { canary: 1 }, [{ ...LAYERS[0], commit: 'c'.repeat(40) }]);
    await pass();
    const names = (answer: { body: { rollouts: { configuration: string; state: string }[] } }) =>
      answer.body.rollouts.map(({ configuration, state }) => `${configuration} ${state}`);
    const current = await api.call('GET', '/api/v1/rollouts');
    expect(names(current)).toEqual(['one canary', 'two canary']);
    const first = await api.call('GET', '/api/v1/rollouts?all=true&limit=2');
    expect(names(first)).toEqual(['one canary', 'two canary']);
    const query = new URLSearchParams(
      Object.entries(first.body.next as object).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const second = await api.call('GET', `/api/v1/rollouts?${query}`);
    expect(names(second)).toEqual(['one replaced']);
    expect(second.body.next).toBeNull();
    expect(second.body.rollouts[0].policy).toBeNull();
    expect(names(await api.call('GET', '/api/v1/rollouts?configuration=two'))).toEqual(['two canary']);
    expect(names(await api.call('GET', '/api/v1/rollouts?all=true&state=replaced'))).toEqual(['one replaced']);
  });
});
