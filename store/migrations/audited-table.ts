/** Triggers that write the audit records of a table: what changes in it cannot be left out by any writer. */

/** A column as it is shown in a record. */
export interface AuditedColumn {
  column: string;
  /** SQL of what is shown of it, over a reference to the column; default: its value. */
  show?: (reference: string) => string;
  /** A JSON array of entries: only those that came and went are shown, with the passwords of URLs masked. */
  entries?: true;
  /** SQL condition under which it has changed, over the aliases of both rows, either way round; default: its values differ. */
  differs?: (one: string, other: string) => string;
}

export interface AuditedTable {
  table: string;
  /** What the records call one row. */
  kind: string;
  /** Columns of the primary key; default `name`. */
  key?: readonly string[];
  /** SQL of the name of a row, over its alias; default: the key, with slashes between. */
  name?: (row: string) => string;
  /** Columns that are shown, */
  columns?: readonly (string | AuditedColumn)[];
  /** and a JSON column whose members are, but these; passwords of URLs are masked. */
  record?: { column: string; without: readonly string[] };
  /** SQL of who wrote a row, over its alias, where the statement itself does not say it; default: its column `actor`. */
  writer?: (row: string, action: 'create' | 'update') => string;
  /** Action of a new row; default `create`. */
  creation?: string;
  /** SQL condition under which a new row counts; default: always. */
  created?: (row: string) => string;
  /** SQL condition under which a change counts, over old and new row; `known`: the statement says who asked. Default: always. */
  updated?: (old: string, row: string) => string;
  /** SQL of the action of a change, over old and new row; default: `update`. */
  action?: (old: string, row: string) => string;
  /** What is recorded; default: all. Where a delete is a change, the removal of the row is only tidying up. */
  events?: readonly Event[];
  /** Whether what changes may be no column that is shown, as the value of a secret. Then an update that shows nothing is recorded. */
  hides?: true;
}

type Event = 'insert' | 'update' | 'delete';

/** Statements that make the triggers of a table, as of the first releases. They run once per statement, whatever the number of its rows. */
export function auditTriggers(audited: AuditedTable): string[] {
  const { table, events = ['insert', 'update', 'delete'] } = audited;
  const triggers = {
    insert: () => trigger(table, 'insert', 'new table as new_rows', insertOf(audited)),
    update: () => trigger(table, 'update', 'old table as old_rows new table as new_rows', updateOf(audited)),
    delete: () => trigger(table, 'delete', 'old table as old_rows', deleteOf(audited)),
  };
  return events.flatMap((event) => triggers[event]());
}

/**
 * Statements that give the functions of these triggers the body of now: `boundedAuditFunctions`, and the records have the reason of
 * the write. A table that is new takes them behind `auditTriggers`.
 */
export function reasonedAuditFunctions(audited: AuditedTable): string[] {
  return functionsOf(audited, [['reason', `writer ->> 'reason'`]]);
}

/**
 * Statements that give the functions the body of the releases before reasons: large values are cut (`audit_cut`), and an update that
 * changes nothing leaves no record. Migrations of before have them.
 */
export function boundedAuditFunctions(audited: AuditedTable): string[] {
  return functionsOf(audited, []);
}

/** @param further columns of a record that not every release has, each with the SQL of its value */
function functionsOf(audited: AuditedTable, further: readonly [column: string, value: string][]): string[] {
  const { table, events = ['insert', 'update', 'delete'], hides = false } = audited;
  const rows = { insert: insertOf, update: updateOf, delete: deleteOf };
  const columns = further.map(([column]) => `, ${column}`).join('');
  const values = further.map(([, value]) => `, ${value}`).join('');
  return events.map((event) => {
    const changed =
      event === 'update' && !hides
        ? `where changed.action <> 'update' or changed.before <> '{}' or changed.after <> '{}'`
        : '';
    return `create or replace function audit_${table}_${event}() returns trigger language plpgsql set enable_nestloop = off as $$
    ${DECLARED}
    begin
      insert into audit (at, actor, action, kind, name, before, after, request_id, via${columns})
      select moment, case when known then writer ->> 'actor' else written_by end, action, kind, name,
        ${cut('before')}, ${cut('after')}, writer ->> 'request', writer ->> 'via'${values}
      from (${rows[event](audited)} offset 0) as changed ${changed};
      return null;
    end $$`;
  });
}

const DECLARED = `declare
      writer constant jsonb not null := audit_writer();
      known constant boolean not null := writer ? 'actor';
      moment constant timestamptz not null := date_trunc('milliseconds', clock_timestamp());`;

/** A value of this size, bytes, cannot be longer than the bound as text; most are smaller, and are not written out to be measured. */
const SURELY_SMALL = 8_192;

