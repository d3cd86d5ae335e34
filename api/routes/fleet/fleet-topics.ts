import { createHash } from 'node:crypto';
import type { Attention } from '../../../domain/fleet/attention-schema.ts';
import type { Throughput } from '../../../domain/fleet/grid-schema.ts';
import type { Fleet } from '../../../domain/fleet/schema.ts';
import { readBatchesRevision, readRolloutsRevision } from '../../../store/batches/revisions.ts';
import { readComponentsRevision } from '../../../store/components/component-list.ts';
import { readStopRevision } from '../../../store/fleet/stop.ts';
import { readSchedulesRevision } from '../../../store/schedules/revisions.ts';
import { readSessionsRevision } from '../../../store/sessions/revisions.ts';
import { type OpenTopic, topicOfList } from '../../server/streaming/topic-watches.ts';
import type { ApiShared } from '../../shared/api-shared.ts';
import { sharedAnswer } from '../../shared/shared-answer.ts';

/** What time alone changes is looked at so often, ms. */
const ANYWAY_MS = 10_000;

/** So long two topics have the same read of what they are made of, ms. */
const PARTS_SHARED_MS = 1_000;

/** What is shared by all who ask. */
export interface SharedFleet {
  fleet(): Promise<Fleet>;
  attention(): Promise<Attention>;
  throughput(): Promise<Throughput>;
}

/** An answer with the time at which it was begun. */
interface Counted {
  as_of: string;
}

/**
 * Topics of the lane. The revision of each is its answer as all get it, so that the news never comes before the answer that has it. The whole is
 * read where something that it is made of has changed, which costs little to see.
 */
export function fleetTopics({ db, clock, streams }: Pick<ApiShared, 'db' | 'clock' | 'streams'>, shared: SharedFleet) {
  const parts = sharedAnswer(
    async () =>
      (
        await Promise.all(
          [readComponentsRevision, readBatchesRevision, readStopRevision, readSessionsRevision].map((read) => read(db)),
        )
      ).join(' '),
    PARTS_SHARED_MS,
  );
  const troubles = async () =>
    [await parts(), await readRolloutsRevision(db), await readSchedulesRevision(db)].join(' ');
  return {
    fleet: topicOfList(streams, revisionOf(shared.fleet, parts, clock)),
    attention: topicOfList(streams, revisionOf(shared.attention, troubles, clock)),
    throughput: topicOfList(
      streams,
      revisionOf(shared.throughput, () => readSessionsRevision(db), clock),
    ),
  } satisfies Record<string, OpenTopic>;
}

/**
 * Returns what reads the revision of an answer. An answer that began before its parts were seen to have changed may lack the change: it is read again
 * by the next look.
 * @param parts differs whenever the answer may, time aside
 */
function revisionOf(answer: () => Promise<Counted>, parts: () => Promise<string>, clock: () => Date) {
  let seen = { parts: '', since: '' };
  let read = { at: Number.NEGATIVE_INFINITY, asOf: '', revision: '' };
  return async () => {
    const now = await parts();
    if (now !== seen.parts) seen = { parts: now, since: clock().toISOString() };
    const at = performance.now();
    if (read.asOf > seen.since && at - read.at < ANYWAY_MS) return read.revision;
    const { as_of: asOf, ...shown } = await answer();
    read = { at, asOf, revision: createHash('sha256').update(JSON.stringify(shown)).digest('hex') };
    return read.revision;
  };
}
