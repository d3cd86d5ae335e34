/** What a dry run says, as a dialog tells it. */
import type { DryRun, DryRunAnswer, DryRunHosts } from '../../../domain/service/dry-run-schema.ts';

/** A write that a dialog asks for. */
export type RehearsedRequest = Pick<DryRun, 'method' | 'path' | 'body'>;

export interface Effect {
  /** Records that change. */
  changed: number;
  /** The first of them, 20 at most. */
  names: string[];
  /** What would be done to them. */
  verb: 'be deleted' | 'be made' | 'change';
  unchanged: number;
  /** Ids that are of no component any more. */
  vanished: number;
  /** Components whose status would be another. */
  becomes: { from: string | null; to: string | null; count: number }[];
  /** Hosts of the session that would be made; null where none would be. */
  hosts: DryRunHosts | null;
  warnings: string[];
}

/** Returns the effect that a dry run found. */
export function effectOf({ changed, unchanged, changes, becomes, hosts, warnings, answer }: DryRunAnswer): Effect {
  const of = (action: string) => changes.length > 0 && changes.every((change) => change.action === action);
  const { vanished } = (answer ?? {}) as { vanished?: unknown };
  return {
    changed,
    names: [...new Set(changes.map(({ name }) => name))],
    verb: of('delete') ? 'be deleted' : of('create') ? 'be made' : 'change',
    unchanged,
    vanished: Array.isArray(vanished) ? vanished.length : 0,
    becomes: becomes.filter(({ from, to }) => from !== to).map(({ from, to, count }) => ({ from, to, count })),
    hosts,
    warnings,
  };
}

/** Records above which the user types how many there are. */
const TYPED_ABOVE = 1_000;

/** Whether the user has to type the count: of very many, and of a delete of more than one. */
export function mustType({ changed, verb }: Effect): boolean {
  return changed > TYPED_ABOVE || (verb === 'be deleted' && changed > 1);
}

/** Returns why an effect cannot be confirmed yet; null when it can. `undefined`: it is not known. */
export function confirmRefusal(effect: Effect | undefined, typed: string): string | null {
  if (effect === undefined) return 'The effect is not known yet';
  return mustType(effect) && typed.trim() !== String(effect.changed) ? `Type ${effect.changed} to confirm` : null;
}
