import type { OperatorHomeCommands } from './context.ts';

/** A folder with a `watches.yaml` on this machine. What reads it is loaded when it is wanted, to keep other commands fast. */
export function operatorHome(env: NodeJS.ProcessEnv): OperatorHomeCommands {
  return {
    validate: async (options) => {
      const { validateWatches } = await import('../deploy/operator/validate-watches.ts');
      return validateWatches(options, env);
    },
  };
}
