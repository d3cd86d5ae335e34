/** Extra variables of a pass-through as readers see them: values of names that look like secrets are masked. */
import { MASK } from '../runs/mask.ts';
import { parseKeyValues } from './extra-vars.ts';
import { type PassthroughItem, parsePassthrough } from './passthrough.ts';

const WITHIN = /pass(w|phrase)|secret|token|credential|apikey|private/;
const WORDS = new Set(['pw', 'pwd', 'pass', 'key', 'keys', 'auth', 'psk', 'pin', 'pins', 'login', 'vault', 'cert']);

/** Whether a variable of this name probably holds a secret. Rather one too many: a reader can ask an operator. */
export function looksSecret(name: string): boolean {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  return WITHIN.test(words.replaceAll(/[^a-z]/g, '')) || words.split(/[^a-z]+/).some((word) => WORDS.has(word));
}

/** Whether a text that holds more than one value names something that looks like a secret. */
function mentionsSecret(text: string): boolean {
  return [...text.matchAll(/([\w.-]+)["']?\s*[:=]/g)].some(([, name = '']) => looksSecret(name));
}

/** A pass-through with its secrets masked; as it was written where it has none. */
export function maskPassthrough(passthrough: string): string {
  let items: PassthroughItem[];
  try {
    items = parsePassthrough(passthrough);
  } catch {
    // Of a release that took other words.
    return mentionsSecret(passthrough) ? MASK : passthrough;
  }
  const masked = items.map((item) =>
    item.option === '--extra-vars' ? { ...item, value: maskVars(item.value) } : item,
  );
  if (masked.every(({ value }, index) => value === items[index]?.value)) return passthrough;
  return masked.map(({ option, value }) => `${option}=${quoted(value)}`).join(' ');
}

function maskVars(value: string): string {
  if (value.startsWith('@')) return value;
  if (value.startsWith('{') || value.startsWith('[')) return maskDocument(value);
  const words = Object.entries(parseKeyValues(value));
  const shown = words.map(([name, text]) => [name, looksSecret(name) || mentionsSecret(text) ? MASK : text] as const);
  if (shown.every(([, text], index) => text === words[index]?.[1])) return value;
  return shown.map(([name, text]) => `${name}=${/[\s"']/.test(text) ? JSON.stringify(text) : text}`).join(' ');
}

function maskDocument(text: string): string {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    // YAML: it is masked as a whole.
    return mentionsSecret(text) ? MASK : text;
  }
  const shown = masked(document);
  return JSON.stringify(shown) === JSON.stringify(document) ? text : JSON.stringify(shown);
}

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value === 'string') return mentionsSecret(value) ? MASK : value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, looksSecret(name) ? MASK : masked(member)]),
  );
}

/** A value as the pass-through takes it. */
function quoted(value: string): string {
  if (!/[\s"']/.test(value)) return value;
  return `"${value.replace(/[\\"]/g, '\\$&')}"`;
}

/** Members of records that hold a pass-through. */
const MEMBERS = new Set(['passthrough', 'ansible_passthrough']);

/** A record, or a page of records, with its pass-throughs masked wherever they stand; the same object where it has none. */
export function withMaskedPassthrough<T>(value: T): T {
  return walk(value) as T;
}

function walk(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (Array.isArray(value)) {
    const members = value.map(walk);
    return members.every((member, index) => member === value[index]) ? value : members;
  }
  let copy: Record<string, unknown> | undefined;
  for (const [name, member] of Object.entries(value)) {
    const shown = MEMBERS.has(name) && typeof member === 'string' ? maskPassthrough(member) : walk(member);
    if (shown === member) continue;
    copy ??= { ...value };
    copy[name] = shown;
  }
  return copy ?? value;
}
