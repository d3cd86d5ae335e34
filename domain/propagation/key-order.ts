/**
 * The order in which the members of a loop are looked at: higher priority, then the longer chain of prerequisites outside of the loop,
 * then more prerequisites inside, then the smaller name.
 */
import { at } from './digraph.ts';

/** What the order reads, by number of node. */
export interface Keys {
  priority: Int32Array;
  /** 0 without prerequisites outside of the loop, else the length of their longest chain. */
  outside: Int32Array;
  /** Distinct prerequisites inside of the loop. */
  inside: Int32Array;
}

/** Why a member became the head of its loop. */
export const HEAD_RULES = ['only-candidate', 'repeat-priority', 'outside', 'inside', 'name', 'not-repeatable'] as const;
export type HeadRule = (typeof HEAD_RULES)[number];

/** Returns a comparison that puts the first in key order in front. */
export function byKey({ priority, outside, inside }: Keys): (a: number, b: number) => number {
  return (a, b) =>
    at(priority, b) - at(priority, a) || at(outside, b) - at(outside, a) || at(inside, b) - at(inside, a) || a - b;
}

/** Returns the rule that puts `head` in front of the candidate behind it. */
export function ruleBetween({ priority, outside, inside }: Keys, head: number, other: number | undefined): HeadRule {
  if (other === undefined) return 'only-candidate';
  if (priority[head] !== priority[other]) return 'repeat-priority';
  if (outside[head] !== outside[other]) return 'outside';
  return inside[head] === inside[other] ? 'name' : 'inside';
}
