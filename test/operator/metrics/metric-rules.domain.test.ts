/** What a request of the module `osdk_metric` asks for, and what the cluster is asked about a token. */
import { describe, expect, test } from '@jest/globals';
import {
  accessReview,
  bearerToken,
  isAllowed,
  tokenReview,
  userOfReview,
} from '../../../domain/operator/metrics-access.ts';
import { readUserMetric, seriesOf } from '../../../domain/operator/user-metrics.ts';

const NAMED = { name: 'cache_restarts', description: 'Restarts of caches' };

describe('a metric of a playbook', () => {
  test.each([
    [{ counter: { increment: true } }, { type: 'counter', add: 1 }],
    [{ counter: { increment: true, add: 5 } }, { type: 'counter', add: 1 }],
    [{ counter: { increment: false, add: 5 } }, { type: 'counter', add: 5 }],
    [{ counter: {} }, { type: 'counter', add: 0 }],
    [{ gauge: { increment: true, set: 3 } }, { type: 'gauge', add: 1 }],
    [{ gauge: { decrement: true } }, { type: 'gauge', add: -1 }],
    [{ gauge: { add: 0, set: 3 } }, { type: 'gauge', add: 0 }],
    [{ gauge: { subtract: 2.5 } }, { type: 'gauge', add: -2.5 }],
    [{ gauge: { set: 0 } }, { type: 'gauge', set: 0 }],
    [{ gauge: { set_to_current_time: true } }, { type: 'gauge', set: 'now' }],
    [{ gauge: {} }, { type: 'gauge', add: 0 }],
    [{ histogram: { observe: 2 } }, { type: 'histogram', observe: 2 }],
    [{ summary: {} }, { type: 'summary', observe: 0 }],
    [
      { counter: { increment: true }, gauge: null },
      { type: 'counter', add: 1 },
    ],
  ])('%j', (members, change) => {
    expect(readUserMetric({ ...NAMED, ...members })).toEqual({ name: NAMED.name, help: NAMED.description, change });
  });

  test.each([
    [{}, /at least one of counter, gauge, histogram, summary/],
    [{ counter: {}, gauge: {} }, /only one of .*, not counter and gauge/],
    [{ counter: { add: -1 } }, /^counter\.add: /],
    [{ counter: { increment: 1 } }, /^counter\.increment: /],
    [{ gauge: { set: '3' } }, /^gauge\.set: /],
    [{ gauge: { set: Number.POSITIVE_INFINITY } }, /^gauge\.set: /],
    [{ name: '1st', counter: {} }, /^name: must be a name of Prometheus/],
    [{ name: 'a b', counter: {} }, /^name: /],
    [{ name: 'a'.repeat(257), counter: {} }, /^name: /],
    [{ name: undefined, counter: {} }, /^name: /],
  ])('%j is refused', (members, mistake) => {
    expect(readUserMetric({ ...NAMED, ...members })).toEqual({ mistake: expect.stringMatching(mistake) });
  });

  test.each([null, [], 'text', 7])('%j is refused', (body) => {
    expect(readUserMetric(body)).toHaveProperty('mistake');
  });

  test('a long description is cut, and none is allowed', () => {
    expect(readUserMetric({ ...NAMED, description: 'x'.repeat(5_000), counter: {} })).toMatchObject({
      help: 'x'.repeat(1_024),
    });
    expect(readUserMetric({ name: 'a', counter: {} })).toMatchObject({ help: '' });
  });

  test('writes series by its type', () => {
    expect(seriesOf('a', 'gauge')).toEqual(['a']);
    expect(seriesOf('a', 'histogram').sort()).toEqual(['a', 'a_bucket', 'a_count', 'a_sum']);
    expect(seriesOf('a', 'summary').sort()).toEqual(['a', 'a_count', 'a_sum']);
  });
});

describe('who reads metrics', () => {
  test.each([
    ['Bearer abc.def', 'abc.def'],
    ['bearer  abc ', 'abc'],
    ['Basic abc', null],
    ['Bearer', null],
    ['Bearer a b', null],
    [undefined, null],
  ])('%s', (header, token) => {
    expect(bearerToken(header)).toBe(token);
  });

  test('the cluster is asked by the token, then by the account that it names', () => {
    expect(tokenReview('t')).toMatchObject({ kind: 'TokenReview', spec: { token: 't' } });
    const user = { username: 'system:serviceaccount:m:p', uid: 'u', groups: ['g'], extra: { k: ['v'] } };
    expect(userOfReview({ status: { authenticated: true, user } })).toEqual(user);
    expect(accessReview(user).spec).toEqual({
      ...{ user: user.username, uid: 'u', groups: ['g'], extra: { k: ['v'] } },
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
    });
  });

  test.each([
    [{}, null],
    [{ status: {} }, null],
    [{ status: { authenticated: false, user: { username: 'x' } } }, null],
    [{ status: { authenticated: true } }, null],
    [{ status: { authenticated: true, user: { username: '' } } }, null],
  ])('no account follows from %j', (body, user) => {
    expect(userOfReview(body)).toBe(user);
  });

  test.each([
    [{ status: { allowed: true } }, true],
    [{ status: { allowed: true, denied: true } }, false],
    [{ status: { allowed: false } }, false],
    [{}, false],
  ])('%j allows: %s', (body, allowed) => {
    expect(isAllowed(body)).toBe(allowed);
  });
});
