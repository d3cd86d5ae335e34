/** What a client says to workflows, each with a seal as its last argument, which the codec signs with the others. */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { sealFor } from '../../domain/engine/seal.ts';

/** For every client of an installation that signs. */
export function sealMessages(): WorkflowClientInterceptor {
  return {
    startWithDetails: (input, next) => next({ ...input, options: startOf(input.workflowType, input.options) }),
    signal: (input, next) => next({ ...input, args: [...input.args, sealFor('signal', input.signalName)] }),
    signalWithStart: (input, next) =>
      next({
        ...input,
        options: startOf(input.workflowType, input.options),
        signalArgs: [...input.signalArgs, sealFor('signal', input.signalName)],
      }),
    startUpdate: (input, next) => next({ ...input, args: [...input.args, sealFor('update', input.updateName)] }),
    startUpdateWithStart: (input, next) =>
      next({
        ...input,
        workflowStartOptions: startOf(input.workflowType, input.workflowStartOptions),
        updateArgs: [...input.updateArgs, sealFor('update', input.updateName)],
      }),
  };
}

const startOf = <Options extends { args: unknown[] }>(workflowType: string, options: Options): Options => ({
  ...options,
  args: [...options.args, sealFor('workflow', workflowType)],
});
