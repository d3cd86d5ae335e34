/** What components that have failed did so with last. */
import { type RawBuilder, sql } from 'kysely';
import type { FailureGroup } from '../../domain/components/failure-group.ts';
import { HOST_WORD, SIGNATURE_LENGTH, VARYING } from '../../domain/components/failure-signature.ts';
import type { StatusOptions } from '../../domain/components/status.ts';
import { readOptions } from '../configurations/options.ts';
import type { Db } from '../connection/database.ts';
import { exhausted, judgedStandings } from './component-status.ts';

/**
 * `last(id, message, session, at)` of all components that have failed, a part of `with recursive`. Deleted sessions say nothing any more: message and
 * session are null then.
 */
function lastFailures(options: StatusOptions): RawBuilder<unknown> {
  return sql`${judgedStandings({ options })}, failed as (
      select components.id, components.updated_at
      from components join judged on judged.standing = components.standing
      where judged.verdict = 'behind' and ${exhausted(options)}
    ), last as (
      select failed.id, result.message, result.session, coalesce(result.at, failed.updated_at) as at
      from failed left join lateral (
        select r.stored_at as at, jsonb_build_object('id', s.id, 'name', s.name) as session,
          coalesce(r.message, case when r.from_events then (select error from runs where runs.id = r.run_id) end) as message
        from host_results r join sessions s on s.id = r.session_id and s.deleted_at is null
        where r.host = failed.id and r.status = 'failed' order by r.stored_at desc, r.run_id desc limit 1
      ) as result on true
    )`;
}

/** What JavaScript takes for blank. */
const BLANKS =
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';

/** Returns the first line of a message that has a word in it, as far as it counts, without the id of the host; '' for null. */
export function lineWithoutHost(message: RawBuilder<unknown>, host: RawBuilder<unknown>): RawBuilder<string> {
  const first = sql`btrim(split_part(ltrim(coalesce(${message}, ''), ${BLANKS}::text), ${'\n'}::text, 1), ${BLANKS}::text)`;
  return sql<string>`replace(left(${first}, ${SIGNATURE_LENGTH}::integer) collate "C", ${host}, ${HOST_WORD}::text)`;
}

/** Returns a line with a word for each part that is of one host or one try alone: the signature. */
export function signatureOfLine(line: RawBuilder<unknown>): RawBuilder<string> {
  return VARYING.reduce(
    (text, [pattern, word]) => sql<string>`regexp_replace(${text}, ${pattern}::text, ${word}::text, 'g'::text)`,
    sql<string>`${line}`,
  );
}

/** Digits of an id behind its letter: text of digits alone would be a number for readers of addresses. */
const DIGITS = 15;

/** `known(id, message, session, at, failure)`: `last` with the id of what each has in common with others. Lines that differ by the host alone are read once. */
function knownFailures(options: StatusOptions): RawBuilder<unknown> {
  return sql`${lastFailures(options)}, told as materialized (
      select last.*, ${lineWithoutHost(sql`last.message`, sql`last.id`)} as line from last
    ), signatures as materialized (
      select line, 'f' || left(encode(sha256(convert_to(${signatureOfLine(sql`line`)}, 'UTF8')), 'hex'), ${DIGITS}::integer) as failure
      from (select distinct line from told) as lines
    ), known as materialized (
      select told.id, told.message, told.session, told.at, signatures.failure from told join signatures on signatures.line = told.line
    )`;
}

/** Groups that are told at most. */
const GROUPS = 1_000;

/** Groups the components that have failed by what the last messages have in common, most first. */
export async function groupFailures(db: Db): Promise<FailureGroup[]> {
  const options = await readOptions(db);
  const { rows } = await sql<FailureGroup>`
    with recursive ${knownFailures(options)}, grouped as (
      select failure, count(*)::int as count, min(at) as since, max(at) as latest, (array_agg(id order by at desc, id))[1] as host
      from known group by failure order by count(*) desc, min(id) limit ${GROUPS}
    )
    select grouped.*, known.message, known.session from grouped join known on known.id = grouped.host
    order by grouped.count desc, grouped.host`.execute(db);
  return rows;
}

/** Returns the ids of the components that have failed, the last time with this; none where nothing failed so. */
export async function idsOfFailure(db: Db, failure: string): Promise<string[]> {
  const options = await readOptions(db);
  const { rows } = await sql<{ id: string }>`
    with recursive ${knownFailures(options)} select id from known where failure = ${failure} order by id`.execute(db);
  return rows.map(({ id }) => id);
}
