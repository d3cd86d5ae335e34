/** Records that others fill have bounds, and pages end before they are too large. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { MAX_PAGE_BYTES } from '../../domain/page-size.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

let api: TokenApi;
beforeAll(async () => {
  api = await createTokenApi();
});
afterAll(() => api.close());

const operator = (method: 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE', path: string, body?: unknown) =>
  api.as(api.tokens.operator, method, path, body);
const entries = (count: number) =>
  Array.from({ length: count }, (_, number) => ({
    clone_url: 'https://git.example.test/x.git',
    playbook: `p${number}.yml`,
    commit: 'c',
    status: 'applied',
    session_name: 's',
  }));
const tags = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, number) => [`t${number}`, value]));

describe('a component', () => {
  test.each(['v3', 'v2'])('in %s is refused above its bounds, one below is taken', async (version) => {
    const path = `/${version}/components/big-${version}`;
    const state = (count: number) =>
      version === 'v3'
        ? entries(count)
        : entries(count).map(({ clone_url, playbook, commit, session_name }) => ({
            cloneUrl: clone_url,
            playbook,
            commit,
            sessionName: session_name,
          }));
    expect((await operator('PUT', path, { state: state(1_000) })).status).toBe(200);
    const refused = await operator('PATCH', path, { state: state(1_001) });
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      expect.stringMatching(/at most 1000 .* 1001.*'state'/),
    ]);
    const layer = version === 'v3' ? { clone_url: 'u', playbook: 'm' } : { cloneUrl: 'u', playbook: 'm' };
    const append = { [version === 'v3' ? 'state_append' : 'stateAppend']: { ...layer, commit: 'c' } };
    expect((await operator('PATCH', path, append)).status).toBe(400);
    expect((await operator('PATCH', path, { state: [], tags: tags(300, 'x'.repeat(1_000)) })).status).toBe(400);
    expect((await operator('PATCH', path, { state: [], tags: tags(200, 'x'.repeat(900)) })).status).toBe(200);
    const more = { patch: { tags: { more: 'x'.repeat(90_000) } }, filters: { ids: path.split('/').at(-1) } };
    const filtered = await operator('PATCH', `/${version}/components`, more);
    expect([filtered.status, filtered.body.detail]).toEqual([400, expect.stringMatching(/256 KiB/)]);
    expect((await operator('PATCH', `/${version}/components`, [{ id: `big-${version}`, ...more.patch }])).status).toBe(
      400,
    );
    expect((await operator('GET', path)).body.tags).toEqual(tags(200, 'x'.repeat(900)));
  });

  test('whose state fills it takes no more tags by a filter', async () => {
    const long = entries(100).map((entry) => ({ ...entry, clone_url: 'u'.repeat(2_400) }));
    await operator('PUT', '/v3/components/full', { state: long });
    const patch = (length: number) =>
      operator('PATCH', '/v3/components', { patch: { tags: { t: 'x'.repeat(length) } }, filters: { ids: 'full' } });
    expect((await patch(20_000)).status).toBe(400);
    expect((await patch(2_000)).status).toBe(200);
    expect((await operator('PATCH', '/v3/components/full', { enabled: true })).status).toBe(200);
  });

  test('a node sends at most 1 MiB, others more', async () => {
    await operator('PUT', '/v3/components/x1', {});
    const body = (bytes: number) => JSON.stringify({ state: [] }).padEnd(bytes, ' ');
    const send = (token: string, bytes: number) =>
      api.call('PATCH', '/v3/components/x1', body(bytes), {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
      });
    expect((await send(api.tokens.node, 2 ** 20)).status).toBe(200);
    const refused = await send(api.tokens.node, 2 ** 20 + 1);
    expect([refused.status, refused.body.detail]).toEqual([413, expect.stringContaining('1048576')]);
    expect((await send(api.tokens.operator, 2 ** 20 + 1)).status).toBe(200);
  });
});

describe('other records', () => {
  const session = { name: 'b1', configuration_name: 'bounds' };
  beforeAll(() => operator('PUT', '/v3/configurations/bounds', { layers: [] }));
  const layer = { clone_url: 'https://git.example.test/x.git', playbook: 'p.yml', commit: 'a'.repeat(40) };

  test.each<[string, 'PUT' | 'POST', string, unknown, RegExp]>([
    ['a tag', 'POST', '/v3/sessions', { ...session, tags: { t: 'x'.repeat(10_000_000) } }, /at most 262144 - 'tags'/],
    ['tags', 'POST', '/v3/sessions', { ...session, tags: tags(1_001, 'x') }, /1001 entries: at most 1000 - 'tags'/],
    [
      'tags in v2',
      'POST',
      '/v2/sessions',
      { name: 'b', configurationName: 'c', tags: tags(1_001, 'x') },
      /at most 1000/,
    ],
    [
      'an image map',
      'POST',
      '/v3/sessions',
      { ...session, target: { image_map: Array(1_001).fill({ source_id: 'a', result_name: 'b' }) } },
      /1001 entries: at most 1000 - 'target.image_map'/,
    ],
    [
      'groups',
      'POST',
      '/v3/sessions',
      { ...session, target: { groups: Array(1_001).fill({ name: 'a', members: [] }) } },
      /1001 entries: at most 1000 - 'target.groups'/,
    ],
    ['a pass-through', 'POST', '/v3/sessions', { ...session, ansible_passthrough: 'x'.repeat(65_537) }, /65536/],
    [
      'layers',
      'PUT',
      '/v3/configurations/b',
      { layers: Array(501).fill(layer) },
      /501 entries: at most 500 - 'layers'/,
    ],
    [
      'layers in v2',
      'PUT',
      '/v2/configurations/b',
      { layers: Array(501).fill({ cloneUrl: layer.clone_url, playbook: 'p', commit: layer.commit }) },
      /501 entries: at most 500 - 'layers'/,
    ],
    ['a description', 'PUT', '/v3/configurations/b', { layers: [], description: 'x'.repeat(4_097) }, /4096/],
    ['a URL', 'PUT', '/v3/configurations/b', { layers: [{ ...layer, clone_url: 'x'.repeat(4_097) }] }, /4096/],
  ])('%s that is too large is refused, with the bound', async (_what, method, path, body, detail) => {
    const answer = await operator(method, path, body);
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(detail)]);
  });

  test('what is as large as it may be is taken', async () => {
    const most = { ...session, tags: tags(1_000, 'x'), ansible_passthrough: `-e a=${'x'.repeat(60_000)}` };
    expect((await operator('POST', '/v3/sessions', most)).status).toBe(201);
    expect(
      (
        await operator('PUT', '/v3/configurations/b', {
          layers: Array.from({ length: 500 }, (_, n) => ({ ...layer, playbook: `p${n}` })),
        })
      ).status,
    ).toBe(200);
  });

  test('artifacts of a session grow to a bound', async () => {
    await operator('POST', '/v3/sessions', { name: 'art', configuration_name: 'bounds' });
    const patch = (from: number, count: number) =>
      operator('PATCH', '/v3/sessions/art', {
        status: { artifacts: Array.from({ length: count }, (_, n) => ({ id: String(from + n) })) },
      });
    expect((await patch(0, 1_000)).status).toBe(200);
    const refused = await patch(1_000, 1);
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringMatching(/at most 1000 artifacts/)]);
    expect((await patch(0, 10)).status).toBe(200);
  });
});

describe('pages', () => {
  test('of the largest components end in time, and lose none', async () => {
    await sql`delete from components`.execute(api.database.db);
    await sql`insert into components (id, tags, updated_at) select 'p' || lpad(n::text, 3, '0'),
      jsonb_build_object('t', repeat('x', 260000)), now() from generate_series(1, 100) n`.execute(api.database.db);
    const seen: string[] = [];
    let pages = 0;
    for (let query = 'limit=1000&status=&tags='; query !== ''; pages += 1) {
      const { body } = await operator('GET', `/v3/components?${query}`);
      expect(JSON.stringify(body).length).toBeLessThan(MAX_PAGE_BYTES + 1_000);
      seen.push(...body.components.map(({ id }: { id: string }) => id));
      const next = Object.entries((body.next ?? {}) as Record<string, unknown>).filter(([, value]) => value !== null);
      query = new URLSearchParams(next.map(([name, value]): [string, string] => [name, String(value)])).toString();
    }
    expect([seen.length, new Set(seen).size, pages]).toEqual([100, 100, 4]);
  });

  test('of audit and timeline are small after 100 writes of the largest component', async () => {
    for (let round = 0; round < 100; round += 1) {
      await operator('PATCH', '/v3/components/p001', { tags: tags(250, `${round}${'x'.repeat(950)}`), state: [] });
      if (round === 0) await operator('PATCH', '/v3/components/p001', { tags: { t: '' } });
    }
    for (const path of ['/api/v1/audit?limit=1000', '/api/v1/components/p001/timeline?limit=1000']) {
      const { status, body } = await operator('GET', path);
      const text = JSON.stringify(body);
      expect([status, text.includes('sha256')]).toEqual([200, true]);
      expect(text.length).toBeLessThan(2_000_000);
    }
  });
});
