/** Watches of the kinds that runs have made objects of: each once for an entry and a mark, and again after a restart. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { noteDependent } from '../../control/operator/note-dependent.ts';
import type { OperatorSite } from '../../control/operator/operator-site.ts';
import { gvkText } from '../../domain/operator/names.ts';
import { watchesDependent } from '../../domain/operator/owner-mark.ts';
import type { DependentKind } from '../../domain/operator/proxy-ports.ts';
import type { WatchEntry } from '../../domain/operator/watch-entry.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import type { ClusterClient } from '../../drivers/kubernetes/cluster-client.ts';
import { writePrivate } from '../../drivers/local-runner/run-files.ts';
import { watchDependents } from '../../drivers/operator-watch/dependent-watch.ts';
import type { Discovery } from '../../drivers/operator-watch/discovery.ts';

const FILE = 'dependents.json';
const AGAIN_MS = 3_000;

/** A kind of dependents, and the entry whose resources it belongs to. */
interface Pair {
  entry: string;
  kind: DependentKind;
}

export interface DependentsFollowed {
  /** Has a kind watched from now on, in this process and in the next one of this machine. */
  add(entry: Pick<WatchEntry, 'group' | 'version' | 'kind'>, kind: DependentKind): Promise<void>;
  /** Watches all kinds until `signal`, as long as this process is the one that watches. */
  watch(site: OperatorSite, parts: { client: ClusterClient; discovery: Discovery }, signal: AbortSignal): Promise<void>;
}

/** Reads which kinds an earlier process has watched. `namespaces`: those that are watched; null for all. */
export async function openDependents(data: string, namespaces: readonly string[] | null): Promise<DependentsFollowed> {
  const path = join(data, FILE);
  const pairs = new Map((await readPairs(path)).map((pair) => [keyOf(pair), pair]));
  let isStored = true;
  let begin: (pair: Pair) => void = () => undefined;
  let writing: Promise<void> = Promise.resolve();
  return {
    async add(entry, kind) {
      const pair = { entry: gvkText(entry), kind };
      if (!pairs.has(keyOf(pair))) {
        pairs.set(keyOf(pair), pair);
        isStored = false;
        begin(pair);
      }
      if (isStored) return;
      writing = writing
        .catch(() => undefined)
        .then(async () => {
          await writePrivate(path, JSON.stringify([...pairs.values()]));
          isStored = true;
        });
      await writing;
    },
    async watch(site, { client, discovery }, signal) {
      const open: Promise<void>[] = [];
      begin = ({ entry: owner, kind }) => {
        const entry = site.entries.find((hashed) => gvkText(hashed.entry) === owner)?.entry;
        // The file of watches may say otherwise by now.
        if (entry === undefined || !watchesDependent(entry, kind, kind.mark)) return;
        open.push(follow({ site, client, discovery, namespaces, entry, kind }, signal));
      };
      for (const pair of pairs.values()) begin(pair);
      if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      begin = () => undefined;
      await Promise.all(open);
    },
  };
}

/** Kinds that cannot be read come back with the next object that a run makes. */
async function readPairs(path: string): Promise<Pair[]> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Pair[];
  } catch {
    return [];
  }
}

const keyOf = ({ entry, kind }: Pair): string => `${entry} ${gvkText(kind)} ${kind.mark}`;

interface Follow {
  site: OperatorSite;
  client: ClusterClient;
  discovery: Discovery;
  namespaces: readonly string[] | null;
  entry: WatchEntry;
  kind: DependentKind;
}

async function follow(
  { site, client, discovery, namespaces, entry, kind }: Follow,
  signal: AbortSignal,
): Promise<void> {
  const names = { kind: entry.kind, dependent: kind.kind, mark: kind.mark };
  const owner = await again(site, names, signal, async () => {
    const found = await discovery.find(entry);
    if (found === null) throw new Error(`the cluster has no kind ${gvkText(entry)}`);
    return found;
  });
  if (owner === undefined) return;
  let storing: Promise<void> = Promise.resolve();
  let state: string | null = '';
  const watched = { group: entry.group, kind: entry.kind, namespaced: owner.namespaced };
  await watchDependents(
    {
      ...{ kind, owners: watched, namespaces, client },
      // In order, and none is lost while the database is away.
      take: ({ object, owners }) => {
        storing = storing.then(async () => {
          await again(site, names, signal, () => noteDependent(site, entry, object, owners));
        });
      },
      tellState: (reason) => {
        if (reason === state) return;
        state = reason;
        if (reason === null) site.log.info(names, 'dependents are watched');
        else site.log.warn({ ...names, reason }, 'dependents cannot be watched now; it is tried again');
      },
    },
    signal,
  );
  await storing;
}

/** Tries until it is done; undefined where `signal` ends it. */
async function again<T>(
  { log }: Pick<OperatorSite, 'log'>,
  names: object,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      log.warn({ ...names, err: messageOf(error) }, 'dependents cannot be followed now; it is tried again');
      await delay(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}
