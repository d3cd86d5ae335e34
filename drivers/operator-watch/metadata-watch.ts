import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { gvkText } from '../../domain/operator/names.ts';
import { sameAnnotations } from '../../domain/operator/own-annotations.ts';
import type { WatchState } from '../../domain/operator/resource-words.ts';
import { selects } from '../../domain/operator/selector.ts';
import { isQueued } from '../../domain/operator/trigger.ts';
import type { WatchEntry } from '../../domain/operator/watch-entry.ts';
import type { WatchSigns } from '../../domain/operator/watch-signs.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { type ClusterClient, isForbidden } from '../kubernetes/cluster-client.ts';
import { GONE } from '../kubernetes/statuses.ts';
import { watchOnce } from '../kubernetes/watch-stream.ts';
import { collectionPath, type Discovery, type ResourceKind } from './discovery.ts';
import { type BookedObject, bookedOf, keyOf, type ToldObject } from './watch-book.ts';

/** A watch lasts so long (s); the cluster sends bookmarks in between. */
const WATCH_SECONDS = 240;
/** Bookmarks come each minute: a watch that says nothing for so long (ms) has lost its cluster. */
const SILENT_MS = 90_000;
const PAGE = '500';
/** A kind that is missing or forbidden is tried again after so long (ms). */
const MISSING_MS = 30_000;
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000] as const;
const AS_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
const AS_OBJECT = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

/** What a watch tells: what is to be noted of objects, and which are no more. */
export interface Told {
  objects: BookedObject[];
  gone: string[];
  /** Whether these are all objects that there are. */
  isComplete: boolean;
  /** Whether they are listed for the first time since the start. */
  isFirst: boolean;
}

export interface MetadataWatch {
  entry: WatchEntry;
  /** Namespaces that are watched; null: all. */
  namespaces: readonly string[] | null;
  client: ClusterClient;
  discovery: Discovery;
  /** Takes what was told, in order. It does not fail: what it cannot store it keeps and stores later. */
  take(told: Told): void;
  /** Hears how the watch stands. */
  tellState(state: WatchState, reason: string | null): void;
  /** Hears that the watch is at work. */
  signs: WatchSigns;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 16);

/** Watches the objects of one entry until `signal`; never fails. One namespace that is refused stops no other. */
export async function watchEntry(watch: MetadataWatch, signal: AbortSignal): Promise<void> {
  const { entry, discovery, namespaces, tellState, signs } = watch;
  const name = gvkText(entry);
  let tries = 0;
  let isFirst = true;
  while (!signal.aborted) {
    signs.note(name);
    let pause: number = PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? 0;
    try {
      const kind = await discovery.find(entry);
      if (kind === null) {
        tellState(
          'missing',
          `the cluster has no kind ${entry.kind} in ${entry.group === '' ? '' : `${entry.group}/`}${entry.version}`,
        );
        pause = MISSING_MS;
      } else {
        const followed = namespaces === null || !kind.namespaced ? [''] : namespaces;
        await followAll({ watch, kind, namespaces: followed, isFirst }, signal, () => {
          tries = 0;
          isFirst = false;
        });
        pause = 0;
      }
    } catch (error) {
      if (signal.aborted) break;
      discovery.forget(entry);
      const forbidden = isForbidden(error);
      tellState(forbidden ? 'forbidden' : 'failing', messageOf(error));
      if (forbidden) pause = MISSING_MS;
    }
    tries += 1;
    signs.note(name);
    await delay(pause, undefined, { signal }).catch(() => undefined);
  }
  signs.forget(name);
}

/** Lists and watches until a list or a watch of one of the namespaces fails. */
async function followAll(
  {
    watch,
    kind,
    namespaces,
    isFirst,
  }: { watch: MetadataWatch; kind: ResourceKind; namespaces: readonly string[]; isFirst: boolean },
  signal: AbortSignal,
  works: () => void,
): Promise<void> {
  const books = namespaces.map(() => new Map<string, BookedObject>());
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const paths = namespaces.map((namespace) => collectionPath(watch.entry, kind, namespace));
  // Only with the lists of all namespaces is it known which objects there are.
  const versions: string[] = [];
  const all: BookedObject[] = [];
  const name = gvkText(watch.entry);
  for (const [index, path] of paths.entries()) {
    const { objects, version } = await listAll(watch.client, path, either, () => watch.signs.note(name));
    versions.push(version);
    for (const object of objects.map((told) => bookedOf(told, watch.entry.watch_annotations_changes, digest))) {
      books[index]?.set(keyOf(object), object);
      if (selects(watch.entry.selector, object.labels)) all.push(object);
    }
  }
  watch.take({ objects: all, gone: [], isComplete: true, isFirst });
  watch.tellState('watching', null);
  works();
  // From here on each namespace is a watch of its own.
  watch.signs.forget(name);
  try {
    await Promise.all(
      paths.map((path, index) => follow(watch, path, books[index] ?? new Map(), versions[index] ?? '', either)),
    );
  } finally {
    stop.abort();
  }
}

