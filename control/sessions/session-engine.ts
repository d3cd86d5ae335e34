import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { ERRORS, type ErrorCode, musterError } from '../../domain/errors.ts';
import { sessionWorkflowId } from '../../domain/sessions/workflow-id.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import type { Db } from '../../store/connection/database.ts';
import { forgetQueueMessages } from '../../store/sessions/admission.ts';
import { findSessionById } from '../../store/sessions/sessions.ts';
import { finishDebug, retrySession } from '../../workflows/sessions/messages.ts';
import { deadlineIn } from '../temporal/deadline.ts';
import type { SessionEngine } from './engine-port.ts';
import { wakeAllLeaseWaiters } from './wake-lease-waiters.ts';
import { wakeQueue } from './wake-queue.ts';

/** An update waits for a live worker; after this the caller is told that the engine does not answer. */
const ANSWER_MS = 5_000;

/** Commands to session workflows; a refusal of the workflow comes back as the catalogue's error. */
export function createSessionEngine({ db, client, clock }: { db: Db; client: Client; clock(): Date }): SessionEngine {
  const command = async (sessionId: string, send: (workflowId: string) => Promise<void>) => {
    const session = await findSessionById(db, sessionId);
    if (session === null) throw musterError('session_not_found', `Session ${sessionId} could not be found`);
    try {
      await client.withDeadline(deadlineIn(ANSWER_MS), () => send(sessionWorkflowId(session)));
    } catch (error) {
      throw translate(error, session.name);
    }
  };
  return {
    finishDebug: (sessionId) =>
      command(sessionId, (workflowId) => client.workflow.getHandle(workflowId).executeUpdate(finishDebug)),
    retryInPlace: (sessionId, hosts) =>
      command(sessionId, (workflowId) =>
        client.workflow.getHandle(workflowId).executeUpdate(retrySession, { args: [{ hosts }] }),
      ),
    pokeQueue: async () => {
      await forgetQueueMessages(db, clock());
      await wakeQueue({ db, client });
      await wakeAllLeaseWaiters({ db, client });
    },
  };
}

function translate(error: unknown, name: string): Error {
  if (error instanceof WorkflowNotFoundError) {
    return musterError('session_not_holding', `Session ${name} does not hold: its work has ended`);
  }
  if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
    const { type, message } = error.cause;
    if (type && type in ERRORS) return musterError(type as ErrorCode, `Session ${name}: ${message}`);
  }
  const message = messageOf(error);
  return musterError('engine_unavailable', `The workflow engine gave no answer for session ${name}: ${message}`);
}
