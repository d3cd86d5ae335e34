import { extraVarsFile } from './extra-vars.ts';
import { imageGroups } from './images/image-names.ts';
import { parsePassthrough } from './passthrough.ts';
import type { Target } from './schema.ts';

export interface AnsibleArguments {
  /** 0..4. */
  verbosity: number;
  limit: string | null;
  passthrough: string | null;
  target: Target;
  /** Path of the file that holds the limit, one item a line, when it is too long for an argument. */
  limitFile?: string | undefined;
  /** Begin of the paths of the files that hold extra variables; a number follows. */
  extraVars: string;
  /** Only say what would change, and show it. */
  check?: boolean;
}

/** The limit that applies: the session's own, else for an image target all members in group order (cfs-flows 1.5). */
export function effectiveLimit({ limit, target }: Pick<AnsibleArguments, 'limit' | 'target'>): string {
  if (limit) return limit;
  if (target.definition !== 'image') return '';
  return imageGroups(target)
    .flatMap((group) => group.members)
    .join(',');
}

export interface AnsibleWords {
  /** Words of ansible-playbook's command line after the playbook. */
  words: string[];
  /** Texts of the files that `words` name for extra variables, by path; they may hold secrets. */
  extraVars: Record<string, string>;
}

/**
 * The limit that a run gets: the session's own. Of hosts that Muster names, those are left out that its inventory does not have, or has
 * as a group: for Ansible such a name would mean others.
 */
export function limitOfRun(session: {
  ansible_limit: string | null;
  limit_of_hosts: boolean;
  absent_hosts: string[] | null;
}): string | null {
  const { ansible_limit: limit, absent_hosts: absent } = session;
  if (limit === null || !session.limit_of_hosts || absent === null || absent.length === 0) return limit;
  const missing = new Set(absent);
  return limit
    .split(',')
    .filter((name) => !missing.has(name))
    .join(',');
}

/**
 * The words of ansible-playbook's command line after the playbook: `-v...`, `--check --diff` of a check, `--limit=...`, then the
 * pass-through (cfs-flows 1.5), with extra variables by file: a command line is seen by every user of the machine. Every value is in one
 * word with its option, so none can be taken for another option. Throws `bad_request` for a pass-through that is not allowed.
 */
export function selectArguments(input: AnsibleArguments): AnsibleWords {
  const limit = input.limitFile === undefined ? effectiveLimit(input) : `@${input.limitFile}`;
  const extraVars: Record<string, string> = {};
  const passed = parsePassthrough(input.passthrough ?? '').map(({ option, value }) => {
    const text = option === '--extra-vars' ? extraVarsFile(value) : null;
    if (text === null) return `${option}=${value}`;
    const path = `${input.extraVars}${Object.keys(extraVars).length}`;
    extraVars[path] = text;
    return `${option}=@${path}`;
  });
  const words = [
    ...(input.verbosity > 0 ? [`-${'v'.repeat(input.verbosity)}`] : []),
    ...(input.check ? ['--check', '--diff'] : []),
    ...(limit === '' ? [] : [`--limit=${limit}`]),
    ...passed,
  ];
  return { words, extraVars };
}

/**
 * Whether the session's results count as component state (cfs-flows 1.5, there `DISABLE_STATE_RECORDING`): not for
 * images, not with any pass-through, not for a debugging playbook; never in a check, which reaches nothing.
 */
export function recordsState(session: {
  target: Pick<Target, 'definition'>;
  passthrough: string | null;
  debugPlaybook: string | null;
  check?: boolean;
}): boolean {
  return !session.check && recordsDrift(session);
}

/**
 * Whether what a check finds tells how its components stand to the whole layer: where the results of a session without check
 * would count as state.
 */
export function recordsDrift(session: {
  target: Pick<Target, 'definition'>;
  passthrough: string | null;
  debugPlaybook: string | null;
}): boolean {
  const passesThrough = (session.passthrough ?? '').trim() !== '';
  return session.target.definition !== 'image' && !passesThrough && session.debugPlaybook === null;
}
