import { type BackOff, heldUntil, NO_BACK_OFF, sendingRate } from './back-off.ts';
import { olderFirst, type UnsentBatch } from './join-batches.ts';

/** Sessions of the batcher that may wait for a slot at once: a great backlog drains at the runner's pace. */
export const WAITING_SESSIONS_MAX = 50;

/**
 * Why a batch is not sent: a fault of the controller holds its key; its window is open; all sending, or its key, is held back; a
 * probe is awaited; enough sessions wait for a slot; other sessions have all its members; its rollout has no room; somebody
 * paused it; the option disables the batcher.
 */
export const WHY_NOT = [
  'controller',
  'window',
  'backoff',
  'probe',
  'key_backoff',
  'queue',
  'lease',
  'rollout',
  'paused',
  'disabled',
] as const;
export type WhyNot = (typeof WHY_NOT)[number];

/** An unsent batch with what else decides about its sending. */
export interface DueBatch extends UnsentBatch {
  /** Members that other sessions have. */
  leased: number;
}

/** A key's back-off and whether somebody paused it. */
export interface KeyHold extends BackOff {
  paused: boolean;
}

export interface PlanFacts {
  now: number;
  disabled: boolean;
  paused: boolean;
  /** Seconds: a batch is overdue when it is older than this, not when it is as old. */
  window: number;
  /** At which number of members a batch of this configuration is full. */
  sizeOf: (configuration: string) => number;
  /** Sessions of batches that wait for a slot now. */
  waiting: number;
  /** Ids of the batches that are sent and have not ended. */
  out: ReadonlySet<string>;
  backOff: BackOff;
  keys: ReadonlyMap<string, KeyHold>;
  /** Keys that a fault of the controller holds. */
  holds: ReadonlyMap<string, BackOff>;
  /** Components that a configuration's rollout lets start now; a configuration without entry has no rollout. */
  rollouts: ReadonlyMap<string, number>;
}

export interface Send {
  batch: string;
  /** Whether its end decides about the global back-off, about that of its key, or about the fault that holds its key. */
  probe: boolean;
  keyProbe: boolean;
  holdProbe: boolean;
}

export interface SendWait {
  batch: string;
  why: WhyNot;
  /** When it may go if nothing else happens, in milliseconds; null when an event decides. */
  until: number | null;
}

export interface SendPlan {
  /** Oldest first. */
  sends: Send[];
  waits: SendWait[];
  /** The next instant, in milliseconds, at which time alone lets a batch go; null when there is none. */
  nextAt: number | null;
}

/** Which unsent batches become sessions now, and why the others do not (cfs-flows 5.2.c, 8.2, 8.11). */
export function planSends(unsent: readonly DueBatch[], facts: PlanFacts): SendPlan {
  const plan: SendPlan = { sends: [], waits: [], nextAt: null };
  const rate = sendingRate(facts.backOff, facts.now);
  const course: Course = {
    facts,
    rate,
    probing: facts.backOff.probe !== null && facts.out.has(facts.backOff.probe),
    probedKeys: new Set(),
    probedHolds: new Set(),
    rooms: new Map(facts.rollouts),
    free: WAITING_SESSIONS_MAX - facts.waiting,
  };
  for (const batch of [...unsent].sort(olderFirst)) {
    const hold = holdOf(batch, course);
    if (hold === null) {
      plan.sends.push(startOf(batch, course));
      continue;
    }
    plan.waits.push({ batch: batch.id, ...hold });
    if (hold.until !== null) plan.nextAt = Math.min(plan.nextAt ?? hold.until, hold.until);
  }
  return plan;
}

/** What the sends decided so far leave to the next batch. */
interface Course {
  facts: PlanFacts;
  rate: ReturnType<typeof sendingRate>;
  /** Whether a probe is out. */
  probing: boolean;
  probedKeys: Set<string>;
  probedHolds: Set<string>;
  rooms: Map<string, number>;
  free: number;
}

type Hold = Omit<SendWait, 'batch'> | null;

function holdOf(batch: DueBatch, course: Course): Hold {
  const { facts } = course;
  const key = facts.keys.get(batch.key);
  if (facts.disabled) return { why: 'disabled', until: null };
  if (facts.paused || key?.paused) return { why: 'paused', until: null };
  const held = facts.holds.get(batch.key);
  // A held batch has waited long enough: it is tried as soon as its pause is over.
  const why = held === undefined ? windowHold(batch, facts) : controllerHold(batch, held, course);
  if (why !== null) return why;
  if (course.rate === 'none') return { why: 'backoff', until: heldUntil(facts.backOff) };
  if (course.probing) return { why: 'probe', until: null };
  return keyHold(batch, key ?? NO_BACK_OFF, course) ?? roomHold(batch, course);
}

function windowHold(batch: DueBatch, facts: PlanFacts): Hold {
  const overdueAt = batch.openedAt + facts.window * 1000 + 1;
  if (batch.members < facts.sizeOf(batch.configuration) && facts.now < overdueAt) {
    return { why: 'window', until: overdueAt };
  }
  return null;
}

/** One batch of a held key is tried when the pause is over; the others wait for its end. */
function controllerHold(batch: DueBatch, held: BackOff, { facts, probedHolds }: Course): Hold {
  const isTried = probedHolds.has(batch.key) || (held.probe !== null && facts.out.has(held.probe));
  if (isTried) return { why: 'controller', until: null };
  return facts.now < heldUntil(held) ? { why: 'controller', until: heldUntil(held) } : null;
}

function keyHold(batch: DueBatch, key: BackOff, { facts, probedKeys }: Course): Hold {
  const rate = sendingRate(key, facts.now);
  if (rate === 'none') return { why: 'key_backoff', until: heldUntil(key) };
  const isProbed = probedKeys.has(batch.key) || (key.probe !== null && facts.out.has(key.probe));
  return rate === 'probe' && isProbed ? { why: 'key_backoff', until: null } : null;
}

function roomHold(batch: DueBatch, { rooms, free }: Course): Hold {
  if (batch.leased >= batch.members) return { why: 'lease', until: null };
  const room = rooms.get(batch.configuration);
  if (room !== undefined && room < batch.members) {
    // Nobody younger takes what the oldest waits for.
    rooms.set(batch.configuration, 0);
    return { why: 'rollout', until: null };
  }
  return free <= 0 ? { why: 'queue', until: null } : null;
}

function startOf(batch: DueBatch, course: Course): Send {
  const { facts, rooms } = course;
  const probe = course.rate === 'probe';
  const keyProbe = sendingRate(facts.keys.get(batch.key) ?? NO_BACK_OFF, facts.now) === 'probe';
  const room = rooms.get(batch.configuration);
  if (probe) course.probing = true;
  const holdProbe = facts.holds.has(batch.key);
  if (keyProbe) course.probedKeys.add(batch.key);
  if (holdProbe) course.probedHolds.add(batch.key);
  if (room !== undefined) rooms.set(batch.configuration, room - batch.members);
  course.free -= 1;
  return { batch: batch.id, probe, keyProbe, holdProbe };
}
