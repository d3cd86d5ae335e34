import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostVariables, InventoryTree } from '../../domain/components/inventory/inventory-tree.ts';
import { musterError } from '../../domain/errors.ts';

/** Ansible reads the files of the folder in lexical order, so additional inventory named `02-...` overrides this one. */
export const GENERATED_INVENTORY = '01-cfs-generated.yaml';
/** Text collected before it is written, so that memory stays flat whatever the size of the fleet. */
const CHUNK = 256 * 1024;
/** Hosts whose text is handed on at once. */
const PIECE = 1_000;
/** Text that stands in JSON as it is. */
const PLAIN = /^[A-Za-z0-9_.-]*$/;

/**
 * How the inventory is written. `data`: JSON in the shape of Ansible's YAML inventories, which the inventory plugin `muster_fleet` reads
 * quickly and any other Ansible reads too. `yaml`: for an image that has no plugin of ours.
 */
export type InventoryForm = 'data' | 'yaml';

/** Writes the generated inventory into the folder `dir`, in one step as far as a reader can see (cfs-flows 3). */
export async function writeInventory(dir: string, tree: InventoryTree, form: InventoryForm): Promise<void> {
  await replaceGenerated(dir, async (write) => {
    for (const text of form === 'yaml' ? inventoryLines(tree) : inventoryData(tree)) {
      // To wait for each of very many takes longer than to write them.
      const full = write(text);
      if (full !== undefined) await full;
    }
  });
}

/** Takes text; the promise is there when text is written, and has to be waited for before the next one. */
export type WriteText = (text: string) => Promise<void> | undefined;

/** Puts the generated inventory into the folder `dir`, with the text that `fill` writes. */
export async function replaceGenerated(dir: string, fill: (write: WriteText) => Promise<void>): Promise<void> {
  const part = join(dir, `.${GENERATED_INVENTORY}.${randomUUID()}`);
  try {
    const file = await open(part, 'wx', 0o600);
    try {
      let chunk = '';
      await fill((text) => {
        chunk += text;
        if (chunk.length < CHUNK) return undefined;
        const full = chunk;
        chunk = '';
        return file.appendFile(full);
      });
      await file.appendFile(chunk);
    } finally {
      await file.close();
    }
    await rename(part, join(dir, GENERATED_INVENTORY)).catch((error: { code?: string }) => {
      if (error.code !== 'EISDIR' && error.code !== 'ENOTEMPTY') throw error;
      throw musterError('inventory_invalid', `The additional inventory has a folder named ${GENERATED_INVENTORY}.`);
    });
  } finally {
    await rm(part, { force: true });
  }
}

/** The lines of the file: YAML in block style, keys sorted by code point and quoted, texts of variables marked as not to be templated. */
export function* inventoryLines(tree: InventoryTree): Generator<string> {
  if (tree.below === 'top') {
    // Of `{}` alone Ansible makes a host of that name.
    if (tree.groups.size === 0) yield '"all": {}\n';
    yield* groupLines(tree, '');
    return;
  }
  yield '"all":\n';
  yield tree.groups.size === 0 ? '  "children": {}\n' : '  "children":\n';
  yield* groupLines(tree, '    ');
  if (tree.hosts.size === 0) return;
  yield '  "hosts":\n';
  for (const name of sorted(tree.hosts.keys())) yield hostLines(name, tree.hosts.get(name) ?? {}, '    ');
}

function* groupLines({ groups, memberVariables }: InventoryTree, indent: string): Generator<string> {
  for (const name of sorted(groups.keys())) {
    const members = groups.get(name) ?? [];
    const variables = memberVariables?.get(name);
    yield `${indent}${quoted(name)}:\n${indent}  "hosts":${members.length === 0 ? ' {}' : ''}\n`;
    for (const member of sorted(members)) yield hostLines(member, variables?.get(member) ?? {}, `${indent}    `);
  }
}

/** Returns the lines of a host. */
export function hostLines(name: string, variables: HostVariables, indent: string): string {
  const names = Object.keys(variables);
  if (names.length === 0) return `${indent}${quoted(name)}: {}\n`;
  const lines = sorted(names).map((key) => `${indent}  ${quoted(key)}: ${scalar(variables[key] ?? '')}\n`);
  return `${indent}${quoted(name)}:\n${lines.join('')}`;
}

