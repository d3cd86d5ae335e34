import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type HardwareEntry, hardwareSyncTrouble, nodeIds } from '../../domain/components/hardware-sync.ts';

describe('nodes of the hardware manager', () => {
  test.each([
    [
      'nodes and virtual nodes',
      [
        { ID: 'x2', Type: 'Node' },
        { ID: 'v1', Type: 'VirtualNode' },
      ],
      ['v1', 'x2'],
    ],
    ['nothing else', [{ ID: 'x1', Type: 'NodeBMC' }, { ID: 'x2', Type: 'node' }, { ID: 'x3' }], []],
    ['no entry without an id', [{ Type: 'Node' }, { ID: '', Type: 'Node' }, { ID: 7, Type: 'Node' }, {}], []],
    [
      'each once',
      [
        { ID: 'x1', Type: 'Node' },
        { ID: 'x1', Type: 'VirtualNode' },
      ],
      ['x1'],
    ],
  ] as [string, HardwareEntry[], string[]][])('%s', (_, entries, ids) => {
    expect(nodeIds(entries)).toEqual({ ids, leftOut: 0 });
  });
  test.each(['a\0b', '\ud800', 'x'.repeat(601)])('%j can be no component and is counted', (ID) => {
    expect(
      nodeIds([
        { ID, Type: 'Node' },
        { ID: 'x1', Type: 'Node' },
      ]),
    ).toEqual({ ids: ['x1'], leftOut: 1 });
  });
  test('whatever comes, ids are sorted, once each, and of nodes', () => {
    const entry = fc.record({
      ID: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a', 'b'), fc.anything()),
      Type: fc.oneof(fc.constantFrom('Node', 'VirtualNode', 'NodeBMC'), fc.anything()),
    });
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const { ids } = nodeIds(entries);
        expect(ids).toEqual([...new Set(ids)].sort());
        for (const id of ids)
          expect(entries.some(({ ID, Type }) => ID === id && (Type === 'Node' || Type === 'VirtualNode'))).toBe(true);
      }),
    );
  });
});

describe('the sync', () => {
  const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21, 10) + seconds * 1_000);
  const record = { lastPassAt: at(0), lastSuccessAt: at(0), interval: 10, reason: null, found: 1, created: 0 };
  test.each([
    ['is well while passes come', record, 10, null],
    ['is well for 20 s more', record, 30, null],
    ['is dead after that', record, 31, 'no pass for 31 s; every 10 s there should be one'],
    ['is dead later with a longer interval', { ...record, interval: 600 }, 620, null],
    ['is not well when the last pass failed', { ...record, reason: 'away' }, 1, 'away'],
    ['is well when the clock was set back', record, -100, null],
  ])('%s', (_, stored, seconds, trouble) => expect(hardwareSyncTrouble(stored, at(seconds))).toBe(trouble));
});
