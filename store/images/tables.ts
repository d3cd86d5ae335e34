/** The tables of lane images: the built-in image service, as Kysely sees them. */
import type { ColumnType, Generated } from 'kysely';
import type { ImageJobStatus } from '../../domain/images/image-service.ts';
import type { Architecture, ImageFormat } from '../../domain/images/image-words.ts';
import type { ImageJobRequest } from '../../domain/images/job-defaults.ts';
import type { Json, OptionalTime, Time } from '../connection/column-types.ts';

/** A link as it is stored: the shape of the wire. */
export interface StoredLink {
  type: string;
  path: string;
  etag: string;
}

export interface ImagesTable {
  id: string;
  name: string;
  arch: Architecture;
  link: ColumnType<StoredLink | null, string | null, string | null>;
  metadata: Json<Record<string, string>>;
  /** The directory that has its file; null: it has none here. */
  store_id: string | null;
  format: ImageFormat | null;
  size: number | null;
  sha256: string | null;
  made_by: string | null;
  made_from: string | null;
  created_at: Time;
  updated_at: Time;
  actor: string | null;
}

export interface ImagePublicKeysTable {
  id: string;
  name: string;
  public_key: string;
  created_at: Time;
  actor: string | null;
}

export interface ImageJobsTable {
  id: string;
  image_id: string;
  /** Of the image; null: a job from before this was noted. */
  format: ImageFormat | null;
  request: Json<ImageJobRequest>;
  arch: Architecture;
  /** The line that is let in: the key's own record may go while the job lasts. */
  public_key: string;
  status: ImageJobStatus;
  message: string;
  /** The directory that it works in. */
  store_id: string;
  /** Queue of the machine that works on it, once there is one. */
  queue: string | null;
  /** Whether it has the turn of its machine. */
  working: Generated<boolean>;
  /** Since when it waits for the turn of a machine; null: it does not. */
  turn_wanted_at: OptionalTime;
  /** Until when others let it go first, though it does not ask. */
  place_until: OptionalTime;
  host: string | null;
  port: number | null;
  /** Id of the image that is to come of it. */
  result_id: string;
  resultant_image_id: string | null;
  created_at: Time;
  waiting_since: OptionalTime;
  ended_at: OptionalTime;
  deleted_at: OptionalTime;
  /** Whether nothing of it is left on its machine. */
  cleaned: Generated<boolean>;
  actor: string | null;
}

export interface ImagePortsTable {
  queue: string;
  port: number;
  job_id: string;
  /** Null while its job has it. */
  released_at: OptionalTime;
}

export interface ImageWorkersTable {
  store_id: string;
  queue: string;
  able: boolean;
  /** Why it cannot; else ''. */
  reason: string;
  seen_at: Time;
  /** When it last could; null: not since this is noted. */
  able_at: OptionalTime;
  /** First and last port of its shells; null: a former release, which does not say it. */
  first_port: number | null;
  last_port: number | null;
}

/** Images that were deleted and whose files may still be in their directory. */
export interface ImageRemovalsTable {
  id: string;
  store_id: string;
  deleted_at: Time;
}

export interface ImageTables {
  images: ImagesTable;
  image_public_keys: ImagePublicKeysTable;
  image_jobs: ImageJobsTable;
  image_ports: ImagePortsTable;
  image_workers: ImageWorkersTable;
  image_removals: ImageRemovalsTable;
}
