/** What a shell action finds in its folder, and what its templates may name. */
import { musterError } from '../errors.ts';
import type { Outcome } from './event-schema.ts';

/** The action file, whatever its name in the definition is. */
export const ACTION_FILE = 'action.sh';
export const INPUTS_FILE = 'inputs.json';
const TEMPLATES = 'templates/';
const SCRIPTS = 'scripts/';
const TEMPLATE_SUFFIX = '.jinja';

export interface PlacedFile {
  /** Path in the definition. */
  source: string;
  /** Path in the folder of the action. */
  path: string;
  isTemplate: boolean;
  executable: boolean;
}

/**
 * Returns the files of a definition that a shell action finds: its own file, and what is in `templates/` and `scripts/`.
 * Throws `validation_failed` where a template would become a file that is there.
 */
export function placedFiles(files: Iterable<string>, actionFile: string): PlacedFile[] {
  const placed = new Map<string, PlacedFile>();
  placed.set(ACTION_FILE, { source: actionFile, path: ACTION_FILE, isTemplate: true, executable: true });
  for (const source of [...files].sort()) {
    if (!source.startsWith(TEMPLATES) && !source.startsWith(SCRIPTS)) continue;
    const isTemplate = source.startsWith(TEMPLATES) && source.endsWith(TEMPLATE_SUFFIX);
    const path = isTemplate ? source.slice(0, -TEMPLATE_SUFFIX.length) : source;
    const other = placed.get(path);
    if (path.endsWith('/') || other !== undefined) {
      const why = other === undefined ? 'has no name without its suffix' : `and ${other.source} are the same file`;
      throw musterError('validation_failed', `${source} ${why}`, 'files');
    }
    placed.set(path, { source, path, isTemplate, executable: source.startsWith(SCRIPTS) });
  }
  return [...placed.values()];
}

export interface ActionFacts {
  resource: string;
  action: string;
  plan: string;
  node: string;
  occurrence: number;
  attempt: number;
  triggeredBy: readonly { node: string; outcome: Outcome }[];
  /** Folder of the action. */
  dir: string;
}

/** Returns what the files of an action may name. An input of the name of another variable stands in `resource_args` alone. */
export function actionVariables(
  facts: ActionFacts,
  inputs: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return {
    ...inputs,
    resource_name: facts.resource,
    resource_dir: facts.dir,
    templates_dir: TEMPLATES,
    scripts_dir: SCRIPTS,
    resource_args: inputs,
    action: facts.action,
    plan_id: facts.plan,
    node_id: facts.node,
    occurrence: facts.occurrence,
    attempt: facts.attempt,
    triggered_by: facts.triggeredBy.map(({ node, outcome }) => ({ node, outcome })),
  };
}

/** Returns the inputs as an action sees them: in the place of each secret, the path of the file with its value. */
export function shownInputs(
  inputs: Readonly<Record<string, unknown>>,
  secretFiles: ReadonlyMap<string, string>,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(inputs).map(([input, value]) => [input, secretFiles.get(input) ?? value]));
}

const LONGEST_LINE = 1_000;

/** Returns what is said of an action that has failed: its exit status, and the last line of its output. Null for one that has not. */
export function shellMessage(exitCode: number, outcome: Outcome, output: string): string | null {
  if (outcome !== 'failed' && outcome !== 'error') return null;
  const last = output.trimEnd().split('\n').at(-1)?.trim().slice(0, LONGEST_LINE) ?? '';
  return last === '' ? `exit status ${exitCode}` : `exit status ${exitCode}: ${last}`;
}