async function follow(
  watch: MetadataWatch,
  path: string,
  book: Map<string, BookedObject>,
  version: string,
  signal: AbortSignal,
): Promise<void> {
  const { client, entry, take, signs } = watch;
  const sign = () => signs.note(path);
  let from = version;
  const seen = ({ type, object }: { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: ToldObject }) => {
    const told = note(book, entry, bookedOf(object, entry.watch_annotations_changes, digest), type === 'DELETED');
    if (told.objects.length + told.gone.length > 0) take({ ...told, isComplete: false, isFirst: false });
  };
  try {
    while (!signal.aborted) {
      sign();
      const next = await watchOnce<ToldObject>(
        client,
        { path, labelSelector: '', version: from, seconds: WATCH_SECONDS, silentMs: SILENT_MS, accept: AS_OBJECT },
        seen,
        (told) => {
          from = told;
          sign();
        },
        signal,
      );
      if (next === 'resume') continue;
      const { objects, version: listed } = await listAll(client, path, signal, sign);
      from = listed;
      const now = new Map(
        objects.map((told) => bookedOf(told, entry.watch_annotations_changes, digest)).map((o) => [keyOf(o), o]),
      );
      const told = { objects: [] as BookedObject[], gone: [] as string[] };
      const add = ({ objects: more, gone }: typeof told) => {
        told.objects.push(...more);
        told.gone.push(...gone);
      };
      for (const object of now.values()) add(note(book, entry, object, false));
      for (const [key, object] of [...book]) if (!now.has(key)) add(note(book, entry, object, true));
      if (told.objects.length + told.gone.length > 0) take({ ...told, isComplete: false, isFirst: false });
    }
  } finally {
    signs.forget(path);
  }
}

/** Writes an object into the book; returns what is to be noted of it. */
function note(
  book: Map<string, BookedObject>,
  entry: WatchEntry,
  now: BookedObject,
  isGone: boolean,
): Pick<Told, 'objects' | 'gone'> {
  const key = keyOf(now);
  const before = book.get(key);
  if (isGone) {
    // An older object of that name goes late.
    if (before?.uid === now.uid) book.delete(key);
    return { objects: [], gone: [now.uid] };
  }
  book.set(key, now);
  const event = before === undefined ? ({ type: 'seen', now } as const) : ({ type: 'updated', before, now } as const);
  const was = before !== undefined && selects(entry.selector, before.labels);
  const is = selects(entry.selector, now.labels);
  // They make nothing run by themselves, but are to be known.
  const isNoted =
    before !== undefined && is && ((now.deleting && !before.deleting) || !sameAnnotations(before.own, now.own));
  const isOther = before !== undefined && before.uid !== now.uid;
  const isBack = before !== undefined && is && !was;
  return {
    objects: isQueued(event, entry) || isNoted ? [now] : isBack ? [{ ...now, isBack }] : [],
    // What the selector no longer takes is no longer ours, and its period ends.
    gone: isOther ? [before.uid] : was && !is ? [now.uid] : [],
  };
}

interface ListOf {
  metadata: { resourceVersion: string; continue?: string };
  items: ToldObject[] | null;
}

/** Lists all objects in pages; a list whose pages are too old is begun anew. */
async function listAll(
  client: ClusterClient,
  path: string,
  signal: AbortSignal,
  sign: () => void,
): Promise<{ objects: ToldObject[]; version: string }> {
  for (;;) {
    const objects: ToldObject[] = [];
    let next: string | undefined;
    for (;;) {
      signal.throwIfAborted();
      sign();
      const query = { limit: PAGE, ...(next === undefined ? {} : { continue: next }) };
      const { status, body } = await client.ask<ListOf>({
        method: 'GET',
        path,
        query,
        accept: AS_LIST,
        expected: [GONE],
      });
      if (status === GONE) break;
      // An empty list has no items at all.
      objects.push(...(body.items ?? []));
      next = body.metadata.continue || undefined;
      if (next === undefined) return { objects, version: body.metadata.resourceVersion };
    }
  }
}
