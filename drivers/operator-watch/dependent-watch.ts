import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  canonicalText,
  comparableDependent,
  lastManager,
  ownersOf,
  type ResourceName,
  type WatchedKind,
} from '../../domain/operator/dependent-change.ts';
import type { DependentKind } from '../../domain/operator/proxy-ports.ts';
import type { WatchSigns } from '../../domain/operator/watch-signs.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import { GONE } from '../kubernetes/statuses.ts';
import { watchOnce } from '../kubernetes/watch-stream.ts';
import { collectionPath } from './discovery.ts';

const WATCH_SECONDS = 240;
/** Bookmarks come each minute: a watch that says nothing for so long (ms) has lost its cluster. */
const SILENT_MS = 90_000;
const PAGE = '500';
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000] as const;

type Json = Readonly<Record<string, unknown>>;
interface DependentObject extends Json {
  metadata: { uid: string; name: string; namespace?: string; resourceVersion: string };
}

/** A dependent that changed or went, and the resources that are to run for it. */
export interface DependentTold {
  /** `<Kind> <namespace>/<name>`. */
  object: string;
  /** Who has changed it, as its managed fields say; absent where it went. */
  manager?: string;
  owners: ResourceName[];
}

export interface DependentWatch {
  kind: DependentKind;
  /** Kind of the owners. */
  owners: WatchedKind;
  /** Namespaces that are watched; null: all. */
  namespaces: readonly string[] | null;
  client: ClusterClient;
  /** What an earlier watch of these dependents knew, by namespace: what changed since is told. Kept up to date. Default: nothing. */
  books?: DependentBooks;
  take(told: DependentTold): void;
  /** Hears why the kind cannot be watched for now; null: it is watched. */
  tellState(reason: string | null): void;
  /** Hears that the watch is at work. */
  signs: WatchSigns;
}

/** What is held of a dependent. */
interface Held {
  name: string;
  digest: string;
  owners: ResourceName[];
}
type Book = Map<string, Held>;
export type DependentBooks = Map<string, Book>;

/** Watches the dependents of one kind by one of the two marks, until `signal`; never fails. */
export async function watchDependents(watch: DependentWatch, signal: AbortSignal): Promise<void> {
  const { kind, namespaces } = watch;
  const followed = namespaces === null || !kind.namespaced ? [''] : namespaces;
  await Promise.all(followed.map((namespace) => followNamespace(watch, namespace, signal)));
}

async function followNamespace(watch: DependentWatch, namespace: string, signal: AbortSignal): Promise<void> {
  const { client, kind, owners: of, books, take, tellState, signs } = watch;
  const path = collectionPath(kind, { plural: kind.resource, namespaced: kind.namespaced }, namespace);
  let book: Book | null = books?.get(namespace) ?? null;
  const name = `${path} by ${kind.mark} of ${of.kind}.${of.group}`;
  const sign = () => signs.note(name);
  let tries = 0;
  while (!signal.aborted) {
    try {
      const listed = await listAll(client, path, signal, sign);
      // What was there when the watch began has not changed.
      book = compared(watch, book, listed.objects);
      books?.set(namespace, book);
      let from = listed.version;
      tellState(null);
      tries = 0;
      const current = book;
      const seen = ({ type, object }: { type: string; object: DependentObject }) => {
        const owners = type === 'DELETED' ? gone(watch, current, object) : noted(watch, current, object);
        if (owners.length > 0) take({ object: nameOf(kind, object), ...managerOf(type, object), owners });
      };
      for (;;) {
        sign();
        const request = { path, labelSelector: '', version: from, seconds: WATCH_SECONDS, silentMs: SILENT_MS };
        const keep = (version: string) => {
          from = version;
          sign();
        };
        if ((await watchOnce<DependentObject>(client, request, seen, keep, signal)) === 'relist') break;
      }
    } catch (error) {
      if (signal.aborted) break;
      tellState(messageOf(error));
      sign();
      await delay(PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)], undefined, { signal }).catch(() => undefined);
      tries += 1;
    }
  }
  signs.forget(name);
}

