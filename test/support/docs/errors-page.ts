import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS, isErrorCode } from '../../../domain/errors.ts';
import { ROOT } from '../source-tree.ts';
import { table } from './table.ts';

const COLUMNS = ['Code', 'HTTP', 'Exit', 'Title', 'Tried again', 'Of controller'];
const NO_HOST_PAYS = '[no host is charged](lanes/batches.md#a-fault-of-the-controller)';
const MEANINGS = [
  '`code` of the problem document; it is stable',
  'status of the answer',
  'exit status of the command line',
  '`title` of the problem document',
  'Muster may try an activity again that failed with this code',
  `the cause lies in Muster or in what Muster depends on, and in no host: ${NO_HOST_PAYS}`,
];

const HEAD = `# Errors

<!-- Generated from domain/errors.ts: run \`npm run docs\`. -->

Muster has one catalogue of errors. A code is the same word in a [refusal](lanes/requests.md#refusals) of the API, in the
command line, in logs, and as the type of a failed activity.

${table(
  ['Column', 'Meaning'],
  MEANINGS.map((meaning, index) => [COLUMNS[index] ?? '', meaning]),
)}

Exit statuses: 1 failed, 2 wrong usage, 3 not found, 4 not allowed, 5 conflict, 6 timed out, 7 not reachable.
`;

/** Content of `docs/errors.md`: the catalogue in the groups of its comments. */
export function errorsPage(): string {
  const sections = [...groups()].map(([title, codes]) => {
    const rows = codes.map((code) => {
      const { status, exit, title: words, retryable, controller } = ERRORS[code];
      return [`\`${code}\``, `${status}`, `${exit}`, words, retryable ? 'yes' : '', controller ? 'yes' : ''];
    });
    return `## ${title}\n\n${table(COLUMNS, rows)}\n`;
  });
  return [HEAD, ...sections].join('\n');
}

/** Codes by the comment above them; the comments are in the source alone. */
function groups(): Map<string, (keyof typeof ERRORS)[]> {
  const source = readFileSync(join(ROOT, 'domain', 'errors.ts'), 'utf8');
  const [, catalogue = ''] = /export const ERRORS = \{\n(.*?)\n\} as const/s.exec(source) ?? [];
  const found = new Map<string, (keyof typeof ERRORS)[]>();
  let title = 'Others';
  for (const line of catalogue.split('\n')) {
    const [, comment] = /^ {2}\/\/ (.+)$/.exec(line) ?? [];
    if (comment !== undefined) title = `${comment.charAt(0).toUpperCase()}${comment.slice(1)}`;
    const [, code] = /^ {2}([a-z_]+): /.exec(line) ?? [];
    if (isErrorCode(code)) found.set(title, [...(found.get(title) ?? []), code]);
  }
  const missing = Object.keys(ERRORS).length - [...found.values()].flat().length;
  if (missing !== 0) throw new Error(`${missing} codes of domain/errors.ts are in no group`);
  return found;
}
