/** A plan of shell actions while worker, API, Temporal and Postgres are killed: each attempt starts once, and ends as it should. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeNeeding } from '../../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';
import { runUnderKills } from './shell-kills.ts';

const ACTIONS = 40;
const KILLS = 8;

describeNeeding(stackMissing(), 'when processes are killed', () => {
  let stack: MusterStack;
  beforeAll(async () => {
    stack = await startMusterStack({}, 'own');
  }, 600_000);
  afterAll(async () => stack?.remove());

  test(`a plan of ${ACTIONS} shell actions starts each once, and ends as it was foreseen`, async () => {
    const plan = await runUnderKills(stack, ACTIONS, { count: KILLS, pauseMs: 2_000, withinMs: 480_000 });
    expect(plan.state).toBe('failed');
    expect(plan.statuses).toEqual(plan.foreseen);
    expect(plan.journal).toEqual(plan.expected);
    expect(plan.kills).toHaveLength(KILLS);
  }, 600_000);
});