/** Returns the book of a list; what changed since the one before is told. */
function compared(watch: DependentWatch, before: Book | null, objects: readonly DependentObject[]): Book {
  const book: Book = new Map();
  const found = new Map(objects.map((object) => [object.metadata.uid, object]));
  for (const [uid, object] of found) {
    const held = heldOf(watch, object);
    if (held.owners.length > 0) book.set(uid, held);
  }
  for (const [uid, held] of before ?? []) {
    const now = book.get(uid);
    if (now?.digest === held.digest) continue;
    const owners = unique([...held.owners, ...(now?.owners ?? [])]);
    const object = found.get(uid);
    watch.take({ object: held.name, ...(object === undefined ? {} : managerOf('MODIFIED', object)), owners });
  }
  return book;
}

/** Writes an object into the book; returns who is to run for it. An object that is seen for the first time makes nobody run. */
function noted(watch: DependentWatch, book: Book, object: DependentObject): ResourceName[] {
  const { uid } = object.metadata;
  const before = book.get(uid);
  const now = heldOf(watch, object);
  if (now.owners.length === 0) book.delete(uid);
  else book.set(uid, now);
  if (before === undefined || before.digest === now.digest) return [];
  return unique([...before.owners, ...now.owners]);
}

function gone(watch: DependentWatch, book: Book, object: DependentObject): ResourceName[] {
  const before = book.get(object.metadata.uid);
  book.delete(object.metadata.uid);
  return unique([...(before?.owners ?? []), ...heldOf(watch, object).owners]);
}

function heldOf({ kind, owners }: DependentWatch, object: DependentObject): Held {
  const { ownerReferences, annotations, ...metadata } = object.metadata as Record<string, unknown>;
  // Each mark is a watch of its own, which knows nothing of the other.
  const marks = kind.mark === 'owner_reference' ? { ownerReferences } : { annotations };
  const found = ownersOf({ ...object, metadata: { ...metadata, ...marks } }, owners);
  const name = nameOf(kind, object);
  if (found.length === 0) return { name, digest: '', owners: [] };
  // What a list leaves out, and a watch says of each object.
  const { apiVersion: _version, kind: _kind, ...rest } = object;
  const text = canonicalText(comparableDependent(rest));
  return { name, digest: createHash('sha256').update(text).digest('base64url'), owners: found };
}

/** Who has deleted an object is not told. */
function managerOf(type: string, object: DependentObject): Pick<DependentTold, 'manager'> {
  const manager = type === 'DELETED' ? undefined : lastManager(object);
  return manager === undefined ? {} : { manager };
}

function nameOf({ kind }: DependentKind, { metadata: { namespace, name } }: DependentObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

function unique(names: readonly ResourceName[]): ResourceName[] {
  return [...new Map(names.map((name) => [`${name.namespace}/${name.name}`, name])).values()];
}

interface ListOf {
  metadata: { resourceVersion: string; continue?: string };
  items?: DependentObject[] | null;
}

/** Lists all objects in pages; a list whose pages are too old is begun anew. */
async function listAll(
  client: ClusterClient,
  path: string,
  signal: AbortSignal,
  sign: () => void,
): Promise<{ objects: DependentObject[]; version: string }> {
  let objects: DependentObject[] = [];
  let next: string | undefined;
  for (;;) {
    signal.throwIfAborted();
    sign();
    const query = { limit: PAGE, ...(next === undefined ? {} : { continue: next }) };
    const { status, body } = await client.ask<ListOf>({ method: 'GET', path, query, expected: [GONE] });
    if (status === GONE) {
      objects = [];
      next = undefined;
      continue;
    }
    objects.push(...(body.items ?? []));
    next = body.metadata.continue || undefined;
    if (next === undefined) return { objects, version: body.metadata.resourceVersion };
  }
}
