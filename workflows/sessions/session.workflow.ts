/**
 * One configuration session, from queue to record.
 *
 *  1. admit: wait in line for a slot; `running`, `job` and the slot are taken together
 *  2. clone the layers' repositories into a workspace on one machine
 *  3. write the inventory there
 *  4. wait until no other session has its components, if it takes part in that
 *  5. each layer in order: start or find its run, watch it to its end, record what every host reached
 *  6. after a failure, hold if asked: until told to finish, to retry the layer, to cancel, or the time is over
 *  7. remove the workspace
 *  8. record the end, give slot and components back
 *
 * History: 30 events without layers, 7 for each layer run (1 activity, 1 local activity, 1 workflow task); waiting in
 * line or for components costs 6 for each time it asks, and a line continues as new at the server's hint. Nothing here grows with the fleet.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  TemporalFailure,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  HostActivities,
  PreparedWorkspace,
  SessionEnding,
  SessionPlan,
  SessionRecords,
  SessionRef,
  WorkspaceActivities,
} from '../../activities/sessions/contract.ts';
import type { CheckCounts } from '../../domain/components/drift-schema.ts';
import { isErrorCode } from '../../domain/errors.ts';
import {
  checkOutcome,
  describeLayerFailure,
  type LayerOutcome,
  sessionOutcome,
} from '../../domain/sessions/outcome.ts';
import {
  cancelSession,
  finishDebug,
  getProgress,
  leasesFree,
  type RetrySession,
  retrySession,
  type SessionProgress,
  slotFree,
} from './messages.ts';

/** A cancelled activity is over when its work has stopped, not when it was told to; the SDK's default does not wait. */
const WHEN_IT_HAS_STOPPED = 'WAIT_CANCELLATION_COMPLETED';

const records = proxyLocalActivities<SessionRecords>({
  startToCloseTimeout: '20s',
  retry: { initialInterval: '200ms', maximumInterval: '10s' },
});

const { cloneLayers } = proxyActivities<WorkspaceActivities>({
  startToCloseTimeout: '1h',
  heartbeatTimeout: '10s',
  cancellationType: WHEN_IT_HAS_STOPPED,
  retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 8 },
});

type Ending = Omit<SessionEnding, 'sessionId'>;

interface State {
  progress: SessionProgress;
  cancel: { reason: string; code: string } | null;
  slot: boolean;
  leases: boolean;
  holding: boolean;
  finish: boolean;
  retry: RetrySession | null;
  /** Of a check: what it has seen until now. */
  checked: CheckCounts | null;
}

export async function sessionWorkflow(input: SessionRef): Promise<void> {
  const state: State = {
    progress: { phase: 'queued', layer: null, attempt: 1, message: 'waiting for a session slot' },
    cancel: null,
    slot: false,
    leases: false,
    holding: false,
    finish: false,
    retry: null,
    checked: null,
  };
  receiveMessages(state);
  // A cancellation of the workflow itself, from Temporal's web UI, means the same as the command.
  CancellationScope.current().cancelRequested.catch(() => requestCancel(state, 'cancelled in Temporal', 'cancelled'));
  await CancellationScope.nonCancellable(async () => {
    await runSession(input, state);
    await condition(allHandlersFinished);
  });
}

function receiveMessages(state: State): void {
  const refuseUnlessHolding = () => {
    if (!state.holding) {
      throw ApplicationFailure.nonRetryable('the session does not hold after a failure', 'session_not_holding');
    }
  };
  setHandler(cancelSession, ({ reason }) => requestCancel(state, reason, 'cancelled'));
  setHandler(slotFree, () => {
    state.slot = true;
  });
  setHandler(leasesFree, () => {
    state.leases = true;
  });
  setHandler(
    finishDebug,
    () => {
      state.finish = true;
    },
    { validator: refuseUnlessHolding },
  );
  setHandler(
    retrySession,
    (retry: RetrySession) => {
      state.retry = retry;
    },
    { validator: (_retry: RetrySession) => refuseUnlessHolding() },
  );
  setHandler(getProgress, () => state.progress);
}

async function runSession(input: SessionRef, state: State): Promise<void> {
  const plan = await waitForAdmission(input, state);
  if (plan === null) return;
  show(state, { phase: 'clone', message: 'cloning' });
  upsertSearchAttributes({ MusterStatus: ['running'] });

  const limit = startTimeLimit(plan, state);
  let workspace: PreparedWorkspace | null = null;
  let ending: Ending;
  try {
    if (plan.layers.length === 0 && !plan.debug) ending = sessionOutcome([]);
    else {
      workspace = await unlessCancelled(state, () => cloneLayers(input));
      ending = await runLayers(input, state, plan, hostActivities(workspace));
    }
  } catch (error) {
    ending = endingOf(error, state);
  }
  limit.cancel();

  show(state, { phase: 'teardown', message: 'cleaning up' });
  if (workspace !== null) await cleanUp(input, workspace);
  await end(input, state, ending);
}

