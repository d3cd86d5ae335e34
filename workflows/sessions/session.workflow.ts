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
 *  9. end as the session did: completed with its result, failed or cancelled
 *
 * A session on images has steps before 3, and between 6 and 7, at the image service: `image-steps.ts`.
 * With a Kubernetes Job in place of a workspace, 2 to 7 are `cluster-session.ts`.
 *
 * History: 32 events without layers, 7 for each layer run (1 activity, 1 local activity, 1 workflow task); waiting in
 * line or for components costs 6 for each time it asks, and a line continues as new at the server's hint. Nothing here grows with the fleet.
 */

import {
  ActivityFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  proxyActivities,
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
import type { RecordedEnd, SessionResult } from '../../domain/sessions/session-result.ts';
import { runOnCluster } from './cluster/cluster-session.ts';
import { finishImages, prepareImages, releaseImages } from './images/image-steps.ts';
import { type LayerRunner, runLayers, waitForLeases } from './layer-runs.ts';
import { receiveMessages } from './receive-messages.ts';
import { closeAs, endingOf } from './session-ending.ts';
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

/**
 * Ends as the session did: with its result, failed as `session_failed`, or cancelled. Undefined where there was no session any more,
 * and for a session whose end an older release recorded. What the record answers decides that, not a marker of its own: a release that knows
 * no such marker can take the session over again.
 */
export async function sessionWorkflow(input: SessionRef): Promise<SessionResult | undefined> {
  const state = newState();
  receiveMessages(state);
  const end = await CancellationScope.nonCancellable(async () => {
    const ended = await runSession(input, state);
    await condition(allHandlersFinished);
    return ended;
  });
  return end === null ? undefined : closeAs(end);
}

/** Answers the end that is on record; null where there is no record. */
async function runSession(input: SessionRef, state: State): Promise<RecordedEnd | null> {
  const admission = await waitForAdmission(input, state);
  if ('over' in admission) return admission.over;
  const { plan } = admission;
  show(state, { step: 'clone' });
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
  return end(input, state, ending);
}

/** Returns the end that the record has: what was to be written where the record is gone, null where an older release wrote it. */
async function end(input: SessionRef, state: State, ending: Ending): Promise<RecordedEnd | null> {
  // An older release answers nothing.
  const recorded: RecordedEnd | null | undefined = await records.recordEnd({ ...input, ...ending });
  show(state, { step: 'done', message: ending.message });
  upsertSearchAttributes({ MusterStatus: [`complete-${ending.succeeded}`] });
  if (recorded === undefined) return null;
  if (recorded === null) return { ...ending, hosts: null };
  return { ...recorded, reason: recorded.reason ?? ending.reason };
}

/** `over` when there is nothing to run: cancelled in line, or ended before it began; null when it is gone. */
async function waitForAdmission(
  input: SessionRef,
  state: State,
): Promise<{ plan: SessionPlan } | { over: RecordedEnd | null }> {
  for (;;) {
    state.slot = false;
    const admission = await records.admitSession(input);
    if (admission.state === 'admitted') return { plan: admission.plan };
    if (admission.state === 'over') {
      show(state, { step: 'over' });
      return { over: admission.end ?? null };
    }
    if (admission.state === 'cancelled') requestCancel(state, admission.reason, 'cancelled');
    else {
      show(state, { step: 'line', message: admission.message, reason: null });
      await condition(() => state.slot || state.cancel !== null, admission.retrySeconds * 1000, {
        summary: 'asks for a slot again',
      });
      if (state.cancel === null && workflowInfo().continueAsNewSuggested) {
        await condition(allHandlersFinished);
        if (state.cancel === null) await continueAsNew<typeof sessionWorkflow>(input);
      }
    }
    if (state.cancel !== null) return { over: await end(input, state, cancelled(state.cancel)) };
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
    show(state, { step: 'inventory' });
    const inventory = await unlessCancelled(state, () => host.writeInventory(input));
    state.aim = inventory?.aim;
    if (inventory?.leases) await waitForLeases(input, state);
    ending = (await runLayers(input, state, plan, { ...host, workspace: workspace.folder })).ending;
    if (images !== null) ending = await finishImages(input, state, images, ending);
  } catch (error) {
    ending = endingOf(error, state);
  }
  limit.cancel();
  if (plan.images) ending = await releaseImages(input, state, ending);
  show(state, { step: 'clean_up' });
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
function hostActivities({ hostQueue }: PreparedWorkspace): Omit<HostActivities, 'runLayer'> & LayerRunner {
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
  const runLayer: LayerRunner['runLayer'] = (run, summary) =>
    proxyActivities<HostActivities>({
      taskQueue: hostQueue,
      summary,
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
