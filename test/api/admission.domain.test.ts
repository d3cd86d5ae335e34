import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { bulkIfObject, classOf, type RequestShape, type RouteClass } from '../../api/server/admission/request-class.ts';
import { createRequestGate, type RequestGate } from '../../api/server/admission/request-gate.ts';

describe('the class of a request', () => {
  const large = { length: 100_000 };
  type Row = [declared: RouteClass | undefined, method: string, shape: Partial<RequestShape>, kind: string];
  test.each<Row>([
    ['quick', 'PATCH', { length: 300, isObject: true }, 'quick'],
    ['quick', 'PUT', { length: 64 * 1024 }, 'quick'],
    ['quick', 'PUT', { length: 64 * 1024 + 1 }, 'bulk'],
    ['remote', 'PUT', { length: 500, isObject: true }, 'remote'],
    ['remote', 'PUT', large, 'bulk'],
    ['bulk', 'DELETE', {}, 'bulk'],
    // Reads bring no body that is read, and an upload is never held.
    ['quick', 'GET', large, 'quick'],
    ['list', 'HEAD', large, 'list'],
    ['free', 'GET', {}, 'free'],
    ['free', 'POST', large, 'free'],
    [bulkIfObject, 'PATCH', { length: 300 }, 'quick'],
    [bulkIfObject, 'PATCH', { length: 40, isObject: true }, 'bulk'],
    [bulkIfObject, 'PATCH', large, 'bulk'],
    // A function has the last word.
    [() => 'remote', 'POST', large, 'remote'],
    [({ isOfTenant }) => (isOfTenant ? 'remote' : 'list'), 'GET', { isOfTenant: true }, 'remote'],
    [({ isOfTenant }) => (isOfTenant ? 'remote' : 'list'), 'GET', {}, 'list'],
    // A path of no route.
    [undefined, 'GET', {}, 'quick'],
  ])('of a route that says %p, for %s of %p, is %s', (declared, method, shape, kind) => {
    expect(classOf(declared, method, shape)).toBe(kind);
  });
});

describe('the gate', () => {
  let now: number;
  let gate: RequestGate;
  /** Names of those that were let in and refused, in order. */
  let log: string[];

  beforeEach(() => {
    jest.useFakeTimers();
    now = 0;
    log = [];
    gate = createRequestGate({ active: 2, burst: 5, patience: 300, longest: 1_000 }, () => now);
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const come = (...names: string[]) => {
    for (const name of names) gate.enter().then((isIn) => log.push(isIn ? name : `not ${name}`));
  };
  const pass = async (milliseconds: number) => {
    now += milliseconds;
    await jest.advanceTimersByTimeAsync(milliseconds);
  };
  const leave = async (times = 1) => {
    for (let time = 0; time < times; time++) gate.leave();
    await pass(0);
  };

  test('lets in as many as may work, and the others in order as places become free', async () => {
    come('a', 'b', 'c', 'd');
    await pass(0);
    expect(log).toEqual(['a', 'b']);
    expect(gate.counts()).toEqual({ active: 2, waiting: 2 });
    await leave();
    expect(log).toEqual(['a', 'b', 'c']);
    await leave(3);
    expect(log).toEqual(['a', 'b', 'c', 'd']);
    expect(gate.counts()).toEqual({ active: 0, waiting: 0 });
  });

  test('refuses at once what finds the queue full', async () => {
    come('a', 'b', 'c', 'd', 'e', 'f', 'g');
    await pass(0);
    expect(gate.isShut()).toBe(true);
    come('h');
    await pass(0);
    expect(log).toEqual(['a', 'b', 'not h']);
  });

  test('serves the newest first when the oldest has waited for long', async () => {
    come('a', 'b', 'c', 'd');
    await pass(301);
    come('e');
    await leave();
    expect(log).toEqual(['a', 'b', 'e']);
    await leave();
    expect(log).toEqual(['a', 'b', 'e', 'd']);
  });

  test('a burst waits for its longest time; then all are refused, and for a while nobody waits', async () => {
    come('a', 'b', 'c');
    await pass(950);
    come('d');
    expect(log).toEqual(['a', 'b']);
    await pass(50);
    expect(log).toEqual(['a', 'b', 'not c', 'not d']);
    come('e');
    await pass(0);
    expect(log.at(-1)).toBe('not e');
    await leave();
    come('f');
    await pass(0);
    expect(log.at(-1)).toBe('f');
    expect(gate.isShut()).toBe(true);
    await pass(1_000);
    expect(gate.isShut()).toBe(false);
  });

  test('a load that lasts waits for no longer than twice the patience', async () => {
    come('a', 'b');
    for (let index = 0; index < 6; index++) {
      come(`r${index}`);
      await pass(50);
    }
    expect(gate.counts().waiting).toBe(5);
    expect(log).toEqual(['a', 'b', 'not r5']);
    await pass(250);
    expect(log.filter((line) => line.startsWith('not'))).toHaveLength(1);
    await pass(50);
    expect(log.filter((line) => line.startsWith('not'))).toHaveLength(6);
  });

  test('a steady number of clients is never refused', async () => {
    come('a', 'b', 'c', 'd', 'e', 'f');
    for (let turn = 0; turn < 200; turn++) {
      await pass(50);
      await leave();
      come(`again ${turn}`);
      await pass(0);
    }
    expect(log.filter((line) => line.startsWith('not'))).toEqual([]);
    expect(log.slice(0, 8)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'again 0', 'again 1']);
  });

  test('stays shut for longer while the load lasts, and forgets that when it is over', async () => {
    const shutFor = async () => {
      come('waiting');
      while (gate.counts().waiting > 0) await pass(50);
      let shut = 0;
      for (; gate.isShut(); shut += 100) await pass(100);
      return shut;
    };
    come('a', 'b');
    const times: number[] = [];
    for (let turn = 0; turn < 6; turn++) times.push(await shutFor());
    expect(times).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 16_000]);
    await pass(10_000);
    expect(await shutFor()).toBe(1_000);
  });

  test('of many that come at once each is answered once, whatever happens', async () => {
    const all = Array.from({ length: 500 }, (_, index) => `r${index}`);
    for (const name of all) {
      come(name);
      await pass(7);
      if (gate.counts().active > 0 && now % 3 === 0) await leave();
    }
    await pass(2_000);
    expect(log.map((line) => line.replace('not ', '')).sort()).toEqual([...all].sort());
    expect(gate.counts().waiting).toBe(0);
  });
});
