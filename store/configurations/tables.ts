/** The tables of lane configurations, as Kysely sees them. */
import type { ColumnType, Generated } from 'kysely';
import type { Configuration, Options, Source } from '../../domain/configurations/schema.ts';
import type { Json, Time } from '../connection/column-types.ts';

export interface OptionsTable {
  /** Always true: there is one record. */
  single: Generated<boolean>;
  /** Only what was ever set; the defaults of the code fill the rest at read. */
  record: Json<Partial<Options>>;
  updated_at: Time;
  actor: string | null;
}

export interface ConfigurationsTable {
  name: string;
  record: Json<Configuration>;
  /** Changes with each write and never comes again; compare-and-set after a branch resolution outside the transaction. */
  revision: Generated<number>;
  /** Sources that layers and additional inventory name; computed by the database. */
  source_names: ColumnType<string[], never, never>;
  updated_at: Time;
  actor: string | null;
}

export interface SourcesTable {
  name: string;
  record: Json<Source>;
  updated_at: Time;
  actor: string | null;
}

export interface ConfigurationTables {
  options: OptionsTable;
  configurations: ConfigurationsTable;
  sources: SourcesTable;
}
