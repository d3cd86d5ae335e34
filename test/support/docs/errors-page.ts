import type { ErrorTable } from '../../../domain/error-kind.ts';
import { ERROR_TABLES, OTHER_MEANINGS } from '../../../domain/errors.ts';
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

<!-- Generated from domain/*/errors.ts and domain/shared-errors.ts: run \`npm run docs\`. -->

Muster has one catalogue of errors. A code is the same word in a [refusal](lanes/requests.md#refusals) of the API, in the
command line, in logs, and as the type of a failed activity.

${table(
  ['Column', 'Meaning'],
  MEANINGS.map((meaning, index) => [COLUMNS[index] ?? '', meaning]),
)}

Exit statuses: 1 failed, 2 wrong usage, 3 not found, 4 not allowed, 5 conflict, 6 timed out, 7 not reachable.
`;

/** Titles of sections that say more than the lane's name. */
const TITLES: Readonly<Record<string, string>> = {
  access: 'Access and tokens',
  service: 'Muster and the servers below it',
  components: 'Components, drift, inventories',
  configurations: 'Configurations, sources, repositories',
  sessions: 'Sessions, and what they can fail with',
  runs: 'Runs and the ingest port',
  batches: 'Batches and rollouts',
  images: 'Images and the image services',
  shared: 'Words of all lanes',
};

/** Content of `docs/errors.md`: the catalogue by lane. */
export function errorsPage(): string {
  const sections = Object.entries<ErrorTable>(ERROR_TABLES).map(([lane, codes]) => {
    const rows = Object.entries({ ...OTHER_MEANINGS[lane], ...codes }).map(
      ([code, { status, exit, title, retryable, controller }]) => [
        ...[`\`${code}\``, `${status}`, `${exit}`, title],
        ...[retryable ? 'yes' : '', controller ? 'yes' : ''],
      ],
    );
    return `## ${TITLES[lane] ?? `${lane.charAt(0).toUpperCase()}${lane.slice(1)}`}\n\n${table(COLUMNS, rows)}\n`;
  });
  return [HEAD, ...sections].join('\n');
}
