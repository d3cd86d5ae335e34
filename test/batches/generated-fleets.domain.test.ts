import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fleets, isBehind, live } from './simulated-fleet.ts';

// The rules that a pass must not break (retry limit, one session a component, size, window) are checked where it sends.
test('10,000 fleets: no pass breaks a rule, and nothing that is pending and enabled is left behind', () => {
  fc.assert(
    fc.property(fleets, (fleet) => {
      const { batcher, quietAt, sent } = live(fleet);
      const behind = [...batcher.components.values()].filter((component) => isBehind(batcher, component));
      // A host without a limit that always fails goes on for ever, and so do the untouched hosts that share its batches.
      if (fleet.hosts.every(({ retries }) => retries !== -1)) {
        expect(behind).toEqual([]);
        expect(quietAt).not.toBeNull();
      }
      for (const { id } of behind) expect(sent.get(id) ?? 0).toBeGreaterThanOrEqual(8);
    }),
    { numRuns: 10_000 },
  );
}, 300_000);
