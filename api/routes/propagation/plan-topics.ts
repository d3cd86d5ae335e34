import { streamOfAttempt } from '../../../control/propagation/show-plan.ts';
import { readAttemptRevision, readPlanRevision, readPlansRevision } from '../../../store/propagation/revisions.ts';
import { type OpenTopic, topicOfList, topicOfRecord } from '../../server/streaming/topic-watches.ts';
import type { ApiShared } from '../../shared/api-shared.ts';

/** Topics of the lane: plans with what is staged, one plan by its id, and one attempt with its output. */
export function planTopics({ db, streams }: Pick<ApiShared, 'db' | 'streams'>) {
  return {
    plans: topicOfList(streams, () => readPlansRevision(db)),
    plan: topicOfRecord(streams, (id) => readPlanRevision(db, id)),
    attempt: topicOfRecord(streams, (id) => readAttemptRevision(db, id, streamOfAttempt(id)), streamOfAttempt),
  } satisfies Record<string, OpenTopic>;
}
