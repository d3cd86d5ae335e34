/** Every route that writes leaves its audit records, in the transaction of the write. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';
import type { Send } from './written-route.ts';
import { WRITTEN_ROUTES } from './written-routes.ts';

let api: TokenApi;
beforeAll(async () => {
  api = await createTokenApi();
});
afterAll(() => api.close());

const send: Send = async (method, path, body) => {
  const answer = await api.as(api.tokens.admin, method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};

/** Names that are made up at random, by what they belong to. */
const plain = (name: string) =>
  name
    .replace(/^cfs-source-credentials-[0-9a-f-]+/, 'SOURCE')
    .replace(/^muster-webhook-.*/, 'WEBHOOK')
    .replace(/^(drift|check)-.*/, 'CHECK')
    .replace(/^made\/[0-9a-f-]{36}$/, 'made/ID')
    .replace(/^retry-[0-9a-f]{8}-.*/, 'RETRY')
    // Ids of images; those that a test gives begin with zeros.
    .replace(/^(?!0a000000)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'ID');

const newest = async () =>
  (
    await api.database.db
      .selectFrom('audit')
      .select((row) => row.fn.max('id').as('id'))
      .executeTakeFirst()
  )?.id ?? 0;

/** It writes every secret that the others have left, so it has a test of its own. */
const ROTATE_KEY = 'POST /api/v1/secrets/rotate-key';
/** They write all that the others have left; test/fleet/stop.api.test.ts has their records. */
const OF_ALL = ['POST /api/v1/stop', 'POST /api/v1/go'];
const NOT_BUILT = ['not_supported', 'level_not_supported'];
const codesOf = (refuses: readonly (string | { code: string })[]) =>
  refuses.map((each) => (typeof each === 'string' ? each : each.code)).join();
/** Clouds of level 0 are instantiated and terminated at once, so there is never anything to stop. */
const NEVER_DONE = ['POST /v2/projects/:id/logical-clouds/:id/stop'];
/** They need a token or a cookie; test/access/sign-in.api.test.ts has their records. */
const OF_BROWSERS = ['POST /api/v1/sign-in', 'POST /api/v1/sign-out'];
/** It says what a stream tells, and writes nothing; test/service/stream.api.test.ts has it. */
const OF_STREAMS = ['POST /api/v1/stream/:id/topics'];

test('every route that writes is among those that are tried here', () => {
  const routes = api.app.declaredRoutes
    .filter(({ method }) => !['GET', 'HEAD', 'OPTIONS'].includes(method))
    // What is changed in Temporal's web UI is no record of Muster.
    .filter(({ url }) => !url.startsWith('/temporal/'))
    // Parts that are not built refuse every request.
    .filter(({ options }) => !NOT_BUILT.includes(codesOf(options.config?.refuses ?? [])))
    .map(({ method, url }) => `${method} ${url.replace(/^\/apis\/cfs/, '').replace(/:[a-z_]+/g, ':id')}`);
  const tried = [...Object.keys(WRITTEN_ROUTES), ROTATE_KEY, ...OF_ALL, ...NEVER_DONE, ...OF_BROWSERS, ...OF_STREAMS];
  expect(tried.sort()).toEqual([...new Set(routes)].sort());
});

describe.each(Object.entries(WRITTEN_ROUTES))('%s', (route, { path, body, headers, prepare, records, nothing }) => {
  test(nothing === undefined ? 'leaves its records' : `leaves none: ${nothing}`, async () => {
    const prepared = await prepare?.(api, send);
    const before = await newest();
    const [method = ''] = route.split(' ');
    const requestId = `request-${before}`;
    const url = typeof prepared === 'string' ? path.replace('{id}', prepared) : path;
    const answer = await api.as(api.tokens.admin, method, url, body, { ...headers, 'x-request-id': requestId });
    expect([answer.status < 300, answer.body]).toEqual([true, answer.body]);
    const rows = await api.database.db.selectFrom('audit').selectAll().where('id', '>', before).orderBy('id').execute();
    const order = (one: unknown[]) => JSON.stringify([one[1], one[2]]);
    const sorted = (all: unknown[][]) => [...all].sort((one, other) => (order(one) < order(other) ? -1 : 1));
    expect(sorted(rows.map((row) => [row.action, row.kind, plain(row.name), row.before, row.after]))).toEqual(
      sorted(records),
    );
    for (const row of rows) {
      expect(row).toMatchObject({ actor: 'token/root', request_id: requestId });
      expect(row.via).toMatch(new RegExp(`^${method} /`));
    }
    expect(records.length > 0 || nothing !== undefined).toBe(true);
  });
});

test(`${ROTATE_KEY} leaves a record for each secret that is encrypted again`, async () => {
  await send('PUT', '/api/v1/secrets/site-key/value', { value: 'not-to-be-seen' });
  const before = await newest();
  const answer = await api.as(api.tokens.admin, 'POST', '/api/v1/secrets/rotate-key');
  expect(answer.status).toBe(200);
  const rows = await api.database.db.selectFrom('audit').selectAll().where('id', '>', before).execute();
  expect(rows.map(({ name }) => name)).toContain('site-key/value');
  for (const row of rows)
    expect(row).toMatchObject({ action: 'update', kind: 'secret', before: {}, after: {}, actor: 'token/root' });
});

test('no record has anything of a secret', async () => {
  const rows = await api.database.db.selectFrom('audit').selectAll().execute();
  expect(rows.length).toBeGreaterThan(50);
  expect(JSON.stringify(rows)).not.toMatch(/not-to-be-seen|:pw@/);
});
