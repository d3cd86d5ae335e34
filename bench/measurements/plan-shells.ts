/** What a plan of many shell actions adds to a bare loop that starts the same launcher on the same files. */
import { type MusterStack, startMusterStack } from '../../test/support/stack/muster-stack.ts';
import { bareLaunches } from '../bare-launches.ts';
import { type Measurement, round } from '../measurement.ts';
import { define, plan, SCRIPT } from './plan-actions.ts';

const ACTIONS = 2_000;
const BAR = 1.3;

/**
 * On a stack of its own. Actions on the machine of the worker follow one another, in the bare loop as well. One half of the loop comes before
 * the plan and one after it, so that a machine which grows slower is no fault of the plan.
 */
export async function measurePlanShells(): Promise<Measurement> {
  const stack = await startMusterStack({}, 'own');
  try {
    return await measured(stack);
  } finally {
    await stack.remove();
  }
}

async function measured(stack: MusterStack): Promise<Measurement> {
  await define(stack, 'script', {
    'meta.yaml': 'version: 1.0.0\nhandler: shell\n',
    'actions/run.sh': SCRIPT,
  });
  const warm = 20;
  await bareLaunches(warm, SCRIPT);
  await plan(stack, 'script', localhost(warm));
  const before = await bareLaunches(ACTIONS / 2, SCRIPT);
  const muster = await plan(stack, 'script', localhost(ACTIONS));
  const after = await bareLaunches(ACTIONS / 2, SCRIPT);
  const bare = before + after;
  const ratio = muster / bare;
  return {
    what: `plan of ${ACTIONS} shell actions, one after the other`,
    bar: `<= ${BAR} x a bare loop of the launcher`,
    measured: `${round(ratio)} x bare (${round(bare)} s)`,
    met: ratio <= BAR,
    samples: { bare: [round(bare)], muster: [round(muster)] },
  };
}

const localhost = (count: number): string[] => Array.from({ length: count }, () => 'localhost');
