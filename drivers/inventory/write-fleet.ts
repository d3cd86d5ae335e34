/** Writes the inventory of a whole fleet with a part of it at a time in memory: the same file that the tree of the fleet gives. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { BUILT_IN_GROUPS } from '../../domain/components/host-names.ts';
import type { VariableRules } from '../../domain/components/host-variables.ts';
import {
  componentReader,
  type InventoryComponent,
  type LeftOutWarnings,
  leftOutOf,
  NAME_OF_A_GROUP,
} from '../../domain/components/inventory/inventory.ts';
import type { InventoryNames } from '../../domain/components/inventory/inventory-tree.ts';
import { FLEET_TEXT, type FleetText, nameInText } from './fleet-text.ts';
import { createGroupRuns, type GroupRuns } from './group-runs.ts';
import { openSpool, recordsOf, type Spool } from './spool.ts';
import { GENERATED_INVENTORY, type InventoryForm, replaceGenerated, type WriteText } from './write-inventory.ts';

/** Hands on all components in the order of their ids, by code point, a page at a time; ends with an error of `take`. */
export type EachPage = (take: (page: readonly InventoryComponent[]) => Promise<void>) => Promise<void>;

export interface Fleet {
  eachPage: EachPage;
  rules: VariableRules;
}

/** How much is in memory at most; only tests say it. */
export interface FleetMemory {
  /** Members of groups. */
  members?: number;
  /** Characters of each kind of text. */
  text?: number;
}

export interface WrittenFleet {
  hosts: number;
  names: InventoryNames;
  warnings: string[];
}

/** Stands behind each host's text, and in none: both forms escape it. */
const END = '\0';
/** What may be the name of a group that a tag makes. */
const LIKE_A_GROUP = /^[A-Za-z0-9_]*_[A-Za-z0-9_]*$/;

/**
 * Writes the generated inventory into the folder `dir`. Answers how many hosts it has, and which of the names of the limit it knows. Components
 * come in the order of hosts; groups are sorted in parts. A component that has the name of a group is known when all groups are.
 */
export async function writeFleet(
  { dir, form, limit, signal }: { dir: string; form: InventoryForm; limit: string; signal: AbortSignal },
  fleet: Fleet,
  { limitNames, memory = {} }: { limitNames: ReadonlySet<string>; memory?: FleetMemory },
): Promise<WrittenFleet> {
  const spools: Spool[] = [];
  const newSpool = () => {
    const spool = openSpool(join(dir, `.${GENERATED_INVENTORY}.${randomUUID()}`), memory.text);
    spools.push(spool);
    return spool;
  };
  const text = FLEET_TEXT[form];
  try {
    const read: ReadFleet = {
      hosts: newSpool(),
      likeGroups: newSpool(),
      groups: createGroupRuns(newSpool, memory.members),
      leftOut: leftOutOf(limit),
      count: 0,
      named: new Set(),
    };
    await readFleet(fleet, read, { text, limitNames, signal });
    const clashes = await findClashes(read, signal);
    const names = { hosts: read.named, groups: new Set(BUILT_IN_GROUPS) };
    await replaceGenerated(dir, async (write) => {
      await write(text.begin);
      for await (const name of writeGroups(read.groups, text, clashes, { write, signal })) {
        if (limitNames.has(name)) names.groups.add(name);
      }
      if (read.count > clashes.size) await writeHosts(read.hosts, text, clashes, { write, signal });
      await write(text.end);
    });
    for (const [id, groups] of clashes) {
      names.hosts.delete(id);
      read.leftOut.add({ id, reason: NAME_OF_A_GROUP, groups });
    }
    return { hosts: read.count - clashes.size, names, warnings: read.leftOut.warnings() };
  } finally {
    await Promise.all(spools.map((spool) => spool.close()));
  }
}

interface Writing {
  write: WriteText;
  signal: AbortSignal;
}

interface ReadFleet {
  /** Texts of hosts, in order. */
  hosts: Spool;
  /** Names of hosts that may be those of groups, in order. */
  likeGroups: Spool;
  groups: GroupRuns;
  leftOut: LeftOutWarnings;
  count: number;
  /** Hosts of the limit. */
  named: Set<string>;
}

async function readFleet(
  { eachPage, rules }: Fleet,
  into: ReadFleet,
  { text, limitNames, signal }: { text: FleetText; limitNames: ReadonlySet<string>; signal: AbortSignal },
): Promise<void> {
  const read = componentReader(rules);
  let before = '';
  await eachPage(async (page) => {
    signal.throwIfAborted();
    const [texts, likeGroups]: [string[], string[]] = [[], []];
    for (const component of page) {
      const { id } = component;
      const { variables, groups } = read(component);
      if (typeof variables === 'string') {
        into.leftOut.add({ id, reason: variables, groups });
        continue;
      }
      if (id <= before) throw new Error(`component ${id} comes after ${before}`);
      before = id;
      texts.push(text.host(id, variables), END);
      if (LIKE_A_GROUP.test(id)) likeGroups.push(id, '\n');
      for (const group of groups) into.groups.add(group, id);
      if (limitNames.has(id)) into.named.add(id);
    }
    into.count += texts.length / 2;
    await into.hosts.write(texts.join(''));
    await into.likeGroups.write(likeGroups.join(''));
    await into.groups.settle();
  });
}

/** Hosts that have the name of a group, which both are in order. */
async function findClashes({ groups, likeGroups }: ReadFleet, signal: AbortSignal): Promise<Map<string, string[]>> {
  const clashes = new Map<string, string[]>();
  const pieces = groups.pieces();
  let name: string | null = '';
  for await (const hosts of recordsOf(likeGroups, '\n')) {
    signal.throwIfAborted();
    for (const host of hosts) {
      while (name !== null && name < host) name = (await pieces.next()).value?.name ?? null;
      if (name === host) clashes.set(host, []);
    }
  }
  return clashes;
}

/** Hosts that are left out go from their groups, with a note of each, and so does a group without any other. Yields the names of groups. */
async function* writeGroups(
  groups: GroupRuns,
  text: FleetText,
  clashes: ReadonlyMap<string, string[]>,
  { write, signal }: Writing,
): AsyncGenerator<string> {
  let current: string | null = null;
  for await (const { name, members } of groups.pieces()) {
    signal.throwIfAborted();
    const kept = clashes.size === 0 ? members : members.filter((member) => !clashes.has(member));
    if (kept.length < members.length) for (const member of members) clashes.get(member)?.push(name);
    if (kept.length === 0) continue;
    const isNew = name !== current;
    const before = isNew ? `${current === null ? '' : text.groupEnd}${text.group(name, current === null)}` : '';
    const full = write(`${before}${text.members(kept, isNew)}`);
    if (full !== undefined) await full;
    current = name;
    if (isNew) yield name;
  }
  await write(current === null ? text.noGroups : `${text.groupEnd}${text.groupsEnd}`);
}

async function writeHosts(
  spool: Spool,
  text: FleetText,
  clashes: ReadonlyMap<string, unknown>,
  { write, signal }: Writing,
): Promise<void> {
  await write(text.hosts);
  let isFirst = true;
  for await (const all of recordsOf(spool, END)) {
    signal.throwIfAborted();
    const hosts = clashes.size === 0 ? all : all.filter((host) => !clashes.has(nameInText(host)));
    if (hosts.length === 0) continue;
    await write(text.joined(hosts, isFirst));
    isFirst = false;
  }
  await write(text.hostsEnd);
}
