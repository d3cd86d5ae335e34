/** What became of an action at its target, as the run that asked for it has noted it among its events. */
import { z } from 'zod';
import type { AttemptResult } from './attempt-outcome.ts';

/** Type of the event by which an action is about to begin. Without it nothing has happened at the target. */
export const TARGET_BEGUN = 'target_begun';
/** Type of the event that says how it ended. */
export const TARGET_END = 'target_end';

const message = z.string();

/**
 * `exited`: the action ended with its own exit status. `unreachable`: ssh did not come so far. `refused`: the target did not begin, for want
 * of sudo, Python or room. `lost`: the connection ended before the action did.
 */
export const TargetEndSchema = z.discriminatedUnion('end', [
  z.object({ end: z.literal('exited'), status: z.int().min(0).max(255) }),
  z.object({ end: z.literal('unreachable'), message }),
  z.object({ end: z.literal('refused'), message }),
  z.object({ end: z.literal('lost'), message }),
]);
export type TargetEnd = z.infer<typeof TargetEndSchema>;
/** An end without an exit status of the action. */
export type BrokenEnd = Exclude<TargetEnd, { end: 'exited' }>;

/** Returns the end that an event tells of; null where there is no event, or nothing that can be read. */
export function targetEndOf(data: unknown): TargetEnd | null {
  return TargetEndSchema.safeParse(data).data ?? null;
}

/**
 * Returns the result of an action without an exit status of its own.
 * @param end null: nothing was noted of its end
 * @param begun whether it had begun
 * @param isGone whether nothing of it is left at the target
 */
export function resultOfBrokenTarget(end: BrokenEnd | null, begun: boolean, isGone: boolean): AttemptResult {
  const doubt = isGone ? '' : ' (not verified)';
  const because = end === null ? '' : `: ${end.message}`;
  const base = { outcome: 'error', verified: isGone } as const;
  if (begun) {
    return { ...base, code: 'unreachable', message: `The connection to the target was lost${doubt}${because}` };
  }
  if (end?.end === 'unreachable')
    return { ...base, code: 'unreachable', message: `The target is unreachable${because}` };
  return { ...base, code: null, message: `The target did not begin the action${because}` };
}
