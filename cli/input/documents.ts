import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { CliContext } from '../context.ts';
import { type CliFailure, usage } from '../failure.ts';
import { fileTrouble, unclosedBracket } from './file-trouble.ts';

/** How often an alias of YAML may be unfolded, with all that is in it. */
const MOST_ALIASES = 100;

export type Document = Record<string, unknown>;

/**
 * Records of `-f FILE`, or of stdin for `-`: JSON or YAML, one record, a list of them, or several YAML documents. A page
 * as the API answers it (`{"components": [...]}`, `kind` names the member) is a list too.
 */
export async function readDocuments(context: CliContext, file: string, kind: string): Promise<Document[]> {
  const records = await readAnyDocuments(context, file, kind);
  if (records.length === 0) throw usage(`${sourceOf(file)} holds no record`);
  return records;
}

const sourceOf = (file: string): string => (file === '-' ? 'stdin' : file);

/** Records as `readDocuments` reads them, of a file that may be empty. */
export async function readAnyDocuments(context: CliContext, file: string, kind: string): Promise<Document[]> {
  const source = sourceOf(file);
  const content = await contentOf(context, file);
  const records = (await valuesOf(content, source)).flatMap((value) => recordsOf(value, kind));
  const wrong = records.findIndex((record) => typeof record !== 'object' || record === null || Array.isArray(record));
  if (wrong !== -1) throw usage(`${source}: entry ${wrong} is not an object`);
  return records as Document[];
}

/** JSON first: it is much faster for a whole fleet. */
async function valuesOf(content: string, source: string): Promise<unknown[]> {
  try {
    return [JSON.parse(content)];
  } catch {
    const { parseAllDocuments } = await import('yaml');
    const parsed = parseAllDocuments(content);
    const documents = Array.isArray(parsed) ? parsed : [];
    const mistake = documents.flatMap((document) => document.errors)[0];
    if (mistake) throw unreadable(source, content, mistake);
    return documents.map((document) => plainOf(document, source));
  }
}

/** What is wrong with a text that is neither JSON nor YAML, and in which line. */
function unreadable(source: string, content: string, { message, linePos }: Mistake): CliFailure {
  const unclosed = unclosedBracket(content);
  if (unclosed !== null) return usage(`${source}, ${unclosed}`);
  const line = linePos?.[0].line;
  const [sentence = ''] = message.split('\n');
  const words = sentence.replace(/ at line \d+, column \d+:?$/, '');
  return usage(`${source}${line === undefined ? '' : `, line ${line}`}: is neither JSON nor YAML: ${words}`);
}

interface Mistake {
  message: string;
  linePos?: readonly [{ line: number }, ...unknown[]] | undefined;
}

/** The value of a document. Aliases are bounded: a small file could unfold into any size. */
function plainOf(document: { toJS(options: { maxAliasCount: number }): unknown }, source: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    throw usage(`${source} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

function recordsOf(value: unknown, kind: string): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value === 'object' && value !== null && kind in value) {
    const list = (value as Document)[kind];
    if (Array.isArray(list)) return list;
  }
  return value === null || value === undefined ? [] : [value];
}

async function contentOf(context: CliContext, file: string): Promise<string> {
  if (file === '-') return text(context.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw usage(`cannot read ${file}: ${fileTrouble(error)}`);
  }
}

/** The member `name` of a record as a text that is not empty; anything else is a mistake that names the record. */
export function requiredText(record: Document, name: string, place: string): string {
  const value = record[name];
  if (typeof value === 'string' && value !== '') return value;
  throw usage(`${place} has no ${name}`);
}
