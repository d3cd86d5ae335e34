import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { advance, firstPosition, gateOf, type RolloutPosition, resumed } from '../../domain/batches/rollout.ts';
import type { RolloutCounts } from '../../domain/batches/rollout-counts.ts';
import { outcomeOf } from '../../domain/batches/rollout-outcome.ts';
import { trimBatches } from '../../domain/batches/trim-batches.ts';
import type { RolloutPolicy } from '../../domain/configurations/schema.ts';
import { SimulatedBatcher } from './simulated-batcher.ts';

const COUNTS: RolloutCounts = {
  components: 100,
  pending: 100,
  inSessions: 0,
  trying: 0,
  done: 0,
  failed: 0,
  canaries: { configured: 0, able: 100 },
};
const ROLLING: RolloutPosition = { state: 'rolling', stage: 'rolling', reason: null };
const CANARY: RolloutPosition = { state: 'canary', stage: 'canary', reason: null };
const STOPPED: RolloutPosition = { state: 'stopped', stage: 'canary', reason: 'by hand' };
const DONE: RolloutPosition = { state: 'done', stage: 'rolling', reason: null };

describe('where a rollout is', () => {
  test.each<[RolloutPosition, RolloutPolicy, Partial<RolloutCounts>, string, string | null]>([
    [CANARY, { canary: 5 }, { done: 4 }, 'canary', null],
    [CANARY, { canary: 5 }, { done: 5 }, 'rolling', null],
    [CANARY, { canary: 5 }, { done: 4, failed: 1 }, 'stopped', '1 component of the canary failed'],
    [CANARY, { canary: 5, max_failed: '50%' }, { failed: 2 }, 'stopped', '2 components of the canary failed'],
    [CANARY, { canary: 5 }, { done: 2, pending: 0 }, 'done', null],
    // Too few can be: it waits and says so.
    [
      CANARY,
      { canary: 5 },
      { done: 2, canaries: { configured: 9, able: 2 } },
      'canary',
      'waits: 5 canaries are needed, 4 can be (a component that has errors or failed last is none)',
    ],
    [CANARY, { canary: 5 }, { done: 2, canaries: { configured: 0, able: 3 } }, 'canary', null],
    [CANARY, { canary: { ids: ['a', 'b'] } }, { canaries: { configured: 1, able: 1 } }, 'canary', null],
    [CANARY, { canary: { ids: ['a', 'b'] } }, { canaries: { configured: 2, able: 0 } }, 'rolling', null],
    [
      CANARY,
      { canary: { ids: ['a', 'b'] } },
      { done: 9, canaries: { configured: 1, able: 0 } },
      'canary',
      'waits: 2 canaries are needed, 1 can be (of those that are named, the others are disabled, gone, elsewhere or out of tries)',
    ],
    [CANARY, { canary: { count: 1, ids: ['a', 'b'] } }, { canaries: { configured: 1, able: 0 } }, 'rolling', null],
    [CANARY, { canary: { count: 3, tags: { a: 'b' } } }, { canaries: { configured: 2, able: 1 } }, 'canary', null],
    [CANARY, { canary: { tags: { a: 'b' } } }, { canaries: { configured: 4, able: 1 } }, 'canary', null],
    [CANARY, { canary: { tags: { a: 'b' } } }, { canaries: { configured: 5, able: 0 } }, 'rolling', null],
    [
      CANARY,
      { canary: { group: 'a_b' } },
      { canaries: { configured: 0, able: 0 } },
      'canary',
      'waits: 1 canary is needed, 0 can be (of those that are chosen; one that is disabled, has errors or failed last is none)',
    ],
    [CANARY, { canary: { group: 'a_b' } }, { failed: 1 }, 'stopped', '1 component of the canary failed'],
    // The policy was changed.
    [CANARY, {}, {}, 'rolling', null],
    [ROLLING, {}, { failed: 100 }, 'rolling', null],
    [ROLLING, { max_failed: 3 }, { failed: 3 }, 'rolling', null],
    [ROLLING, { max_failed: 3 }, { failed: 4 }, 'stopped', '4 components of 100 failed, more than 3'],
    [ROLLING, { max_failed: 0 }, { failed: 1 }, 'stopped', '1 component of 100 failed, more than 0'],
    [ROLLING, { max_failed: '5%' }, { failed: 5 }, 'rolling', null],
    [ROLLING, { max_failed: '5%' }, { failed: 6 }, 'stopped', '6 components of 100 failed, more than 5%'],
    [ROLLING, { max_failed: '5%' }, { failed: 1, components: 19 }, 'stopped', '1 component of 19 failed, more than 5%'],
    [ROLLING, { max_failed: '100%' }, { failed: 100 }, 'rolling', null],
    [ROLLING, {}, { pending: 0, inSessions: 1 }, 'rolling', null],
    [ROLLING, {}, { pending: 0 }, 'done', null],
    [ROLLING, { max_failed: 0 }, { pending: 0, failed: 1 }, 'stopped', '1 component of 100 failed, more than 0'],
    [ROLLING, { canary: 5 }, { pending: 3 }, 'rolling', null],
    [DONE, { canary: 5 }, { pending: 0, done: 100 }, 'done', null],
    [DONE, { canary: 5 }, { pending: 1, done: 100 }, 'rolling', null],
    [STOPPED, { canary: 5 }, { done: 100, pending: 0 }, 'stopped', 'by hand'],
  ])('from %j with %j and %j', (position, policy, counts, state, reason) => {
    expect(advance(position, policy, { ...COUNTS, ...counts })).toMatchObject({ state, reason });
  });

  test('it begins with the canary, if there is one, and is resumed where it stopped', () => {
    expect(firstPosition({ canary: 1 })).toEqual(CANARY);
    expect(firstPosition({ max_at_once: 1 })).toEqual(ROLLING);
    expect(resumed(STOPPED)).toEqual(CANARY);
    expect(resumed({ ...STOPPED, stage: 'rolling' })).toEqual(ROLLING);
  });
});

