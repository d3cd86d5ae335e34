import { type Kysely, sql } from 'kysely';
import { AUDITED_WEBHOOKS } from './0016-webhooks.ts';
import { type AuditedTable, boundedAuditFunctions } from './audited-table.ts';

/**
 * Another address is one that a request of this release has written (it counts the revision up), or an older release, which seals
 * nothing. Sealing an address of before, or sealing it again with another key, changes none.
 */
const isOther = (one: string, other: string) =>
  `(${one}.url_revision <> ${other}.url_revision
    or ${one}.url <> ${other}.url and ${one}.sealed_url is not distinct from ${other}.sealed_url)`;

export const SEALED_WEBHOOKS: AuditedTable = {
  ...AUDITED_WEBHOOKS,
  columns: [
    { column: 'url', show: (reference) => `audit_webhook_url(${reference})`, differs: isOther },
    'events',
    'enabled',
    'allow_private_redirects',
  ],
};

/**
 * The whole address of a webhook, encrypted (null: `url` has it, as older releases write it), how often it was set, and since when no
 * process was seen that knows nothing of this. Records of the audit show scheme and host alone, whoever writes.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    'alter table webhooks add column sealed_url bytea, add column url_revision integer not null default 0',
    'alter table installation add column sealing_since timestamptz',
    `create function audit_webhook_url(url text) returns text language sql immutable as $$
      select case when url ~* '^https?://[^/?#\\\\]+' then
        lower(substring(url from '^[A-Za-z]+://')) ||
        regexp_replace(regexp_replace(url, '^[A-Za-z]+://([^/?#\\\\]*@)?', ''), '[/?#\\\\].*$', '') || '/***'
        else '***' end $$`,
    ...boundedAuditFunctions(SEALED_WEBHOOKS),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
