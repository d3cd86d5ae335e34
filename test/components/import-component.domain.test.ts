import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { importedComponent } from '../../domain/components/import-component.ts';
import { ForeignComponentSchema } from '../../domain/components/import-schema.ts';
import { importOutcome, importResult, importWrites, sameJson, withoutAbsent } from '../../domain/import-record.ts';

const options = { now: '2026-11-21T10:00:00Z', enable: true };
const layer = {
  clone_url: 'https://git.example.test/a.git',
  playbook: 'site.yml',
  commit: 'a'.repeat(40),
  status: 'failed' as const,
  session_name: 's',
  last_updated: '2025-01-01T00:00:00Z',
};

describe('a foreign component', () => {
  test.each([
    [{}, { state: [], desired_config: '', error_count: 0, enabled: false, tags: {} }, ['it had no state']],
    [{ state: 'x' }, { state: [] }, ['its state was no list and is left out']],
    [{ state: [layer] }, { state: [layer] }, []],
    [
      { state: [{ ...layer, commit: 'c_incomplete' }] },
      { state: [{ ...layer, commit: 'c', status: 'incomplete' }] },
      [],
    ],
    [{ state: [{ ...layer, status: null }] }, { state: [{ ...layer, status: 'applied' }] }, []],
    [{ state: [{ ...layer, last_updated: null }] }, { state: [{ ...layer, last_updated: options.now }] }, []],
    [{ state: [{ ...layer, status: 'gone' }] }, { state: [] }, [expect.stringContaining('state.0 left out: status')]],
    [
      { state: [], enabled: true, error_count: -3, retry_policy: -1 },
      { enabled: true, error_count: -3, retry_policy: -1 },
      [],
    ],
    [{ state: [], tags: { a: 'b', c: '', d: 1 } }, { tags: { a: 'b' } }, ['tag d left out: it is no text']],
  ])('%j', (foreign, expected, notes) => {
    const imported = importedComponent(ForeignComponentSchema.parse({ id: 'x', ...foreign }), undefined, options);
    expect(imported.component).toMatchObject({ id: 'x', ...expected });
    expect(imported.notes).toEqual(notes);
  });

  test('disabled where nothing shall start', () => {
    const foreign = ForeignComponentSchema.parse({ id: 'x', state: [], enabled: true });
    expect(importedComponent(foreign, undefined, { ...options, enable: false }).component.enabled).toBe(false);
  });

  test('imported again, each of two layers that are equal but for the time keeps its own', () => {
    const layer = { clone_url: 'a', playbook: 'b', commit: 'c', status: 'applied', session_name: 's' };
    const state = [
      { ...layer, last_updated: '2025-01-01T00:00:00Z' },
      { ...layer, last_updated: null },
    ];
    const read = ForeignComponentSchema.parse({ id: 'x', state });
    const first = importedComponent(read, undefined, options).component;
    const second = importedComponent(read, first, { ...options, now: '2030-01-01T00:00:00Z' }).component;
    expect(second).toEqual(first);
    expect(second.state.map(({ last_updated }) => last_updated)).toEqual(['2025-01-01T00:00:00Z', options.now]);
  });

  test('imported again, at any later time, it is the same', () => {
    const text = fc.string({ maxLength: 6 });
    const state = fc.array(
      fc.record(
        {
          clone_url: text,
          playbook: text,
          commit: fc.constantFrom('a', 'b_failed', 'c_'),
          status: fc.constantFrom('applied', 'failed', null, 'other'),
          session_name: fc.option(text),
          last_updated: fc.constantFrom(null, '', '2025-01-01T00:00:00Z'),
        },
        { requiredKeys: [] },
      ),
    );
    const record = fc.record({ id: fc.constant('x'), state, tags: fc.dictionary(text, fc.oneof(text, fc.integer())) });
    fc.assert(
      fc.property(record, (foreign) => {
        const read = ForeignComponentSchema.parse(foreign);
        const first = importedComponent(read, undefined, options).component;
        const second = importedComponent(read, first, { ...options, now: '2030-01-01T00:00:00Z' }).component;
        expect(second).toEqual(first);
        expect(sameJson(second, first)).toBe(true);
      }),
    );
  });
});

describe('records of an import', () => {
  test('equality as JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        expect(sameJson(one, structuredClone(one))).toBe(true);
        const sorted = (value: unknown): unknown =>
          Array.isArray(value)
            ? value.map(sorted)
            : value !== null && typeof value === 'object'
              ? Object.fromEntries(
                  Object.entries(value)
                    .sort(([name], [next]) => (name < next ? -1 : 1))
                    .map(([name, item]) => [name, sorted(item)]),
                )
              : value;
        expect(sameJson(one, other)).toBe(JSON.stringify(sorted(one)) === JSON.stringify(sorted(other)));
      }),
      // -0 is 0 in JSON.
      {
        examples: [
          [
            { a: 1, b: [2] },
            { b: [2], a: 1 },
          ],
        ],
      },
    );
    expect(sameJson({ a: undefined }, {})).toBe(true);
  });

  test('null and empty text are absent, at every depth', () => {
    expect(withoutAbsent({ a: null, b: '', c: [{ d: null, e: 0 }], f: false })).toEqual({ c: [{ e: 0 }], f: false });
  });

  test.each([
    [false, false, { keep: false }, 'created', true],
    [false, false, { keep: true }, 'created', true],
    [true, true, { keep: false }, 'equal', false],
    [true, true, { keep: true }, 'equal', false],
    [true, false, { keep: false }, 'changed', true],
    [true, false, { keep: true }, 'skipped', false],
  ] as const)('stored %s, equal %s, %j: %s', (stored, equal, { keep }, outcome, writes) => {
    expect(importOutcome(stored, equal, { keep, dryRun: false })).toBe(outcome);
    expect(importWrites(outcome, { keep, dryRun: false })).toBe(writes);
    expect(importWrites(outcome, { keep, dryRun: true })).toBe(false);
  });

  test('what is skipped says why', () => {
    expect(importResult('a', 'skipped', [])).toEqual({
      name: 'a',
      outcome: 'skipped',
      detail: 'it exists and differs',
    });
    expect(importResult('a', 'created', ['x', 'y'])).toEqual({ name: 'a', outcome: 'created', detail: 'x; y' });
    expect(importResult('a', 'equal', [])).toEqual({ name: 'a', outcome: 'equal' });
  });
});