describe('what the batcher may do', () => {
  const open = Number.POSITIVE_INFINITY;
  test.each<[RolloutPosition, RolloutPolicy, Partial<RolloutCounts>, [number, number | null, number]]>([
    [ROLLING, {}, {}, [25, null, open]],
    [ROLLING, { max_at_once: 10 }, {}, [10, null, 10]],
    [ROLLING, { max_at_once: 10 }, { inSessions: 4 }, [10, null, 6]],
    [ROLLING, { max_at_once: 10 }, { inSessions: 14 }, [10, null, 0]],
    [ROLLING, { max_at_once: 30 }, {}, [15, null, 30]],
    [ROLLING, { max_at_once: 50 }, {}, [25, null, 50]],
    [ROLLING, { max_at_once: '10%' }, {}, [10, null, 10]],
    [ROLLING, { max_at_once: '10%' }, { components: 9 }, [1, null, 1]],
    [ROLLING, { max_at_once: '10%' }, { components: 0 }, [1, null, 1]],
    [ROLLING, { max_at_once: '100%' }, {}, [25, null, 100]],
    [ROLLING, { max_at_once: 200 }, {}, [25, null, 200]],
    [CANARY, { canary: 3 }, {}, [3, 3, 3]],
    [CANARY, { canary: 3 }, { trying: 2, inSessions: 2 }, [1, 1, 1]],
    [CANARY, { canary: 3 }, { trying: 2, done: 1, inSessions: 2 }, [3, 0, 0]],
    [CANARY, { canary: 60 }, {}, [25, 60, 60]],
    [CANARY, { canary: { ids: ['a', 'b'] } }, {}, [2, 2, 2]],
    [CANARY, { canary: { ids: ['a', 'b'] } }, { canaries: { configured: 1, able: 1 } }, [1, 1, 1]],
    [CANARY, { canary: { ids: ['a', 'b'] } }, { trying: 1, canaries: { configured: 1, able: 1 } }, [2, 0, 0]],
    [CANARY, { canary: { count: 1, tags: { a: 'b' } } }, {}, [1, 1, 1]],
    [CANARY, { canary: { tags: { a: 'b' } } }, { trying: 30, canaries: { configured: 5, able: 60 } }, [25, 30, 30]],
    [CANARY, { canary: { group: 'a_b' }, max_at_once: 4 }, {}, [4, 100, 4]],
    [CANARY, { canary: 60, max_at_once: 7 }, {}, [7, 60, 7]],
    [{ ...STOPPED, stage: 'rolling' }, { max_at_once: 10 }, {}, [10, null, 0]],
    [STOPPED, { canary: 3 }, {}, [3, 3, 0]],
    [DONE, { canary: 3, max_at_once: 2 }, {}, [2, null, 2]],
  ])('in %j with %j and %j', (position, policy, counts, [size, most, room]) => {
    const canary = position.stage === 'canary' ? (policy.canary ?? null) : null;
    expect(gateOf(position, policy, { ...COUNTS, ...counts }, 25)).toEqual({ size, most, room, canary });
  });
});

