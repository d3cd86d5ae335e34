/** What a playbook of an action is given, and what its hosts say of its outcome. */
import { musterError } from '../errors.ts';
import { RESULTS_LOST } from '../runs/exit-status.ts';
import { unsafeValues } from '../runs/unsafe-values.ts';
import type { Definition, Handler } from './definition-schema.ts';
import type { Outcome } from './event-schema.ts';

/** Which attempt of which action it is. */
export interface ActionFacts {
  resource: string;
  action: string;
  plan: string;
  node: string;
  occurrence: number;
  attempt: number;
  triggered_by: readonly { node: string; outcome: Outcome }[];
}

/** Name of the variable with the facts. */
export const FACTS = 'muster_action';
/** Variables that direct Ansible, or are its own. */
const OF_ANSIBLE = /^ansible_/;
/** What is no variable by itself is a member of this variable. */
export const ALL_INPUTS = 'resource_args';
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Returns what keeps inputs of a definition from being variables of a playbook, by input: such a variable would direct Ansible itself,
 * so a value could choose what runs on the machine of the worker.
 */
export function variableMistakes({ handler, inputs }: Pick<Definition, 'handler' | 'inputs'>): string[] {
  if (handler !== 'ansible_playbook') return [];
  return Object.keys(inputs).filter((input) => OF_ANSIBLE.test(input) || input === FACTS || input === ALL_INPUTS);
}

/** Whether the inputs of a resource can be variables. Throws `unsafe_value` as `actionVariables` does. */
export function checkVariables(handler: Handler, inputs: Readonly<Record<string, unknown>>): void {
  if (handler === 'ansible_playbook') for (const [input, value] of Object.entries(inputs)) marked(input, value);
}

/**
 * Returns the variables of an action: every input by its name, all of them in `resource_args`, and the facts. Texts are marked: Ansible
 * templates none of them. What cannot be the name of a variable stands in `resource_args` alone.
 * Throws `unsafe_value` for a value that Ansible would take for a mark.
 * @param secrets values of secret inputs
 */
export function actionVariables(
  inputs: Readonly<Record<string, unknown>>,
  secrets: ReadonlyMap<string, string>,
  facts: ActionFacts,
): Record<string, unknown> {
  const all = Object.entries(inputs).map(
    ([input, value]) => [input, marked(input, secrets.get(input) ?? value)] as const,
  );
  const own = all.filter(([input]) => VARIABLE.test(input) && !OF_ANSIBLE.test(input));
  return {
    ...Object.fromEntries(own),
    [ALL_INPUTS]: Object.fromEntries(all),
    [FACTS]: unsafeValues(facts),
  };
}

function marked(input: string, value: unknown): unknown {
  try {
    return unsafeValues(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw musterError('unsafe_value', `Input ${input} cannot be a variable: ${error.message}`, `inputs.${input}`);
  }
}

/** What the hosts of a run reached, added up. */
export interface HostSums {
  hosts: number;
  changed: number;
  failures: number;
  unreachable: number;
}

export interface AnsibleResult {
  outcome: Exclude<Outcome, 'created'>;
  code: 'unreachable' | 'disk_low' | null;
  message: string | null;
}

/**
 * Returns the result of a playbook that came to an end of its own, from the results of its hosts. No text decides. Hosts that all went well
 * do not make a playbook good that ended otherwise.
 * @param why what hosts, or Ansible, say of a failure, for people; null where they say nothing
 */
export function ansibleResult(exitCode: number, sums: HostSums, why: string | null): AnsibleResult {
  const { hosts, changed, failures, unreachable } = sums;
  if (exitCode === RESULTS_LOST) {
    return { outcome: 'error', code: 'disk_low', message: 'The results of its host could not be written' };
  }
  if (unreachable > 0) return { outcome: 'error', code: 'unreachable', message: why ?? 'The target is unreachable' };
  const failed = why ?? `ansible-playbook ended with exit status ${exitCode}`;
  if (failures > 0 || exitCode !== 0) return { outcome: 'failed', code: null, message: failed };
  if (hosts === 0) return { outcome: 'ok', code: null, message: 'No host ran any task' };
  return { outcome: changed > 0 ? 'changed' : 'ok', code: null, message: null };
}
