/** The sweep goes through the lanes, one after the other, and none keeps another one from its turn. */
import { beforeEach, expect, test } from '@jest/globals';
import { createLaneSweeps, type LaneSweep } from '../../activities/sweep-lanes.ts';

let swept: string[];
let logged: { lane: string; message: string }[];
beforeEach(() => {
  swept = [];
  logged = [];
});

const log = {
  warn: (fields: object, message: string) => void logged.push({ lane: (fields as { lane: string }).lane, message }),
};
const never = new AbortController().signal;
const lane = (name: string, more: (signal: AbortSignal) => Promise<void> = async () => undefined): LaneSweep => ({
  lane: name,
  sweep: (signal) => {
    swept.push(name);
    return more(signal);
  },
});

test('in their order, one at a time', async () => {
  let open = 0;
  const slow = async () => {
    open += 1;
    expect(open).toBe(1);
    await new Promise(setImmediate);
    open -= 1;
  };
  await createLaneSweeps({ laneSweeps: ['a', 'b', 'c'].map((name) => lane(name, slow)), log })(never);
  expect(swept).toEqual(['a', 'b', 'c']);
  expect(logged).toEqual([]);
});

test('past one that fails, which is logged and comes again', async () => {
  const fails = lane('a', async () => {
    throw new Error('no database');
  });
  const sweep = createLaneSweeps({ laneSweeps: [fails, lane('b')], log });
  await sweep(never);
  await sweep(never);
  expect(swept).toEqual(['a', 'b', 'a', 'b']);
  const failure = { lane: 'a', message: 'the sweep of a lane failed; it comes again' };
  expect(logged).toEqual([failure, failure]);
});

test('past one that takes too long, which is told so and does not begin again before it is over', async () => {
  const going = Promise.withResolvers<void>();
  let signal: AbortSignal | undefined;
  const long = lane('a', (given) => {
    signal = given;
    return going.promise;
  });
  const sweep = createLaneSweeps({ laneSweeps: [long, lane('b')], log, laneMs: 20 });
  await sweep(never);
  expect(signal?.aborted).toBe(true);
  await sweep(never);
  expect(swept).toEqual(['a', 'b', 'b']);
  expect(logged).toEqual([
    { lane: 'a', message: 'the sweep of a lane takes long; the other lanes do not wait for it' },
  ]);
  going.resolve();
  await new Promise(setImmediate);
  await sweep(never);
  expect(swept).toEqual(['a', 'b', 'b', 'a', 'b']);
});

test('no further when it is aborted, and the lane at work hears it', async () => {
  const ended = new AbortController();
  let heard = false;
  const sweep = createLaneSweeps({
    laneSweeps: [
      lane('a', async (signal) => {
        ended.abort();
        heard = signal.aborted;
      }),
      lane('b'),
    ],
    log,
  });
  await expect(sweep(ended.signal)).rejects.toThrow('aborted');
  expect([swept, heard]).toEqual([['a'], true]);
});
