/** Reads the YAML of manifests as Kubernetes' own client does. */
import { parseAllDocuments, type Tags } from 'yaml';
import type { ReadDocument } from '../../domain/deployments/read-manifests.ts';
import { isMusterError, musterError } from '../../domain/errors.ts';
import type { ManifestFile } from './unpack.ts';

/** So often an alias may stand for a node, counted through all of its own aliases. */
const ALIASES_MAX = 100;
/** How deep lists and maps may be in each other. */
const DEPTH_MAX = 100;
const MANY_ENTRIES = new RegExp(`([-?:][ \\t]+){${DEPTH_MAX}}`);
/** Of YAML 1.1 Kubernetes' client knows booleans and octal numbers, and neither dates nor numbers to the base 60. */
const UNKNOWN = /:(timestamp|binary|set|omap|pairs)$/;

/** Returns the documents of files, each with its place. Throws `render_failed` with file, document and line. */
export function readDocuments(files: readonly ManifestFile[]): ReadDocument[] {
  return files.flatMap(documentsOf);
}

function documentsOf({ path, bytes }: ManifestFile): ReadDocument[] {
  const text = textOf(path, bytes);
  if (isDeep(text)) throw refused(`${path} is nested too deeply`);
  const parsed = parseAllDocuments(text, {
    version: '1.1',
    merge: true,
    uniqueKeys: false,
    logLevel: 'silent',
    customTags,
  });
  return [...parsed].map((document, index) => {
    const mistake = document.errors[0];
    const line = mistake?.linePos?.[0].line;
    if (mistake !== undefined) {
      throw refused(
        `${path}, document ${index}${line === undefined ? '' : `, line ${line}`} is no YAML (${mistake.code})`,
      );
    }
    return { path, document: index, data: dataOf(path, index, () => document.toJS({ maxAliasCount: ALIASES_MAX })) };
  });
}

function customTags(tags: Tags): Tags {
  return tags.filter(
    (tag) => typeof tag === 'string' || !(UNKNOWN.test(tag.tag) || ('format' in tag && tag.format === 'TIME')),
  );
}

/** Data come out as JSON has them. */
function dataOf(path: string, document: number, read: () => unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(read() ?? null));
  } catch (error) {
    if (isMusterError(error)) throw error;
    throw refused(`${path}, document ${document} has too many aliases, or data that JSON has not`);
  }
}

function textOf(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refused(`${path} is not in UTF-8`);
  }
}

/** A parser's time grows with the square of the depth. */
function isDeep(text: string): boolean {
  if (MANY_ENTRIES.test(text)) return true;
  let depth = 0;
  for (const character of text) {
    if (character === '[' || character === '{') depth += 1;
    else if ((character === ']' || character === '}') && depth > 0) depth -= 1;
    if (depth > DEPTH_MAX) return true;
  }
  return false;
}

function refused(what: string) {
  return musterError('render_failed', what);
}
