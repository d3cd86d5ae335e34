import type { ImportOutcome, ImportResult } from '../../../domain/import-schema.ts';
import type { View } from '../../output/columns.ts';
import { type Format, isValueFormat } from '../../output/formats.ts';
import { renderList, renderValue } from '../../output/render.ts';

export const IMPORT_KINDS = ['sources', 'configurations', 'options', 'components'] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

/** What became of one kind of records. */
export interface KindReport extends Record<ImportOutcome, number> {
  kind: ImportKind;
  /** Why not all of them could be read; null when they were. */
  incomplete: string | null;
  /** All that are not equal, with the reasons. */
  records: ImportResult[];
}

export interface ImportReport {
  from: string;
  to: string;
  dry_run: boolean;
  kinds: KindReport[];
}

export const emptyReport = (kind: ImportKind): KindReport => ({
  kind,
  created: 0,
  changed: 0,
  equal: 0,
  skipped: 0,
  failed: 0,
  incomplete: null,
  records: [],
});

/** Counts results, and keeps those that say something. */
export function addResults(report: KindReport, results: readonly ImportResult[]): void {
  for (const result of results) {
    report[result.outcome] += 1;
    if (result.outcome !== 'equal' || result.detail !== undefined) report.records.push(result);
  }
}

/** Whether everything that should be taken over was. */
export const isComplete = ({ kinds }: ImportReport): boolean =>
  kinds.every(({ failed, incomplete }) => failed === 0 && incomplete === null);

/** Whether nothing was or would be written. */
export const changesNothing = ({ kinds }: ImportReport): boolean =>
  kinds.every(({ created, changed }) => created + changed === 0);

const count = (outcome: ImportOutcome) => ({
  title: outcome.toUpperCase(),
  value: (report: KindReport) => String(report[outcome]),
});

const kindView: View<KindReport> = {
  noun: 'kinds',
  name: ({ kind }) => kind,
  columns: [
    { title: 'KIND', value: ({ kind, incomplete }) => (incomplete === null ? kind : `${kind} (incomplete)`) },
    count('created'),
    count('changed'),
    count('equal'),
    count('skipped'),
    count('failed'),
  ],
};

type NamedResult = ImportResult & { kind: ImportKind };

const recordView: View<NamedResult> = {
  noun: 'records',
  name: ({ kind, name }) => `${kind}/${name}`,
  columns: [
    { title: 'KIND', value: ({ kind }) => kind },
    { title: 'NAME', value: ({ name }) => name },
    { title: 'OUTCOME', value: ({ outcome }) => outcome },
    { title: 'DETAIL', value: ({ detail }) => detail ?? '' },
  ],
};

/** Every record that is not equal, with its kind. */
export const reportedRecords = ({ kinds }: ImportReport): NamedResult[] =>
  kinds.flatMap(({ kind, records }) => records.map((record) => ({ kind, ...record })));

/**
 * The report as text: counts by kind in a table, with each record that is not equal for `wide`; the records alone for `jsonl`,
 * `tsv` and `name`; all of it for `json` and `yaml`.
 */
export async function renderReport(report: ImportReport, format: Format): Promise<string> {
  if (isValueFormat(format) && format !== 'jsonl') return renderValue(report, format);
  if (format === 'table') return renderList(kindView, report.kinds, 'table');
  const records = await renderList(recordView, reportedRecords(report), format === 'wide' ? 'table' : format);
  return format === 'wide' ? `${await renderList(kindView, report.kinds, 'table')}\n${records}` : records;
}
