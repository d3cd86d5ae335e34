/**
 * Watches one kind on one member cluster until it is told to end: lists it, writes what is there, then writes each change. It begins again where it
 * was when the stream ends, and lists again when that is not known any more. Rows may be behind the cluster, and never ahead of it.
 */
import { setTimeout as rest } from 'node:timers/promises';
import { collectionPath } from '../../domain/deployments/object-path.ts';
import type { MemberCluster, WatchMessage } from '../../domain/deployments/ports.ts';
import { isMetadataOnly, placeOfSeen, seenObject, type WatchedKind } from '../../domain/deployments/snapshot.ts';
import { unsupportedPause, verdictOf, type WatchVerdict, watchPause } from '../../domain/deployments/watch-verdict.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  beginList,
  type Change,
  endList,
  noteFailing,
  noteUnsupported,
  noteWatched,
  WatchLost,
  writeChanges,
} from '../../store/deployments/snapshots.ts';
import type { WatchLease } from '../../store/deployments/watches.ts';
import { createSeenBatch, type SeenBatch } from './seen-batch.ts';

export interface WatchDependencies {
  db: Db;
  log: { warn(fields: object, message: string): void };
  clock(): Date;
  /** A number from 0 to 1, so that watches do not all come back at once. */
  random(): number;
}

export interface KindWork {
  lease: WatchLease;
  kind: WatchedKind;
  /** Opens the cluster anew: what it serves may have changed. */
  member(): MemberCluster;
  /** Hears when it is known what there is of the kind, or that it is not served: the time at which that was asked. */
  looked(askedAt: Date): void;
}

interface Progress {
  /** Version up to which everything is written; null: all is to be listed. */
  version: string | null;
  list: { number: number; beganAt: Date } | null;
  /** Ends in a row that were no success. */
  failures: number;
}

/** Watches a kind until the signal. Throws `WatchLost` when another worker has the watch. */
export async function watchKind(deps: WatchDependencies, work: KindWork, signal: AbortSignal): Promise<void> {
  const progress: Progress = { version: null, list: null, failures: 0 };
  while (!signal.aborted) {
    let pause: number;
    try {
      const verdict = await followOnce(deps, work, progress, signal);
      if (signal.aborted) return;
      pause = await noteEnd(deps, work, progress, verdict);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof WatchLost) throw error;
      // The database is away: what was not written is told again by the next list.
      deps.log.warn({ ...work.lease, kind: work.kind.kind, err: messageOf(error) }, 'the watch of a kind begins again');
      progress.version = null;
      progress.failures += 1;
      pause = watchPause(progress.failures, deps.random());
    }
    await rest(pause, undefined, { signal }).catch(() => undefined);
  }
}

/** Follows one stream. Returns why it could not go on; null: it was its time. */
async function followOnce(
  deps: WatchDependencies,
  { lease, kind, member: open, looked }: KindWork,
  progress: Progress,
  signal: AbortSignal,
): Promise<WatchVerdict | null> {
  const { db, clock } = deps;
  const member = open();
  const served = await member.findKind(kind, { signal, isAnew: progress.failures > 0 });
  const { answer } = served;
  const isAnswered = !('noAnswer' in answer) && answer.httpStatus === 200;
  if (served.found === null) return isAnswered ? NOT_SERVED : verdictOf(answer);
  if (progress.version === null || progress.list === null) {
    const beganAt = clock();
    progress.list = { number: await beginList(db, lease, kind), beganAt };
    progress.version = null;
  }
  const { list } = progress;
  const batch = createSeenBatch<Change>((changes) =>
    writeChanges(db, lease, { kind, number: list.number, now: clock() }, changes),
  );
  const take = async (message: WatchMessage) => {
    if (message.is === 'there' || message.is === 'gone') return await takeObject(batch, kind, message);
    if (message.is === 'open') {
      // A list is well when it has ended.
      if (progress.version === null) return;
      await noteWatched(db, lease, kind);
    } else {
      await batch.flush();
      await endList(db, lease, kind, list);
      looked(list.beganAt);
    }
    progress.failures = 0;
  };
  try {
    const path = collectionPath(kind, served.found);
    const watch = { path, isMetadataOnly: isMetadataOnly(kind), after: progress.version };
    // What could not be written is listed anew at once: the stream may have nothing more to tell for long.
    const end = await member.watchKind(watch, take, AbortSignal.any([signal, batch.broken]));
    await batch.flush();
    progress.version = end.version;
    return end.failed === null ? null : verdictOf(end.failed);
  } finally {
    batch.close();
  }
}

const NOT_SERVED: WatchVerdict = {
  ...{ is: 'unsupported', reason: 'NotFound', message: 'the cluster does not serve this kind', retryAfter: null },
};

/** An object whose label names nothing of ours any more counts as gone. */
async function takeObject(
  batch: SeenBatch<Change>,
  kind: WatchedKind,
  { is, object }: Extract<WatchMessage, { object: unknown }>,
): Promise<void> {
  const place = placeOfSeen(object);
  if (place === null) return;
  const seen = is === 'there' ? seenObject(kind, object) : null;
  await batch.add(`${place.namespace}/${place.name}`, seen === null ? { gone: place } : { there: seen });
}

/** Puts the end of a stream on record. Returns how long to rest, ms. Throws `WatchLost`. */
async function noteEnd(
  { db, clock, random }: WatchDependencies,
  { lease, kind, looked }: KindWork,
  progress: Progress,
  verdict: WatchVerdict | null,
): Promise<number> {
  if (verdict === null) return watchPause(0, random());
  const { is, reason, message, retryAfter } = verdict;
  if (is === 'unsupported') {
    await noteUnsupported(db, lease, kind, { reason, message });
    looked(clock());
    progress.version = null;
    progress.failures += 1;
    return unsupportedPause(progress.failures);
  }
  await noteFailing(db, lease, kind, { reason, message, now: clock() });
  progress.failures += 1;
  return watchPause(progress.failures, random(), retryAfter);
}
