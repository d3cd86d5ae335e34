/** What the actions of a plan execute, and whether they can be executed here. */
import { type Mistake, musterError } from '../errors.ts';
import type { RunnerKind } from '../runs/runner.ts';
import type { ActionDefinition, Handler } from './definition-schema.ts';

/** A resource as far as its actions count. */
export interface ActingResource {
  name: string;
  handler: Handler;
  actions: Readonly<Record<string, ActionDefinition>>;
}

/**
 * Returns the action that is executed: `run` for an `update` that is not defined, null for a removal that is not. Undefined: the action
 * is not defined.
 */
export function executedAction(
  { actions }: Pick<ActingResource, 'actions'>,
  action: string,
): string | null | undefined {
  if (Object.hasOwn(actions, action)) return action;
  if (action === 'update' && Object.hasOwn(actions, 'run')) return 'run';
  return action === 'remove' ? null : undefined;
}

/** Whether an action executes nothing: its handler does nothing, or there is no file to execute. */
export function isIdle({ handler, actions }: ActingResource, executes: string | null): boolean {
  return handler === 'none' || executes === null || (actions[executes]?.file ?? null) === null;
}

/** Returns what the definition says of an action; undefined for a removal that it does not have. */
export function actionRules(resource: ActingResource, action: string): ActionDefinition | undefined {
  const executes = executedAction(resource, action);
  return typeof executes === 'string' ? resource.actions[executes] : undefined;
}

/**
 * Whether all actions can be executed.
 * Throws `action_not_defined` for actions that are not defined, `not_supported` for handlers that the runner does not have.
 */
export function checkActions(
  nodes: readonly { id: string; action: string; resource: ActingResource }[],
  runner: RunnerKind,
): void {
  const missing = nodes.filter(({ resource, action }) => executedAction(resource, action) === undefined);
  refuse(missing.map(({ id, resource, action }) => mistake('action_not_defined', id, missingText(resource, action))));
  if (runner === 'local') return;
  const foreign = nodes.filter(({ resource }) => resource.handler !== 'none');
  refuse(
    foreign.map(({ id, resource: { handler } }) =>
      mistake(
        'not_supported',
        id,
        `Handler ${handler} of node ${id} is not supported with MUSTER_RUNNER=kubernetes: workers in the cluster execute no actions`,
      ),
    ),
  );
}

const missingText = ({ name }: ActingResource, action: string): string =>
  `Resource ${name} has no action ${action}: its definition names its actions`;

const mistake = (code: Mistake['code'], node: string, message: string): Mistake => ({ code, message, names: [node] });

/** Throws the mistakes, of which the first gives code and sentence. */
export function refuse(mistakes: readonly Mistake[]): void {
  const [first] = mistakes;
  if (first !== undefined) throw musterError(first.code, first.message, first.field, mistakes.slice(0, 1_000));
}
