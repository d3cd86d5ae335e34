/**
 * Part of the bundle: workflows take no start, message or result that is not ours, and seal what they ask for. A refused start fails the
 * workflow, a refused update and a refused result fail, a refused signal is dropped.
 */
import {
  ApplicationFailure,
  log,
  type WorkflowInterceptors,
  type WorkflowOutboundCallsInterceptor,
  workflowInfo,
} from '@temporalio/workflow';
import { type Purpose, REFUSED, sealFor, unseal, withoutScheduledTime } from '../../domain/engine/seal.ts';
import { countsUnsigned, Refused } from './converters.ts';

const refusal = (what: string) =>
  ApplicationFailure.nonRetryable(`${what} came through Temporal without a valid MAC of this installation`, REFUSED);

/** The arguments that count; null where they do not. */
function accepted(
  given: unknown[],
  fits: (sealedFor: string) => boolean,
): { args: unknown[]; isSealed: boolean } | null {
  const { args, sealedFor } = unseal(given);
  if (given.some((value) => value instanceof Refused)) return null;
  const isFit = sealedFor === null ? countsUnsigned() : fits(sealedFor);
  return isFit ? { args, isSealed: sealedFor !== null } : null;
}

const exactly = (purpose: Purpose, name: string) => (sealedFor: string) =>
  sealedFor === sealFor(purpose, name).sealed_for;

/** Started as itself, or by a schedule, whose starts all have the same arguments. */
function fitsStart(sealedFor: string): boolean {
  const { workflowId, workflowType } = workflowInfo();
  const base = withoutScheduledTime(workflowId);
  if (base === workflowId) return exactly('workflow', workflowType)(sealedFor);
  return exactly('schedule', base)(sealedFor) || exactly('workflow', workflowType)(sealedFor);
}

export const interceptors = (): WorkflowInterceptors => {
  // Workflows of before get their results as they got them then: one step more would be another order of what they do.
  let isSealed = false;
  const checked = (activityType: string, result: Promise<unknown>) =>
    isSealed
      ? result.then((value) => {
          if (value instanceof Refused) throw refusal(`the result of ${activityType}`);
          return value;
        })
      : result;
  const outbound: WorkflowOutboundCallsInterceptor = {
    scheduleActivity: (input, next) =>
      checked(input.activityType, next({ ...input, args: [...input.args, sealFor('activity', input.activityType)] })),
    scheduleLocalActivity: (input, next) =>
      checked(input.activityType, next({ ...input, args: [...input.args, sealFor('activity', input.activityType)] })),
    startChildWorkflowExecution: (input, next) => {
      const args = [...input.options.args, sealFor('workflow', input.workflowType)];
      return next({ ...input, options: { ...input.options, args } });
    },
    signalWorkflow: (input, next) => next({ ...input, args: [...input.args, sealFor('signal', input.signalName)] }),
    continueAsNew: (input, next) =>
      next({ ...input, args: [...input.args, sealFor('workflow', input.options.workflowType)] }),
  };
  return {
    inbound: [
      {
        execute: (input, next) => {
          const start = accepted(input.args, fitsStart);
          if (start === null) return Promise.reject(refusal('the input of the workflow'));
          isSealed = start.isSealed;
          return next({ ...input, args: start.args });
        },
        handleSignal: (input, next) => {
          const signal = accepted(input.args, exactly('signal', input.signalName));
          if (signal !== null) return next({ ...input, args: signal.args });
          log.warn(`signal ${input.signalName} is refused: it has no valid MAC`);
          return Promise.resolve();
        },
        validateUpdate: (input, next) => {
          const update = accepted(input.args, exactly('update', input.name));
          if (update === null) throw refusal(`update ${input.name}`);
          next({ ...input, args: update.args });
        },
        handleUpdate: (input, next) => {
          const update = accepted(input.args, exactly('update', input.name));
          if (update === null) return Promise.reject(refusal(`update ${input.name}`));
          return next({ ...input, args: update.args });
        },
      },
    ],
    outbound: [outbound],
  };
};
