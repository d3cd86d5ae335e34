/** A source as a form has it. Its credentials are written, and never read. */
import type { Source } from '../../../domain/configurations/schema.ts';
import { printed } from '../shared/commands.ts';
import { changedNames, type FormField, type FormValues } from '../shared/form-values.ts';
import { withoutCredentials } from './clone-address.ts';

/** Variables that commands have in the place of what is never shown. */
export const SOURCE_VARIABLES = { username: '$SOURCE_USERNAME', password: '$SOURCE_PASSWORD' } as const;

/** Returns the texts of a source; of a new one where there is none. */
export function sourceValues(source: Source | null): FormValues {
  return {
    name: source?.name ?? '',
    clone_url: source === null ? '' : withoutCredentials(source.clone_url),
    description: source?.description ?? '',
    username: '',
    password: '',
    configmap_name: source?.ca_cert?.configmap_name ?? '',
    configmap_namespace: source?.ca_cert?.configmap_namespace ?? '',
  };
}

/** Returns the fields of a form; a source that is there has its name. */
export function sourceFields(isNew: boolean): FormField[] {
  const hint = { hint: isNew ? 'both are needed' : 'both or neither; both empty: they stay' };
  return [
    ...(isNew ? [{ name: 'name', label: 'Name', at: 'name' }] : []),
    { name: 'clone_url', label: 'Repository', at: 'clone_url', hint: 'clone URL without credentials' },
    { name: 'username', label: 'User name', at: 'credentials.username', ...hint },
    { name: 'password', label: 'Password', at: 'credentials.password', kind: 'secret', ...hint },
    { name: 'configmap_name', label: 'CA', at: 'ca_cert.configmap_name', hint: 'name of its config map; empty: none' },
    { name: 'configmap_namespace', label: 'Namespace of the CA', at: 'ca_cert.configmap_namespace' },
    { name: 'description', label: 'Description', at: 'description' },
  ];
}

/** Returns the members of a new source; null while it lacks its name, its repository or a half of its credentials. */
export function newSource(values: FormValues): object | null {
  const { name = '', clone_url = '', description = '', username = '', password = '' } = values;
  if (name.trim() === '' || clone_url.trim() === '' || username === '' || password === '') return null;
  const ca_cert = caOf(values);
  return {
    name: name.trim(),
    clone_url: clone_url.trim(),
    ...(description === '' ? {} : { description }),
    credentials: { username, password },
    ...(ca_cert === null ? {} : { ca_cert }),
  };
}

/** Returns the members that a form changes; null where it changes none. */
export function sourcePatch(values: FormValues, begun: FormValues): object | null {
  const changed = changedNames(values, begun);
  if (changed.size === 0) return null;
  const { clone_url = '', description = '', username = '', password = '' } = values;
  const credentials = { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) };
  const isOtherCa = changed.has('configmap_name') || changed.has('configmap_namespace');
  return {
    ...(changed.has('clone_url') ? { clone_url: clone_url.trim() } : {}),
    ...(changed.has('description') ? { description } : {}),
    ...(Object.keys(credentials).length > 0 ? { credentials } : {}),
    ...(isOtherCa ? { ca_cert: caOf(values) } : {}),
  };
}

function caOf({ configmap_name: name = '', configmap_namespace: namespace = '' }: FormValues): Source['ca_cert'] {
  if (name.trim() === '') return null;
  return {
    configmap_name: name.trim(),
    ...(namespace.trim() === '' ? {} : { configmap_namespace: namespace.trim() }),
  };
}

/** Returns the command that writes as much; credentials stand in variables of the shell. */
export function applyCommand(name: string, body: object | null): string {
  return `${printed({ name, ...body }, Object.values(SOURCE_VARIABLES))} | ./muster source apply -f -`;
}
