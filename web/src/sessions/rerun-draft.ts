/** A session that runs again, as a form has it: filled with what the first one ran with. */
import type { Session, SessionCreate, SessionMuster } from '../../../domain/sessions/schema.ts';
import { apiCommand } from '../shared/commands.ts';
import { type FormField, type FormValues, numberOrText } from '../shared/form-values.ts';

/** What of a session says how it ran. */
export type Ran = Pick<Session, 'configuration' | 'ansible' | 'target' | 'tags' | 'debug_on_failure' | 'muster'>;

/** How the tags begin by which Muster says of what a session is a part: the new one is no part of it. */
const OWN_TAG = 'muster.';

/** Returns the texts of what the session ran with, with the name of the new one. */
export function rerunValues({ configuration, ansible, muster }: Ran, name: string): FormValues {
  return {
    name,
    configuration_name: configuration.name,
    configuration_limit: configuration.limit,
    ansible_limit: ansible.limit ?? '',
    ansible_verbosity: String(ansible.verbosity),
    ansible_passthrough: ansible.passthrough ?? '',
    check: muster?.check ? 'true' : '',
  };
}

export const RERUN_FIELDS: readonly FormField[] = [
  { name: 'name', label: 'Name', at: 'name', hint: 'of the new session' },
  { name: 'configuration_name', label: 'Configuration', at: 'configuration_name' },
  { name: 'ansible_limit', label: 'Hosts', at: 'ansible_limit', hint: "as Ansible's --limit; empty: all of them" },
  {
    ...{ name: 'configuration_limit', label: 'Layers', at: 'configuration_limit' },
    hint: 'names, or places from 0, with commas between; empty: all of them',
  },
  { name: 'ansible_verbosity', label: 'Verbosity', at: 'ansible_verbosity', words: ['0', '1', '2', '3', '4'] },
  { name: 'ansible_passthrough', label: 'Arguments', at: 'ansible_passthrough', hint: 'further ones of Ansible' },
  { name: 'check', label: 'Only look what would change', at: 'muster.check', kind: 'switch' },
];

/** Returns the body of the session that is to be made; what the form has no field for is as it was. Null while a name is missing. */
export function rerunBody({ ansible, target, tags, debug_on_failure, muster }: Ran, values: FormValues) {
  const { name = '', configuration_name = '', ansible_verbosity = '0', check } = values;
  if (name.trim() === '' || configuration_name.trim() === '') return null;
  const { definition, groups, image_map } = target;
  const kept = Object.fromEntries(Object.entries(tags).filter(([key]) => !key.startsWith(OWN_TAG)));
  const own = musterOf(muster, check === 'true');
  return {
    name: name.trim(),
    configuration_name: configuration_name.trim(),
    ...given('configuration_limit', values),
    ...given('ansible_limit', values),
    ...(ansible.config === '' ? {} : { ansible_config: ansible.config }),
    ansible_verbosity: numberOrText(ansible_verbosity) as number,
    ...given('ansible_passthrough', values),
    target: { definition, ...(groups === null ? {} : { groups }), ...(image_map === null ? {} : { image_map }) },
    ...(Object.keys(kept).length === 0 ? {} : { tags: kept }),
    ...(debug_on_failure ? { debug_on_failure } : {}),
    ...(Object.keys(own).length === 0 ? {} : { muster: own }),
  } satisfies SessionCreate;
}

/** Layers that drifted count as not configured at the end of a check alone. */
function musterOf({ check: _was, reconfigure, ...others }: SessionMuster = {}, check: boolean): SessionMuster {
  return { ...others, ...(check ? { check } : {}), ...(check && reconfigure ? { reconfigure } : {}) };
}

function given<Name extends string>(name: Name, values: FormValues): { [Key in Name]?: string } {
  const text = (values[name] ?? '').trim();
  return (text === '' ? {} : { [name]: text }) as { [Key in Name]?: string };
}

/** Returns the command that makes it; the reason is added to it. */
export function rerunCommand(ran: Ran, values: FormValues): string {
  return apiCommand('POST', '/v3/sessions', rerunBody(ran, values) ?? {});
}
