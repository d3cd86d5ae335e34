/** The tables of lane secrets, as Kysely sees them. */
import type { Generated } from 'kysely';
import type { Time } from '../connection/column-types.ts';

export interface SecretsTable {
  name: string;
  key: string;
  /** AES-256-GCM with the key file of the data directory. */
  ciphertext: Buffer;
  updated_at: Time;
  actor: string | null;
}

/** A change of a source's secret that is under way, or was broken off. */
export interface SecretChangesTable {
  id: string;
  secret_name: string;
  begun_at: Generated<Date>;
  /** No source will name the secret: it is being removed. */
  settling: Generated<boolean>;
}

export interface SecretTables {
  secrets: SecretsTable;
  secret_changes: SecretChangesTable;
}