test.each([
  [{ status: 'configured', last: null, desiredChanged: false, rebooted: false }, 'done'],
  [{ status: 'configured', last: null, desiredChanged: true, rebooted: false }, null],
  [
    { status: 'pending', last: { status: 'failed', session_name: 's' }, desiredChanged: false, rebooted: false },
    'failed',
  ],
  [
    { status: 'failed', last: { status: 'failed', session_name: 's' }, desiredChanged: false, rebooted: false },
    'failed',
  ],
  [
    { status: 'pending', last: { status: 'failed', session_name: 'older' }, desiredChanged: false, rebooted: false },
    null,
  ],
  [
    { status: 'pending', last: { status: 'incomplete', session_name: 's' }, desiredChanged: false, rebooted: false },
    null,
  ],
  [{ status: 'pending', last: null, desiredChanged: false, rebooted: false }, null],
  [{ status: 'pending', last: { status: 'failed', session_name: 's' }, desiredChanged: false, rebooted: true }, null],
] as const)('what session s was for %j is %s', (member, outcome) => {
  expect(outcomeOf(member, 's')).toBe(outcome);
});

test('batches beyond what may be collected are trimmed, the youngest most', () => {
  const batch = (id: string, configuration: string, members: number, openedAt: number) => ({
    id,
    key: `${configuration}:0:`,
    configuration,
    layers: '0',
    members,
    openedAt,
  });
  const unsent = [batch('b', 'A', 5, 2), batch('a', 'A', 4, 1), batch('c', 'A', 2, 3), batch('d', 'B', 9, 0)];
  const limits = (size: number, most: number | null) => (name: string) =>
    name === 'A' ? { size, most } : { size: 9, most: null };
  expect(trimBatches(unsent, limits(9, null))).toEqual([]);
  expect(trimBatches(unsent, limits(4, null))).toEqual([{ batch: 'b', keep: 4 }]);
  expect(trimBatches(unsent, limits(9, 6))).toEqual([
    { batch: 'b', keep: 2 },
    { batch: 'c', keep: 0 },
  ]);
  expect(trimBatches(unsent, limits(1, 0)).map(({ keep }) => keep)).toEqual([0, 0, 0]);
});

const shares = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constantFrom('1%', '10%', '34%', '100%'));
const rollouts = fc.record({
  policy: fc.record(
    {
      max_at_once: shares,
      canary: fc.integer({ min: 1, max: 6 }),
      max_failed: fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constantFrom('0%', '10%', '50%')),
    },
    { requiredKeys: [] },
  ),
  hosts: fc.array(fc.constantFrom('ok', 'ok', 'ok', 'ok', 'fails', 'fails once', 'untouched'), {
    minLength: 1,
    maxLength: 30,
  }),
  size: fc.integer({ min: 1, max: 8 }),
  window: fc.constantFrom(0, 20),
  layered: fc.boolean(),
  seconds: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 }),
});

