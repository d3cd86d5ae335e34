/** How long it takes to build a plan of many events, for graphs whose loops are as bad as loops can be. */
import { buildPlan } from '../../domain/propagation/build-plan.ts';
import type { PropagationEvent } from '../../domain/propagation/event-schema.ts';
import { type Measurement, round } from '../measurement.ts';

const EVENTS = 100_000;
const BAR_S = 10;
const BAR_GIB = 1;
/** Twice the events may take so much longer. */
const BAR_DOUBLED = 2.5;
const ROUNDS = 3;

interface Graph {
  staged: string[];
  events: PropagationEvent[];
}

const react = (from: number | string, to: number | string): PropagationEvent => ({
  ...{ type: 'react_on', on: 'changed' },
  ...{ parent: `r${from}.run`, child: `r${to}.run` },
});

/** Shapes of graphs, by the number of events. */
const SHAPES: Record<string, (events: number) => Graph> = {
  ring: (count) => ({
    staged: ['r0.run'],
    events: Array.from({ length: count }, (_, index) => react(index, (index + 1) % count)),
  }),
  // Each two neighbours wait for one another: one component of all nodes, with a loop at every step.
  'chain of 2-cycles': (count) => ({
    staged: ['r0.run'],
    events: Array.from({ length: count / 2 }, (_, index) => [react(index, index + 1), react(index + 1, index)]).flat(),
  }),
  'complete graph': (count) => {
    const nodes = Array.from({ length: Math.ceil((1 + Math.sqrt(1 + 4 * count)) / 2) }, (_, index) => index);
    return {
      staged: ['r0.run'],
      events: nodes.flatMap((from) => nodes.filter((to) => to !== from).map((to) => react(from, to))),
    };
  },
  'chain of reactions': (count) => ({
    staged: ['r0.run'],
    events: Array.from({ length: count }, (_, index) => react(index, index + 1)),
  }),
};

/** Builds the plan of each shape, then of the same shape with twice the events. */
export async function measurePlanBuild(): Promise<Measurement> {
  const samples: Record<string, number[]> = {};
  const found = Object.entries(SHAPES).map(([name, shape]) => {
    const once = times(shape(EVENTS));
    const twice = times(shape(2 * EVENTS));
    samples[`${name}_s`] = once;
    samples[`${name}_doubled_s`] = twice;
    return { name, seconds: Math.min(...once), ratio: Math.min(...twice) / Math.min(...once) };
  });
  const memory = process.resourceUsage().maxRSS / 2 ** 20;
  const slowest = Math.max(...found.map(({ seconds }) => seconds));
  const steepest = Math.max(...found.map(({ ratio }) => ratio));
  samples.memory_gib = [round(memory)];
  return {
    what: `plan of ${EVENTS} events: ${found.map(({ name }) => name).join(', ')}`,
    bar: `at most ${BAR_S} s, ${BAR_GIB} GiB; doubled x${BAR_DOUBLED}`,
    measured: `${found.map(({ seconds }) => `${round(seconds)} s`).join(', ')}; ${round(memory)} GiB; doubled x${round(steepest)}`,
    met: slowest <= BAR_S && memory <= BAR_GIB && steepest <= BAR_DOUBLED,
    samples,
  };
}

/** Times of some rounds, s of all cores, after a round that does not count: the engine of the language learns first. */
function times(graph: Graph): number[] {
  const seconds: number[] = [];
  let plan = buildPlan(graph);
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    const before = process.cpuUsage();
    plan = buildPlan(graph);
    const { user, system } = process.cpuUsage(before);
    seconds.push(round((user + system) / 1_000_000, 3));
  }
  if (plan.nodes.length === 0) throw new Error('the plan is empty');
  return seconds;
}
