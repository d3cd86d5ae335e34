/** Resources as they are shown. */
import type { ConnectionView, ResourceDetail, ResourceView } from '../../../domain/propagation/schema.ts';
import type { View } from '../../output/columns.ts';
import { fieldList, table } from '../../output/table.ts';

export const resourceView: View<ResourceView> = {
  noun: 'resources',
  name: ({ name }) => name,
  columns: [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'DEFINITION', value: ({ definition }) => specOf(definition) },
    { title: 'HANDLER', value: ({ handler }) => handler },
    { title: 'STATE', value: ({ state }) => state },
    { title: 'TAGS', value: ({ tags }) => tags.map(bareTag).join(','), wide: true },
  ],
};

function specOf({ repository, name, version }: ResourceView['definition']): string {
  return `${repository}/${name}:${version}`;
}

/** A tag without a value is stored as `name=`. */
function bareTag(tag: string): string {
  return tag.replace(/=$/, '');
}

interface InputRow {
  input: string;
  own: unknown;
  resolved: unknown;
  sources: string[];
}

/** Returns what `resource get` shows: the resource, then each input with its values and where they come from. */
export function resourceDetails(resource: ResourceDetail): string {
  const { name, definition, handler, state, tags, actions, inputs, resolved, sources, mistakes, committed } = resource;
  const fields = fieldList([
    ['Name', name],
    ['Definition', specOf(definition)],
    ['Handler', handler],
    ['State', state],
    ['Committed', committed === null ? 'never' : committed.state],
    ['Tags', tags.map(bareTag).join(' ')],
    ['Actions', actions.join(' ')],
  ]);
  const rows = Object.keys(resolved)
    .sort()
    .map((input): InputRow => {
      const from = sources.filter(({ receiver_input }) => receiver_input === input).map(sourceOf);
      return { input, own: inputs[input], resolved: resolved[input], sources: from };
    });
  const columns = [
    { title: 'INPUT', value: ({ input }: InputRow) => input },
    { title: 'OWN', value: ({ own }: InputRow) => shownValue(own) },
    { title: 'VALUE', value: (row: InputRow) => shownValue(row.resolved) },
    { title: 'FROM', value: (row: InputRow) => row.sources.join(' ') },
  ];
  return [fields, rows.length === 0 ? '' : `\n${table(columns, rows)}`, mistakeLine(name, mistakes)].join('');
}

function sourceOf({ emitter, emitter_input, key }: ConnectionView): string {
  return `${key === null ? '' : `${key}=`}${emitter}::${emitter_input}`;
}

function shownValue(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** `ERROR: name: {input: [..]}`; nothing for a resource whose inputs fit. */
function mistakeLine(name: string, mistakes: ResourceDetail['mistakes']): string {
  const inputs = Object.entries(mistakes).map(([input, said]) => `${input}: [${said.join('; ')}]`);
  return inputs.length === 0 ? '' : `\nERROR: ${name}: {${inputs.slice(0, 100).join(', ')}}\n`;
}