async function end(input: SessionRef, state: State, ending: Ending): Promise<void> {
  await records.recordEnd({ ...input, ...ending });
  show(state, { phase: 'done', message: ending.message });
  upsertSearchAttributes({ MusterStatus: [`complete-${ending.succeeded}`] });
}

/** Null when there is nothing to run: cancelled in line, or over before it began. */
async function waitForAdmission(input: SessionRef, state: State): Promise<SessionPlan | null> {
  for (;;) {
    state.slot = false;
    const admission = await records.admitSession(input);
    if (admission.state === 'admitted') return admission.plan;
    if (admission.state === 'over') {
      show(state, { phase: 'done', message: 'the session had ended or was gone' });
      return null;
    }
    if (admission.state === 'cancelled') requestCancel(state, admission.reason, 'cancelled');
    else {
      show(state, { phase: 'queued', message: admission.message });
      await condition(() => state.slot || state.cancel !== null, admission.retrySeconds * 1000, {
        summary: 'asks for a slot again',
      });
      if (state.cancel === null && workflowInfo().continueAsNewSuggested) {
        await condition(allHandlersFinished);
        if (state.cancel === null) await continueAsNew<typeof sessionWorkflow>(input);
      }
    }
    if (state.cancel !== null) {
      await end(input, state, cancelled(state.cancel));
      return null;
    }
  }
}

async function runLayers(input: SessionRef, state: State, plan: SessionPlan, host: HostActivities): Promise<Ending> {
  show(state, { phase: 'inventory', message: 'writing the inventory' });
  const inventory = await unlessCancelled(state, () => host.writeInventory(input));
  if (inventory?.leases) await waitForLeases(input, state);

  const outcomes: LayerOutcome[] = [];
  for (const layer of plan.layers.length > 0 ? plan.layers : [0]) {
    let outcome = await runLayer(input, state, host, layer, 'all');
    while (outcome.exitCode !== 0 && outcome.exitCode !== null && plan.debugOnFailure) {
      const retry = await hold(input, state, plan, outcome);
      if (retry === null) break;
      state.progress.attempt += 1;
      outcome = await runLayer(input, state, host, layer, retry.hosts);
    }
    outcomes.push(outcome);
    const goesOn = outcome.exitCode === 0 || (plan.check === true && outcome.exitCode !== null);
    if (!goesOn) break;
  }
  return plan.check ? checkOutcome(outcomes, state.checked) : sessionOutcome(outcomes);
}

/** Asks until the session has its components: woken when some are given back, and now and then by itself. */
async function waitForLeases(input: SessionRef, state: State): Promise<void> {
  for (;;) {
    throwIfCancelled(state);
    state.leases = false;
    const answer = await records.takeLeases(input);
    if (answer.state === 'taken') return;
    show(state, { phase: 'lease', message: answer.message });
    await condition(() => state.leases || state.cancel !== null, answer.retrySeconds * 1000, {
      summary: 'asks for its components again',
    });
  }
}

/** Runs one attempt of one layer. A cancel ends every process of the run first; then the watch returns by itself. */
async function runLayer(
  input: SessionRef,
  state: State,
  host: HostActivities,
  layer: number,
  hosts: 'all' | 'failed',
): Promise<LayerOutcome> {
  throwIfCancelled(state);
  const run = { ...input, layer, attempt: state.progress.attempt };
  show(state, { phase: 'layer', layer, message: `running layer ${layer}` });
  const running = host.runLayer({ ...run, hosts });
  // Looked at below, after the cancel; must not count as unhandled meanwhile.
  running.catch(() => undefined);
  await Promise.race([running, condition(() => state.cancel !== null)]);
  if (state.cancel !== null) await host.endRun(run);
  const outcome = await running;
  state.checked = await records.recordLayer(run);
  throwIfCancelled(state);
  return outcome;
}

/** Waits after a failure; answers the retry that was asked for, or null when the session is to end. */
async function hold(
  input: SessionRef,
  state: State,
  plan: SessionPlan,
  outcome: LayerOutcome,
): Promise<RetrySession | null> {
  const message = `holding after a failure (${describeLayerFailure(outcome)}) for up to ${plan.debugWaitSeconds} s`;
  state.holding = true;
  state.finish = false;
  state.retry = null;
  show(state, { phase: 'hold', layer: outcome.index, message });
  await records.recordHold({ ...input, layer: outcome.index, message });
  await condition(
    () => state.finish || state.retry !== null || state.cancel !== null,
    Math.max(1, plan.debugWaitSeconds * 1000),
    { summary: 'end of the hold' },
  );
  state.holding = false;
  throwIfCancelled(state);
  return state.retry;
}

