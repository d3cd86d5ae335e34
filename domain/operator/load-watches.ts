/** Loading of a `watches.yaml`: from its raw text to entries, with all mistakes of all entries. */
import { checkMuster } from './check-muster.ts';
import { checkScripts } from './check-scripts.ts';
import { expandEnvironment } from './environment-text.ts';
import { type EntrySurroundings, fillEntry } from './fill-entry.ts';
import { gvkText } from './names.ts';
import type { ParseYaml } from './ports.ts';
import { selectorMistake } from './selector.ts';
import { type EntryInFile, entryInFile, type WatchEntry } from './watch-entry.ts';
import { isMistaken, type Say, type WatchErrorCode, type WatchFinding } from './watch-errors.ts';

export interface WatchSource extends EntrySurroundings {
  /** The raw text of the file. */
  text: string;
  parseYaml: ParseYaml;
}

export interface LoadedWatches {
  /** All entries that are maps, also those with mistakes. */
  entries: WatchEntry[];
  /** In the order of the checks: first the form of each entry, then what it means. */
  errors: WatchFinding[];
  warnings: WatchFinding[];
}

/** Returns the entries of a file with everything that is wrong or doubtful in it. An operator starts only without errors. */
export function loadWatches(source: WatchSource): LoadedWatches {
  const read = source.parseYaml(expandEnvironment(source.text, source.env));
  if ('mistake' in read) return failed('W2', `not YAML: ${read.mistake}`, 'mend the YAML at that place');
  const root = read.value ?? [];
  if (!Array.isArray(root)) {
    return failed('W2', 'the file must be a list of entries', 'begin each entry with a dash');
  }
  const findings: WatchFinding[] = read.leftOut.map(leftOut);
  if (root.length === 0) findings.push(noEntries());
  const decoded = root.flatMap((value: unknown, index) => {
    const entry = index + 1;
    const said: WatchFinding[] = [];
    const say: Say = (finding) => said.push({ ...finding, entry });
    const inFile = typeof value === 'object' && value !== null ? entryInFile(value, '', say) : undefined;
    if (inFile === undefined) said.splice(0, said.length, noMap(entry));
    else checkGvk(inFile, said, say);
    findings.push(...said);
    return inFile === undefined ? [] : [{ entry, inFile, said }];
  });
  const seen = new Set<string>();
  const entries = decoded.map(({ entry, inFile, said }) => {
    const say: Say = (finding) => findings.push({ ...finding, entry });
    const watch = fillEntry(inFile, source, say);
    checkDuplicate(watch, said, seen, say);
    checkScripts(inFile, said, source, say);
    for (const [index, expression] of (watch.selector?.matchExpressions ?? []).entries()) {
      const message = isMistaken(said, `selector.matchExpressions.${index}`) ? null : selectorMistake(expression);
      if (message === null) continue;
      const fix = 'the operators are In and NotIn, which take values, and Exists and DoesNotExist, which take none';
      say({ code: 'W12', field: `selector.matchExpressions.${index}.operator`, message, fix });
    }
    checkMuster(inFile.muster ?? {}, say);
    return watch;
  });
  const isError = ({ code }: WatchFinding): boolean => /^W\d+$/.test(code);
  return {
    entries,
    errors: findings.filter(isError),
    warnings: findings.filter((finding) => !isError(finding)),
  };
}

function failed(code: WatchErrorCode, message: string, fix: string): LoadedWatches {
  return { entries: [], errors: [{ code, entry: null, field: null, message, fix }], warnings: [] };
}

const leftOut = (message: string): WatchFinding => ({
  code: 'left_out',
  entry: null,
  field: null,
  message,
  fix: 'remove it: it has no effect',
});

const noEntries = (): WatchFinding => ({
  code: 'no_entries',
  entry: null,
  field: null,
  message: 'the file has no entries: nothing is watched',
  fix: 'add an entry with group, version, kind and a playbook or a role',
});

const noMap = (entry: number): WatchFinding => ({
  code: 'W2',
  entry,
  field: null,
  message: 'an entry must be a map',
  fix: 'write group, version, kind and a playbook or a role',
});

function checkGvk(inFile: EntryInFile, said: WatchFinding[], say: Say): void {
  const gvk = gvkText({ group: inFile.group ?? '', version: inFile.version ?? '', kind: inFile.kind ?? '' });
  const missing = (code: 'W3' | 'W4', field: 'version' | 'kind', example: string): void => {
    if (inFile[field] || isMistaken(said, field)) return;
    say({
      code,
      field,
      message: `invalid GVK: ${gvk}: ${field} must not be empty`,
      fix: `add ${field}, such as ${example}`,
    });
  };
  missing('W3', 'version', 'v1');
  missing('W4', 'kind', 'Memcached');
}

function checkDuplicate(watch: WatchEntry, said: WatchFinding[], seen: Set<string>, say: Say): void {
  // An entry whose version or kind is missing is told that alone.
  if (watch.version === '' || watch.kind === '' || ['group', 'version', 'kind'].some((key) => isMistaken(said, key))) {
    return;
  }
  const gvk = gvkText(watch);
  if (seen.has(gvk)) {
    say({ code: 'W5', field: 'kind', message: `duplicate GVK: ${gvk}`, fix: 'keep one of the entries of this kind' });
  }
  seen.add(gvk);
}
