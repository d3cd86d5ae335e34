/** The audit as its page shows it. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AuditRecord } from '../../domain/audit/schema.ts';
import { readingRefusal } from '../../web/src/access/may.ts';
import { AUDIT_FILTERS, byRequest, changedMembers, readAuditSearch } from '../../web/src/audit/requests.ts';
import { listPath } from '../../web/src/shared/list/filters.ts';

const record = (name: string, request_id: string | null, more: Partial<AuditRecord> = {}): AuditRecord => ({
  ...{
    id: `1-${name}`,
    time: '2026-11-21T10:00:00.000Z',
    actor: 'token/ci',
    action: 'update',
    kind: 'component',
    name,
  },
  ...{ before: { enabled: true }, after: { enabled: false }, request_id, via: 'POST /api/v1/components/actions' },
  reason: null,
  ...more,
});

describe('the URL', () => {
  test.each<[Record<string, unknown>, object]>([
    [
      { actor: 'token/ci', name: 7 },
      { actor: 'token/ci', name: '7' },
    ],
    [{ since: '2026-11-21T10:00:00Z' }, { since: '2026-11-21T10:00:00Z' }],
    [{ since: 'yesterday', after_id: 'x', other: 1 }, { dropped: ['since', 'after_id'] }],
  ])('%j says %j', (given, read) => expect(readAuditSearch(given)).toEqual(read));

  test('is what the API is asked for', () => {
    expect(listPath('/audit', AUDIT_FILTERS, { kind: 'component', after_id: '1-2' }, { limit: '500' })).toBe(
      '/audit?limit=500&kind=component&after_id=1-2',
    );
  });
});

describe('rows', () => {
  test('are requests, with the names of their records', () => {
    const records = [
      record('n2', 'b'),
      record('n1', 'b', { reason: 'the disk is new' }),
      record('site', 'a', { kind: 'configuration', action: 'create' }),
      record('n1', 'a'),
    ];
    expect(byRequest(records, false).map(({ what, which, reason, isCut }) => [what, which, reason, isCut])).toEqual([
      [['update component'], 'n2, n1', 'the disk is new', false],
      [['create configuration', 'update component'], 'site, n1', null, false],
    ]);
  });

  test('are records where Muster did it by itself', () => {
    expect(byRequest([record('n1', null), record('n2', null)], true).map(({ which }) => which)).toEqual(['n1', 'n2']);
  });

  test('count what are many, and say where more may follow', () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => record(`n${at}`, 'a'));
    expect(byRequest(many(20), false)[0]?.which.split(', ')).toHaveLength(20);
    expect(byRequest(many(21), false)[0]?.which).toBe('21 records');
    expect(byRequest(many(3), true)[0]?.which).toBe('3 or more records');
  });

  test('have each record once, in the order in which they came', () => {
    const id = fc.constantFrom('a', 'b', null);
    fc.assert(
      fc.property(fc.array(id), fc.boolean(), (requests, hasMore) => {
        const records = requests.map((request, at) => record(`n${at}`, request));
        expect(byRequest(records, hasMore).flatMap((one) => one.records)).toEqual(records);
      }),
    );
  });
});

test('members that changed, as they were and are', () => {
  expect(changedMembers({ before: { a: 1 }, after: { a: 2, b: 'x' } })).toEqual([
    { member: 'a', before: '1', after: '2' },
    { member: 'b', before: '', after: '"x"' },
  ]);
  expect(changedMembers({ before: null, after: { id: 'n1' } })).toEqual([{ member: 'id', before: '', after: '"n1"' }]);
});

test.each<['admin' | 'operator' | 'reader' | 'node', boolean]>([
  ['admin', true],
  ['operator', true],
  ['reader', false],
  ['node', false],
])('role %s may read what needs an operator: %s', (role, may) => {
  expect(readingRefusal({ role }) === null).toBe(may);
  expect(readingRefusal(undefined)).not.toBeNull();
});
