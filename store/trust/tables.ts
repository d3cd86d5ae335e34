/** The tables of lane trust, as Kysely sees them. */
import type { OptionalTime, Time } from '../connection/column-types.ts';

/** Public keys of the authorities that sign the certificates of sessions. */
export interface TrustAuthoritiesTable {
  public_key: string;
  since: Time;
  /** When another one took its place; null for the one that signs. */
  replaced_at: OptionalTime;
}

export interface TrustTables {
  trust_authorities: TrustAuthoritiesTable;
}
