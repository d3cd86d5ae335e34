import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createHsmClient } from '../../drivers/inventory/hsm-client.ts';
import { makeCertificates } from '../support/git/git-http-server.ts';

const signal = new AbortController().signal;
const answers: Record<string, unknown> = {
  '/hsm/v2/groups': [
    { label: 'gpu', members: { ids: ['x1'] } },
    { label: 'none', members: { ids: [] } },
  ],
  '/hsm/v2/partitions': [{ name: 'p1', members: { ids: ['x1', 'x2'] } }],
  '/hsm/v2/State/Components?type=node': {
    Components: [
      { ID: 'x1', Role: 'Compute', State: 'Off' },
      { ID: 'x3', Role: null },
    ],
  },
};
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Starts a hardware manager whose `fail` may answer instead; `calls` lists the paths asked for. */
async function hsm(
  fail?: (path: string, call: number) => number | 'cut' | 'hang' | 'rubbish' | null,
  tls?: { key: string; cert: string },
) {
  const calls: string[] = [];
  const handle: RequestListener = (request, response) => {
    const path = request.url ?? '';
    calls.push(path);
    const failure = fail?.(path, calls.filter((one) => one === path).length) ?? null;
    if (failure === 'cut') request.socket.destroy();
    else if (failure === 'rubbish') response.end('<html>');
    else if (typeof failure === 'number') response.writeHead(failure).end('{}');
    else if (failure === null) response.end(JSON.stringify(answers[path]));
  };
  const server = tls ? createTlsServer(tls, handle) : createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  const baseUrl = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}/hsm/v2/`;
  return { calls, baseUrl };
}

test('reads groups, partitions and node components', async () => {
  const { baseUrl, calls } = await hsm();
  const { records, warnings } = await createHsmClient({ baseUrl })({ signal, allowPartial: false });
  expect(records).toEqual({
    groups: [
      { label: 'gpu', members: ['x1'] },
      { label: 'none', members: [] },
    ],
    partitions: [{ name: 'p1', members: ['x1', 'x2'] }],
    components: [{ ID: 'x1', Role: 'Compute' }, { ID: 'x3' }],
  });
  expect(warnings).toEqual([]);
  expect(calls.sort()).toEqual(Object.keys(answers).sort());
});

test.each([500, 502, 503, 504, 'cut'] as const)('tries again after %s', async (failure) => {
  const { baseUrl, calls } = await hsm((_path, call) => (call <= 3 ? failure : null));
  const read = createHsmClient({ baseUrl, backoffFactor: 0.001 });
  expect((await read({ signal, allowPartial: false })).records.groups).toHaveLength(2);
  expect(calls).toHaveLength(12);
});

test.each([404, 400, 'rubbish'] as const)('does not try again after %s', async (failure) => {
  const { baseUrl, calls } = await hsm((path) => (path.endsWith('groups') ? failure : null));
  await expect(createHsmClient({ baseUrl })({ signal, allowPartial: false })).rejects.toMatchObject({
    code: 'inventory_failed',
    detail: expect.stringContaining('/hsm/v2/groups'),
  });
  expect(calls.filter((path) => path.endsWith('groups'))).toHaveLength(1);
});

test('gives up after ten more tries, and then the inventory fails', async () => {
  const { baseUrl, calls } = await hsm((path) => (path.endsWith('partitions') ? 503 : null));
  const read = createHsmClient({ baseUrl, backoffFactor: 0.0001 });
  await expect(read({ signal, allowPartial: false })).rejects.toMatchObject({ code: 'inventory_failed' });
  expect(calls.filter((path) => path.endsWith('partitions'))).toHaveLength(11);
});

test('a failed query leaves its part empty, with a warning, where that is allowed', async () => {
  const { baseUrl } = await hsm((path) => (path.includes('Components') ? 404 : null));
  const { records, warnings } = await createHsmClient({ baseUrl })({ signal, allowPartial: true });
  expect(records.components).toEqual([]);
  expect(records.groups).toHaveLength(2);
  expect(warnings).toEqual([expect.stringContaining('State/Components')]);
});

test('a password in its address is told nobody', async () => {
  const { baseUrl } = await hsm(() => 404);
  const read = createHsmClient({ baseUrl: baseUrl.replace('//', '//muster:s3cret@') });
  const { warnings } = await read({ signal, allowPartial: true });
  const failure = await read({ signal, allowPartial: false }).catch((error: unknown) => error);
  expect(warnings).toHaveLength(3);
  expect(failure).toMatchObject({ code: 'inventory_failed', detail: expect.stringContaining('/hsm/v2/') });
  expect(`${warnings} ${failure}`).not.toContain('s3cret');
});

test('a server that says nothing counts as a failed connection', async () => {
  const { baseUrl } = await hsm((_path, call) => (call === 1 ? 'hang' : null));
  const read = createHsmClient({ baseUrl, idleTimeoutMs: 200 });
  expect((await read({ signal, allowPartial: false })).records.groups).toHaveLength(2);
});

test.each([true, false])('an abort ends the wait between tries at once (partial allowed: %s)', async (allowPartial) => {
  const { baseUrl } = await hsm(() => 503);
  const controller = new AbortController();
  const reason = new Error('enough');
  const reading = createHsmClient({ baseUrl, backoffFactor: 60 })({ signal: controller.signal, allowPartial });
  controller.abort(reason);
  await expect(reading).rejects.toBe(reason);
});

test('trusts the authority of a file', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'muster-hsm-'));
  stops.push(() => rm(dir, { recursive: true, force: true }));
  const { tls, caFile } = makeCertificates(dir);
  const { baseUrl } = await hsm(undefined, tls);
  expect((await createHsmClient({ baseUrl, caFile })({ signal, allowPartial: false })).records.groups).toHaveLength(2);
  await expect(createHsmClient({ baseUrl, retries: 0 })({ signal, allowPartial: false })).rejects.toMatchObject({
    code: 'inventory_failed',
  });
});

describe('an entry whose members are no list of ids', () => {
  const broken: [string, object, string][] = [
    ['nothing', {}, 'is absent'],
    ['members without ids', { members: {} }, 'is absent'],
    ['null', { members: { ids: null } }, 'is null'],
    ['an object', { members: { ids: { x1: true } } }, 'is an object'],
    ['a text', { members: { ids: 'x1' } }, 'is a string'],
    ['a list with null', { members: { ids: ['x1', null] } }, 'holds null'],
    ['a list with a list', { members: { ids: [['x1']] } }, 'holds a list'],
  ];
  const answerWith = (entry: object) => {
    const before = { groups: answers['/hsm/v2/groups'], partitions: answers['/hsm/v2/partitions'] };
    answers['/hsm/v2/groups'] = [
      { label: 'bad', ...entry },
      { label: 'good', members: { ids: ['x1', 17, 0] } },
    ];
    answers['/hsm/v2/partitions'] = [
      { name: 'bad', ...entry },
      { name: 'p1', members: { ids: ['x2'] } },
    ];
    stops.push(async () => {
      answers['/hsm/v2/groups'] = before.groups;
      answers['/hsm/v2/partitions'] = before.partitions;
    });
  };

  test.each(broken)('fails the inventory and is named: %s', async (_what, entry, why) => {
    answerWith(entry);
    const { baseUrl } = await hsm();
    await expect(createHsmClient({ baseUrl })({ signal, allowPartial: false })).rejects.toMatchObject({
      code: 'inventory_failed',
      detail: expect.stringMatching(new RegExp(`members.ids of the entry bad ${why}`)),
    });
  });

  test.each(broken)('is left out alone, with a warning, of a partial inventory: %s', async (_what, entry, why) => {
    answerWith(entry);
    const { baseUrl } = await hsm();
    const { records, warnings } = await createHsmClient({ baseUrl })({ signal, allowPartial: true });
    expect(records.groups).toEqual([{ label: 'good', members: ['x1', '17', '0'] }]);
    expect(records.partitions).toEqual([{ name: 'p1', members: ['x2'] }]);
    expect(warnings).toHaveLength(2);
    for (const warning of warnings) expect(warning).toContain(`members.ids of the entry bad ${why}`);
  });
});
