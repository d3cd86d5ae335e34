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
  const document = parsed(text, file);
  const [mistake] = document.errors;
  // The reader calls itself for each level.
  if (mistake?.code === 'RESOURCE_EXHAUSTION') {
    throw musterError('validation_failed', `${file} cannot be read: its lists and objects are too deep`, file);
  }
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
    throw musterError('validation_failed', `${file} cannot be read: it follows too many aliases, or is too deep`, file);
  }
}

/** Bytes of a text that is read at most. */
const LONGEST_TEXT = 1_048_576;

function parsed(text: string, file: string) {
  if (text.length > LONGEST_TEXT) {
    throw musterError('value_too_large', `${file} is longer than ${LONGEST_TEXT} characters`, file);
  }
  return parseDocument(text, { prettyErrors: true, uniqueKeys: true, logLevel: 'silent' });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