test('2,000 rollouts keep their limits, stop when they should, and are done when resumed often enough', () => {
  fc.assert(
    fc.property(rollouts, ({ policy, hosts, size, window, layered, seconds }) => {
      const batcher = new SimulatedBatcher();
      Object.assign(batcher.options, { batch_size: size, batch_window: window, batcher_max_backoff: 0 });
      const layer = (index: number) => ({ clone_url: 'u', playbook: `${index}.yml`, commit: 'c' });
      batcher.configurations.set('A', layered ? [layer(0), layer(1)] : [layer(0)]);
      const fates = new Map<string, string>();
      for (const [index, fate] of hosts.entries()) {
        const id = `h${String(index).padStart(2, '0')}`;
        fates.set(id, fate);
        // Several keys: some have the second layer already.
        const state =
          layered && index % 3 === 0
            ? [{ ...layer(1), status: 'applied' as const, session_name: '', last_updated: '' }]
            : [];
        batcher.components.set(id, { id, desired_config: 'A', state, error_count: 0, enabled: true, tags: {} });
      }
      const outcomes = new Map<string, 'trying' | 'done' | 'failed' | 'forgiven'>();
      const status = (id: string) => {
        const component = batcher.components.get(id);
        return component === undefined ? 'configured' : batcher.statusOf(component).status;
      };
      const tally = (outcome: string) => [...outcomes.values()].filter((one) => one === outcome).length;
      const counts = (): RolloutCounts => ({
        components: hosts.length,
        pending: [...fates.keys()].filter((id) => status(id) === 'pending').length,
        inSessions: [...batcher.sent.values()].reduce((sum, batch) => sum + batch.hosts.length, 0),
        trying: tally('trying'),
        done: tally('done'),
        failed: tally('failed'),
        canaries: { configured: 0, able: hosts.length },
      });
      let position = firstPosition(policy);
      const limit = gateOf(ROLLING, policy, counts(), size).room;
      const ends = new Map<string, number>();
      batcher.gates = () => {
        position = advance(position, policy, counts());
        return new Map([['A', gateOf(position, policy, counts(), size)]]);
      };
      batcher.onSend = (session, _, now) => {
        expect(position.state === 'canary' || position.state === 'rolling').toBe(true);
        if (position.state === 'canary')
          expect(tally('trying') + tally('done')).toBeLessThan(Number(policy.canary ?? 0));
        for (const id of session.hosts) outcomes.set(id, 'trying');
        expect(tally('trying')).toBeLessThanOrEqual(limit);
        if (position.state === 'canary') {
          expect(tally('trying') + tally('done')).toBeLessThanOrEqual(Number(policy.canary ?? 0));
        }
        ends.set(session.name, now / 1000 + (seconds[batcher.sessions.length % seconds.length] ?? 1));
      };
      batcher.onEnd = (_, __, session) => {
        for (const id of session.hosts) {
          const component = batcher.components.get(id);
          const member = { status: status(id), last: component?.state.at(-1) ?? null };
          const outcome = outcomeOf({ ...member, desiredChanged: false, rebooted: false }, session.name);
          if (outcome === null) outcomes.delete(id);
          else outcomes.set(id, outcome);
        }
      };
      let resumes = 0;
      for (let at = 10; at < 20_000 && position.state !== 'done'; at += 10) {
        if (position.state === 'stopped' && batcher.sent.size === 0) {
          // A stop has its reason in the counts of that moment.
          expect(tally('failed')).toBeGreaterThan(0);
          position = resumed(position);
          for (const [id, outcome] of outcomes) if (outcome === 'failed') outcomes.set(id, 'forgiven');
          resumes += 1;
        }
        for (const { session } of batcher.sent.values()) {
          if ((ends.get(session.name) ?? 0) > at) continue;
          session.status = 'complete';
          session.succeeded = 'true';
          for (const id of session.hosts) {
            const fate = fates.get(id);
            if (fate === 'untouched') continue;
            const layers = batcher.configurations.get('A') ?? [];
            const wanted = session.limit.split(',').flatMap((index) => layers[Number(index)] ?? []);
            const failing = fate === 'fails' || fate === 'fails once';
            const reports = failing ? wanted.slice(0, 1) : wanted;
            const reported = failing ? ('failed' as const) : ('applied' as const);
            batcher.report(
              id,
              reports.map((one) => ({ ...one, status: reported, session_name: session.name })),
              failing ? 1 : 0,
            );
            if (failing) session.succeeded = 'false';
            if (fate === 'fails once') fates.set(id, 'ok');
          }
        }
        batcher.pass(at * 1000);
      }
      expect(position.state).toBe('done');
      expect(resumes).toBeLessThanOrEqual(3 * hosts.length);
      for (const [id, fate] of fates) if (fate === 'ok') expect(status(id)).toBe('configured');
      if (policy.canary === undefined && policy.max_failed === undefined) expect(resumes).toBe(0);
    }),
    { numRuns: 2_000 },
  );
}, 300_000);
