/** A plan of 300 shell actions while worker, API, Temporal and Postgres are killed: each attempt starts once, and ends as it was foreseen. */
import { runUnderKills } from '../../test/propagation/plans/shell-kills.ts';
import { startMusterStack } from '../../test/support/stack/muster-stack.ts';
import type { Measurement } from '../measurement.ts';

const ACTIONS = 300;
const KILLS = { count: 60, pauseMs: 5_000, withinMs: 7_200_000 };

/** On a stack of its own, with its own Postgres and Temporal. */
export async function measurePlanKills(): Promise<Measurement> {
  const stack = await startMusterStack({}, 'own');
  try {
    const began = performance.now();
    const { statuses, foreseen, journal, expected, kills, seed } = await runUnderKills(stack, ACTIONS, KILLS);
    const seconds = (performance.now() - began) / 1_000;
    const twice = journal.length - new Set(journal).size;
    const missing = expected.filter((line) => !journal.includes(line)).length;
    const other = Object.entries(foreseen).filter(([node, status]) => statuses[node] !== status).length;
    return {
      what: `plan of ${ACTIONS} shell actions, ${kills.length} kills, seed ${seed}`,
      bar: 'each attempt once, statuses as foreseen',
      measured: `${journal.length} begun, ${twice} twice, ${missing} not begun, ${other} other statuses; ${Math.round(seconds)} s`,
      met: kills.length === KILLS.count && twice + missing + other === 0 && journal.length === expected.length,
      samples: { seconds: [Math.round(seconds)] },
    };
  } finally {
    await stack.remove();
  }
}
