import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openFailureBook } from '../../api/server/access/failure-book.ts';
import { hashToken, newToken } from '../../control/access/token-secret.ts';
import {
  afterFailure,
  FAILURE_RULES,
  type FailureCount,
  isLoopback,
  LOOPBACK_RULES,
  sourceOf,
  waitOf,
} from '../../domain/access/failure-limit.ts';

const book = () => openFailureBook((token) => hashToken(token).toString('hex'));

describe('waits', () => {
  test.each([
    [10, 0],
    [11, 1_000],
    [12, 2_000],
    [16, 32_000],
    [17, 60_000],
    [1_000, 60_000],
  ])('after %i failures it is %i ms', (failures, wait) => {
    let count: FailureCount | undefined;
    for (let index = 0; index < failures; index += 1) count = afterFailure(count, 0, FAILURE_RULES);
    expect(waitOf(count, 0)).toBe(wait);
    expect(waitOf(count, wait)).toBe(0);
  });

  test('never get longer than the rules say, and quiet time ends them', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(700_000), { maxLength: 100 }),
        fc.constantFrom(FAILURE_RULES, LOOPBACK_RULES),
        (pauses, rules) => {
          let now = 0;
          let count: FailureCount | undefined;
          for (const pause of pauses) {
            now += pause;
            count = afterFailure(count, now, rules);
            expect(waitOf(count, now)).toBeLessThanOrEqual(rules.longestWait);
          }
          expect(waitOf(afterFailure(count, now + rules.forgetAfter, rules), now + rules.forgetAfter)).toBe(0);
        },
      ),
    );
  });
});

test.each([
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['', ''],
])('%s counts as %s', (address, source) => expect(sourceOf(address)).toBe(source));

test.each([
  ['127.0.0.1', true],
  ['127.8.9.1', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['10.127.0.1', false],
  ['::ffff:10.0.0.1', false],
  ['fe80::1', false],
])('%s is loopback: %s', (address, expected) => expect(isLoopback(address)).toBe(expected));

describe('the book', () => {
  const fail = (open: ReturnType<typeof book>, address: string, token: string | null, times: number) => {
    for (let index = 0; index < times; index += 1) open.failed(address, token, 0);
  };

  test('an address that fails waits; another does not', () => {
    const open = book();
    fail(open, '10.0.0.1', 'wrong', 12);
    expect(open.wait('10.0.0.1', 'other', 0)).toBe(2_000);
    expect(open.wait('10.0.0.2', 'other', 0)).toBe(0);
    expect(open.wait('10.0.0.1', 'other', 2_000)).toBe(0);
  });

  test('a token that was accepted is not stopped by what others behind its address do', () => {
    const open = book();
    const good = newToken('api');
    open.accepted(good);
    fail(open, '10.0.0.1', 'wrong', 50);
    expect(open.wait('10.0.0.1', good, 0)).toBe(0);
    open.failed('10.0.0.1', good, 0);
    expect(open.wait('10.0.0.1', good, 0)).toBe(60_000);
  });

  test('a token tried from everywhere waits everywhere', () => {
    const open = book();
    const token = newToken('api');
    for (let index = 0; index < 12; index += 1) open.failed(`10.0.0.${index}`, token, 0);
    expect(open.wait('10.9.9.9', token, 0)).toBe(2_000);
    expect(open.wait('10.9.9.9', newToken('api'), 0)).toBe(0);
  });

  test('users of this machine wait 2 s at most', () => {
    const open = book();
    fail(open, '127.0.0.1', 'wrong', 1_000);
    expect(open.wait('127.0.0.1', 'right', 0)).toBe(2_000);
  });

  test('its memory is bounded whoever comes', () => {
    const open = book();
    fail(open, '10.0.0.1', 'wrong', 12);
    for (let index = 0; index < 10_000; index += 1) open.failed(`2001:db8:${index.toString(16)}::1`, null, 0);
    expect(open.wait('10.0.0.1', 'wrong', 0)).toBe(0);
    for (let index = 0; index < 10_001; index += 1) open.accepted(`token ${index}`);
    fail(open, '10.0.0.2', 'wrong', 12);
    expect(open.wait('10.0.0.2', 'token 0', 0)).toBe(2_000);
    expect(open.wait('10.0.0.2', 'token 10000', 0)).toBe(0);
  });
});
