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

/** Sign-ins of browsers, each by one token. */
export interface SignInsTable {
  id: string;
  /** SHA-256 of what the cookie holds. */
  hash: Buffer;
  token_id: string;
  /** Who it is, as stored with writes. */
  actor: string;
  created_at: Time;
  /** To about a minute. */
  last_used_at: Time;
  /** When the user ended it. */
  ended_at: OptionalTime;
}

export interface AccessTables {
  tokens: TokensTable;
  sign_ins: SignInsTable;
}
