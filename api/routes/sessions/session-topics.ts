import { isWrittenUuid } from '../../../domain/text/uuid.ts';
import { readSessionRevision, readSessionsRevision } from '../../../store/sessions/revisions.ts';
import type { OpenTopic } from '../../server/streaming/topic-watches.ts';
import type { SessionApi } from './dependencies.ts';

/** Milliseconds between two looks: a topic says at most four times a second that it has changed. */
const GAP_MS = 250;
/** The same for the list, which any output of any session may wake. */
const LIST_GAP_MS = 1_000;

/** Topics of the lane: all sessions, and one by its id. */
export function sessionTopics({ db, streams }: SessionApi): Record<string, OpenTopic> {
  return {
    sessions: (key) =>
      key === null ? { join: () => streams.joinAny(), read: () => readSessionsRevision(db), gapMs: LIST_GAP_MS } : null,
    session: (key) =>
      key !== null && isWrittenUuid(key)
        ? { join: () => streams.join(key), read: () => readSessionRevision(db, key), gapMs: GAP_MS }
        : null,
  };
}
