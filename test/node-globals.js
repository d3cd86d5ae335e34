/** What `@jest/globals` is to a file of tests that Node itself runs: the functions of the file that is running. */
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

export let afterAll;
export let afterEach;
export let beforeAll;
export let beforeEach;
export let describe;
export let expect;
export let test;

const mocker = new ModuleMocker(globalThis);
let timers;

export const jest = {
  advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
  setSystemTime: (now) => timers.setSystemTime(now),
  spyOn: mocker.spyOn.bind(mocker),
  useFakeTimers: (options) => timers.useFakeTimers(options),
  useRealTimers: () => timers.useRealTimers(),
};

/** Before a file. */
export function prepare(config) {
  timers = new ModernFakeTimers({ config, global: globalThis });
}

/** The functions of the file that is loaded next. */
export function use(globals) {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } = globals);
}

/** After a file: nothing stays replaced for the next one. */
export function restore() {
  timers.dispose();
  mocker.restoreAllMocks();
}
