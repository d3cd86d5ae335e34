import { NO_BACK_OFF } from '../../domain/batches/back-off.ts';
import { holdNow } from '../../domain/batches/controller-hold.ts';
import { type KeyHold, type PlanFacts, planSends, type SendPlan } from '../../domain/batches/plan-sends.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import { boundedSeconds } from '../../domain/text/times.ts';
import { type HoldState, readBases, readHolds } from '../../store/batches/batch-holds.ts';
import { type BatcherState, type KeyState, readBatcherState, readKeys } from '../../store/batches/batcher-state.ts';
import { type OpenBatch, openBatches } from '../../store/batches/batches.ts';
import { type SentBatch, sentBatches } from '../../store/batches/sent-batches.ts';
import type { Db } from '../../store/connection/database.ts';
import { readDesiredDigests } from './desired-digest.ts';
import { readRolloutGates } from './rollout-gates.ts';

export interface BatcherPlan {
  state: BatcherState;
  keys: KeyState[];
  /** Of keys that a fault of the controller holds, as they stand now. */
  holds: HoldState[];
  /** Not sent yet, oldest first. */
  open: OpenBatch[];
  sent: SentBatch[];
  /** What decides about the sending; `planSends` of it and other batches answers for them. */
  facts: PlanFacts;
  /** Which would be sent now, and why the others would not. */
  plan: SendPlan;
}

/** What would be sent at this instant, and why not yet; changes nothing. */
export async function readPlan(db: Db, options: Options, now: Date): Promise<BatcherPlan> {
  const state = await readBatcherState(db);
  const keys = await readKeys(db);
  const open = await openBatches(db);
  const sent = await sentBatches(db, options.max_running_sessions);
  const gates = await readRolloutGates(db, options);
  const holds = await controllerHolds(db);
  const facts: PlanFacts = {
    now: now.getTime(),
    disabled: options.batcher_disable,
    paused: state.paused,
    window: boundedSeconds(options.batch_window),
    sizeOf: (configuration) => gates.get(configuration)?.size ?? options.batch_size,
    waiting: sent.filter(({ session }) => session?.status === 'pending').length,
    out: new Set(sent.map(({ id }) => id)),
    backOff: state.backOff,
    keys: await keyHolds(db, options, keys, open),
    holds: new Map(holds.map((hold) => [hold.key, hold])),
    rollouts: new Map([...gates].map(([configuration, { room }]) => [configuration, room])),
  };
  return { state, keys, holds, open, sent, facts, plan: planSends(open, facts) };
}

/** What changed since a held key was last tried lets it be tried at once. */
async function controllerHolds(db: Db): Promise<HoldState[]> {
  const holds = await readHolds(db);
  const bases = await readBases(db, [...new Set(holds.map(({ configuration }) => configuration))]);
  return holds.map((hold) => ({ ...hold, ...holdNow(hold, bases.get(hold.configuration) ?? '') }));
}

/** The back-off of the keys of these batches; what a key desired earlier holds nothing back. */
async function keyHolds(
  db: Db,
  options: Options,
  keys: readonly KeyState[],
  open: readonly OpenBatch[],
): Promise<Map<string, KeyHold>> {
  if (keys.length === 0) return new Map();
  const configurations = new Map(open.map(({ key, configuration }) => [key, configuration]));
  const relevant = keys.filter(({ key }) => configurations.has(key));
  const desired = await readDesiredDigests(db, configurations.values(), options);
  return new Map(
    relevant.map((state) => {
      const isCurrent = desired.get(configurations.get(state.key) ?? '') === state.desired;
      return [state.key, { ...(isCurrent ? state : NO_BACK_OFF), paused: state.paused }];
    }),
  );
}
