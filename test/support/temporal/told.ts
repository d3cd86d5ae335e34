/** Stand-ins for Temporal where only what it is told matters. */
import type { Client } from '@temporalio/client';
import type { Tell, WantedWorkflow } from '../../../control/temporal/tell.ts';

/** A `tell` that notes the records that it is told of, each as its workflow's id and the word to the workflow, if there is any. */
export function notingTell(): { tell: Tell; told: string[] } {
  const told: string[] = [];
  const tell: Tell = async (wanted) => void told.push(...wanted.map(wordOf));
  return { tell, told };
}

const wordOf = ({ workflowId, signal }: WantedWorkflow) =>
  signal === undefined ? workflowId : `${workflowId} ${signal.name}`;

/** One exchange of a client with Temporal. */
export interface Exchange {
  workflowType: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into options of every shape
  options: any;
}

/** A client of a Temporal that answers as `answer` does; `signalWithStart` shows in the options, by its signal. */
export function answeringClient(answer: (exchange: Exchange) => Promise<unknown>): Client {
  const exchange = (workflowType: string, options: unknown) => answer({ workflowType, options });
  return {
    withDeadline: <T>(_deadline: number, work: () => Promise<T>) => work(),
    workflow: { start: exchange, signalWithStart: exchange },
  } as unknown as Client;
}
