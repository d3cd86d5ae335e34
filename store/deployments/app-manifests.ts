/** Files of apps and profiles, and the manifests that were read from those of apps. */
import { sql } from 'kysely';
import type { Identity } from '../../domain/deployments/manifest-identity.ts';
import type { Db } from '../connection/database.ts';

export interface StoredManifest extends Identity {
  key: string;
  /** JSON, without the values of a Secret. */
  manifest: string;
  sealId: string | null;
  sealed: Buffer | null;
}

/** Rows of one statement: each has ten parameters. */
const SLICE = 1_000;

export async function insertFile(trx: Db, path: string, content: Buffer): Promise<void> {
  await trx.insertInto('placement_files').values({ path, content }).execute();
}

/** Returns the sealed file of a record; null without one. */
export async function findFile(db: Db, path: string): Promise<Buffer | null> {
  const row = await db.selectFrom('placement_files').select('content').where('path', '=', path).executeTakeFirst();
  return row?.content ?? null;
}

/** Adds the manifests of an app, in the order in which they are applied. */
export async function insertManifests(trx: Db, app: string, manifests: readonly StoredManifest[]): Promise<void> {
  const rows = rowsOf(manifests).map((row) => ({ app, ...row }));
  for (const slice of slicesOf(rows)) await trx.insertInto('app_manifests').values(slice).execute();
}

/** Returns the columns of manifests, numbered in their order. */
export function rowsOf(manifests: readonly StoredManifest[]) {
  return manifests.map(({ group, sealId, ...rest }, number) => ({
    ...{ number, api_group: group, seal_id: sealId },
    ...rest,
  }));
}

/** Returns rows in portions of one statement each. */
export function slicesOf<Row>(rows: readonly Row[]): Row[][] {
  const count = Math.ceil(rows.length / SLICE);
  return Array.from({ length: count }, (_, index) => rows.slice(index * SLICE, (index + 1) * SLICE));
}

/** Returns the manifests of apps that have a text in them, without the values of Secrets. */
export async function listManifestsWith(
  db: Db,
  apps: readonly string[],
  text: string,
): Promise<{ app: string; key: string; manifest: string }[]> {
  if (apps.length === 0) return [];
  return await db
    .selectFrom('app_manifests')
    .select(['app', 'key', 'manifest'])
    .where('app', 'in', [...apps])
    .where(sql<boolean>`strpos(manifest, ${text}) > 0`)
    .execute();
}

/** Returns the keys of an app's manifests, in the order in which they are applied. */
export async function listKeys(db: Db, app: string): Promise<string[]> {
  const rows = await db.selectFrom('app_manifests').select('key').where('app', '=', app).orderBy('number').execute();
  return rows.map(({ key }) => key);
}
