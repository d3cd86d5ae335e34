/** What an operator reads of its environment, besides the values of one kind (see `kind-settings.ts`). */
import { goBoolean } from './read-flags.ts';

export interface OperatorEnvironment {
  /** Namespaces that are watched; null: all. */
  namespaces: string[] | null;
  /** Older way to name the operator. */
  operatorName: string | undefined;
  /** Path of the `ansible-runner` that is used; undefined: Muster's own. */
  ansibleRunner: string | undefined;
  /** Whether the whole output of a run goes to the log. */
  debugLogs: boolean;
  /** Above 0: the log has the raw output of tasks. It does not change the command. */
  logVerbosity: number;
}

/** Returns the environment of an operator, and what is wrong with it. */
export function operatorEnvironment(env: Readonly<Record<string, string | undefined>>): {
  environment: OperatorEnvironment;
  mistakes: string[];
} {
  const namespaces = (env.WATCH_NAMESPACE ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const runner = env.MUSTER_ANSIBLE_RUNNER || undefined;
  const verbosity = Number(/^\d{1,9}$/.exec(env.ANSIBLE_VERBOSITY ?? '')?.[0] ?? 0);
  return {
    environment: {
      namespaces: namespaces.length === 0 ? null : [...new Set(namespaces)],
      operatorName: env.OPERATOR_NAME || undefined,
      ansibleRunner: runner,
      debugLogs: goBoolean(env.ANSIBLE_DEBUG_LOGS ?? '') ?? false,
      logVerbosity: verbosity,
    },
    mistakes: runner === undefined || runner.startsWith('/') ? [] : ['MUSTER_ANSIBLE_RUNNER: must be an absolute path'],
  };
}
