import { type Cause, type CauseType, urgencyOf } from '../../domain/operator/cause.ts';
import { causeOfNote, type NotedObject } from '../../domain/operator/note-object.ts';
import { BY_REQUEST_ANNOTATION, newMistakes, sameAnnotations } from '../../domain/operator/own-annotations.ts';
import { BY_DELETION } from '../../domain/operator/reconcile.ts';
import { announceOperator, cancelOpen } from '../../store/operator/requests.ts';
import {
  holdResources,
  markGone,
  missingUids,
  type ObjectNote,
  renewPeriod,
  writeNotes,
} from '../../store/operator/resources.ts';
import type { HashedEntry, OperatorSite } from './operator-site.ts';
import { wantedDispatcher } from './wanted-workflows.ts';

export type NoteDependencies = Pick<OperatorSite, 'db' | 'clock' | 'operator' | 'tell' | 'notices'>;

/** What a list or a watch has told of the objects of one kind. */
export interface Notes {
  objects: readonly NotedObject[];
  /** Uids of objects that are no more. */
  gone: readonly string[];
  /** Whether these are all objects of the kind. */
  isComplete: boolean;
  /** Whether they are listed for the first time since the start. */
  isFirst: boolean;
}

const NO_MORE = 'the resource is no more';
const NOT_OURS = 'the resource is no more, or its labels do not match the selector';
/** Objects that are written in one transaction, at most. */
const BATCH = 500;

/**
 * Writes what is known of objects and makes those run that have a cause. It is told again without harm: what is on record already changes
 * nothing.
 */
export async function noteObjects(deps: NoteDependencies, { entry, hash }: HashedEntry, notes: Notes): Promise<void> {
  const { db, clock, operator, tell, notices } = deps;
  const { isFirst, isComplete, gone } = notes;
  const noting = { isFirst, entryHash: hash, resync: entry.muster.resync_on_start };
  let isDue = false;
  for (let at = 0; at < notes.objects.length; at += BATCH) {
    const objects = notes.objects.slice(at, at + BATCH);
    const now = clock();
    let isAnnotated = false;
    const mistakes: { object: NotedObject; sentence: string }[] = [];
    await db.transaction().execute(async (trx) => {
      const known = await holdResources(
        trx,
        operator,
        entry,
        objects.map(({ uid }) => uid),
        now,
      );
      const noted = objects.filter(({ uid, isBack }) => isBack !== true || known.has(uid));
      const written = noted.map((object): ObjectNote => {
        const before = known.get(object.uid) ?? null;
        for (const sentence of newMistakes(before?.own, object.own)) mistakes.push({ object, sentence });
        if (!sameAnnotations(before?.own, object.own)) isAnnotated = true;
        const type = causeOfNote(before, object, noting);
        if (type !== null) isDue = true;
        return { object, cause: type === null ? null : { cause: causeOf(type), urgency: urgencyOf(type) } };
      });
      await writeNotes(trx, operator, entry, written, now);
      const back = written.flatMap(({ object: { uid }, cause }) =>
        cause === null && known.get(uid)?.isGone ? [uid] : [],
      );
      await renewPeriod(trx, operator, entry, back, now);
      if (entry.muster.on_delete === 'cancel') {
        const deleted = written.flatMap(({ object, cause }) => (cause?.cause.type === 'deleted' ? [object.uid] : []));
        await cancelOpen(trx, operator, entry, deleted, BY_DELETION, now);
      }
      // A pause may begin or end by them: what people ask for is looked at as well.
      if (isAnnotated) await announceOperator(trx, operator);
    });
    const { group, version, kind } = entry;
    for (const { object, sentence } of mistakes) {
      const { namespace, name, uid } = object;
      notices.tell({ group, version, kind, namespace, name, uid }, 'BadAnnotation', sentence);
    }
  }
  const reason = entry.selector === null ? NO_MORE : NOT_OURS;
  await markGone(db, operator, entry, gone, reason, clock());
  if (isComplete) {
    const there = notes.objects.map(({ uid }) => uid);
    await markGone(db, operator, entry, await missingUids(db, operator, entry, there), reason, clock());
  }
  if (isDue) await tell([wantedDispatcher(operator)]);
}

function causeOf(type: CauseType): Cause {
  return type === 'manual' ? { type, by: BY_REQUEST_ANNOTATION } : { type };
}
