/** Repositories of definitions as the command line shows them. */
import type { RepositoryView } from '../../../domain/propagation/schema.ts';
import { cell, type View } from '../../output/columns.ts';
import { fieldList, table } from '../../output/table.ts';

export const repositoryView: View<RepositoryView> = {
  noun: 'repositories',
  name: ({ name }) => name,
  columns: [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'KIND', value: ({ kind }) => kind },
    { title: 'STATE', value: ({ state }) => state },
    { title: 'COMMIT', value: ({ commit }) => cell(commit), wide: true },
    { title: 'URL', value: ({ url }) => cell(url), wide: true },
    { title: 'CREATED', value: ({ created_at }) => cell(created_at), wide: true },
  ],
};

const contents: View<[string, string[]]> = {
  noun: 'definitions',
  name: ([name]) => name,
  columns: [
    { title: 'DEFINITION', value: ([name]) => name },
    { title: 'VERSIONS', value: ([, versions]) => versions.join(' ') },
  ],
};

/** Returns what `repository get` shows: of a repository that is read from git where from and how the last sync ended, then the versions. */
export function repositoryDetails(view: RepositoryView): string {
  const { definitions = {}, kind } = view;
  const versions = table(contents.columns, Object.entries(definitions));
  if (kind !== 'git') return versions;
  const origin = fieldList(originOf(view));
  return Object.keys(definitions).length === 0 ? origin : `${origin}\n${versions}`;
}

function originOf(view: RepositoryView): [string, string][] {
  const { url, ref, path, source, state, commit, synced_at, code, reason } = view;
  const fields: [string, string | null | undefined][] = [
    ['URL', url],
    ['Ref', ref ?? 'default branch'],
    ['Path', path],
    ['Source', source],
    ['State', state],
    ['Commit', commit],
    ['Synced', synced_at ?? 'never'],
    ['Failure', failureLine({ code, reason })],
  ];
  return fields.flatMap(([name, text]) => (text ? [[name, text] as [string, string]] : []));
}

/** Returns why the last sync failed, with its code in front; null after a success. */
export function failureLine({ code, reason }: Pick<RepositoryView, 'code' | 'reason'>): string | null {
  return code ? `${code}: ${reason ?? ''}` : null;
}
