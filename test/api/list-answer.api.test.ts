import { afterAll, beforeAll, expect, test } from '@jest/globals';
import Fastify, { type FastifyInstance } from 'fastify';
import { type RecordPages, sendWholeList } from '../../api/server/list-answer.ts';
import { answerV2Error } from '../../api/server/problems.ts';

/** Lists of numbers by the sizes of their batches, one entry for each time the list is opened. */
let lists: { batches: number[]; more: boolean }[] = [];
let read = 0;
let app: FastifyInstance;
beforeAll(async () => {
  app = Fastify();
  app.decorateRequest('caller', null);
  app.setErrorHandler(answerV2Error);
  app.get('/', (_request, reply) =>
    sendWholeList(
      reply,
      async () => open(),
      (one) => -one,
    ),
  );
  await app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => app.close());

function open(): RecordPages<number> {
  const list = lists.shift();
  if (list === undefined) throw new Error('opened too often');
  let ended = false;
  async function* batches(sizes: number[]): AsyncGenerator<number[]> {
    let next = 0;
    for (const size of sizes) {
      read += size;
      yield Array.from({ length: size }, () => ++next);
    }
    ended = true;
  }
  return { limit: 7, batches: batches(list.batches), more: () => ended && list.more };
}

async function get() {
  read = 0;
  return fetch(`http://127.0.0.1:${(app.server.address() as { port: number }).port}/`);
}

test.each([[[]], [[0]], [[3]], [[3, 1]], [[3, 3, 1]], [[1, 0, 1, 0]]])(
  'batches of %j are one array',
  async (batches) => {
    lists = [
      { batches, more: false },
      { batches, more: false },
    ];
    const all = batches.reduce((sum, size) => sum + size, 0);
    const answer = await get();
    expect(await answer.json()).toEqual(Array.from({ length: all }, (_, index) => -1 - index));
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    // A list of one batch is read once.
    if (batches.length < 2) expect(lists).toHaveLength(1);
  },
);

test.each([[[7]], [[5, 2]], [[3, 3, 1]]])('batches of %j with more behind them are refused', async (batches) => {
  lists = [{ batches, more: true }];
  const answer = await get();
  expect([answer.status, await answer.json()]).toEqual([
    400,
    expect.objectContaining({ title: 'The response size is too large', detail: expect.stringContaining('7') }),
  ]);
  expect(read).toBe(7);
});

test('a list that has grown since it was counted is broken off, not cut short', async () => {
  lists = [
    { batches: [3, 3, 1], more: false },
    { batches: [3, 3, 1], more: true },
  ];
  const answer = await get();
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow();
});
