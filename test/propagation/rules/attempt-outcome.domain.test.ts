import { describe, expect, test } from '@jest/globals';
import { interruptionOf, resultOfBroken, shellOutcome } from '../../../domain/propagation/attempt-outcome.ts';

describe('the outcome of a shell action', () => {
  const given = { 0: 'changed', 10: 'ok', 20: 'failed', 30: 'error' } as const;
  test.each([
    [0, given, '', 'changed'],
    [0, given, 'MUSTER_OUTCOME=ok', 'changed'],
    [10, given, '', 'ok'],
    [20, given, '', 'failed'],
    [30, given, '', 'error'],
    [40, given, '', 'failed'],
    [0, {}, '', 'changed'],
    [0, {}, 'text\nMUSTER_OUTCOME=ok\ntext', 'ok'],
    [0, {}, 'MUSTER_OUTCOME=ok\nMUSTER_OUTCOME=changed\n', 'changed'],
    [0, {}, 'MUSTER_OUTCOME=ok\r\n', 'ok'],
    [0, {}, 'echo MUSTER_OUTCOME=ok', 'changed'],
    [0, {}, 'MUSTER_OUTCOME=okay', 'changed'],
    [1, {}, 'MUSTER_OUTCOME=ok', 'failed'],
  ] as const)('of status %i with %j after %j is %s', (status, outcomes, output, outcome) =>
    expect(shellOutcome(status, outcomes, output)).toBe(outcome),
  );
});

describe('a run is ended', () => {
  const clocks = { timelimit: 10, timeout: 20 };
  test.each([
    [false, 9, clocks, null],
    [false, 10, clocks, 'timelimit'],
    [true, 10, clocks, 'cancelled'],
    [false, 19, { timelimit: 0, timeout: 20 }, null],
    [false, 20, { timelimit: 0, timeout: 20 }, 'timeout'],
    [false, 1e9, { timelimit: 0, timeout: 0 }, null],
  ] as const)('wanted %s, after %i s, with %j: %s', (wanted, seconds, limits, expected) =>
    expect(interruptionOf(wanted, seconds, limits)).toBe(expected),
  );
});

describe('a run that came to no end of its own', () => {
  test.each([
    [{ exitCode: 0, interruption: null, isGone: true }, null],
    [
      { exitCode: null, interruption: null, isGone: true },
      { code: 'run_lost', verified: true },
    ],
    [
      { exitCode: null, interruption: null, isGone: false },
      { code: 'run_lost', message: 'The run was lost (not verified)', verified: false },
    ],
    [
      { exitCode: 143, interruption: 'cancelled', isGone: true },
      { code: 'cancelled', message: 'Cancelled' },
    ],
    [
      { exitCode: null, interruption: 'timelimit', isGone: true },
      { message: 'ExecutionTimeout', outcome: 'error' },
    ],
    [{ exitCode: null, interruption: 'timeout', isGone: false }, { message: 'Timeout Error (not verified)' }],
  ] as const)('%j', (run, expected) => {
    const result = resultOfBroken(run);
    if (expected === null) expect(result).toBeNull();
    else expect(result).toMatchObject(expected);
  });
});
