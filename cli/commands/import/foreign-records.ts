import { EXIT } from '../../failure.ts';
import { type ForeignCfs, ForeignFailure } from './foreign-cfs.ts';

export type RecordKind = 'sources' | 'configurations' | 'components';

/** A part of a list: records, and records that the other CFS cannot show, by name. */
export interface ForeignPage {
  records: unknown[];
  unreadable: { name: string; detail: string }[];
}

/** Records asked for at once. */
const PAGE = 500;
/** More of one kind are no fleet, but a server that never ends. */
const RECORDS_MAX = 5_000_000;

const KEYS = { sources: 'name', configurations: 'name', components: 'id' } as const;

/**
 * All records of a kind, page by page. A page that the other CFS answers with 500 is asked for in smaller parts, since one
 * broken component is enough to break its whole list (cfs-api 15.5): what is left is named and passed over where it can be.
 * Pages that go round in circles or never end are a `ForeignFailure`.
 */
export async function* foreignRecords(cfs: ForeignCfs, kind: RecordKind): AsyncGenerator<ForeignPage> {
  const details: Record<string, boolean> = kind === 'components' ? { state_details: true } : {};
  const seen = new Set<string>();
  let after = '';
  let limit = PAGE;
  for (;;) {
    const query = { ...(after === '' ? {} : { after_id: after }), limit };
    let page: Page;
    try {
      page = await readPage(cfs, kind, { ...details, ...query });
    } catch (error) {
      if (!(error instanceof ForeignFailure) || error.status !== 500) throw error;
      if (limit > 1) {
        limit = Math.max(1, Math.floor(limit / 8));
        continue;
      }
      const name = await nameOfBroken(cfs, kind, query, error);
      yield { records: [], unreadable: [{ name, detail: `the other CFS cannot show it: ${error.message}` }] };
      after = name;
      continue;
    }
    const fresh = page.records.filter((record) => isNew(seen, record, KEYS[kind]));
    yield { records: fresh, unreadable: [] };
    if (page.after === null) return;
    if (fresh.length === 0) throw endless(cfs, kind, `the page after '${after}' has nothing new and is not the last`);
    if (seen.size > RECORDS_MAX) throw endless(cfs, kind, `there are more than ${RECORDS_MAX}`);
    after = page.after;
    limit = Math.min(PAGE, limit * 2);
  }
}

interface Page {
  records: unknown[];
  /** After which record the next page begins; null: this is the last. */
  after: string | null;
}

async function readPage(
  cfs: ForeignCfs,
  kind: RecordKind,
  query: Record<string, string | number | boolean>,
): Promise<Page> {
  const answer = await cfs.get(`/v3/${kind}`, query);
  const { [kind]: records, next }: Record<string, unknown> =
    typeof answer === 'object' && answer !== null ? { ...answer } : {};
  if (!Array.isArray(records)) throw notCfs(cfs, kind, `has no list '${kind}'`);
  if (next === null || next === undefined) return { records, after: null };
  const { after_id: after }: { after_id?: unknown } = typeof next === 'object' ? next : {};
  if (typeof after !== 'string' || after === '') throw notCfs(cfs, kind, "has a 'next' without after_id");
  return { records, after };
}

/** The name of the one record that breaks its page: shown where the details are left away; else the kind ends here. */
async function nameOfBroken(
  cfs: ForeignCfs,
  kind: RecordKind,
  query: Record<string, string | number>,
  failure: ForeignFailure,
): Promise<string> {
  try {
    const { records } = await readPage(cfs, kind, query);
    const [record] = records as Record<string, unknown>[];
    const name = record?.[KEYS[kind]];
    if (kind === 'components' && typeof name === 'string' && name !== '') return name;
  } catch (error) {
    if (!(error instanceof ForeignFailure)) throw error;
  }
  const place = query.after_id === undefined ? 'the first record' : `the record after '${query.after_id}'`;
  throw new ForeignFailure('foreign_failed', `${failure.message}: it cannot show ${place}`, EXIT.failed, 500);
}

function isNew(seen: Set<string>, record: unknown, key: string): boolean {
  const name = typeof record === 'object' && record !== null ? Reflect.get(record, key) : undefined;
  if (typeof name !== 'string') return true;
  if (seen.has(name)) return false;
  seen.add(name);
  return true;
}

const notCfs = (cfs: ForeignCfs, kind: RecordKind, what: string): ForeignFailure =>
  new ForeignFailure('not_cfs', `the answer of ${cfs.base}/v3/${kind} ${what}`, EXIT.failed);

const endless = (cfs: ForeignCfs, kind: RecordKind, why: string): ForeignFailure =>
  new ForeignFailure('foreign_endless', `the list of ${cfs.base}/v3/${kind} does not end: ${why}`, EXIT.failed);
