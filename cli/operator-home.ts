import type { OperatorHomeCommands } from './context.ts';
import { CliFailure } from './failure.ts';

/** A folder with a `watches.yaml` on this machine. What reads it is loaded when it is wanted, to keep other commands fast. */
export function operatorHome(env: NodeJS.ProcessEnv): OperatorHomeCommands {
  return {
    validate: async (options) => {
      const { validateWatches } = await import('../deploy/operator/validate-watches.ts');
      return validateWatches(options, env);
    },
    run: async (args, tell, signal) => {
      const { runOperator } = await import('../deploy/operator/run-operator.ts');
      const { exit, message } = await runOperator({ args, env, tell, signal });
      if (message !== undefined) throw new CliFailure('operator_failed', message, exit);
      return exit;
    },
  };
}
