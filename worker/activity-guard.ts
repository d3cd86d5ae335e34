import { ApplicationFailure } from '@temporalio/common';
import type { ActivityExecuteInput, ActivityInboundCallsInterceptor, Next } from '@temporalio/worker';
import { REFUSED, sealFor, unseal, unsignedCounts } from '../domain/engine/seal.ts';
import { imageJobWorkflowId } from '../domain/images/workflow-id.ts';
import { planWorkflowId } from '../domain/propagation/workflow-id.ts';
import { sessionIdOfWorkflow } from '../domain/sessions/workflow-id.ts';
import { Refused, Unsigned } from './checked-payloads.ts';

/** What the guard knows of the work that it lets through. */
export interface GuardedWork {
  activityType: string;
  workflowExecution?: { workflowId: string } | undefined;
  /** When the engine took it up, ms. */
  scheduledTimestampMs: number;
}

export interface GuardOptions {
  /** Null where this process has no key: nothing is signed then. */
  signing: { requiredSince(): Date | null } | null;
  log: { warn(fields: object, message: string): void };
}

/**
 * Lets an activity begin only with input that is ours: signed for this work of this workflow, or without MAC where that counts still. What a
 * session, an image job or a plan is asked for, its own workflow asks.
 */
export function guardActivities(info: GuardedWork, { signing, log }: GuardOptions): ActivityInboundCallsInterceptor {
  const refuse = (why: string): never => {
    const workflow = info.workflowExecution?.workflowId;
    log.warn({ activity: info.activityType, workflow }, `an activity is refused: ${why}`);
    throw ApplicationFailure.nonRetryable(`${info.activityType} is refused: ${why}`, REFUSED);
  };
  return {
    execute: (input: ActivityExecuteInput, next: Next<ActivityInboundCallsInterceptor, 'execute'>) => {
      const args = signing === null ? unseal(input.args).args : ours(info, input.args, signing.requiredSince(), refuse);
      const stranger = strangerTo(info.workflowExecution?.workflowId ?? '', args[0]);
      if (stranger !== null) refuse(stranger);
      return next({ ...input, args });
    },
  };
}

function ours(
  info: GuardedWork,
  given: readonly unknown[],
  requiredSince: Date | null,
  refuse: (why: string) => never,
): unknown[] {
  if (given.some((value) => value instanceof Refused)) refuse('its input has no valid MAC of this installation');
  const isUnsigned = given.some((value) => value instanceof Unsigned);
  const { args, sealedFor } = unseal(given.map((value) => (value instanceof Unsigned ? value.value : value)));
  if (isUnsigned || sealedFor === null) {
    const counts = unsignedCounts(new Date(info.scheduledTimestampMs), requiredSince);
    if (!counts) refuse('its input has no MAC');
  }
  const wanted = sealFor('activity', info.activityType).sealed_for;
  if (sealedFor !== null && sealedFor !== wanted) refuse(`its input is signed for something else (${sealedFor})`);
  return args;
}

/** Why that workflow has nothing to say of what the input names; null when it has. */
function strangerTo(workflowId: string, input: unknown): string | null {
  const { sessionId, jobId, plan } = (input ?? {}) as { sessionId?: unknown; jobId?: unknown; plan?: unknown };
  if (typeof sessionId === 'string' && sessionIdOfWorkflow(workflowId) !== sessionId)
    return `workflow ${workflowId} is not that of sessionId ${JSON.stringify(sessionId.slice(0, 100))}`;
  if (typeof jobId === 'string' && workflowId !== imageJobWorkflowId(jobId))
    return `workflow ${workflowId} is not that of jobId ${JSON.stringify(jobId.slice(0, 100))}`;
  if (typeof plan === 'string' && workflowId !== planWorkflowId(plan))
    return `workflow ${workflowId} is not that of plan ${JSON.stringify(plan.slice(0, 100))}`;
  return null;
}
