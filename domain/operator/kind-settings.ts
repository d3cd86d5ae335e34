import { type Gvk, variableSuffix } from './names.ts';

/** Values that the environment may hold for each kind. */
export interface KindSettings {
  /** Reconciles of this kind at the same time. */
  maxConcurrentReconciles: number;
  /** Number of v's of a run's command. */
  verbosity: number;
}

/** A value that cannot be used; the default counts. It never stops a start. */
export interface UnusableSetting {
  variable: string;
  value: string;
  allowed: string;
}

const MAX_VERBOSITY = 7;
const LARGEST = 2_147_483_647;

/** Returns the values for one kind, from the environment where it has usable ones, and which of the variables are not usable. */
export function kindSettings(
  gvk: Pick<Gvk, 'group' | 'kind'>,
  env: Readonly<Record<string, string | undefined>>,
  defaults: KindSettings,
): { settings: KindSettings; unusable: UnusableSetting[] } {
  const suffix = variableSuffix(gvk);
  const unusable: UnusableSetting[] = [];
  const integer = (variable: string, least: number, most: number, allowed: string): number | undefined => {
    const value = env[variable];
    if (value === undefined) return undefined;
    const number = /^[+-]?\d+$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    unusable.push({ variable, value, allowed });
    return undefined;
  };
  const current = `MAX_CONCURRENT_RECONCILES_${suffix}`;
  const concurrency = env[current] === undefined ? `WORKER_${suffix}` : current;
  return {
    settings: {
      maxConcurrentReconciles:
        integer(concurrency, 1, LARGEST, 'an integer above 0') ?? defaults.maxConcurrentReconciles,
      verbosity:
        integer(`ANSIBLE_VERBOSITY_${suffix}`, 0, MAX_VERBOSITY, `an integer from 0 to ${MAX_VERBOSITY}`) ??
        defaults.verbosity,
    },
    unusable,
  };
}
