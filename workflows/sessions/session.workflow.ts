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
 * A session on images has steps before 3, and between 6 and 7, at the image service: `image-steps.ts`.
 * With a Kubernetes Job in place of a workspace, 2 to 7 are `cluster-session.ts`.
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
  proxyActivities,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  HostActivities,
  PreparedWorkspace,
  SessionPlan,
  SessionRef,
  WorkspaceActivities,
} from '../../activities/sessions/contract.ts';
import { sessionOutcome } from '../../domain/sessions/outcome.ts';
import { runOnCluster } from './cluster-session.ts';
import { finishImages, prepareImages, releaseImages } from './image-steps.ts';
import { runLayers, waitForLeases } from './layer-runs.ts';
import {
  cancelSession,
  finishDebug,
  getProgress,
  leasesFree,
  type RetrySession,
  retrySession,
  slotFree,
} from './messages.ts';
import { endingOf } from './session-ending.ts';
import {
  cancelled,
  type Ending,
  newState,
  records,
  requestCancel,
  type State,
  show,
  unlessCancelled,
  WHEN_IT_HAS_STOPPED,
} from './session-state.ts';

const { cloneLayers } = proxyActivities<WorkspaceActivities>({
  startToCloseTimeout: '1h',
  heartbeatTimeout: '10s',
  cancellationType: WHEN_IT_HAS_STOPPED,
  retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 8 },
});

export async function sessionWorkflow(input: SessionRef): Promise<void> {
  const state = newState();
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
  let ending: Ending;
  try {
    if (plan.layers.length === 0 && !plan.debug) ending = sessionOutcome([]);
    else if (plan.runner === 'kubernetes') ending = await runOnCluster(input, state, plan);
    else ending = await runOnMachine(input, state, plan, limit);
  } catch (error) {
    ending = endingOf(error, state);
  }
  limit.cancel();
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

/** Clones into a workspace on one machine and runs the layers there. */
async function runOnMachine(
  input: SessionRef,
  state: State,
  plan: SessionPlan,
  limit: CancellationScope,
): Promise<Ending> {
  let workspace: PreparedWorkspace | null = null;
  let ending: Ending;
  try {
    workspace = await unlessCancelled(state, () => cloneLayers(input));
    const host = hostActivities(workspace);
    const images = plan.images ? await prepareImages(input, state) : null;
    show(state, { phase: 'inventory', message: 'writing the inventory' });
    const inventory = await unlessCancelled(state, () => host.writeInventory(input));
    if (inventory?.leases) await waitForLeases(input, state);
    ending = (await runLayers(input, state, plan, host)).ending;
    if (images !== null) ending = await finishImages(input, state, images, ending);
  } catch (error) {
    ending = endingOf(error, state);
  }
  limit.cancel();
  if (plan.images) ending = await releaseImages(input, state, ending);
  show(state, { phase: 'teardown', message: 'cleaning up' });
  if (workspace !== null) await cleanUp(input, workspace);
  return ending;
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

function startTimeLimit(plan: SessionPlan, state: State): CancellationScope {
  const scope = new CancellationScope();
  if (plan.timeoutSeconds > 0) {
    scope
      .run(() => sleep(plan.timeoutSeconds * 1000, { summary: 'session_timeout' }))
      .then(
        () => {
          const reason = `took longer than session_timeout (${plan.timeoutSeconds} s)`;
          requestCancel(state, reason, 'session_timeout', plan.timeoutSeconds);
        },
        () => undefined,
      );
  }
  return scope;
}
