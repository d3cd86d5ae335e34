import { runIdOfReconcile } from '../../../domain/operator/reconcile.ts';
import {
  readOperatorsRevision,
  readReconcileRevision,
  readResourceRevision,
} from '../../../store/operator/revisions.ts';
import { type OpenTopic, topicOfList, topicOfRecord } from '../../server/streaming/topic-watches.ts';
import type { ApiShared } from '../../shared/api-shared.ts';

/** Topics of the lane: operators with their resources, one resource by its id, and one reconcile with its output. */
export function operatorTopics({ db, clock, streams }: Pick<ApiShared, 'db' | 'clock' | 'streams'>) {
  const all = topicOfList(streams, () => readOperatorsRevision(db, clock()));
  const one = topicOfRecord(streams, (id) => readResourceRevision(db, id, clock()));
  const reconcile = topicOfRecord(
    streams,
    (id) => readReconcileRevision(db, id, runIdOfReconcile(id)),
    runIdOfReconcile,
  );
  return { operator: (key) => all(key) ?? one(key), reconcile } satisfies Record<string, OpenTopic>;
}
