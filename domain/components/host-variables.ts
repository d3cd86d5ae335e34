import type { HostVariables } from './inventory-tree.ts';

const HOST_NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?$/;
const IPV6 = /^(?=.*:.*:)[0-9A-Fa-f:]{2,39}(?:[0-9.]{7,15})?(?:%[A-Za-z0-9_.-]{1,15})?$/;
const USER = /^[A-Za-z0-9_](?:[A-Za-z0-9_.@-]{0,62}[A-Za-z0-9_$])?$/;
const INTERPRETER = /^\/[A-Za-z0-9_.+/-]{1,500}$/;

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
    ansible_python_interpreter: (value) => (INTERPRETER.test(value) ? { value } : 'is not an absolute path'),
  };

/**
 * The host variables that a component's tags give (design: inventory): the named `ansible_` tags only. Answers as text which tag
 * has a value that cannot be used, because a host that is reached in another way than asked for is worse than none.
 */
export function hostVariables(tags: Readonly<Record<string, string>>, rules: VariableRules): HostVariables | string {
  const variables: Record<string, string | number> = {};
  for (const [name, reader] of Object.entries(READERS)) {
    const given = Object.hasOwn(tags, name) ? tags[name] : undefined;
    if (given === undefined || given === '') continue;
    const read = reader(given, rules);
    if (typeof read === 'string') return `its tag ${name} ${read}`;
    variables[name] = read.value;
  }
  return variables;
}
