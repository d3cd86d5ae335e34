import { type BackOff, heldUntil } from '../../domain/batches/back-off.ts';
import type {
  AbsentConfiguration,
  Batch,
  Batcher,
  BatcherDetail,
  BatchKey,
} from '../../domain/batches/batch-schema.ts';
import type { SendWait, WhyNot } from '../../domain/batches/plan-sends.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import type { HoldState } from '../../store/batches/batch-holds.ts';
import type { ShownBatch } from '../../store/batches/batch-reads.ts';
import type { BatcherState } from '../../store/batches/batcher-state.ts';
import type { BatcherPlan } from './read-plan.ts';

const iso = (time: Date | number | null): string | null => (time === null ? null : new Date(time).toISOString());

/** A pass that is not there so long after it was due, ms, says that nobody makes any (cfs-flows 5.2). */
const LATE_MS = 30_000;

/** How the batcher is at `now`. */
export function viewOfBatcher(
  state: BatcherState,
  counts: Pick<Batcher, 'open' | 'sent' | 'held_keys' | 'held_reason'>,
  options: Options,
  now: Date,
): Batcher {
  const { results } = state.backOff;
  const backoff = viewOfBackOff(state.backOff);
  return {
    state: wordFor(state, options, now),
    paused_by: state.pausedBy,
    paused_at: iso(state.pausedAt),
    backoff,
    results: { remembered: results.length, failed: results.filter((success) => !success).length },
    last_pass_at: iso(state.lastPassAt),
    last_pass_ms: state.lastPassMs,
    next_pass_at: iso(state.nextPassAt),
    ...counts,
  };
}

function wordFor(state: BatcherState, options: Options, now: Date): Batcher['state'] {
  const due = state.nextPassAt?.getTime() ?? null;
  if (due === null || now.getTime() > due + LATE_MS) return 'late';
  if (options.batcher_disable) return 'disabled';
  if (state.paused) return 'paused';
  return state.backOff.length > 0 ? 'backoff' : 'working';
}

/** Components that are in no batch, by why. */
export interface Standing {
  /** How many other sessions have, and how many have used up their tries. */
  leased: number;
  failed: number;
  absent: AbsentConfiguration[];
}

/** The same with what stands between components and their sessions. */
export function detailOfBatcher(
  plan: BatcherPlan,
  { leased, failed, absent }: Standing,
  options: Options,
  now: Date,
): BatcherDetail {
  const { state, open, sent, holds } = plan;
  const live = new Set([...open, ...sent].map(({ key }) => key));
  const held = holds.filter(({ key }) => live.has(key)).sort((a, b) => a.since - b.since);
  const counts = { held_keys: held.length, held_reason: held[0]?.reason ?? null };
  return {
    ...viewOfBatcher(state, { open: open.length, sent: sent.length, ...counts }, options, now),
    due: plan.plan.sends.length,
    waits: countReasons(plan.plan.waits),
    leased_components: leased,
    failed_components: failed,
    absent_configurations: absent,
  };
}

/** A batch as it is shown at the instant of the plan. */
export function viewOfBatch(row: ShownBatch, { plan, facts, keys, holds }: BatcherPlan): Batch {
  const hold = row.state === 'ended' ? undefined : holds.find(({ key }) => key === row.key);
  const wait = row.state === 'open' ? (plan.waits.find(({ batch }) => batch === row.id) ?? dueHold(hold)) : undefined;
  const until = wait?.until ?? null;
  return {
    id: row.id,
    key: row.key,
    configuration: row.configuration,
    layers: row.layers,
    state: row.state,
    components: row.components,
    leased: row.state === 'open' ? row.leased : null,
    opened_at: row.opened_at.toISOString(),
    why_not: wait?.why ?? null,
    until: iso(until),
    seconds_left: until === null ? null : Math.max(0, (until - facts.now) / 1_000),
    refusal: hold?.reason ?? row.refusal,
    tries: row.tries,
    probe: [facts.backOff, ...keys, ...holds].some(({ probe }) => probe === row.id),
    sent_at: iso(row.sent_at),
    session:
      row.session_id === null ? null : { id: row.session_id, name: row.session_name ?? '', status: row.session_status },
    ended_at: iso(row.ended_at),
    result: row.result,
    fault: row.fault,
    reason: row.reason,
  };
}

/** A batch that the next pass tries is still held: nobody knows yet whether the fault is over. */
function dueHold(hold: HoldState | undefined): Pick<SendWait, 'why' | 'until'> | undefined {
  return hold === undefined ? undefined : { why: 'controller', until: heldUntil(hold) };
}

/** What is known of the keys: those of batches that have not ended, and those of which anything is remembered; by name. */
export function viewOfKeys({ plan, keys, holds, open, sent, facts }: BatcherPlan): BatchKey[] {
  const waits = new Map(plan.waits.map((wait) => [wait.batch, wait]));
  const names = new Set([...keys, ...holds, ...open, ...sent].map(({ key }) => key));
  const ofKey = <T extends { key: string }>(all: readonly T[]) => Map.groupBy(all, ({ key }) => key);
  const [openOf, sentOf, stateOf] = [ofKey(open), ofKey(sent), new Map(keys.map((state) => [state.key, state]))];
  const holdOf = new Map(holds.map((hold) => [hold.key, hold]));
  return [...names].sort().map((key) => {
    const mine = openOf.get(key) ?? [];
    const state = stateOf.get(key);
    // What the key desired earlier holds nothing back any more.
    const backOff = mine.length > 0 ? facts.keys.get(key) : state;
    return {
      key,
      open: mine.length,
      sent: sentOf.get(key)?.length ?? 0,
      components: mine.reduce((sum, { members }) => sum + members, 0),
      why_not: countReasons(mine.flatMap(({ id }) => waits.get(id) ?? [])),
      failures_in_a_row: state?.failuresInARow ?? 0,
      backoff: backOff === undefined ? null : viewOfBackOff(backOff),
      controller: viewOfHold(holdOf.get(key)),
      paused: state?.paused ?? false,
      paused_by: state?.pausedBy ?? null,
    };
  });
}

function viewOfHold(hold: HoldState | undefined): BatchKey['controller'] {
  if (hold === undefined) return null;
  const { code, reason, session, since, probe } = hold;
  const at = (time: number) => new Date(time).toISOString();
  return { code, reason, session, since: at(since), until: at(heldUntil(hold)), probe };
}

function viewOfBackOff({ length, start, probe }: BackOff): Batcher['backoff'] {
  if (length === 0) return null;
  return {
    length,
    since: new Date(start).toISOString(),
    until: new Date(start + length * 1_000).toISOString(),
    probe,
  };
}

function countReasons(waits: readonly SendWait[]): Partial<Record<WhyNot, number>> {
  const counts: Partial<Record<WhyNot, number>> = {};
  for (const { why } of waits) counts[why] = (counts[why] ?? 0) + 1;
  return counts;
}
