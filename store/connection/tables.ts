/** The tables of the installation itself, as Kysely sees them. */
import type { Generated } from 'kysely';

export interface TalliesTable {
  name: string;
  label: string;
  /** Place among the bounds of a duration; 0 for a plain count. */
  bucket: number;
  count: number;
  /** Seconds; 0 for a plain count. */
  sum: number;
}

/** What this database is known by where its directory of images is; no row before that was asked for. */
export interface InstallationTable {
  /** Always true: there is one record. */
  single: Generated<boolean>;
  id: string;
  made_at: Generated<Date>;
  /** Since when what goes through Temporal must have a MAC; null: what has none counts still. */
  mac_required_since: Date | null;
  /** When a process that signs was last there. */
  mac_signer_seen_at: Date | null;
  /** By what the key of the MACs is known. */
  mac_key_print: string | null;
  /** Since when no process was seen that knows nothing of sealed addresses; null: the last look saw one, or there was no look. */
  sealing_since: Date | null;
}

export interface ServiceTables {
  installation: InstallationTable;
  tallies: TalliesTable;
}
