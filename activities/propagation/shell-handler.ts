/** Handler `shell`: the action file is filled in and run with `bash` on this machine. */
import { join } from 'node:path';
import { readAction } from '../../control/propagation/read-action.ts';
import { musterError } from '../../domain/errors.ts';
import { shellOutcome } from '../../domain/propagation/attempt-outcome.ts';
import { unsupportedTarget } from '../../domain/propagation/handler-support.ts';
import { refuse } from '../../domain/propagation/plan-actions.ts';
import type { ActionFile, ActionWorkspaces, Evaluator } from '../../domain/propagation/ports.ts';
import {
  ACTION_FILE,
  actionVariables,
  INPUTS_FILE,
  type PlacedFile,
  placedFiles,
  shellMessage,
  shownInputs,
} from '../../domain/propagation/shell-action.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import type { Db } from '../../store/connection/database.ts';
import type { AttemptRow, PlanNodeRow } from '../../store/propagation/plan-tables.ts';
import { readOutputEnd, readOutputWith } from '../../store/runs/output-reads.ts';
import type { ActionHandler } from './action-handler.ts';

export interface ShellHandlerDependencies {
  db: Db;
  secrets: Pick<SecretStore, 'get'>;
  workspaces: ActionWorkspaces;
  evaluator: Pick<Evaluator, 'render'>;
  /** What an action gets of this worker's environment. */
  baseEnvironment: Readonly<Record<string, string>>;
  logMaxBytes: number;
  /** Whether actions may run on the machine of the worker. */
  allowsLocal: boolean;
}

/** So much of the end of the output is looked at for what is said of a failure, in characters. */
const OUTPUT_END = 4_096;
const SAID = 'MUSTER_OUTCOME=';

/** Makes the handler of shell actions. */
export function createShellHandler(deps: ShellHandlerDependencies): ActionHandler {
  return {
    prepare: async (attempt, node, runId) => {
      const mistake = unsupportedTarget(node, deps);
      refuse(mistake === null ? [] : [mistake]);
      const { files, inputs, secrets } = await readAction(deps, node);
      const dir = await deps.workspaces.make(runId);
      const secretFiles = new Map([...secrets.keys()].map((input) => [input, join(dir, 'secrets', input)]));
      const shown = shownInputs(inputs, secretFiles);
      const variables = actionVariables(factsOf(attempt, node, dir), shown);
      await deps.workspaces.write(dir, [
        ...(await filled(deps.evaluator, placedFiles(files.keys(), fileOf(node)), files, variables)),
        { path: INPUTS_FILE, content: JSON.stringify(shown) },
        ...[...secrets].map(([input, content]) => ({ path: join('secrets', input), content })),
      ]);
      return {
        ...{ runId, argv: ['bash', ACTION_FILE], cwd: dir, secretEnv: {}, masks: [...secrets.values()] },
        env: { ...deps.baseEnvironment, MUSTER_INPUTS: join(dir, INPUTS_FILE) },
        logMaxBytes: deps.logMaxBytes,
      };
    },
    result: async (_attempt, { rules }, { id, exitCode }) => {
      const outcome = shellOutcome(exitCode, rules.outcomes, await readOutputWith(deps.db, id, SAID));
      const message = shellMessage(exitCode, outcome, await readOutputEnd(deps.db, id, OUTPUT_END));
      return { outcome, message, verified: true };
    },
    clear: (_attempt, runId) => deps.workspaces.remove(runId),
  };
}

function fileOf({ id, rules }: PlanNodeRow): string {
  if (rules.file === null) throw new Error(`node ${id} has no file to execute`);
  return rules.file;
}

function factsOf({ plan, number }: AttemptRow, node: PlanNodeRow, dir: string) {
  const { resource, action, id, occurrence, triggered_by } = node;
  return { resource, action, plan, node: id, occurrence, attempt: number, triggeredBy: triggered_by, dir };
}

/** The files of an action with their contents, templates filled in. */
async function filled(
  evaluator: Pick<Evaluator, 'render'>,
  placed: readonly PlacedFile[],
  files: ReadonlyMap<string, Buffer>,
  variables: Readonly<Record<string, unknown>>,
): Promise<ActionFile[]> {
  const contentOf = ({ source }: PlacedFile) => {
    const content = files.get(source);
    if (content === undefined) throw new Error(`the definition has no file ${source}`);
    return content;
  };
  const templates = placed.filter(({ isTemplate }) => isTemplate);
  const texts = await evaluator.render(
    templates.map((file) => ({ name: file.source, text: textOf(file.source, contentOf(file)) })),
    variables,
  );
  const rendered = new Map(templates.map(({ path }, index) => [path, texts[index] ?? '']));
  return placed.map((file) => ({
    path: file.path,
    content: rendered.get(file.path) ?? contentOf(file),
    executable: file.executable,
  }));
}

function textOf(path: string, content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw musterError('validation_failed', `${path} is no text in UTF-8, and cannot be filled in`, 'files');
  }
}
