/** Watches of the kinds that runs have made objects of: each once for an entry and a mark, and again after a restart. */
import { setTimeout as delay } from 'node:timers/promises';
import { noteDependent } from '../../control/operator/note-dependent.ts';
import type { OperatorSite } from '../../control/operator/operator-site.ts';
import { type Gvk, gvkText } from '../../domain/operator/names.ts';
import { watchesDependent } from '../../domain/operator/owner-mark.ts';
import type { DependentKind } from '../../domain/operator/proxy-ports.ts';
import type { WatchEntry } from '../../domain/operator/watch-entry.ts';
import type { WatchSigns } from '../../domain/operator/watch-signs.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import type { ClusterClient } from '../../drivers/kubernetes/cluster-client.ts';
import { type DependentBooks, watchDependents } from '../../drivers/operator-watch/dependent-watch.ts';
import type { Discovery } from '../../drivers/operator-watch/discovery.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  type DependentPair,
  listDependentKinds,
  noteDependentState,
  writeDependentKind,
} from '../../store/operator/dependent-kinds.ts';

const AGAIN_MS = 3_000;
/** Kinds that runs of other machines have made are found so often (ms). */
const LOOK_MS = 15_000;
/** A stop waits so long (ms) for what is not stored yet. */
const STOP_MS = 2_000;

export interface DependentsFollowed {
  /** Has a kind watched from now on, by whichever process of the operator watches. Throws where that cannot be stored. */
  add(entry: Gvk, kind: DependentKind): Promise<void>;
  /** Watches all kinds until `signal`, as long as this process is the one that watches. */
  watch(
    site: OperatorSite,
    parts: { client: ClusterClient; discovery: Discovery; signs: WatchSigns },
    signal: AbortSignal,
  ): Promise<void>;
  /** Stores what is left, as far as the database takes it. */
  stop(): Promise<void>;
}

/** What is known of the dependents of one pair beyond a watch that ends because this process may watch no more, and perhaps soon again. */
interface Kept {
  books: DependentBooks;
  /** What was told is stored in order. */
  storing: Promise<void>;
}

/** Opens the kinds of dependents of an operator. `namespaces`: those that are watched; null for all. */
export function openDependents(
  { db, operator, clock }: { db: Db; operator: string; clock(): Date },
  namespaces: readonly string[] | null,
): DependentsFollowed {
  const stored = new Set<string>();
  const kept = new Map<string, Kept>();
  const stopped = new AbortController();
  const keptOf = (pair: DependentPair): Kept => {
    const there = kept.get(keyOf(pair)) ?? { books: new Map(), storing: Promise.resolve() };
    kept.set(keyOf(pair), there);
    return there;
  };
  let begin: (pair: DependentPair) => void = () => undefined;
  return {
    async add({ group, version, kind: word }, kind) {
      const pair = { entry: { group, version, kind: word }, kind };
      begin(pair);
      if (stored.has(keyOf(pair))) return;
      await writeDependentKind(db, operator, pair, clock());
      stored.add(keyOf(pair));
    },
    async watch(site, { client, discovery, signs }, signal) {
      const open = new Map<string, Promise<void>>();
      begin = (pair) => {
        const { entry: owner, kind } = pair;
        const entry = site.entries.find((hashed) => gvkText(hashed.entry) === gvkText(owner))?.entry;
        // The file of watches may say otherwise by now.
        if (open.has(keyOf(pair)) || entry === undefined || !watchesDependent(entry, kind, kind.mark)) return;
        const known = { kept: keptOf(pair), stopped: stopped.signal };
        open.set(keyOf(pair), follow({ site, client, discovery, signs, namespaces, entry, pair, ...known }, signal));
      };
      while (!signal.aborted) {
        const pairs = await again(site, {}, signal, () => listDependentKinds(db, operator));
        for (const pair of pairs ?? []) begin(pair);
        await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
      }
      begin = () => undefined;
      await Promise.all(open.values());
    },
    async stop() {
      const all = Promise.all([...kept.values()].map(({ storing }) => storing));
      await Promise.race([all, delay(STOP_MS, undefined, { ref: false })]);
      stopped.abort();
    },
  };
}

const keyOf = ({ entry, kind }: DependentPair): string => `${gvkText(entry)} ${gvkText(kind)} ${kind.mark}`;

interface Follow {
  site: OperatorSite;
  client: ClusterClient;
  discovery: Discovery;
  signs: WatchSigns;
  namespaces: readonly string[] | null;
  entry: WatchEntry;
  pair: DependentPair;
  kept: Kept;
  /** Aborts when nothing is stored any more. */
  stopped: AbortSignal;
}

async function follow(
  { site, client, discovery, signs, namespaces, entry, pair, kept, stopped }: Follow,
  signal: AbortSignal,
): Promise<void> {
  const { kind } = pair;
  const names = { kind: entry.kind, dependent: kind.kind, mark: kind.mark };
  const owner = await again(site, names, signal, async () => {
    const found = await discovery.find(entry);
    if (found === null) throw new Error(`the cluster has no kind ${gvkText(entry)}`);
    return found;
  });
  if (owner === undefined) return;
  let state: string | null = '';
  const watched = { group: entry.group, kind: entry.kind, namespaced: owner.namespaced };
  await watchDependents(
    {
      ...{ kind, owners: watched, namespaces, client, signs, books: kept.books },
      // In order, and none is lost while the database is away, however long that is.
      take: ({ owners, ...change }) => {
        kept.storing = kept.storing.then(async () => {
          await again(site, names, stopped, () => noteDependent(site, entry, change, owners));
        });
      },
      tellState: (reason) => {
        if (reason === state) return;
        state = reason;
        void noteDependentState(site.db, site.operator, pair, reason).catch(() => undefined);
        if (reason === null) site.log.info(names, 'dependents are watched');
        else site.log.warn({ ...names, reason }, 'dependents cannot be watched now; it is tried again');
      },
    },
    signal,
  );
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
