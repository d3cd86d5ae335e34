/** Wakes work that waits: for its cluster, or for other apps. A lost word costs time alone: each wait has an end of its own. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Phase } from '../../domain/deployments/context-state.ts';
import { clusterWorkflowId } from '../../domain/deployments/workflow-id.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { lookAgain } from '../../workflows/deployments/messages.ts';
import { askInTime, EXCHANGE_MS } from '../temporal/ask-in-time.ts';

export interface Waiting {
  context: string;
  phase: Phase;
  /** `<provider>+<cluster>` */
  cluster: string;
}

export interface WakeDependencies {
  client: Client;
  log: { warn(fields: object, message: string): void };
}

/** Never rejects. */
export async function wakeWaiting({ client, log }: WakeDependencies, waiting: readonly Waiting[]): Promise<void> {
  for (const { context, phase, cluster } of waiting) {
    const workflow = clusterWorkflowId(context, phase, cluster);
    try {
      await askInTime(client, EXCHANGE_MS, () => client.workflow.getHandle(workflow).signal(lookAgain));
    } catch (error) {
      // Work that is not there looks when it begins.
      if (error instanceof WorkflowNotFoundError) continue;
      log.warn({ workflow, err: messageOf(error) }, 'work that waits did not hear that it may go on');
    }
  }
}
