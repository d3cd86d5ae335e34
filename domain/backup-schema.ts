/** A backup of an installation: its entries, and what it says of itself in the last of them. */
import { z } from 'zod';

/** Raised when an older release could not read a backup any more. */
export const FORMAT = 1;
export const MANIFEST = 'manifest.json';

/** Entries with rows of tables: `database/<table>/<number>.copy.zst`. */
export const DATABASE_FOLDER = 'database/';

export const databaseEntry = (table: string, number: number): string =>
  `${DATABASE_FOLDER}${table}/${String(number).padStart(6, '0')}.copy.zst`;

/** The table whose rows an entry holds; null for any other entry. */
export function tableOfEntry(entry: string): string | null {
  return /^database\/([^/]+)\/[0-9]+\.copy\.zst$/.exec(entry)?.[1] ?? null;
}

const name = z.string().min(1).max(200);

/** A table, and the columns of it that are stored; all others are computed by Postgres. */
const SavedTableSchema = z.object({ name, columns: z.array(name).min(1), rows: z.number().int().min(0) });
export type SavedTable = z.infer<typeof SavedTableSchema>;

/** A counter of the database. */
const SavedSequenceSchema = z.object({ name, last: z.string().regex(/^-?[0-9]+$/), called: z.boolean() });
export type SavedSequence = z.infer<typeof SavedSequenceSchema>;

/** A role beside those that the stack makes itself; its password is salted and hashed. */
const SavedRoleSchema = z.object({
  name,
  login: z.boolean(),
  inherit: z.boolean(),
  password: z.string().nullable(),
  memberOf: z.array(name),
});
export type SavedRole = z.infer<typeof SavedRoleSchema>;

const SavedDatabaseSchema = z.object({
  /** Version of the server. */
  server: z.string(),
  /** Names of the migrations that made its shape. */
  migrations: z.array(name),
  tables: z.array(SavedTableSchema),
  sequences: z.array(SavedSequenceSchema),
  roles: z.array(SavedRoleSchema),
});
export type SavedDatabase = z.infer<typeof SavedDatabaseSchema>;

export const ManifestSchema = z.object({
  format: z.literal(FORMAT),
  taken_at: z.iso.datetime(),
  versions: z.object({ muster: z.string(), node: z.string() }),
  /** The stack that was saved. */
  stack: z.object({ url: z.string().nullable(), machine: z.string(), data_dir: z.string() }),
  /** Null where Postgres is a server of the site: its own backup has the records. */
  database: SavedDatabaseSchema.nullable(),
  /** Whether the files of images are there too. */
  images: z.boolean(),
  /** SHA-256 of each other entry. */
  digests: z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/)),
});
export type Manifest = z.infer<typeof ManifestSchema>;
