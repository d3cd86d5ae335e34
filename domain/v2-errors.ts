import { type ErrorCode, type MusterError, type Problem, problemOf } from './errors.ts';
import { camelCase } from './v2-names.ts';

/** Titles that v2 words otherwise (cfs-api 2). */
const TITLES: Partial<Record<ErrorCode, string>> = { branch_and_commit: 'Error handling error branches' };

/** Members below which names are not translated: those of a target stay, keys of tags are the sender's (cfs-api 13). */
const UNTRANSLATED = new Set(['tags', 'target', 'filters']);

/** The problem document of an error in v2's words: rules are checked in v3's names. */
export function v2ProblemOf(error: MusterError): Problem {
  const problem = problemOf({ code: error.code, detail: error.detail, field: error.field && v2Field(error.field) });
  return { ...problem, title: TITLES[error.code] ?? problem.title };
}

/** Path of a field in v2 names: `status.session.start_time` is `status.session.startTime`. */
function v2Field(field: string): string {
  let translated = true;
  const segments = field.split('.').map((segment) => {
    const name = translated && segment !== 'additional_inventory' ? camelCase(segment) : segment;
    translated = translated && !UNTRANSLATED.has(segment);
    return name;
  });
  return segments.join('.');
}
