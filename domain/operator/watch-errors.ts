/** What is wrong, or doubtful, in a `watches.yaml`. */

/** Mistakes that keep an operator from starting. */
export type WatchErrorCode =
  | 'W1'
  | 'W2'
  | 'W3'
  | 'W4'
  | 'W5'
  | 'W6'
  | 'W7'
  | 'W8'
  | 'W9'
  | 'W10'
  | 'W11'
  | 'W12'
  | 'W13';

/** What an operator starts with all the same; `unknown_key` is a mistake where a file is only checked. */
export type WatchWarningCode =
  | 'unknown_key'
  | 'repeated_key'
  | 'left_out'
  | 'no_entries'
  | 'unusable_setting'
  | 'text_is_templated';

export interface WatchFinding {
  code: WatchErrorCode | WatchWarningCode;
  /** Number of the entry, from 1; null for the file as a whole. */
  entry: number | null;
  /** Path of the key in the entry, `muster.backoff.max`; null where none is meant. */
  field: string | null;
  message: string;
  /** One sentence: how to mend it. */
  fix: string;
  /** Absolute paths at which something was looked for. */
  looked_at?: string[];
}

/** Takes what is found in one entry. */
export type Say = (finding: Omit<WatchFinding, 'entry'>) => void;

/** Returns whether a field, or something in it, has another form than it must: nothing more can be said of it then. */
export function isMistaken(findings: readonly WatchFinding[], field: string): boolean {
  return findings.some(
    (finding) => finding.code === 'W2' && (finding.field === field || finding.field?.startsWith(`${field}.`) === true),
  );
}

/** Returns the finding for a file that cannot be read; `message` is the system's. */
export function unreadableFile(message: string): WatchFinding {
  return { code: 'W1', entry: null, field: null, message, fix: 'name a file that exists and can be read' };
}

/** Returns the findings of a check that starts nothing: there an unknown key is a mistake, since it is likely a misspelt one. */
export function judgedStrictly(loaded: { errors: WatchFinding[]; warnings: WatchFinding[] }): {
  errors: WatchFinding[];
  warnings: WatchFinding[];
} {
  const isUnknown = ({ code }: WatchFinding): boolean => code === 'unknown_key';
  return {
    errors: [...loaded.errors, ...loaded.warnings.filter(isUnknown)],
    warnings: loaded.warnings.filter((finding) => !isUnknown(finding)),
  };
}