/** The same inventory as JSON, in pieces: the same order, texts of variables marked as not to be templated. */
export function* inventoryData(tree: InventoryTree): Generator<string> {
  if (tree.below === 'top') {
    if (tree.groups.size === 0) yield '{"all":{}}';
    else yield* groupData(tree);
    yield '\n';
    return;
  }
  yield '{"all":{"children":';
  yield* groupData(tree);
  if (tree.hosts.size > 0) {
    yield ',"hosts":';
    yield* hostData(tree.hosts.keys(), tree.hosts);
  }
  yield '}}\n';
}

function* groupData({ groups, memberVariables }: InventoryTree): Generator<string> {
  let before = '{';
  for (const name of sorted(groups.keys())) {
    yield `${before}${text(name)}:{"hosts":`;
    yield* hostData(groups.get(name) ?? [], memberVariables?.get(name));
    yield '}';
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

function* hostData(names: Iterable<string>, variables?: ReadonlyMap<string, HostVariables>): Generator<string> {
  const all = sorted(names);
  yield '{';
  // A piece for each host would pass through every generator above: of a large fleet that takes longer than to write the text.
  for (let at = 0; at < all.length; at += PIECE) {
    const some = all.slice(at, at + PIECE);
    yield `${at === 0 ? '' : ','}${variables === undefined ? bareHosts(some) : some.map((name) => hostText(name, variables.get(name) ?? {})).join(',')}`;
  }
  yield '}';
}

/** Returns a host with its variables, as a member of JSON. */
export function hostText(name: string, variables: HostVariables): string {
  return `${text(name)}:${variableData(variables)}`;
}

/** Returns hosts without variables, so nearly all members of groups. Names that are plain together are so each. */
export function bareHosts(names: readonly string[]): string {
  if (PLAIN.test(names.join(''))) return `"${names.join('":{},"')}":{}`;
  return names.map((name) => `${text(name)}:{}`).join(',');
}

function variableData(variables: HostVariables): string {
  const names = Object.keys(variables);
  if (names.length === 0) return '{}';
  const pairs = sorted(names).map((key) => {
    const value = variables[key] ?? '';
    return `${text(key)}:${typeof value === 'string' ? `{"__ansible_unsafe":${text(value)}}` : value}`;
  });
  return `{${pairs.join(',')}}`;
}

/** Half a surrogate pair is no character and becomes U+FFFD, as in YAML. */
function text(value: string): string {
  if (PLAIN.test(value)) return `"${value}"`;
  return JSON.stringify(value.toWellFormed());
}

function scalar(value: string | number | boolean): string {
  return typeof value !== 'string' ? String(value) : `!unsafe ${quoted(value)}`;
}

/** A double-quoted YAML text in plain ASCII. Half a surrogate pair is no character and becomes U+FFFD. */
export function quoted(text: string): string {
  const escaped = text.toWellFormed().replace(/[^\x20-\x7e]|["\\]/gu, (char) => {
    if (char === '"' || char === '\\') return `\\${char}`;
    const code = char.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
  return `"${escaped}"`;
}

function sorted(names: Iterable<string>): string[] {
  const all = [...names];
  if (all.length < 2) return all;
  // Names in plain ASCII, so nearly all, need no rule of ours: each unit is a character.
  if (!isAscii(all.join(''))) return all.sort(byCodePoint);
  return isSorted(all) ? all : all.sort();
}

function isSorted(names: readonly string[]): boolean {
  let before = '';
  for (const name of names) {
    if (before > name) return false;
    before = name;
  }
  return true;
}

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole range is meant
  return /^[\x00-\x7f]*$/.test(text);
}

/** JavaScript compares by UTF-16 unit, which puts characters beyond U+FFFF before U+E000. */
function byCodePoint(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at += 1) {
    if (a.charCodeAt(at) === b.charCodeAt(at)) continue;
    return (a.codePointAt(at) ?? 0) - (b.codePointAt(at) ?? 0);
  }
  return a.length - b.length;
}
