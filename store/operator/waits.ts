/** What a resource waits for that is no matter of its own: everything is stopped, a host is away, no place is free. */
import { type RawBuilder, sql } from 'kysely';
import { SEEN_MS } from '../../domain/operator/resource-words.ts';

const seenAfter = (now: Date): Date => new Date(now.getTime() - SEEN_MS);

/** Whether the resource `r` is to run, and nothing of its operator begins. */
const isStopped = sql<boolean>`(r.reconcile_id is null and r.due_at is not null and r.gone_at is null
  and exists (select from operators o where o.name = r.operator and o.stopped_at is not null))`;

/** What the resource `r` waits for whose reconcile belongs to a host that gives no sign; null: its host is there. */
const waitsForHost = (now: Date): RawBuilder<string | null> =>
  sql<
    string | null
  >`(select 'waits for host ' || c.machine || ', which gives no sign: a cancel gives its run up' from operator_reconciles c
    where c.id = r.reconcile_id and c.ended_at is null and not exists (select from operator_processes p
      where p.operator = c.operator and p.machine = c.machine and p.seen_at > ${seenAfter(now)}))`;

/** Places by kind, and those of the live processes of an operator: to be joined to the resources `r`. */
export const placesOf = (now: Date) => sql`
  left join (
    select w.operator, w.api_group, w.version, w.kind, w.slots, count(o.id)::int as taken
    from operator_watches w left join operator_resources o on o.operator = w.operator and o.reconcile_id is not null
      and o.api_group = w.api_group and o.version = w.version and o.kind = w.kind
    group by w.operator, w.api_group, w.version, w.kind, w.slots
  ) places on places.operator = r.operator and places.api_group = r.api_group and places.version = r.version and places.kind = r.kind
  left join (
    select live.operator, sum(live.slots)::int as slots, sum(greatest(live.slots - live.taken, 0))::int as free
    from (
      select p.operator, p.slots, count(c.id)::int as taken from operator_processes p
        left join operator_reconciles c on c.operator = p.operator and c.machine = p.machine and c.ended_at is null
      where p.left_at is null and p.seen_at > ${seenAfter(now)} group by p.operator, p.machine, p.slots
    ) live group by live.operator
  ) processes on processes.operator = r.operator`;

/** What the resource `r` waits for whose time has come; null: it is about to begin. */
const waitsForPlace = sql<string | null>`case
  when processes.slots is null then 'waits for a process of its operator: none gives signs'
  when places.taken >= places.slots then 'waits for a free place of its kind: ' || places.taken || ' of ' || places.slots || ' are taken'
  when processes.free = 0 then 'waits for a free place: all ' || processes.slots || ' of the live processes are taken' end`;

/** The reason that is shown of the resource `r` unless it is paused. Needs `placesOf`. */
export const shownReason = (now: Date): RawBuilder<string | null> => sql<string | null>`case
  when ${isStopped} then 'waits for ./muster go: everything is stopped'
  when r.reconcile_id is not null then coalesce(${waitsForHost(now)}, r.reason)
  when r.gone_at is null and r.due_at <= ${now} then coalesce(${waitsForPlace}, r.reason) else r.reason end`;
