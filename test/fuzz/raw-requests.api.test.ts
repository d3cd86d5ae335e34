import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { databaseChecksum } from '../support/postgres/database-checksum.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const SEED = Number(process.env.MUSTER_TEST_SEED ?? Date.now() % 2 ** 31);
const REQUESTS = 1_500;
/** The rest is left out then; usually all take a few seconds. */
const TIME_MS = 60_000;
/** Without an answer after this long the request may be one that the server still waits for, ms. */
const PATIENCE = 150;

let api: TestApi;
let port: number;
beforeAll(async () => {
  api = await createTestApi();
  await api.call('PUT', '/v3/components', [{ id: 'x1' }]);
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = api.app.server.address() as AddressInfo);
});
afterAll(() => api.close());

const bytes = fc.string({ unit: 'binary', maxLength: 20 });
const method = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('GET', 'PUT', 'PATCH', 'POST', 'DELETE', 'HEAD') },
  { weight: 2, arbitrary: fc.constantFrom('CONNECT', 'TRACE', 'PROPFIND', 'get', 'G', 'PRI', 'GET GET', '') },
);
const target = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('/v3/components', '/v3/components/x1', '/v3/options', '/v2/sessions', '/') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('*', '//', 'http://evil.example/v3/options', '/v3/../v3/options', '/%', '/\u0000'),
  },
  { weight: 1, arbitrary: bytes.map((text) => `/${text}`) },
);
const version = fc.oneof(
  { weight: 8, arbitrary: fc.constant('HTTP/1.1') },
  fc.constantFrom('HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', 'http/1.1', '', 'HTTP/1.1 x'),
);
const line = fc.oneof(
  fc.constantFrom(
    'host: 127.0.0.1',
    'host: evil.example',
    'content-type: application/json',
    'content-type:application/json\r\n charset=utf-8',
    'content-length: 2',
    'content-length: 2, 2',
    'content-length: -1',
    'content-length: 99999999999999999999',
    'transfer-encoding: chunked',
    'transfer-encoding: gzip, chunked',
    'transfer-encoding: chunked\r\ncontent-length: 2',
    'expect: 100-continue',
    'connection: upgrade\r\nupgrade: websocket',
    'connection: keep-alive, close, x',
    'x-request-id: a\tb',
    'cookie: \u00ff\u00fe',
    'no colon',
    ': no name',
    'na me: x',
    'x: a\u0000b',
    'x: a\rb',
    ' folded: x',
    'range: bytes=0-',
    `x: ${'y'.repeat(20_000)}`,
  ),
  bytes,
);
const body = fc.oneof(
  fc.constantFrom(
    '',
    '{}',
    '[]',
    '{"enabled":true}',
    '2\r\n{}\r\n0\r\n\r\n',
    'zz\r\n{}',
    '-1\r\n',
    '0\r\nx: y\r\n\r\n',
    'ffffffffffffffffff\r\n',
  ),
  bytes,
);
const raw = fc
  .tuple(
    method,
    target,
    version,
    fc.boolean(),
    fc.array(line, { maxLength: 4 }),
    fc.constantFrom('\r\n', '\r\n', '\n', '\r'),
    body,
  )
  .map(([verb, path, protocol, hasHost, lines, end, text]) => {
    const headers = [...(hasHost ? ['host: 127.0.0.1'] : []), ...lines, 'connection: close'];
    return [`${verb} ${path} ${protocol}`, ...headers, '', text].join(end);
  });

/** What comes back for these bytes until the server closes, or for as long as it may take. */
async function exchange(text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    answer += chunk;
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(Buffer.from(text, 'utf8'));
  // It is one once a whole request that came after it has its answer: a busy machine takes its time for both.
  socket.setTimeout(PATIENCE, () => {
    void fetch(`http://127.0.0.1:${port}/v3/components/x1`)
      .then((response) => response.text())
      .finally(() => socket.destroy());
  });
  await once(socket, 'close');
  return answer;
}

test('bytes that are hardly a request get no 5xx, change nothing and leave the server well', async () => {
  process.stderr.write(`seed ${SEED}; the same again with MUSTER_TEST_SEED\n`);
  const before = await databaseChecksum(api.database.db, ['components', 'options', 'audit', 'idempotent_requests']);
  let answers = 0;
  await fc.assert(
    fc.asyncProperty(raw, async (text) => {
      api.logged.length = 0;
      const answer = await exchange(text);
      if (answer === '') return;
      answers++;
      const statuses = [...answer.matchAll(/(?:^|\r\n)HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
      expect(statuses.length).toBeGreaterThan(0);
      expect([Math.max(...statuses) < 500, statuses, api.logged.filter(({ level }) => Number(level) >= 50)]).toEqual([
        true,
        statuses,
        [],
      ]);
      if ((statuses[0] ?? 0) >= 400) expect(answer).toContain('application/problem+json');
    }),
    { seed: SEED, numRuns: REQUESTS, interruptAfterTimeLimit: TIME_MS },
  );
  expect(answers).toBeGreaterThan(50);
  expect((await api.call('GET', '/v3/components/x1')).status).toBeLessThan(500);
  expect(await databaseChecksum(api.database.db, ['components', 'options', 'audit', 'idempotent_requests'])).toBe(
    before,
  );
}, 180_000);
