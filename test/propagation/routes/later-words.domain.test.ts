/** Words of parts that are not built are refused by name; statuses have colours on a terminal alone. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { painted } from '../../../cli/commands/propagation/status-colours.ts';
import { always, type FakeApi, startFakeApi } from '../../support/fakes/fake-api.ts';
import { cli } from '../../support/stack/command-line.ts';

const BASE = '/api/v1/propagation';
let api: FakeApi;
beforeEach(async () => {
  api = await startFakeApi();
});
afterEach(() => api.close());

test.each([
  'resource action web run',
  'resource validate',
  'resource prefetch web',
  'resource clear-all',
  'connection graph',
  'event traverse web',
  'change revert u1',
  'change test',
  'change clean-history',
  'plan create file.yaml',
  'plan filter last --start a',
  'plan noop last a.run',
  'plan approve last',
  'plan restart last',
  'plan reset last',
  'input add web v',
  'propagation apply file.yaml',
  'propagation export',
])('%s', async (words) => {
  const named = /^(input|propagation)/.exec(words)?.[0] ?? words.split(' ').slice(0, 2).join(' ');
  const { exit, err } = await cli(words.split(' '), { url: api.url });
  expect([exit, err]).toEqual([2, expect.stringContaining(`not_supported: this release has no \`${named}\``)]);
  expect(api.seen).toEqual([]);
});

test('they are in no help, and words that are misspelt are none of them', async () => {
  const { out } = await cli(['plan', '--help'], { url: api.url });
  expect(out).toContain('abandon');
  expect(out).not.toMatch(/approve|restart/);
  expect((await cli(['plan', 'aprove'], { url: api.url })).err).not.toContain('not_supported');
});

test('resource remove -r is the matter of the API', async () => {
  api.on(`DELETE ${BASE}/resources/web`, always(422, { status: 422, code: 'not_supported', detail: 'recursive' }));
  expect((await cli(['resource', 'remove', '-r', 'web'], { url: api.url })).exit).toBe(2);
  expect(api.seen[0]?.url).toContain('recursive=true');
});

const REPORT = 'a.run -> SUCCESS\nb.run -> ERROR :: exit status 1\nc.run -> ERROR_RETRY\nTotal Time: 3\n';

test('a terminal has colours, a pipe has none', () => {
  expect(painted({ terminal: false }, REPORT)).toBe(REPORT);
  expect(painted({ terminal: true, plain: true }, REPORT)).toBe(REPORT);
  expect(painted({ terminal: true }, REPORT)).toBe(
    'a.run -> \u001b[32mSUCCESS\u001b[0m\nb.run -> \u001b[31mERROR\u001b[0m :: exit status 1\nc.run -> \u001b[93mERROR_RETRY\u001b[0m\nTotal Time: 3\n',
  );
  expect(painted({ terminal: true }, 'SUCCESS: 4 PENDING: 2')).toBe(
    '\u001b[32mSUCCESS\u001b[0m: 4 \u001b[36mPENDING\u001b[0m: 2',
  );
  expect(painted({ terminal: true }, 'OTHER: 4 -> UNKNOWN')).toBe('OTHER: 4 -> UNKNOWN');
});

test('the report of a plan has them where a person looks at it, and what a target said steers nothing', async () => {
  const id = '11111111-2222-4333-8444-555555555555';
  const text = 'a.run -> ERROR :: \u001b[2Jgone\n';
  api.on(`GET ${BASE}/plans`, always(200, { plans: [{ id }], next: null }));
  api.on(`GET ${BASE}/plans/${id}`, always(200, { id }));
  api.on(`GET ${BASE}/plans/${id}/report`, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' }).end(text);
  });
  expect((await cli(['plan', 'report', id], { url: api.url })).out).toBe(text);
  const { out } = await cli(['plan', 'report', id], { url: api.url, terminal: true });
  expect(out).toContain('a.run -> \u001b[31mERROR\u001b[0m');
  expect(out).not.toContain('\u001b[2J');
});
