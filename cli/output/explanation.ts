import type { Explanation } from '../../domain/explain-schema.ts';
import { fieldList } from './table.ts';

/** An explanation for people: how something stands, what must be so for it to go on, what comes next, and what to type. */
export function explanationText({ state, since, conditions, next, command }: Explanation): string {
  const fields: [string, string][] = [
    ['state', state],
    ['since', since ?? ''],
    ...conditions.map(({ text, holds, becomes_true_when: when }): [string, string] => [
      holds ? 'holds' : 'lacks',
      when === null ? text : `${text}; becomes so when: ${when}`,
    ]),
    ['next', next === null ? '' : `${next.event}${next.at === null ? '' : `, at ${next.at}`}`],
    ['do', command ?? ''],
  ];
  return fieldList(fields);
}
