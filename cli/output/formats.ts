/** Forms of what commands write. */
export const FORMATS = ['table', 'wide', 'json', 'jsonl', 'yaml', 'tsv', 'name'] as const;
export type Format = (typeof FORMATS)[number];

/** The forms that carry whole records. */
export type ValueFormat = 'json' | 'jsonl' | 'yaml';
export const isValueFormat = (format: Format): format is ValueFormat =>
  format === 'json' || format === 'jsonl' || format === 'yaml';