const cut = (column: string) =>
  `case when pg_column_size(${column}) > ${SURELY_SMALL} then audit_cut(${column}) else ${column} end`;

/** A plan is made once per connection, from the first statement's one row: without nested loops it is fit for very many too. */
function trigger(table: string, event: string, tables: string, rows: string): string[] {
  return [
    `create function audit_${table}_${event}() returns trigger language plpgsql set enable_nestloop = off as $$
    declare
      writer constant jsonb not null := audit_writer();
      known constant boolean not null := writer ? 'actor';
      moment constant timestamptz not null := date_trunc('milliseconds', clock_timestamp());
    begin
      insert into audit (at, actor, action, kind, name, before, after, request_id, via)
      select moment, case when known then writer ->> 'actor' else written_by end, action, kind, name, before, after,
        writer ->> 'request', writer ->> 'via'
      from (${rows}) as changed;
      return null;
    end $$`,
    `create trigger audit_${table}_${event} after ${event} on ${table} referencing ${tables}
      for each statement execute function audit_${table}_${event}()`,
  ];
}

function insertOf(audited: AuditedTable): string {
  const { created = () => 'true', creation = 'create' } = audited;
  return `select ${writerOf(audited, 'n', 'create')} as written_by, '${creation}' as action, '${audited.kind}' as kind,
    ${nameOf(audited, 'n')} as name, null::jsonb as before, ${whole(audited, 'n')} as after
    from new_rows n where ${created('n')}`;
}

function updateOf(audited: AuditedTable): string {
  const { kind, key = ['name'], updated = () => 'true', action = () => `'update'` } = audited;
  const same = key.map((column) => `o.${column} = n.${column}`).join(' and ');
  return `select ${writerOf(audited, 'n', 'update')} as written_by,
    coalesce(writer ->> 'action', ${action('o', 'n')}) as action, '${kind}' as kind, ${nameOf(audited, 'n')} as name,
    ${difference(audited, 'o', 'n')} as before, ${difference(audited, 'n', 'o')} as after
    from new_rows n join old_rows o on ${same} where ${updated('o', 'n')}`;
}

function deleteOf(audited: AuditedTable): string {
  return `select null::text as written_by, 'delete' as action, '${audited.kind}' as kind, ${nameOf(audited, 'o')} as name,
    ${whole(audited, 'o')} as before, null::jsonb as after from old_rows o`;
}

function nameOf({ key = ['name'], name }: AuditedTable, row: string): string {
  return name?.(row) ?? key.map((column) => `${row}.${column}`).join(` || '/' || `);
}

function writerOf({ writer }: AuditedTable, row: string, action: 'create' | 'update'): string {
  return writer?.(row, action) ?? `${row}.actor`;
}

/** All that a row shows. */
function whole({ columns = [], record }: AuditedTable, row: string): string {
  const members = columnsOf(columns).map(({ column, show, entries }) => {
    const reference = `${row}.${column}`;
    return `'${column}', ${entries ? `audit_masked(${reference})` : (show?.(reference) ?? reference)}`;
  });
  const shown = `jsonb_build_object(${members.join(', ')})`;
  return record === undefined ? shown : `audit_masked(${recordOf(record, row)}) || ${shown}`;
}

/** What one row shows otherwise than another. */
function difference({ columns = [], record }: AuditedTable, row: string, other: string): string {
  const members = columnsOf(columns).map(({ column, show, entries, differs: condition }) => {
    const [reference, against] = [`${row}.${column}`, `${other}.${column}`];
    // Bytes are compared: far cheaper for large values, and equal ones are written alike.
    const differs = condition
      ? condition(row, other)
      : entries
        ? `record_image_ne(row(${reference}), row(${against}))`
        : `${reference} is distinct from ${against}`;
    const shown = entries ? `audit_masked(audit_entries(${reference}, ${against}))` : (show?.(reference) ?? reference);
    return `case when ${differs} then jsonb_build_object('${column}', ${shown}) else '{}' end`;
  });
  const inRecord =
    record === undefined ? [] : [`audit_masked(audit_members(${recordOf(record, row)}, ${recordOf(record, other)}))`];
  return [`'{}'::jsonb`, ...inRecord, ...members].join(' || ');
}

function recordOf({ column, without }: { column: string; without: readonly string[] }, row: string): string {
  return [`${row}.${column}`, ...without.map((member) => `'${member}'`)].join(' - ');
}

function columnsOf(columns: readonly (string | AuditedColumn)[]): AuditedColumn[] {
  return columns.map((column) => (typeof column === 'string' ? { column } : column));
}
