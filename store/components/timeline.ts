/** What happened to one component, read from where each part of it is kept. */
import { type RawBuilder, sql } from 'kysely';
import type { TimelineEntry } from '../../domain/audit/schema.ts';
import { type BoundedPage, cutMembers, readBoundedPage } from '../connection/bounded-page.ts';
import type { Db } from '../connection/database.ts';

/** Entries of one component that a lane keeps, as a part of a query. */
export type TimelinePart = (component: string) => Part;

/** One entry; `details` is as the type says (see domain/audit/schema.ts). */
export interface TimelineRow {
  at: Date;
  type: TimelineEntry['type'];
  /** Tells entries of one type and time apart. */
  key: string;
  details: Record<string, unknown>;
}

export type TimelinePlace = Pick<TimelineRow, 'at' | 'type' | 'key'>;

/** After every entry of its time. */
const LAST = '~';

export interface TimelineWanted {
  /** Only entries behind it; left out: from the newest on. */
  after?: TimelinePlace | undefined;
  limit: number;
  /** Only entries of this type; left out: of all. */
  type?: TimelineRow['type'] | undefined;
}

/**
 * At most `limit` entries older than a place, newest first, as far as they fit in a page. Each part is read off an index in the order of time, and no further
 * than the page needs. `further`: what other lanes keep.
 */
export async function listTimelineRows(
  db: Db,
  component: string,
  { after, limit, type: wanted }: TimelineWanted,
  further: readonly TimelinePart[] = [],
): Promise<BoundedPage<TimelineRow>> {
  const place = after ?? { at: new Date(8.64e15 / 1_000), type: LAST, key: LAST };
  const own = [changes, layers, batches, openBatch, drift];
  const parts = [...own, ...further]
    .map((part) => part(component))
    .filter(({ type }) => wanted === undefined || type === wanted);
  if (parts.length === 0) return { rows: [], more: false };
  const pages = parts.map(({ from, at, type, key, order, details }) => {
    const identity = sql`${at}, ${sql.lit(type)} collate "C", (${key}) collate "C"`;
    return sql`(select ${at} as at, ${sql.lit(type)} collate "C" as type, (${key}) collate "C" as key, ${details} as details
      from ${from} and ${at} <= ${place.at}
        and (${identity}) < (${place.at}::timestamptz, ${place.type}::text collate "C", ${place.key}::text collate "C")
      order by ${at} desc, ${order} desc limit ${limit + 1})`;
  });
  const newest = sql`at desc, type desc, key desc`;
  return readBoundedPage<TimelineRow>(db, {
    query: sql`select * from (${sql.join(pages, sql` union all `)}) as entries order by ${newest} limit ${limit + 1}`,
    order: newest,
    size: sql`octet_length(details::text)`,
    limit,
  });
}

export interface Part {
  /** Tables with the condition that names the component. */
  from: RawBuilder<unknown>;
  at: RawBuilder<unknown>;
  type: TimelineRow['type'];
  key: RawBuilder<unknown>;
  /** What orders entries of one time as `key` does. */
  order: RawBuilder<unknown>;
  details: RawBuilder<unknown>;
}

function changes(component: string): Part {
  return {
    from: sql`audit a where a.kind = 'component' and a.name = ${component}`,
    at: sql`a.at`,
    type: 'change',
    key: sql`lpad(a.id::text, 18, '0')`,
    order: sql`a.id`,
    details: sql`jsonb_build_object('actor', a.actor, 'action', a.action, 'before', ${cutMembers(sql`a.before`)}, 'after', ${cutMembers(sql`a.after`)},
      'request_id', a.request_id, 'via', a.via, 'reason', a.reason)`,
  };
}

/** Results of sessions that are there; what of a layer the component took, and so counted, is `taken_as`. */
function layers(component: string): Part {
  return {
    from: sql`host_results r left join sessions s on s.id = r.session_id
      left join lateral (select layer from jsonb_array_elements(s.snapshot -> 'layers') as listed(layer)
        where (layer -> 'index')::int = r.layer limit 1) l on true
      where r.host = ${component}`,
    at: sql`r.stored_at`,
    type: 'layer',
    key: sql`r.run_id`,
    order: sql`r.run_id`,
    details: sql`jsonb_build_object('session', s.name, 'session_id', r.session_id, 'configuration', s.configuration_name,
      'layer', r.layer, 'attempt', r.attempt, 'clone_url', audit_masked(l.layer -> 'url'),
      'playbook', l.layer -> 'playbook', 'commit', l.layer -> 'commit', 'status', r.status,
      'is_check', coalesce((s.muster -> 'check')::boolean, false), 'taken_as', r.taken_as, 'message', coalesce(r.message, case
        when r.from_events then (select error from runs where runs.id = r.run_id) end), 'ok', r.ok, 'changed', r.changed,
      'failures', r.failures, 'unreachable', r.unreachable, 'skipped', r.skipped, 'rescued', r.rescued, 'ignored', r.ignored)`,
  };
}

const BATCH = sql`jsonb_build_object('batch', b.id, 'state', b.state, 'configuration', b.configuration, 'session', b.session_name,
  'session_id', b.session_id, 'tries', b.tries, 'result', b.result, 'reason', b.reason)`;

/** Ended batches: who was in one is told by the limit of its session. */
function batches(component: string): Part {
  return {
    from: sql`sessions s join batches b on b.session_id = s.id
      where s.actor = 'batcher' and string_to_array(s.ansible_limit, ',') @> array[${component}::text] and b.state = 'ended'`,
    at: sql`date_trunc('milliseconds', b.ended_at)`,
    type: 'batch',
    key: sql`b.id::text`,
    order: sql`b.id`,
    details: BATCH,
  };
}

/** The batch that it is in now. */
function openBatch(component: string): Part {
  return {
    from: sql`batch_members m join batches b on b.id = m.batch_id where m.component_id = ${component}`,
    at: sql`date_trunc('milliseconds', m.joined_at)`,
    type: 'batch',
    key: sql`b.id::text`,
    order: sql`b.id`,
    details: BATCH,
  };
}

/** What the last check of each layer found. */
function drift(component: string): Part {
  return {
    from: sql`drift d where d.component_id = ${component}`,
    at: sql`date_trunc('milliseconds', d.checked_at)`,
    type: 'drift',
    key: sql`d.layer_id::text`,
    order: sql`d.layer_id`,
    details: sql`jsonb_build_object('session', d.session_name, 'session_id', d.session_id, 'configuration', d.configuration,
      'layer', d.layer, 'clone_url', audit_masked(to_jsonb(d.clone_url)), 'playbook', d.playbook, 'commit', d.commit,
      'status', d.status, 'changed', d.changed)`,
  };
}
