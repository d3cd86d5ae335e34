import { KEY_MAX } from '../../../domain/schema.ts';
import { readComponentRevision, readComponentsRevision } from '../../../store/components/component-list.ts';
import type { OpenTopic } from '../../server/streaming/topic-watches.ts';
import type { ComponentApi } from './dependencies.ts';

/** Milliseconds between two looks: a fleet that changes all the time makes pages read once a second. */
const LIST_GAP_MS = 1_000;
const GAP_MS = 250;
/** One component that is looked at is one row: it is read so often besides, ms, so that its page has a change within a second. */
const LOOK_MS = 250;

/**
 * Topics of the lane: all components, and one by its id, percent-encoded, since an id may have a comma. A write of a component announces nothing, so that a bulk write stays cheap: the feed
 * looks every 2 s, and whenever a session moves.
 */
export function componentTopics({ db, streams }: Pick<ComponentApi, 'db' | 'streams'>): Record<string, OpenTopic> {
  return {
    components: (key) =>
      key === null
        ? { join: () => streams.joinAny(), read: () => readComponentsRevision(db), gapMs: LIST_GAP_MS }
        : null,
    component: (key) => {
      const id = idOf(key);
      return id === null
        ? null
        : { join: () => streams.joinAny(), read: () => readComponentRevision(db, id), gapMs: GAP_MS, lookMs: LOOK_MS };
    },
  };
}

function idOf(key: string | null): string | null {
  try {
    const id = decodeURIComponent(key ?? '');
    return id !== '' && id.length <= KEY_MAX ? id : null;
  } catch {
    return null;
  }
}
