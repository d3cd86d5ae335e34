/** The layers of a session, one after the other, wherever they run; with what comes between: waiting for components, holding. */

import { condition, workflowInfo } from '@temporalio/workflow';
import type { EndRun, RunLayer, SessionPlan, SessionRef } from '../../activities/sessions/contract.ts';
import { describeHold } from '../../domain/sessions/hold.ts';
import { placeOfLayer } from '../../domain/sessions/layer-name.ts';
import {
  checkOutcome,
  describeLayerFailure,
  type LayerOutcome,
  sessionOutcome,
} from '../../domain/sessions/outcome.ts';
import { summarizeRun } from '../../domain/sessions/run-summary.ts';
import type { RetryHosts } from '../../domain/sessions/schema.ts';
import { sessionNameOfWorkflow } from '../../domain/sessions/workflow-id.ts';
import type { RetrySession } from './messages.ts';
import { type Ending, records, type State, show, throwIfCancelled } from './session-state.ts';

/** Where layers run. */
export interface LayerRunner {
  /** `summary`: the run in a line, for who looks at the workflow. */
  runLayer(run: RunLayer, summary: string): Promise<LayerOutcome>;
  /** Ends a run, or keeps it from ever starting. */
  endRun(run: EndRun): Promise<unknown>;
  /** Whether nothing can run there any more; without it that shows with the next run. */
  isGone?(): boolean;
  /** Folder on the machine where they run; undefined where it is not known. */
  workspace?: string | undefined;
}

/** How layers ended: the session, unless something else comes of it, and the one that ran last. */
export interface LayersEnd {
  ending: Ending;
  /** Null: nobody knows, or there was none. */
  exitCode: number | null;
}

/** Runs the layers as far as they go. */
export async function runLayers(
  input: SessionRef,
  state: State,
  plan: SessionPlan,
  runner: LayerRunner,
): Promise<LayersEnd> {
  const outcomes: LayerOutcome[] = [];
  for (const layer of plan.layers.length > 0 ? plan.layers : [0]) {
    let outcome = await runLayer(input, state, plan, runner, layer, 'all');
    while (outcome.exitCode !== 0 && outcome.exitCode !== null && plan.debugOnFailure) {
      const retry = await hold(input, state, plan, runner, outcome);
      if (retry === null) break;
      state.progress.attempt += 1;
      outcome = await runLayer(input, state, plan, runner, layer, retry.hosts);
    }
    outcomes.push(outcome);
    const goesOn = outcome.exitCode === 0 || (plan.check === true && outcome.exitCode !== null);
    if (!goesOn) break;
  }
  const ending = plan.check ? checkOutcome(outcomes, state.checked) : sessionOutcome(outcomes);
  return { ending, exitCode: outcomes.at(-1)?.exitCode ?? null };
}

/** Asks until the session has its components: woken when some are given back, and now and then by itself. */
export async function waitForLeases(input: SessionRef, state: State): Promise<void> {
  for (;;) {
    throwIfCancelled(state);
    state.leases = false;
    const answer = await records.takeLeases(input);
    if (answer.state === 'taken') return;
    show(state, { step: 'leases', message: answer.message });
    await condition(() => state.leases || state.cancel !== null, answer.retrySeconds * 1000, {
      summary: 'asks for its components again',
    });
  }
}

/** Runs one attempt of one layer. A cancel ends every process of the run first; then the watch returns by itself. */
async function runLayer(
  input: SessionRef,
  state: State,
  { layers, playbooks = [] }: SessionPlan,
  runner: LayerRunner,
  layer: number,
  hosts: RetryHosts,
): Promise<LayerOutcome> {
  throwIfCancelled(state);
  const run = { ...input, layer, attempt: state.progress.attempt };
  const playbook = playbooks[Math.max(0, layers.indexOf(layer))];
  show(state, { step: 'layer', layer });
  const place = placeOfLayer(
    layers.map((index) => ({ index })),
    layer,
  );
  const running = runner.runLayer({ ...run, hosts }, summarizeRun({ ...run, playbook, place, hosts, aim: state.aim }));
  // Looked at below, after the cancel; must not count as unhandled meanwhile.
  running.catch(() => undefined);
  await Promise.race([running, condition(() => state.cancel !== null)]);
  if (state.cancel !== null) {
    const { timeoutSeconds } = state.cancel;
    await runner.endRun(timeoutSeconds === undefined ? run : { ...run, timeoutSeconds });
  }
  const outcome = await running;
  state.checked = await records.recordLayer(run);
  throwIfCancelled(state);
  return outcome;
}

/** Last instant that has a name, ms: the options set no bound to a hold. */
const LAST_INSTANT = 8.64e15;

/** Waits after a failure; answers the retry that was asked for, or null when the session is to end. */
async function hold(
  input: SessionRef,
  state: State,
  plan: SessionPlan,
  { isGone = () => false, workspace }: LayerRunner,
  outcome: LayerOutcome,
): Promise<RetrySession | null> {
  const waits = Math.max(1, plan.debugWaitSeconds * 1000);
  const now = Date.now();
  const message = describeHold({
    session: sessionNameOfWorkflow(workflowInfo().workflowId),
    failure: describeLayerFailure(outcome),
    now: new Date(now),
    until: new Date(Math.min(now + waits, LAST_INSTANT)),
    workspace,
  });
  state.holding = true;
  show(state, { step: 'hold', layer: outcome.index, message });
  await records.recordHold({ ...input, layer: outcome.index, message });
  await condition(() => state.finish || state.retry !== null || state.cancel !== null || isGone(), waits, {
    summary: 'end of the hold',
  });
  const { retry } = state;
  // Words for this hold are gone with it, and not when the next begins: a replay may hear of a word before it comes to the hold that it is
  // for, where both were in one task of the workflow.
  Object.assign(state, { holding: false, finish: false, retry: null });
  throwIfCancelled(state);
  return retry;
}
