import type { TimelineEntry, TimelineQuery } from '../../domain/audit/schema.ts';
import { musterError } from '../../domain/errors.ts';
import { findComponent } from '../../store/components/components.ts';
import {
  listTimelineRows,
  type TimelinePart,
  type TimelinePlace,
  type TimelineRow,
} from '../../store/components/timeline.ts';
import type { Db } from '../../store/connection/database.ts';

/**
 * A page of what happened to a component, newest first, and the place after which the next begins. A deleted component has
 * its timeline for as long as something is known of it. `further`: entries that other lanes keep. Throws `component_not_found` when nothing ever was.
 */
export async function readTimeline(
  db: Db,
  component: string,
  { limit, after_id, type }: TimelineQuery,
  further: readonly TimelinePart[] = [],
): Promise<{ entries: TimelineEntry[]; after: string | null }> {
  const place = after_id === '' ? undefined : placeOf(after_id);
  const { rows, more } = await listTimelineRows(db, component, { after: place, limit, type }, further);
  if (rows.length === 0 && !(await isKnown(db, component, further))) {
    throw musterError('component_not_found', `Component ${component} could not be found`);
  }
  const entries = rows.map(entryOf);
  return { entries, after: more ? (entries.at(-1)?.id ?? null) : null };
}

/** Whether it is there, or anything is known of it from before: entries of another type than was asked for count too. */
async function isKnown(db: Db, component: string, further: readonly TimelinePart[]): Promise<boolean> {
  if ((await findComponent(db, component)) !== undefined) return true;
  return (await listTimelineRows(db, component, { limit: 1 }, further)).rows.length > 0;
}

function entryOf({ at, type, key, details }: TimelineRow): TimelineEntry {
  return { id: `${at.getTime()}-${type}-${key}`, time: at.toISOString(), type, ...details } as TimelineEntry;
}

function placeOf(id: string): TimelinePlace {
  const [milliseconds = '', type = '', ...key] = id.split('-');
  return { at: new Date(Number(milliseconds)), type: type as TimelineRow['type'], key: key.join('-') };
}
