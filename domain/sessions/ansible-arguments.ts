import { imageGroups } from './image-names.ts';
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

/**
 * Words of ansible-playbook's command line after the playbook: `-v...`, `--check --diff` of a check, `--limit=...`, then the
 * pass-through (cfs-flows 1.5). Every value is in one word with its option, so none can be taken for another option. Throws
 * `bad_request` for a pass-through that is not allowed.
 */
export function selectArguments(input: AnsibleArguments): string[] {
  const limit = input.limitFile === undefined ? effectiveLimit(input) : `@${input.limitFile}`;
  return [
    ...(input.verbosity > 0 ? [`-${'v'.repeat(input.verbosity)}`] : []),
    ...(input.check ? ['--check', '--diff'] : []),
    ...(limit === '' ? [] : [`--limit=${limit}`]),
    ...parsePassthrough(input.passthrough ?? '').map(({ option, value }) => `${option}=${value}`),
  ];
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
