import type { Script } from './watch-entry.ts';

export interface RunnerCommand {
  /** Private directory of the run, absolute. */
  directory: string;
  /** Id of the run: the name of its artifact directory. */
  ident: string;
  /** What runs; playbook or role is given. */
  script: Script;
  maxArtifacts: number;
  verbosity: number;
  /** Value of `ANSIBLE_GATHERING` in the environment of the operator. */
  gathering: string | undefined;
}

/** Returns the arguments of `ansible-runner`. Throws where there is neither a playbook nor a role, which loading refuses. */
export function runnerArguments(command: RunnerCommand): string[] {
  const { directory, ident, script, maxArtifacts, verbosity, gathering } = command;
  const begin = ['run', directory, '--rotate-artifacts', String(maxArtifacts)];
  const end = ['-i', ident, ...(verbosity > 0 ? [`-${'v'.repeat(verbosity)}`] : [])];
  if (script.playbook !== null) return [...begin, '-p', script.playbook, ...end];
  if (script.role === null) throw new Error('neither a playbook nor a role is to run');
  const slash = script.role.lastIndexOf('/') + 1;
  const role = [
    '--role',
    script.role.slice(slash),
    '--roles-path',
    script.role.slice(0, slash),
    '--hosts',
    'localhost',
  ];
  // In role mode ansible-runner gathers facts by itself, whatever the environment says.
  return [...begin, ...role, ...end, ...(gathering === 'explicit' ? ['--role-skip-facts'] : [])];
}
