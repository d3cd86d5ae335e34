import type { HostVariables } from './inventory/inventory-tree.ts';

const HOST_NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?$/;
const IPV6 = /^(?=.*:.*:)[0-9A-Fa-f:]{2,39}(?:[0-9.]{7,15})?(?:%[A-Za-z0-9_.-]{1,15})?$/;
const USER = /^[A-Za-z0-9_](?:[A-Za-z0-9_.@-]{0,62}[A-Za-z0-9_$])?$/;
const INTERPRETER = /^\/[A-Za-z0-9_.+/-]{1,500}$/;
/** A path with blanks; its first and last character are none. */
const SPACED_INTERPRETER = /^\/(?=.{1,500}$)[A-Za-z0-9_.+/-]*(?: +[A-Za-z0-9_.+/-]+)+$/;
/** The program that finds an interpreter in the search path of the host, and the name of that interpreter alone. */
const ENV_INTERPRETER = /^\/(?:usr\/)?bin\/env (?:python|pypy)[0-9.]{0,10}$/;

export interface VariableRules {
  /** Whether `ansible_connection=local` may be asked for: it runs tasks on Muster's own machine. */
  allowLocalConnection: boolean;
}

/** For each tag that becomes a host variable: its value, or as text why it cannot be one. */
const READERS: Readonly<Record<string, (value: string, rules: VariableRules) => { value: string | number } | string>> =
  {
    ansible_host: (value) =>
      HOST_NAME.test(value) || IPV6.test(value) ? { value } : 'is not a plain host name or address',
    ansible_port: (value) =>
      /^[0-9]{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65535
        ? { value: Number(value) }
        : 'is not a port from 1 to 65535',
    ansible_user: (value) => (USER.test(value) ? { value } : 'is not a plain user name'),
    ansible_connection: (value, { allowLocalConnection }) => {
      if (value === 'ssh') return { value };
      if (value !== 'local') return 'is neither ssh nor local';
      return allowLocalConnection ? { value } : 'is not allowed here (MUSTER_ALLOW_LOCAL_CONNECTION)';
    },
    ansible_python_interpreter: interpreter,
  };

const NAMED = Object.entries(READERS);

/** Ansible puts the text into a shell command as it is, so a path with blanks is quoted: nothing else can be run by it. */
function interpreter(value: string): { value: string } | string {
  if (ENV_INTERPRETER.test(value)) return { value };
  const isEnv = /\/env(?: |$)/.test(value);
  if (!isEnv && INTERPRETER.test(value)) return { value };
  if (!isEnv && SPACED_INTERPRETER.test(value)) return { value: `'${value}'` };
  return 'is neither an absolute path of letters, digits, blanks and _ . + - / nor /usr/bin/env with the name of a Python';
}

/** Returns a host variable that stands for a text, or as the end of a sentence why it cannot. `name` is one of those that tags may set. */
export function hostVariable(name: string, text: string, rules: VariableRules): { value: string | number } | string {
  return READERS[name]?.(text, rules) ?? 'is no variable of a connection';
}

/**
 * The host variables that a component's tags give (design: inventory): the named `ansible_` tags only. Answers as text which tag
 * has a value that cannot be used, because a host that is reached in another way than asked for is worse than none.
 */
export function hostVariables(tags: Readonly<Record<string, string>>, rules: VariableRules): HostVariables | string {
  const variables: Record<string, string | number> = {};
  for (const [name, reader] of NAMED) {
    const given = Object.hasOwn(tags, name) ? tags[name] : undefined;
    if (given === undefined || given === '') continue;
    const read = reader(given, rules);
    if (typeof read === 'string') return `its tag ${name} ${read}`;
    variables[name] = read.value;
  }
  return variables;
}
