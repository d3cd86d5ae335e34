import { existsSync } from 'node:fs';
import { LineCounter, parseAllDocuments, type Tags } from 'yaml';
import type { HomeFiles, ParseYaml } from '../../domain/operator/ports.ts';

/** The disk of this machine. */
export const homeFiles: HomeFiles = { exists: existsSync };

/** Tags of YAML 1.1 whose values stay text where Go reads the file: dates, sets, and numbers to the base 60 such as 22:22. */
const isForeign = (tag: Tags[number]): boolean =>
  typeof tag === 'object' &&
  (('format' in tag && tag.format === 'TIME') || /:(timestamp|binary|omap|pairs|set)$/.test(tag.tag ?? ''));

/** Reads YAML 1.1; mistakes name line and column, and nothing of the text, which may hold secrets of the environment. */
export const parseYaml: ParseYaml = (text) => {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, {
    version: '1.1',
    customTags: (tags) => tags.filter((tag) => !isForeign(tag)),
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
    lineCounter,
  });
  if (!Array.isArray(documents)) return { value: null, leftOut: [] };
  const [document, ...further] = documents;
  if (document === undefined) return { value: null, leftOut: [] };
  const place = ({ code, pos }: { code: string; pos: [number, number] }): string => {
    const { line, col } = lineCounter.linePos(pos[0]);
    return `${code.toLowerCase().replaceAll('_', ' ')} at line ${line}, column ${col}`;
  };
  const [error] = document.errors;
  if (error !== undefined) return { mistake: place(error) };
  const leftOut = document.warnings.map(place);
  if (further.length > 0) leftOut.push('what stands behind the first document is not read');
  try {
    return { value: document.toJS({ maxAliasCount: 100 }), leftOut };
  } catch (error) {
    return { mistake: error instanceof Error ? error.message : String(error) };
  }
};
