/** Handler `shell`: the action file is filled in and run with `bash`, on this machine or over ssh at its target. */
import { join } from 'node:path';
import { type ActionTarget, findTarget } from '../../control/propagation/find-target.ts';
import { type FrozenAction, readAction } from '../../control/propagation/read-action.ts';
import type { RecordedEnd } from '../../control/propagation/record-attempt.ts';
import { ERRORS, isMusterError, musterError } from '../../domain/errors.ts';
import { shellOutcome } from '../../domain/propagation/attempt-outcome.ts';
import { unsupportedTarget } from '../../domain/propagation/handler-support.ts';
import { refuse } from '../../domain/propagation/plan-actions.ts';
import type { ActionFile, ActionWorkspaces, Evaluator } from '../../domain/propagation/ports.ts';
import { beginWords, targetFolder } from '../../domain/propagation/remote-shell.ts';
import {
  ACTION_FILE,
  actionVariables,
  INPUTS_FILE,
  type PlacedFile,
  placedFiles,
  shellMessage,
  shownInputs,
} from '../../domain/propagation/shell-action.ts';
import { LOCALHOST } from '../../domain/propagation/target.ts';
import { resultOfBrokenTarget } from '../../domain/propagation/target-end-schema.ts';
import type { RunSpec } from '../../domain/runs/runner.ts';
import type { Db } from '../../store/connection/database.ts';
import type { AttemptRow, PlanNodeRow } from '../../store/propagation/plan-tables.ts';
import { readOutputEnd, readOutputWith } from '../../store/runs/output-reads.ts';
import type { ActionHandler } from './action-handler.ts';
import {
  endAtTarget,
  hasBegunAtTarget,
  openShellHost,
  type RemoteTarget,
  readTargetEnd,
  type TargetShellDependencies,
} from './target-shell.ts';

export interface ShellHandlerDependencies extends TargetShellDependencies {
  workspaces: ActionWorkspaces;
  evaluator: Pick<Evaluator, 'render'>;
  /** What an action on this machine gets of this worker's environment, and what ssh gets of it for any other. */
  baseEnvironment: Readonly<Record<string, string>>;
  logMaxBytes: number;
}

/** So much of the end of the output is looked at for what is said of a failure, in characters. */
const OUTPUT_END = 4_096;
const SAID = 'MUSTER_OUTCOME=';
const PROGRAM: readonly string[] = ['bash', ACTION_FILE];
/** What goes to a target, in the folder of an action; and what is asked of the program that takes it there. */
const FILES = 'files';
const CALL = 'call.json';

/** Makes the handler of shell actions. */
export function createShellHandler(deps: ShellHandlerDependencies): ActionHandler {
  const clear = async (runId: string) => {
    await deps.logins.remove(runId);
    await deps.workspaces.remove(runId);
  };
  return {
    prepare: async (attempt, node, runId) => {
      const mistake = unsupportedTarget(node, deps);
      refuse(mistake === null ? [] : [mistake]);
      const action = await readAction(deps, node);
      const target = await findTarget(deps, node, action.inputs);
      const prepared = { attempt, node, action, runId };
      try {
        return await (target.kind === 'local' ? prepareHere(deps, prepared) : prepareThere(deps, prepared, target));
      } catch (error) {
        // What a refused action has written, keys among it, must not lie about. Another watcher may be at what is tried again.
        if (isMusterError(error) && !ERRORS[error.code].retryable) await clear(runId).catch(() => undefined);
        throw error;
      }
    },
    result: async (attempt, node, { id, exitCode }, signal) => {
      if (node.target === LOCALHOST) return resultOf(deps.db, node, id, exitCode);
      const end = await readTargetEnd(deps.db, id);
      // The exit status of the run may be that of ssh.
      if (end?.end === 'exited') return resultOf(deps.db, node, id, end.status);
      const isGone = await endAtTarget(deps, attempt, node, { id, exitCode }, signal);
      return resultOfBrokenTarget(end, await hasBegunAtTarget(deps.db, id), isGone);
    },
    endElsewhere: async (attempt, node, run, signal) =>
      node.target === LOCALHOST || endAtTarget(deps, attempt, node, run, signal),
    clear: (_attempt, runId) => clear(runId),
  };
}

interface Prepared {
  attempt: AttemptRow;
  node: PlanNodeRow;
  action: FrozenAction;
  runId: string;
}

async function prepareHere(deps: ShellHandlerDependencies, prepared: Prepared): Promise<RunSpec> {
  const dir = await deps.workspaces.make(prepared.runId);
  await deps.workspaces.write(dir, await filesOf(deps, prepared, dir));
  return {
    ...{ runId: prepared.runId, argv: [...PROGRAM], cwd: dir, secretEnv: {} },
    masks: [...prepared.action.secrets.values()],
    env: { ...deps.baseEnvironment, MUSTER_INPUTS: join(dir, INPUTS_FILE) },
    logMaxBytes: deps.logMaxBytes,
  };
}

async function prepareThere(
  deps: ShellHandlerDependencies,
  prepared: Prepared,
  target: RemoteTarget,
): Promise<RunSpec> {
  const { attempt, action, runId } = prepared;
  const folder = targetFolder(attempt.id);
  const files = await filesOf(deps, prepared, folder);
  const host = await openShellHost(deps, target, runId);
  const dir = await deps.workspaces.make(runId);
  const call = {
    ...{ ssh: beginWords(host, attempt.id), attempt: attempt.id, folder, argv: PROGRAM },
    ...{ env: { MUSTER_INPUTS: join(folder, INPUTS_FILE) }, files: join(dir, FILES) },
  };
  await deps.workspaces.write(dir, [
    ...files.map((file) => ({ ...file, path: join(FILES, file.path) })),
    { path: CALL, content: JSON.stringify(call) },
  ]);
  return {
    ...{ runId, argv: deps.shells.argv(join(dir, CALL)), cwd: dir, secretEnv: {} },
    masks: [...action.secrets.values(), ...keysOf(target)],
    env: { ...deps.baseEnvironment },
    logMaxBytes: deps.logMaxBytes,
  };
}

const keysOf = (target: ActionTarget): string[] => (target.kind === 'node' && target.key !== null ? [target.key] : []);

/** What an action finds in its folder, wherever that is. */
async function filesOf(
  { evaluator }: ShellHandlerDependencies,
  { attempt, node, action: { files, inputs, secrets } }: Prepared,
  folder: string,
): Promise<ActionFile[]> {
  const secretFiles = new Map([...secrets.keys()].map((input) => [input, join(folder, 'secrets', input)]));
  const shown = shownInputs(inputs, secretFiles);
  const variables = actionVariables(factsOf(attempt, node, folder), shown);
  return [
    ...(await filled(evaluator, placedFiles(files.keys(), fileOf(node)), files, variables)),
    { path: INPUTS_FILE, content: JSON.stringify(shown) },
    ...[...secrets].map(([input, content]) => ({ path: join('secrets', input), content })),
  ];
}

async function resultOf(db: Db, { rules }: PlanNodeRow, runId: string, status: number): Promise<RecordedEnd> {
  const outcome = shellOutcome(status, rules.outcomes, await readOutputWith(db, runId, SAID));
  const message = shellMessage(status, outcome, await readOutputEnd(db, runId, OUTPUT_END));
  return { outcome, message, verified: true };
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
