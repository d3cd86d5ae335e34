import { type Client, isGrpcServiceError, ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { SignalDefinition } from '@temporalio/common';
import { sessionWorkflowId } from '../../domain/sessions/workflow-id.ts';

/** gRPC's INVALID_ARGUMENT: asked again, it is refused again. */
const REFUSED = 3;

/**
 * Says a word to the workflow of a session. One that is not there needs none; one that takes no more, since it was told too often, asks
 * by itself now and then, and must not keep others from being told, or from their end.
 */
export async function signalSession(
  client: Client,
  session: { id: string; name: string },
  signal: SignalDefinition,
): Promise<void> {
  try {
    await client.workflow.getHandle(sessionWorkflowId(session)).signal(signal);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError) && !isRefused(error)) throw error;
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof ServiceError && isGrpcServiceError(error.cause) && error.cause.code === REFUSED;
}
