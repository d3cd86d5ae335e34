/** The second step of record, tell, sweep: Temporal hears what a committed record wants. What it does not hear, the sweep tells again. */
import type { Client, WorkflowStartOptions } from '@temporalio/client';
import type { SignalDefinition } from '@temporalio/common';
import { MAIN_QUEUE } from '../../domain/engine/task-queues.ts';
import type { WorkflowName } from '../../domain/engine/workflow-names.ts';
import { askInTime, EXCHANGE_MS } from './ask-in-time.ts';
import { engineSentence } from './engine-sentence.ts';
import { startOnce } from './start-once.ts';

/** The workflow that a record wants. */
export interface WantedWorkflow {
  workflowType: WorkflowName;
  /** Made from the id of the record, so that a record that is told twice has one workflow. */
  workflowId: string;
  args: unknown[];
  /** A sentence for Temporal's web UI. */
  staticSummary: string;
  /** Word to the workflow: an open one hears it, another one is started with it. Absent: it is started where none is open. */
  signal?: SignalDefinition<[]>;
  /** Default: the queue of all workers. */
  taskQueue?: string;
  /** Default: none. */
  workflowRunTimeout?: '4h';
}

/**
 * Tells Temporal of committed records, many at once. Never rejects: what Temporal does not hear is in the log, and comes again with
 * the sweep. `withinMs`: time (ms) in which further ones are begun, default 2,000.
 */
export type Tell = (wanted: readonly WantedWorkflow[], withinMs?: number) => Promise<void>;

export interface TellOptions {
  client: Client;
  log: { warn(fields: object, message: string): void };
  /** Time (ms) of one exchange; default 3,000. */
  exchangeMs?: number;
}

/** Exchanges with Temporal at once. */
const WIDTH = 16;
/** Time (ms) in which further records are told: a request waits for it. */
const WITHIN_MS = 2_000;

/** Makes the function that tells Temporal of records. */
export function createTell({ client, log, exchangeMs = EXCHANGE_MS }: TellOptions): Tell {
  const tellOne = async (wanted: WantedWorkflow) => {
    try {
      await askInTime(client, exchangeMs, () => tellOrThrow(client, wanted));
    } catch (error) {
      const { workflowId: workflow } = wanted;
      log.warn({ workflow, err: engineSentence(error) }, 'Temporal was not told of a record; the sweep tells it');
    }
  };
  return async (wanted, withinMs = WITHIN_MS) => {
    const until = performance.now() + withinMs;
    const left = [...wanted].reverse();
    const tellNext = async () => {
      while (performance.now() < until) {
        const next = left.pop();
        if (next === undefined) return;
        await tellOne(next);
      }
    };
    await Promise.all(Array.from({ length: Math.min(WIDTH, left.length) }, tellNext));
    const workflow = left.at(-1)?.workflowId;
    if (workflow === undefined) return;
    log.warn({ untold: left.length, workflow }, 'Temporal is slow: the sweep tells it of the other records');
  };
}

/** Tells Temporal of one record, for a caller that tries again by itself. Throws what Temporal throws. */
export async function tellOrThrow(client: Client, { workflowType, signal, ...wanted }: WantedWorkflow): Promise<void> {
  const options = {
    taskQueue: MAIN_QUEUE,
    ...wanted,
    // The record decides whether there is still something to do.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  } satisfies WorkflowStartOptions;
  if (signal === undefined) await startOnce(client, workflowType, options);
  else await client.workflow.signalWithStart(workflowType, { ...options, signal });
}
