import { timeBefore } from '../../domain/age.ts';
import { parseTagFilter } from '../../domain/components/tags.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import type { SessionStatus, Succeeded } from '../../domain/sessions/schema.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  countSessions,
  listSessionPage,
  type SessionFilter,
  type SessionOrder,
} from '../../store/sessions/session-queries.ts';
import type { SessionRow } from '../../store/sessions/sessions.ts';
import { expandHostlist } from '../components/select-once.ts';
import { withSlotWaits } from './slot-waits.ts';

/** The filters of lists and of DELETE many as they come in; empty text is no filter (cfs-api 10). */
export interface SessionFilterQuery {
  status?: SessionStatus | '' | undefined;
  succeeded?: Succeeded | '' | undefined;
  name_contains?: string | undefined;
  tags?: string | undefined;
  /** Deprecated alias of `min_age`, which wins. */
  age?: string | undefined;
  min_age?: string | undefined;
  max_age?: string | undefined;
  /** Muster's own: name of the configuration, and a hostlist. */
  configuration?: string | undefined;
  host?: string | undefined;
}

/** The filter that a query means at `now`. Throws `bad_tags`. */
export function sessionFilter(query: SessionFilterQuery, now: Date): SessionFilter {
  return {
    status: query.status || null,
    succeeded: query.succeeded || null,
    nameContains: query.name_contains || null,
    tags: parseTagFilter(query.tags ?? ''),
    startedBefore: timeBefore(now, query.min_age || query.age),
    startedAfter: timeBefore(now, query.max_age),
  };
}

/** The same, with what Muster's own routes filter by. Throws `bad_hostlist` and `hostlist_too_large` too. */
export async function wholeSessionFilter(db: Db, query: SessionFilterQuery, now: Date): Promise<SessionFilter> {
  const { configuration, host } = query;
  return {
    ...sessionFilter(query, now),
    configuration: configuration || null,
    hosts: host ? await expandHostlist(db, host) : null,
  };
}

/** Sessions that are counted exactly. */
const COUNTED = 100_000;

/** How many sessions match; `more` where the count is a lower bound. Throws as `wholeSessionFilter`. */
export async function countMatchingSessions(
  { db, clock }: { db: Db; clock(): Date },
  query: SessionFilterQuery,
): Promise<{ total: number; more: boolean }> {
  const count = await countSessions(db, await wholeSessionFilter(db, query, clock()), COUNTED + 1);
  return { total: Math.min(count, COUNTED), more: count > COUNTED };
}

export interface SessionPage {
  /** The page in pieces, read as they are asked for, so that memory does not grow with the page. */
  batches: AsyncGenerator<SessionRow[], void>;
  /** Whether more match after the page; known when the batches are read. */
  more(): boolean;
  /** As applied. */
  limit: number;
  options: Options;
}

/** Rows read at once. */
const BATCH = 500;

/** The sessions that match, at most `limit`, without it `default_page_size` (cfs-api 3). Throws `bad_tags`. */
export async function listSessions(
  deps: { db: Db; clock(): Date },
  query: SessionFilterQuery,
  order: SessionOrder,
  limit: number | undefined,
): Promise<SessionPage> {
  const filter = await wholeSessionFilter(deps.db, query, deps.clock());
  const options = await readOptions(deps.db);
  const size = limit ?? options.default_page_size;
  let more = true;
  async function* batches(): AsyncGenerator<SessionRow[], void> {
    let place = order;
    for (let left = size; left > 0 && more; ) {
      const page = await listSessionPage(deps.db, filter, place, Math.min(left, BATCH));
      more = page.more;
      left -= page.rows.length;
      const last = page.rows.at(-1);
      if (last !== undefined) place = behind(place, last);
      yield await withSlotWaits(deps.db, page.rows, deps.clock());
    }
  }
  return { batches: batches(), more: () => more, limit: size, options };
}

function behind(order: SessionOrder, last: SessionRow): SessionOrder {
  return order.by === 'name' ? { by: 'name', after: last.name } : { by: 'newest', after: last.queue };
}
