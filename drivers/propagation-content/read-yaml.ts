/** Reads the YAML of definitions, which is foreign text. */
import { parseDocument } from 'yaml';
import { musterError } from '../../domain/errors.ts';

/** Aliases that a document may follow; more of them can make a small text large. */
const MOST_ALIASES = 100;

/**
 * Returns the value of a YAML text. Numbers of `version` keep the text that was written.
 * Throws `validation_failed` with line and column where the text is no YAML, or follows too many aliases.
 */
export function readYaml(text: string, file: string): unknown {
  const document = parseDocument(text, { prettyErrors: true, uniqueKeys: true, logLevel: 'silent' });
  const [mistake] = document.errors;
  if (mistake !== undefined) {
    const [first] = mistake.message.split('\n');
    throw musterError('validation_failed', `${file} is no YAML: ${first?.replace(/:$/, '')}`, file);
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES });
    const version: unknown = document.get('version', true);
    const written = (version as { source?: unknown } | undefined)?.source;
    if (isObject(value) && typeof value.version === 'number' && typeof written === 'string') value.version = written;
    return value;
  } catch {
    throw musterError('validation_failed', `${file} cannot be read: it follows too many aliases`, file);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
