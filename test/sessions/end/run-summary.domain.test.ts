import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { describeAim, summarizeRun } from '../../../domain/sessions/run-summary.ts';

const bytes = (text: string) => Buffer.byteLength(text);
const run = {
  playbook: 'site.yml',
  layer: 0,
  place: { number: 1, of: 2 },
  attempt: 1,
  aim: 'n001,n002 (2 hosts)',
  hosts: 'all',
} as const;

describe('the hosts of a session in a few words', () => {
  test.each([
    [{ hosts: ['n001'], limit: 'n001', inHand: 9 }, 'n001 (1 host)'],
    [{ hosts: ['n001', 'n002'], limit: 'n001,n002', inHand: 9 }, 'n001,n002 (2 hosts)'],
    [{ hosts: null, limit: 'web*:!web3', inHand: 9 }, 'limit web*:!web3'],
    [{ hosts: [], limit: 'nobody', inHand: 9 }, 'limit nobody'],
    [{ hosts: null, limit: '', inHand: 1 }, 'all of the inventory (1 host)'],
    [{ hosts: null, limit: '', inHand: 100_000 }, 'all of the inventory (100000 hosts)'],
    [{ hosts: null, limit: '', inHand: null }, 'all of the inventory'],
  ])('%j', (aim, words) => expect(describeAim(aim)).toBe(words));

  test('of many only the first are named, and all are counted', () => {
    const hosts = Array.from({ length: 100_000 }, (_, index) => `node${index}`);
    const words = describeAim({ hosts, limit: hosts.join(','), inHand: 100_000 });
    expect(words).toMatch(/^node0,node1,.*,\.\.\. \(100000 hosts\)$/);
    expect(bytes(words)).toBeLessThanOrEqual(110);
  });
});

describe('the summary of a run', () => {
  test.each([
    [run, 'layer 1/2 site.yml on n001,n002 (2 hosts)'],
    [{ ...run, attempt: 3 }, 'layer 1/2 site.yml on n001,n002 (2 hosts), attempt 3'],
    [
      { ...run, attempt: 2, hosts: 'failed' as const },
      'layer 1/2 site.yml on what failed of n001,n002 (2 hosts), attempt 2',
    ],
    [{ ...run, aim: undefined }, 'layer 1/2 site.yml'],
    [{ ...run, aim: undefined, hosts: 'failed' as const }, 'layer 1/2 site.yml on what failed'],
    [{ ...run, playbook: undefined, aim: undefined, layer: 2, place: undefined }, 'layer 3'],
    [{ ...run, playbook: undefined }, 'layer 1/2 on n001,n002 (2 hosts)'],
    [{ ...run, playbook: 'facts', place: undefined, aim: undefined }, 'facts'],
    [{ ...run, playbook: 'a\nb.yml' }, 'layer 1/2 a b.yml on n001,n002 (2 hosts)'],
  ])('%j', (given, words) => expect(summarizeRun(given)).toBe(words));

  test('has one line that Temporal takes, whatever playbook and limit are', () => {
    const text = fc.string({ unit: 'binary', maxLength: 400 });
    const given = fc.record({
      playbook: text,
      limit: text,
      hosts: fc.option(fc.array(text, { maxLength: 50 })),
      attempt: fc.integer({ min: 1, max: 1_000 }),
      of: fc.constantFrom('all' as const, 'failed' as const),
    });
    fc.assert(
      fc.property(given, ({ playbook, limit, hosts, attempt, of }) => {
        const aim = describeAim({ hosts, limit, inHand: 3 });
        const words = summarizeRun({ playbook, layer: 0, place: { number: 1, of: 1 }, attempt, aim, hosts: of });
        expect(bytes(words)).toBeLessThanOrEqual(200);
        expect(words).not.toMatch(/[\r\n]/);
      }),
    );
  });
});
