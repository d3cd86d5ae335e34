/** How a definition is named: `[repository/]name[:[op]version]`. Versions are ordered as semver 2.0 says. */
import { type MusterError, musterError } from '../errors.ts';
import { isDefinitionName } from './resource-name.ts';

export type VersionOperator = '==' | '>=' | '>' | '<=' | '<';

export interface DefinitionSpec {
  /** Null: the repository `resources`, then the shipped one. */
  repository: string | null;
  name: string;
  /** Null: the highest version. */
  version: { op: VersionOperator; version: string } | null;
}

/** Where a definition is looked up that is named without its repository. */
export const LOOKED_UP = ['resources', 'muster'] as const;

const SEMVER =
  /^(0|[1-9]\d{0,15})\.(0|[1-9]\d{0,15})\.(0|[1-9]\d{0,15})(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
const SPEC = /^(?:([^/:]+)\/)?([^/:]+)(?::(==|>=|<=|>|<)?(.+))?$/;
const LONGEST_VERSION = 128;

/** Whether a text is a valid semver. */
export function isVersion(text: string): boolean {
  return text.length <= LONGEST_VERSION && SEMVER.test(text);
}

/**
 * Reads a spec string.
 * Throws `invalid_spec`.
 */
export function parseSpec(text: string): DefinitionSpec {
  if (/^\.{0,2}\//.test(text) || text.endsWith('.yaml')) {
    throw invalid(text, 'it is a path: only the command line reads files, `./muster repository add` uploads them');
  }
  const [, repository = null, name = '', op = '==', version] = SPEC.exec(text) ?? [];
  if (!isDefinitionName(name) || (repository !== null && !isDefinitionName(repository))) {
    throw invalid(text, 'it must have the form [repository/]name[:[op]version]');
  }
  if (version === undefined) return { repository, name, version: null };
  if (!isVersion(version)) throw invalid(text, 'its version must have the form 1.2.3');
  return { repository, name, version: { op: op as VersionOperator, version } };
}

function invalid(text: string, why: string): MusterError {
  return musterError('invalid_spec', `${JSON.stringify(text.slice(0, 300))} does not name a definition: ${why}`);
}

/** Returns a number below 0 where `one` comes before `other`, above 0 where it comes after, 0 where neither does. */
export function compareVersions(one: string, other: string): number {
  const [, ...a] = SEMVER.exec(one) ?? [];
  const [, ...b] = SEMVER.exec(other) ?? [];
  for (const place of [0, 1, 2]) {
    const by = Number(a[place]) - Number(b[place]);
    if (by !== 0) return by;
  }
  return comparePreReleases(a[3], b[3]);
}

/** A release comes behind all that lead to it; numbers come before words; the longer list comes behind its own beginning. */
function comparePreReleases(one: string | undefined, other: string | undefined): number {
  if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
  const [a, b] = [one.split('.'), other.split('.')];
  for (const [place, word] of a.entries()) {
    const against = b[place];
    if (against === undefined) return 1;
    if (word === against) continue;
    const numbers = [/^\d+$/.test(word), /^\d+$/.test(against)];
    if (numbers[0] && numbers[1]) return word.length - against.length || (word < against ? -1 : 1);
    if (numbers[0] !== numbers[1]) return numbers[0] ? -1 : 1;
    return word < against ? -1 : 1;
  }
  return a.length - b.length;
}

/** Returns the highest of the versions that a spec accepts, or null where it accepts none. */
export function highestVersion(versions: readonly string[], wanted: DefinitionSpec['version']): string | null {
  const accepted = versions.filter((version) => wanted === null || accepts(wanted, version));
  return accepted.sort((a, b) => compareVersions(a, b) || (a < b ? -1 : 1)).at(-1) ?? null;
}

function accepts({ op, version: bound }: NonNullable<DefinitionSpec['version']>, version: string): boolean {
  const by = compareVersions(version, bound);
  if (op === '==') return by === 0;
  if (op === '>=' || op === '<=') return by === 0 || by > 0 === (op === '>=');
  return by !== 0 && by > 0 === (op === '>');
}
