import { type AuditedTable, auditTriggers, boundedAuditFunctions } from './audited-table.ts';

/** What a user releases; what a machine confirms by itself is no change of a user. */
export const AUDITED_ATTEMPTS: AuditedTable = {
  table: 'propagation_attempts',
  kind: 'attempt',
  key: ['id'],
  writer: () => 'null::text',
  updated: (old, row) => `known and ${row}.verified and not ${old}.verified`,
  action: () => `'release'`,
  columns: ['verified'],
  events: ['update'],
};

/**
 * Statements that make the stream of each plan: an event for every node whose status has changed, whichever statement has changed it. A plan
 * whose state has changed is announced to its readers.
 * Without nested loops the functions are fit for very many rows. An attempt that a user releases leaves an audit record.
 */
export const PLAN_STREAMS: readonly string[] = [
  `create function propagation_note_nodes() returns trigger language plpgsql set enable_nestloop = off as $$
    declare
      moved record;
      first bigint;
    begin
      for moved in
        select n.plan::text as stream, count(*)::int as nodes
        from new_nodes n join old_nodes o on o.plan = n.plan and o.number = n.number
        where n.status <> o.status group by n.plan
      loop
        insert into streams (id) values (moved.stream) on conflict (id) do nothing;
        update streams set next_event = next_event + moved.nodes where id = moved.stream
          returning next_event - moved.nodes into first;
        insert into events (stream_id, seq, time, type, data)
          select moved.stream, first + row_number() over (order by n.number) - 1, now(), 'node', jsonb_build_object(
            'node', n.id, 'from', o.status, 'status', n.status, 'outcome', n.outcome, 'reason', n.reason,
            'message', n.message, 'code', n.code, 'attempts', n.attempts)
          from new_nodes n join old_nodes o on o.plan = n.plan and o.number = n.number
          where n.status <> o.status and n.plan::text = moved.stream;
        perform pg_notify('muster_stream', moved.stream);
      end loop;
      return null;
    end $$`,
  `create trigger propagation_note_nodes after update on propagation_plan_nodes
      referencing old table as old_nodes new table as new_nodes
      for each statement execute function propagation_note_nodes()`,
  `create function propagation_announce_plan() returns trigger language plpgsql as $$
    begin
      perform pg_notify('muster_stream', new.id::text);
      return null;
    end $$`,
  `create trigger propagation_announce_plan after update on propagation_plans
      for each row when (old.state <> new.state) execute function propagation_announce_plan()`,
  ...auditTriggers(AUDITED_ATTEMPTS),
  ...boundedAuditFunctions(AUDITED_ATTEMPTS),
];
