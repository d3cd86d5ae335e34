/** The environment of a run: that of the operator without what is Muster's own. */
export interface RunnerEnvironmentInput {
  env: Readonly<Record<string, string | undefined>>;
  kubeconfig: string;
  /** Names that runs get, of `--runner-env`; undefined: all. */
  only: readonly string[] | undefined;
  /** Settings that are secret. */
  secretSettings: ReadonlySet<string>;
  /** The configuration of Ansible that names the roles of the home, where Ansible would find none by itself. */
  ansibleConfig: string | undefined;
}

export interface RunnerEnvironment {
  /** Values that may stand in the file that describes the run. */
  plain: Record<string, string>;
  /** All others: they may be secrets, and go by the file that is removed at the start. */
  secret: Record<string, string>;
}

const OWN = /^(MUSTER_|TEMPORAL_|PG)/;
/** With it `kubernetes.core` starts a server that outlives the run and serves other runs. */
const TURBO = 'ENABLE_TURBO_MODE';
const HARMLESS = new Set(['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'VIRTUAL_ENV']);
const BROKEN_CONDITIONALS = 'ANSIBLE_ALLOW_BROKEN_CONDITIONALS';

/** Returns the environment of a run. The kubeconfig wins over whatever the environment says. */
export function runnerEnvironment(input: RunnerEnvironmentInput): RunnerEnvironment {
  const { env, kubeconfig, only, secretSettings, ansibleConfig } = input;
  const inherited = Object.entries(env).filter(
    (pair): pair is [string, string] =>
      pair[1] !== undefined &&
      !OWN.test(pair[0]) &&
      !secretSettings.has(pair[0]) &&
      pair[0] !== TURBO &&
      (only === undefined || only.includes(pair[0])),
  );
  return {
    plain: {
      // Roles that were written for ansible-core 2.18 have conditions that are no booleans.
      ...(inherited.some(([name]) => name === BROKEN_CONDITIONALS) ? {} : { [BROKEN_CONDITIONALS]: 'true' }),
      ...(ansibleConfig === undefined ? {} : { ANSIBLE_CONFIG: ansibleConfig }),
      ...Object.fromEntries(inherited.filter(([name]) => HARMLESS.has(name))),
      K8S_AUTH_KUBECONFIG: kubeconfig,
      KUBECONFIG: kubeconfig,
    },
    secret: Object.fromEntries(
      inherited.filter(([name]) => !HARMLESS.has(name) && name !== 'KUBECONFIG' && name !== 'K8S_AUTH_KUBECONFIG'),
    ),
  };
}
