/** The tables of lane access, as Kysely sees them. */
import type { Role } from '../../domain/access/roles.ts';
import type { OptionalTime, Time } from '../connection/column-types.ts';

export interface TokensTable {
  id: string;
  /** SHA-256 of the token, which itself is stored nowhere. */
  hash: Buffer;
  name: string;
  role: Role;
  /** The component that a token of role node speaks for. */
  component: string | null;
  created_at: Time;
  /** Who made it. */
  actor: string | null;
  expires_at: OptionalTime;
  /** Written now and then, not with every request. */
  last_used_at: OptionalTime;
  revoked_at: OptionalTime;
}

export interface AccessTables {
  tokens: TokensTable;
}
