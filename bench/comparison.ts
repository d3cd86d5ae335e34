/** Whether a row got worse against another commit: rules on figures alone, so that they can be tested. */
import { median } from './statistics.ts';

/** A row is worse from here on: ratio of this checkout's figure to the other's. */
const WORSE_FROM = 1.05;

/** One figure of a row in one round. The less, the better: rates are turned round. */
export type Figures = Record<string, number>;

/** A series that is compared with its bare twin; `X_wall` belongs to `bare_wall`. */
const BARE = /^bare(_|$)/;
const RATE = /per_second$/;

/**
 * The figures of a row, from its samples: what stands beside a bare run counts as a multiple of it, round by round; anything else by its
 * median.
 * @returns by name; none for a series without samples
 */
export function figuresOf(samples: Readonly<Record<string, readonly number[]>>): Figures {
  const figures: Figures = {};
  for (const [name, values] of Object.entries(samples)) {
    if (values.length === 0 || BARE.test(name)) continue;
    const bare = samples[name.replace(/^muster/, 'bare')];
    if (name.startsWith('muster') && bare !== undefined) {
      figures[`${name} / bare`] = median(values.map((value, index) => value / (bare[index] ?? Number.NaN)));
    } else if (RATE.test(name)) figures[`1 / ${name}`] = 1 / median([...values]);
    else if (!name.endsWith('_bare')) figures[name] = median([...values]);
  }
  return figures;
}

export interface Verdict {
  figure: string;
  /** Median over the rounds of this checkout's figure as a multiple of the other's. */
  ratio: number;
  /** Least and most of the rounds. */
  base: [number, number];
  here: [number, number];
  worse: boolean;
}

/**
 * Judges one row: it is worse in a figure when the median of the rounds' ratios is above 1.05 and every round of the other commit is
 * better than every round here.
 * @param base figures of the other commit, one entry a round
 * @param here figures of this checkout, of the same rounds
 */
export function judge(base: readonly Figures[], here: readonly Figures[]): Verdict[] {
  const names = Object.keys(base[0] ?? {}).filter((name) => here.every((round) => round[name] !== undefined));
  return names.map((figure) => {
    const [theirs, ours] = [base, here].map((rounds) => rounds.map((round) => round[figure] ?? Number.NaN));
    const ratio = median((ours ?? []).map((value, index) => value / (theirs?.[index] ?? Number.NaN)));
    const [low, high] = [spread(theirs ?? []), spread(ours ?? [])];
    return { figure, ratio, base: low, here: high, worse: ratio > WORSE_FROM && low[1] < high[0] };
  });
}

function spread(values: readonly number[]): [number, number] {
  return [Math.min(...values), Math.max(...values)];
}
