/** Which events of a custom resource make it run. */
import { type Selector, selects } from './selector.ts';
import type { WatchEntry } from './watch-entry.ts';

/** What is known of a resource between two events. */
export interface SeenResource {
  uid: string;
  /** 0 for kinds without one. */
  generation: number;
  labels: Readonly<Record<string, string>>;
  /** A text that is the same only for the same annotations. */
  annotations: string;
}

export type ResourceEvent =
  | { type: 'seen'; now: SeenResource }
  | { type: 'updated'; before: SeenResource; now: SeenResource }
  /** Nothing changed; its time has come. */
  | { type: 'timer'; now: SeenResource }
  | { type: 'gone' };

type Entry = Pick<WatchEntry, 'watch_annotations_changes'> & { selector: Selector | null };

/** Whether an event makes the resource run. What does not match the selector runs for no event but its end. */
export function isQueued(event: ResourceEvent, entry: Entry): boolean {
  if (event.type === 'gone') return true;
  if (!selects(entry.selector, event.now.labels)) return false;
  return event.type !== 'updated' || isChanged(event.before, event.now, entry);
}

function isChanged(before: SeenResource, now: SeenResource, entry: Entry): boolean {
  // An object that was made again while nobody looked comes as an update.
  if (before.uid !== now.uid || before.generation !== now.generation) return true;
  if (now.generation === 0) return true;
  return entry.watch_annotations_changes && before.annotations !== now.annotations;
}