/** Removes the workspace; a machine that is gone must not keep the session from ending. */
async function cleanUp(input: SessionRef, workspace: PreparedWorkspace): Promise<void> {
  try {
    await hostActivities(workspace).removeWorkspace(input);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
  }
}

/** Work on the machine that has the workspace. A watch may be taken up again for as long as the disk may come back. */
function hostActivities({ hostQueue }: PreparedWorkspace): HostActivities {
  const short = {
    taskQueue: hostQueue,
    scheduleToStartTimeout: '5m',
    startToCloseTimeout: '15m',
    heartbeatTimeout: '10s',
    cancellationType: WHEN_IT_HAS_STOPPED,
    retry: { initialInterval: '500ms', maximumInterval: '10s', maximumAttempts: 6 },
  } as const;
  const { writeInventory } = proxyActivities<HostActivities>(short);
  // A machine that is away removes the workspace of an ended session when it is back.
  const { removeWorkspace } = proxyActivities<HostActivities>({ ...short, scheduleToStartTimeout: '30s' });
  const { endRun } = proxyActivities<HostActivities>({
    ...short,
    scheduleToStartTimeout: '24h',
    retry: { initialInterval: '200ms', maximumInterval: '5s' },
  });
  const runLayer: HostActivities['runLayer'] = (run) =>
    proxyActivities<HostActivities>({
      taskQueue: hostQueue,
      summary: `layer ${run.layer}, attempt ${run.attempt}`,
      scheduleToStartTimeout: '24h',
      startToCloseTimeout: '30d',
      heartbeatTimeout: '10s',
      retry: { initialInterval: '200ms', maximumInterval: '10s' },
    }).runLayer(run);
  return { writeInventory, removeWorkspace, endRun, runLayer };
}

function requestCancel(state: State, reason: string, code: string): void {
  state.cancel ??= { reason, code };
}

function throwIfCancelled(state: State): void {
  if (state.cancel !== null) throw ApplicationFailure.nonRetryable(state.cancel.reason, state.cancel.code);
}

/** Runs `work` in a scope of its own that a cancel ends. What is done before it hears of the cancel counts as done. */
async function unlessCancelled<T>(state: State, work: () => Promise<T>): Promise<T> {
  throwIfCancelled(state);
  const scope = new CancellationScope();
  const result = scope.run(work);
  result.catch(() => undefined);
  await Promise.race([result, condition(() => state.cancel !== null)]);
  if (state.cancel !== null) scope.cancel();
  return await result;
}

function startTimeLimit(plan: SessionPlan, state: State): CancellationScope {
  const scope = new CancellationScope();
  if (plan.timeoutSeconds > 0) {
    scope
      .run(() => sleep(plan.timeoutSeconds * 1000, { summary: 'session_timeout' }))
      .then(
        () => requestCancel(state, `took longer than session_timeout (${plan.timeoutSeconds} s)`, 'session_timeout'),
        () => undefined,
      );
  }
  return scope;
}

const cancelled = ({ reason, code }: NonNullable<State['cancel']>): Ending => ({
  succeeded: 'false',
  message: reason,
  reason: code,
});

/** The end of a session that broke off: cancelled, refused by a rule, or something could not be found out. */
function endingOf(error: unknown, state: State): Ending {
  if (!(error instanceof TemporalFailure)) throw error;
  const cause = error instanceof ActivityFailure ? error.cause : error;
  const gone = error instanceof ActivityFailure && !(cause instanceof ApplicationFailure) && !isCancellation(error);
  // Of a run that nobody answers for, nobody knows whether it still works, cancelled or not.
  const runIsLeft = gone && (error.activityType === 'runLayer' || error.activityType === 'endRun');
  if (state.cancel !== null && !runIsLeft) return cancelled(state.cancel);
  if (cause instanceof ApplicationFailure) {
    return { succeeded: 'false', message: cause.message, reason: isErrorCode(cause.type) ? cause.type : 'internal' };
  }
  if (!gone) throw error;
  const message = `${error.activityType} got no answer from the machine that has the workspace`;
  return { succeeded: runIsLeft ? 'unknown' : 'false', message, reason: 'runner_gone' };
}

function show(state: State, progress: Partial<SessionProgress>): void {
  Object.assign(state.progress, progress);
  const { phase, attempt, message } = state.progress;
  setCurrentDetails(`**${phase}** (attempt ${attempt}): ${message}`);
}
