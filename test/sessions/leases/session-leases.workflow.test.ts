import { expect, test } from '@jest/globals';
import { leasesFree } from '../../../workflows/sessions/messages.ts';
import { admitted, type SessionActivities } from '../../support/fakes/fake-session.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { benchOfBlock } from '../../support/stack/bench-of-block.ts';
import { testServerMissing } from '../../support/temporal/test-server.ts';
import { openTimeSkipping } from '../../support/temporal/workflow-environment.ts';

describeNeeding(testServerMissing(), 'a session that needs components', () => {
  const { bench, server } = benchOfBlock(openTimeSkipping);

  /** Components that others have until `free` is set. */
  function busy(retrySeconds = 300) {
    const state = { free: false, asked: 0 };
    const activities: Partial<SessionActivities> = {
      writeInventory: async () => ({ leases: true }),
      takeLeases: async () => {
        state.asked += 1;
        return state.free ? { state: 'taken' } : { state: 'waiting', message: 'other has 2', retrySeconds };
      },
    };
    return { state, activities };
  }

  test('takes them after its inventory and before its first layer, once', async () => {
    const { state, activities } = busy();
    state.free = true;
    const session = await bench.start({ ...activities, admitSession: async () => admitted({ layers: [0, 1] }) });
    await session.result();
    const names = session.fake.names();
    expect(names.filter((name) => name === 'takeLeases')).toHaveLength(1);
    expect(names.indexOf('takeLeases')).toBeGreaterThan(names.indexOf('writeInventory'));
    expect(names.indexOf('takeLeases')).toBeLessThan(names.indexOf('runLayer'));
    expect(session.fake.end().succeeded).toBe('true');
  });

  test('one that needs none does not ask', async () => {
    const session = await bench.start();
    await session.result();
    expect(session.fake.names()).not.toContain('takeLeases');
  });

  test('waits as running and goes on when it is told that they are free', async () => {
    const { state, activities } = busy();
    const session = await bench.start(activities);
    expect(await session.inPhase('lease')).toMatchObject({ message: 'other has 2' });
    expect(session.fake.names()).not.toContain('runLayer');
    state.free = true;
    await session.handle.signal(leasesFree);
    await session.result();
    expect(session.fake.inputs('runLayer')).toHaveLength(1);
  });

  test('misses no word that comes while it asks', async () => {
    const { state, activities } = busy(86_400);
    const session = await bench.start({
      ...activities,
      takeLeases: async (input) => {
        const first = state.asked === 0;
        const answer = await (activities.takeLeases as SessionActivities['takeLeases'])(input);
        if (first) {
          // Given back after the answer was made, told before it arrives.
          state.free = true;
          await session.handle.signal(leasesFree);
        }
        return answer;
      },
    });
    await session.result();
    const { events } = await session.handle.fetchHistory();
    expect(events?.some((event) => event.timerFiredEventAttributes)).toBe(false);
    expect(state.asked).toBe(2);
    expect(session.fake.end().succeeded).toBe('true');
  });

  test('asks again by itself where nobody tells it', async () => {
    const { state, activities } = busy(300);
    const session = await bench.start({
      ...activities,
      takeLeases: async (input) => {
        if (state.asked === 3) state.free = true;
        return (activities.takeLeases as SessionActivities['takeLeases'])(input);
      },
    });
    const before = await server.environment.currentTimeMs();
    await session.result();
    expect((await server.environment.currentTimeMs()) - before).toBeGreaterThanOrEqual(3 * 300_000);
    expect(session.fake.end().succeeded).toBe('true');
  });

  test('session_timeout counts while it waits', async () => {
    const { activities } = busy();
    const session = await bench.start({ ...activities, admitSession: async () => admitted({ timeoutSeconds: 3_600 }) });
    await session.result();
    expect(session.fake.end()).toMatchObject({ succeeded: 'false', reason: 'session_timeout' });
    expect(session.fake.names()).not.toContain('runLayer');
  });

  test('every history of these tests replays', async () => {
    expect(await bench.replayAll()).toBe(6);
  });
});
